"""What every fitted estimator says of itself: `diagnostics_`, and its HTML in a notebook."""

from typing import Any

from knoll.diagnose.checks import diagnose
from knoll.diagnose.diagnostic import Diagnostic, warn
from knoll.diagnose.facts import Facts, facts_of
from knoll.diagnose.html import doc_link, remarks_html
from knoll.reported import Reported


class Diagnosed(Reported):
    """Base of estimators with `diagnostics_`. A method may add to `_facts`."""

    diagnostics_: tuple[Diagnostic, ...]

    def _facts(self) -> Facts:
        """Return what a diagnosis reads: released values and public parameters."""
        return facts_of(self)

    def _diagnose(self) -> None:
        """Set `diagnostics_`, from what is published alone."""
        self.diagnostics_ = diagnose(self._facts())

    def _warn(self, stacklevel: int = 2) -> None:
        """Give one warning if there are remarks from "warning" on."""
        warn(type(self).__name__, self.diagnostics_, stacklevel + 1)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what a notebook shows: the box with remarks and privacy statement and, once fitted, the picture."""
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in shown and hasattr(self, "privacy_") and (picture := self._picture_data()) is not None:
            shown["text/html"] += f'<img alt="picture of the released values" src="{picture}">'
        return shown

    def _get_doc_link(self) -> str:
        """Return where the box's question mark leads: the page of this estimator, if the site's address is known."""
        return doc_link(type(self).__name__)

    def _html_repr(self) -> str:
        """Return scikit-learn's box and, once fitted, remarks and privacy statement."""
        return super()._html_repr() + remarks_html(self)  # type: ignore[misc]
