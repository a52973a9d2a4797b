"""LDP-GMM: a mixture when nobody is trusted (Harrington and Mayolo, Algorithm 1, with extensions).

    client  every respondent randomises their own record and sends one report                    (clients.py)
    server  checks the reports and fits a mixture through the known channel                      (reports.py, server.py)

Where we differ. Bins are public, not the data's own values. The report's probabilities are those of the declared
epsilon. The square wave keeps the order of values, which bit flips lose. The fit maximises the likelihood of the
reports themselves; it does not treat a corrected histogram as data. Many columns are possible.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from knoll import progress
from knoll.estimator import declared, unfitted
from knoll.local.client import Client
from knoll.local.clients import Noisy, SquareWave, Unary, Waves
from knoll.local.law import best_reach
from knoll.local.reports import read_reports
from knoll.local.server import fit_from_reports, public_guess, too_few
from knoll.mixture.base import MOST_COMPONENTS, Components, PrivateMixture
from knoll.numeric.threads import one_thread
from knoll.parameters import OneOf, Whole, check_count
from knoll.privacy import BoundsError, Budget, DataError, Privacy
from knoll.privacy.released import Entry
from knoll.queries import Box, domain_from
from knoll.rows import check_rows

MECHANISMS = ("auto", "square_wave", "response", "unary", "noise")
MOST_WAVES = 8  # columns up to which "auto" takes waves: with more, the part of epsilon per column is too small
BINS = {"square_wave": 64, "response": 16, "unary": 24}  # default bins: finer ones show more detail, and more noise


@declared
class LocalGaussianMixture(PrivateMixture):
    """A Gaussian mixture from randomised reports, under local differential privacy: nobody is trusted.

    Parameters
    ----------
    n_components : int or None, default=1
        Number of components. None chooses it from the reports (Bayesian information criterion).
    epsilon, delta : float, default=1.0 and 1e-6
        What one report costs its respondent. One column costs no delta, whatever is declared.
    bounds : Box, (lower, upper) or dict
        Where records can lie, known without looking at them; records outside are clipped.
    mechanism : {"auto", "square_wave", "response", "unary", "noise"}, default="auto"
        What clients do. For one column: "square_wave" (auto), "response" (k-ary randomised response) or "unary"
        (optimised unary encoding). For more columns: "square_wave" (auto, up to 8 columns) or "noise". "square_wave"
        gives each column a part of epsilon; its components have no correlations. "noise" adds Gaussian noise (Laplace
        if ``delta=0``), which the server deconvolves. It finds correlations, but needs very many respondents or a
        large epsilon.
    n_bins : int, optional
        Bins of the public grid, for one column.
    covariance_floor : float, default=0.001
        Public floor: no standard deviation is below this fraction of the bounds' half widths.
    drop_unseen : bool, default=False
        Leave out components that cannot be told from noise; at least one stays.
    random_state : int, RandomState or None
        Public randomness of the server. Never that of clients.
    verbose : bool, default=False
        Show progress of long fits.

    Attributes
    ----------
    {attributes}
    n_rejected_ : int
        Reports that no honest client sends, left out.
    histogram_, histogram_edges_ : arrays
        The histogram that the reports suggest, for one column; else empty.

    Notes
    -----
    **Privacy.** Each respondent is protected by their own client; its docstring proves the guarantee. The server and
    its operator see reports only, and everything here is post-processing of them. Standard errors come from redrawing
    the reports, so they include sampling error. Hostile respondents count for more than with true records: a share a
    of them can move the result as much as a share of about a / (part of the reports that carry information) could
    there. No respondent counts for more than one report.

    References
    ----------
    Li, Wang, Lopuhaa-Zwakenberg, Skoric, Li (2020). Estimating numerical distributions under local differential
    privacy.
    Wang, Blocki, Li, Jha (2017). Locally differentially private protocols for frequency estimation.
    Bovy, Hogg, Roweis (2011). Extreme deconvolution.

    Examples
    --------
    >>> import numpy as np
    >>> from knoll.local import LocalGaussianMixture
    >>> model = LocalGaussianMixture(2, epsilon=3.0, bounds=(0, 100), random_state=0)
    >>> client = model.client()
    >>> reports = [client.report(x) for x in np.random.RandomState(0).normal([30, 70], 5, size=(300, 2)).ravel()]
    >>> model.fit_reports(reports).means_.round(-1).ravel().tolist()
    [30.0, 70.0]
    """

    n_components: int | None = 1
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 1e-6
    bounds: Any = None
    mechanism: str = "auto"
    n_bins: int | None = None
    covariance_floor: float = 0.001
    random_state: Any = None
    verbose: bool = False

    _rules: ClassVar = {"n_components": Whole(MOST_COMPONENTS, none=True), "mechanism": OneOf(MECHANISMS)}
    _published = PrivateMixture._published | {"histogram_": "b", "histogram_edges_": "e", "n_rejected_": ""}
    covariance_type = "full"
    unit = None
    missing = "refuse"

    def client(self, n_columns: int | None = None) -> Client:
        """Return what respondents run. It holds public parameters only.

        Parameters
        ----------
        n_columns : int, optional
            Number of columns, where the bounds do not tell it; 1 by default. Bounds by name fix their order.
        """
        return self._client(n_columns, None)

    def _client(self, n_columns: int | None, names: Any) -> Client:
        budget = Budget(self.epsilon, self.delta)
        self._rules["mechanism"].check("mechanism", self.mechanism)  # a client may be made before any fit
        box = _box(self.bounds, n_columns, names)
        kind = self.mechanism
        if kind == "auto":
            kind = "square_wave" if box.n_columns <= MOST_WAVES else "noise"
        common: dict[str, Any] = {"epsilon": budget.epsilon, "lower": box.lower, "upper": box.upper}
        if kind == "noise":
            return Noisy(delta=budget.delta, **common)
        several = kind == "square_wave" and box.n_columns > 1
        default = 32 if several else BINS[kind]
        bins = default if self.n_bins is None else check_count("n_bins", self.n_bins, 4096)
        if several:
            return Waves(delta=0.0, n_bins=bins, **common)
        if kind == "unary":
            return Unary(delta=0.0, n_bins=bins, **common)
        reach = best_reach(budget.epsilon, bins) if kind == "square_wave" else 0
        return SquareWave(delta=0.0, n_bins=bins, reach=reach, **common)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Simulate both sides: randomise every row of X by a client, then fit to the reports alone.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Records.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        draft = unfitted(self)
        rows = check_rows(draft, X, reset=True)
        client = draft._client(rows.shape[1], getattr(draft, "feature_names_in_", None))
        self.__dict__ = draft._fit_valid(client, client.reports(rows)).__dict__
        return self

    def fit_reports(self, reports: Any, client: Client | None = None) -> Self:
        """Fit to reports alone.

        Parameters
        ----------
        reports : iterable
            One entry per respondent, as ``client.report`` gives it. Entries that no honest client sends are left out.
        client : Client, optional
            The client that made them; by default that of this estimator.

        Returns
        -------
        self
        """
        self._check_parameters()
        client = self.client() if client is None else client
        if not isinstance(client, Client):
            raise DataError("client must be one of knoll.local's, as `client()` or `client_from_dict` gives it")
        entries, draft = _entries(reports), unfitted(self)
        draft.n_features_in_ = len(client.lower)
        self.__dict__ = draft._fit_valid(client, entries).__dict__
        return self

    def _fit_valid(self, client: Client, reports: Any) -> Self:
        floor = np.square(float(self.covariance_floor) * client.box.half)
        rng = check_random_state(self.random_state)
        with progress.shown(type(self).__name__, enabled=self.verbose), one_thread():
            valid, rejected = read_reports(client, reports)
            if too_few(client, valid):
                found = public_guess(client, self.n_components or 1, floor)
            else:
                found = fit_from_reports(client, valid, self.n_components, floor, rng)
        n = float(valid[-1]) if isinstance(client, Unary) else float(len(valid))
        edges = client.edges if isinstance(client, SquareWave | Unary) and len(found.histogram) else np.empty(0)
        more = {"histogram_": found.histogram, "histogram_edges_": edges, "n_rejected_": rejected}
        components = Components(found.mixture, found.errors, np.zeros(found.mixture.n_components), n, more=more)
        if self.drop_unseen and not components.visible.all():
            components = components.without_unseen()[0]
        names = getattr(self, "feature_names_in_", None)
        box = Box(client.lower, client.upper, None if names is None else tuple(map(str, names)))
        self.__dict__.update(components.attributes(), bounds_=box, privacy_=_statement(client))
        self._diagnose()
        self._warn(stacklevel=3)
        return self


def _entries(reports: Any) -> Iterator[Any]:
    """Return what yields one entry per respondent, or refuse what does not."""
    try:
        if isinstance(reports, str | bytes | bytearray | memoryview | dict):
            raise TypeError
        return iter(reports)  # an array without axes has no entries
    except TypeError:
        raise DataError("reports must be a list with one entry per respondent") from None


def _box(bounds: Any, n_columns: int | None, names: Any) -> Box:
    """Return public bounds as a box, its columns in the order of their names if these are known."""
    if isinstance(bounds, Box) and n_columns is None:
        return bounds
    if n_columns is None:
        try:
            n_columns = len(bounds) if isinstance(bounds, dict) else int(np.size(np.asarray(bounds[0], dtype=float)))
        except (TypeError, ValueError, IndexError, KeyError):
            n_columns = 1
    if names is None and isinstance(bounds, dict) and all(isinstance(name, str) for name in bounds):
        names = list(bounds)
    box = domain_from(bounds, n_columns, names)
    if not isinstance(box, Box):
        raise BoundsError("local reports need a box of bounds, not a ball")
    return box


def _statement(client: Client) -> Privacy:
    """State what one report costs, from the probabilities or noise that its client uses."""
    cost = client.cost
    entry = Entry(
        query=f"report by {client.kind}",
        shape=(len(client.lower),),
        share=1.0,
        law=client.kind if not isinstance(client, Noisy) else client.budget.law.name,
        sensitivity=1.0,
        scale=1.0 / max(cost.epsilon, 1e-300) if not isinstance(client, Noisy) else client.scale / client._apart,
        cost=cost,
        relation="replace_one",
        unit="record",
        noise="secure noise",
        private=True,
    )
    return Privacy(
        epsilon=client.epsilon,
        delta=client.delta,
        relation="replace_one",
        unit="record",
        estimator="LocalGaussianMixture",
        dataset="reports",
        spent=cost,
        releases=(entry,),
        assumed_public=("the parameters", "bounds", "column names", "who sent a report"),
    )
