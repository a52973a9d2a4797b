"""How sure it is: error bars, a number that was chosen, and remarks in plain words."""

from typing import Any

from knoll.report.page.html import Html, paragraph, tag

_SEVERITY = {"error": "Serious", "warning": "Doubtful", "info": "Good to know"}


def sure_part(model: Any) -> list[Html]:
    """Return what is said of the certainty of every model: a number that was chosen, and remarks."""
    return [*_number(model), tag("h3", "Remarks"), _remarks(getattr(model, "diagnostics_", ()))]


def _number(model: Any) -> list[Html]:
    """Return how sure a number of clusters or components is that was chosen."""
    for name, word in (("n_clusters", "clusters"), ("n_components", "components")):
        if getattr(model, name, 0) is None and hasattr(model, f"{name}_confidence_"):
            sure = float(getattr(model, f"{name}_confidence_"))
            others = [f"{k:.0f} ({chance:.0%})" for k, chance in getattr(model, f"{name}_candidates_")[1:]]
            words = f"The number of {word} was chosen. It is right within 5 % with probability {sure:.0%}."
            more = f" Other candidates: {', '.join(others)}." if others else ""
            doubt = "" if sure >= 0.5 else " That is too little to tell."
            return [tag("h3", f"The number of {word}"), paragraph(words + doubt + more)]
    return []


def _remarks(found: Any) -> Html:
    if not found:
        return paragraph("None. Nothing in the released values looks doubtful.")
    items = [
        tag(
            "li",
            tag("b", _SEVERITY[each.severity], class_=f"tag {each.severity}"),
            tag("p", each.message, " ", tag("span", each.advice, class_="advice")),
        )
        for each in found
    ]
    return tag("ul", *items, class_="remarks")
