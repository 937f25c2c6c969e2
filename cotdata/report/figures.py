"""Which figures a report has: one name, one SVG each.

figures(report)["accuracy-gsm8k-test"]
"""

from __future__ import annotations

import re

from cotdata.report.charts import Bar, bars, curves, differences, histograms, shares, shortened
from cotdata.report.intervals import Estimate
from cotdata.report.lineage import lineage_figure
from cotdata.report.summary import Report, SetSummary

VERDICT_COLOURS = {
    "correct": "c2", "wrong": "c3", "no_answer": "c1", "timeout": "c4", "error": "c5",
    "no_trace": "c6", "unverified": "c0",
}  # fmt: skip


def figures(report: Report) -> dict[str, str]:
    found: dict[str, str] = {}
    for summary in report.sets:
        for name, svg in set_figures(summary).items():
            found[f"{name}-{slug(summary.name)}"] = svg
    return found | report_figures(report)


def set_figures(summary: SetSummary) -> dict[str, str]:
    """Empty where the set has no arm."""
    if not summary.arms:
        return {}
    of = f"on {summary.name}"
    found = {"accuracy": bars(f"Accuracy {of}", [_bar(a.name, a.accuracy) for a in summary.arms])}
    lines = tolerance(summary)
    if lines:
        found["tolerance"] = curves(f"Tolerance {of}", lines)
    if summary.differences:
        rows = [
            Bar(
                label=f"{shortened(d.first, 16)} − {shortened(d.second, 16)}",
                value=d.comparison.value,
                low=d.comparison.low,
                high=d.comparison.high,
                note=said_p(d.p_holm),
            )
            for d in summary.differences
        ]
        found["differences"] = differences(f"Paired differences {of}", rows)
    verdicts = {arm.name: arm.verdicts for arm in summary.arms}
    found["verdicts"] = shares(f"Verdicts {of}", verdicts, VERDICT_COLOURS, "share of all samples")
    if summary.lengths:
        found["lengths"] = histograms(f"Completion length {of}", summary.lengths)
    return found


def tolerance(summary: SetSummary) -> dict[str, list[tuple[float, Bar]]]:
    """Accuracy by level for each series of at least two levels."""
    lines: dict[str, list[tuple[float, Bar]]] = {}
    for arm in summary.arms:
        if arm.level:
            point = (arm.level.level, _bar(arm.name, arm.accuracy))
            lines.setdefault(arm.level.series, []).append(point)
    return {
        series: sorted(points, key=lambda point: point[0])
        for series, points in lines.items()
        if len(points) > 1
    }


def report_figures(report: Report) -> dict[str, str]:
    found = {}
    if report.trace_lengths:
        found["trace-lengths"] = histograms("Trace length", report.trace_lengths)
    names = {dataset.step.id: dataset.name for dataset in report.datasets}
    found["lineage"] = lineage_figure("Lineage", report.steps, names)
    return found


def _bar(label: str, estimate: Estimate) -> Bar:
    return Bar(
        label=label,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        note=f"n = {estimate.n:,} problems",
    )


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def said_p(p: float) -> str:
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
