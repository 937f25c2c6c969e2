"""The report as one HTML file that needs nothing else: no script, no network.

render_html(summarise(arms))

Figures are inline SVG; everything that comes from data is escaped.
"""

from __future__ import annotations

from typing import Any

from cotdata.report.charts import percent, points
from cotdata.report.figures import report_figures, said_p, set_figures
from cotdata.report.intervals import NUM_RESAMPLES, Estimate
from cotdata.report.summary import Report, SetSummary
from cotdata.report.svg import STYLE

METHODS = {
    "wilson": "Wilson interval",
    "bootstrap": "bootstrap over problems",
    "runs": "t interval over problems and training runs",
}


def render_html(report: Report, title: str = "cotdata report") -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("cotdata", "report"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=percent, points=points, said_p=said_p, estimate=said_estimate, count=said_count
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        report=report,
        sets=[(summary, _safe(set_figures(summary)), headline(summary)) for summary in report.sets],
        figures=_safe(report_figures(report)),
        methods=METHODS,
        num_resamples=NUM_RESAMPLES,
        style=Markup(STYLE),  # noqa: S704
    )


def _safe(figures: dict[str, str]) -> dict[str, Any]:
    """Our own SVG, whose texts were escaped where it was drawn."""
    from markupsafe import Markup

    return {name: Markup(svg) for name, svg in figures.items()}  # noqa: S704


def said_count(value: int) -> str:
    return f"{value:,}"


def said_estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    return f"{percent(estimate.value)} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def headline(summary: SetSummary) -> str:
    """The set in a sentence or two, before any figure."""
    if not summary.arms:
        return "No rows to report on."
    best = max(summary.arms, key=lambda arm: arm.accuracy.value)
    said = (
        f"{best.name} has the highest accuracy, {said_estimate(best.accuracy)}"
        f" over {best.accuracy.n:,} problems."
    )
    if not summary.differences:
        return said
    clear = sum(difference.p_holm < 0.05 for difference in summary.differences)
    return f"{said} {clear} of {len(summary.differences)} pairs of arms differ at the 5% level."
