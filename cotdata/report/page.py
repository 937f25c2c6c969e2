"""The report as one HTML file that needs nothing else: no script, no network.

render_html(summarise(arms))

Figures are inline SVG; everything that comes from data is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cotdata.report.charts import percent, points
from cotdata.report.figures import VERDICT_COLOURS, p_value, report_figures, set_figures
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
        percent=percent,
        points=points,
        p_value=p_value,
        estimate=said_estimate,
        count=said_count,
        at_k=at_k,
        interval_kinds=interval_kinds,
        verdicts_given=verdicts_given,
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        report=report,
        sets=[(summary, _safe(set_figures(summary)), headline(summary)) for summary in report.sets],
        figures=_safe(report_figures(report)),
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
    pairs = summary.differences
    clear = sum(pair.p_holm < 0.05 for pair in pairs)
    if len(pairs) == 1:
        shown = "differ" if clear else "are not shown to differ"
        return f"{said} The two arms {shown} at the 5% level."
    return f"{said} {clear} of {len(pairs)} pairs of arms differ at the 5% level (Holm)."


def interval_kinds(summary: SetSummary) -> str:
    arms_of: dict[str, list[str]] = {}
    for arm in summary.arms:
        arms_of.setdefault(METHODS[arm.accuracy.method], []).append(arm.name)
    if len(arms_of) == 1:
        return f"Kind of interval: {next(iter(arms_of))}."
    listed = "; ".join(f"{kind} for {', '.join(arms)}" for kind, arms in arms_of.items())
    return f"Kinds of interval: {listed}."


def verdicts_given(summary: SetSummary) -> list[str]:
    return [name for name in VERDICT_COLOURS if any(name in arm.verdicts for arm in summary.arms)]


@dataclass(frozen=True, kw_only=True)
class Table:
    columns: list[str]
    rows: dict[str, dict[str, Estimate]]


def at_k(summary: SetSummary) -> Table:
    """pass@k and maj@k of all arms, a column for each."""
    rows = {
        arm.name: {f"pass@{k}": value for k, value in arm.pass_at.items()}
        | {f"maj@{k}": value for k, value in arm.majority_at.items()}
        for arm in summary.arms
    }
    columns = {column for cells in rows.values() for column in cells}
    return Table(columns=sorted(columns, key=_kind_and_k), rows=rows)


def _kind_and_k(column: str) -> tuple[bool, int]:
    kind, _, k = column.partition("@")
    return kind == "maj", int(k)
