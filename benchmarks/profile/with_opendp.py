"""OpenDP's histograms and quantiles, in an environment of its own, as its documentation has them.

As a module: makes the environment and runs this file in it. As a script, in that environment: reads an NPZ of columns,
releases, and prints JSON. Each column has an equal part of the budget: of epsilon without delta, else of the
zero-concentrated divergence that OpenDP turns into (epsilon, delta). Two ways, both under the symmetric distance:

    direct   half for counts of the bins (`count_by_categories`, `gaussian` or `laplace`), half for five quantiles
             (`private_quantile` among 1,000 candidates); columns without order have all for the counts
    counted  all for the counts, from which the quantiles follow (`quantiles_from_counts`)

(Trees of counts, `b_ary_tree`, are not compared here.)
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[2] / ".venv-opendp"
PACKAGES = ("opendp==0.16.0", "numpy")
CANDIDATES = 1000


@dataclass(frozen=True)
class OpenDP:
    """An environment that can run OpenDP."""

    python: Path

    @classmethod
    def install(cls) -> "OpenDP | None":
        """Make the environment, or say that it cannot be made."""
        python = HOME / "bin" / "python"
        try:
            if not python.exists():
                print("making an environment for OpenDP ...", flush=True)
                subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True, capture_output=True)
                subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, capture_output=True)
            subprocess.run([python, "-c", "import opendp.prelude"], check=True, capture_output=True)
        except (subprocess.CalledProcessError, OSError):
            print("OpenDP cannot be installed here; it is left out.", flush=True)
            return None
        return cls(python)

    def release(self, columns: list[Any], alphas: tuple[float, ...], epsilon: float, delta: float) -> dict[str, Any]:
        """Return counts of bins and quantiles of every column, by method and name."""
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "columns.npz"
            arrays = {f"values{i}": each.values for i, each in enumerate(columns)}
            arrays |= {f"edges{i}": each.edges for i, each in enumerate(columns)}
            arrays |= {"ordered": [each.ordered for each in columns], "whole": [each.whole for each in columns]}
            np.savez(path, alphas=alphas, budget=[epsilon, delta], **arrays)
            call = [self.python, __file__, str(path)]
            done = subprocess.run(call, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)


def main(path: str) -> None:
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    with np.load(path) as data:
        epsilon, delta = data["budget"].tolist()
        number = len(data["ordered"])
        each = Part(dp, epsilon, delta, number)
        alphas, found = data["alphas"].tolist(), {"direct": [], "counted": []}
        for i in range(number):
            column = data[f"values{i}"], data[f"edges{i}"]
            ordered, whole = bool(data["ordered"][i]), bool(data["whole"][i])
            found["direct"].append(each.direct(*column, alphas, ordered, whole))
            found["counted"].append(each.counted(*column, alphas, ordered, whole))
    print(json.dumps(found))


class Part:
    """What one column may spend."""

    def __init__(self, dp: Any, epsilon: float, delta: float, number: int):
        self.dp, self.gaussian = dp, delta > 0
        self.metric = dp.L2Distance[int] if self.gaussian else dp.L1Distance[int]
        self.noise = dp.m.then_gaussian if self.gaussian else dp.m.then_laplace
        self.measure = dp.zero_concentrated_divergence() if self.gaussian else dp.max_divergence()
        self.worth = (self._divergence(epsilon, delta) if self.gaussian else epsilon) / number

    def _divergence(self, epsilon: float, delta: float) -> float:
        """Return the zero-concentrated divergence that is worth (epsilon, delta)."""
        dp = self.dp
        one = dp.atom_domain(T=int), dp.absolute_distance(T=int)

        def made(scale: float) -> Any:
            return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*one, scale)), delta)

        scale = dp.binary_search_param(made, d_in=1, d_out=(epsilon, delta))
        return dp.m.make_gaussian(*one, scale).map(1)

    def _counts(self, bins: Any, number: int, share: float) -> list[int]:
        dp = self.dp
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
        counted = space >> dp.t.then_count_by_categories(list(range(number)), null_category=False, MO=self.metric)
        noisy = dp.binary_search_chain(lambda scale: counted >> self.noise(scale), d_in=1, d_out=share * self.worth)
        return noisy(bins.tolist())

    def direct(self, values: Any, edges: Any, alphas: list[float], ordered: bool, whole: bool) -> dict[str, Any]:
        """Return counts, and quantiles among candidates."""
        import numpy as np

        dp, n_bins = self.dp, len(edges) - 1
        bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_bins - 1)
        counts = self._counts(bins, n_bins, 0.5 if ordered else 1.0)
        if not ordered:
            return {"counts": counts, "quantiles": []}
        places = (edges[:-1] + edges[1:]) / 2 if whole else np.linspace(edges[0], edges[-1], CANDIDATES)
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
        share, data, found = 0.5 * self.worth / len(alphas), values.tolist(), []
        for alpha in alphas:
            asked = (*space, self.measure, places.tolist(), alpha)
            scale = dp.binary_search_param(
                lambda scale, asked=asked: dp.m.make_private_quantile(*asked, scale), d_in=1, d_out=share
            )
            found.append(dp.m.make_private_quantile(*asked, scale)(data))
        return {"counts": counts, "quantiles": found}

    def counted(self, values: Any, edges: Any, alphas: list[float], ordered: bool, whole: bool) -> dict[str, Any]:
        """Return counts, and quantiles that follow from them."""
        import numpy as np

        bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        counts = self._counts(bins, len(edges) - 1, 1.0)
        if not ordered:
            return {"counts": counts, "quantiles": []}
        usable = [float(max(0, each)) for each in counts]
        quantiles = self.dp.t.make_quantiles_from_counts(edges.tolist(), alphas=alphas, F=float, TA=float)(usable)
        return {"counts": counts, "quantiles": np.rint(quantiles).tolist() if whole else list(quantiles)}


if __name__ == "__main__":
    main(sys.argv[1])
