"""What can be drawn and written as a page: `plot`, `report`.

Picture and page are made at the top of the house, from what a result has published. Results stand below
and do not import them: they look them up by name when they are asked for, as the package does with its estimators.
"""

from base64 import b64encode
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from os import PathLike
from typing import Any, ClassVar

_PAGE = "knoll.report.page"


class Reported:
    """Base of results with a picture and a report."""

    _picture: ClassVar[tuple[str, str]] = ("knoll.plots", "plot")
    """What draws it: a module and its function."""

    def plot(self, title: str | None = None, *, map: tuple[str, str] | bool | None = None) -> Any:
        """Draw what was found, and how sure it is, from released values alone: it costs no budget.

        It needs matplotlib: ``pip install "knoll[plots]"``.

        Parameters
        ----------
        title : str, optional
            Headline.
        map : pair of str or bool, optional
            Names of the columns of longitudes and latitudes, which are drawn as a map; False for no map. By default,
            the names of the columns tell (``lon`` and ``lat``, ``start_lng`` and ``start_lat``).

        Returns
        -------
        figure : matplotlib Figure
            Notebooks show it; ``figure.savefig("picture.png")`` keeps it.
        """
        module, name = self._picture
        asked = {} if map is None else {"map": map}
        return getattr(import_module(module), name)(self, title, **asked)

    def _picture_data(self) -> str | None:
        """Return the picture as an address that holds it, for notebooks; None if there is none, or no matplotlib."""
        if find_spec("matplotlib") is None:
            return None
        try:
            figure = self.plot()
        except ValueError:  # of some results there is none: curves over three predictors
            return None
        held = BytesIO()
        figure.savefig(held, dpi=75, format="png", metadata={"Software": None})
        return f"data:image/png;base64,{b64encode(held.getvalue()).decode()}"

    def report(
        self,
        path: str | PathLike[str] = "report.html",
        *,
        command: str | None = None,
        map: tuple[str, str] | bool | None = None,
    ) -> None:
        """Write what was found, how sure it is, what it cost and how to use it as one HTML file.

        The page is made from released values and public parameters alone: it costs no budget and may be published. It
        needs no network.

        Parameters
        ----------
        path : path-like
            The file to write; replaced in one step if it exists.
        command : str, optional
            The command that made the result, to be shown.
        map : pair of str or bool, optional
            Columns of longitudes and latitudes, as in `plot`.
        """
        import_module(_PAGE).write_report(self, path, command=command, map=map)
