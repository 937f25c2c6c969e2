"""The report's numbers as JSON and CSV, and its figures as SVG files.

write_exports(report, Path("report"))    # report/report.json, accuracy.csv, …, *.svg
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from cotdata.report.arms import ArmSummary
from cotdata.report.figures import figures
from cotdata.report.intervals import Estimate
from cotdata.report.summary import Report
from cotdata.report.svg import standalone

CsvRow = dict[str, object]


def report_json(report: Report) -> str:
    return json.dumps(asdict(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def csv_tables(report: Report) -> dict[str, str]:
    """File name to text, in long form: one figure a line."""
    return {
        "accuracy.csv": _csv(_estimate_rows(report)),
        "differences.csv": _csv(_difference_rows(report)),
        "verdicts.csv": _csv(_verdict_rows(report)),
        "fates.csv": _csv(_fate_rows(report)),
    }


def write_exports(report: Report, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"report.json": report_json(report), **csv_tables(report)}
    texts |= {f"{name}.svg": standalone(svg) for name, svg in figures(report).items()}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return [folder / name for name in texts]


def _csv(rows: Iterable[CsvRow]) -> str:
    """Empty without rows: a header is read off the first one."""
    rows = list(rows)
    if not rows:
        return ""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _estimate_rows(report: Report) -> Iterator[CsvRow]:
    for summary in report.sets:
        for arm in summary.arms:
            for figure, estimate in _estimates(arm):
                yield {
                    "set": summary.name,
                    "arm": arm.name,
                    "figure": figure,
                    **asdict(estimate),
                    "num_runs": arm.num_runs,
                    "samples_per_problem": arm.samples_per_problem,
                }


def _estimates(arm: ArmSummary) -> Iterator[tuple[str, Estimate]]:
    yield "accuracy", arm.accuracy
    if arm.accuracy_parsed is not None:
        yield "accuracy_parsed", arm.accuracy_parsed
    yield "no_answer_rate", arm.no_answer_rate
    yield "truncated_rate", arm.truncated_rate
    yield from ((f"pass@{k}", estimate) for k, estimate in arm.pass_at.items())
    yield from ((f"maj@{k}", estimate) for k, estimate in arm.majority_at.items())


def _difference_rows(report: Report) -> Iterator[CsvRow]:
    for summary in report.sets:
        for difference in summary.differences:
            yield {
                "set": summary.name,
                "first": difference.first,
                "second": difference.second,
                **asdict(difference.comparison),
                "p_holm": difference.p_holm,
            }


def _verdict_rows(report: Report) -> Iterator[CsvRow]:
    for summary in report.sets:
        for arm in summary.arms:
            for verdict, reasons in arm.reasons.items():
                for reason, count in reasons.items():
                    yield {
                        "set": summary.name,
                        "arm": arm.name,
                        "verdict": verdict,
                        "reason": reason,
                        "num_samples": count,
                    }


def _fate_rows(report: Report) -> Iterator[CsvRow]:
    for step in report.steps:
        for fate in ("read", "passed", "rejected", "failed", "written"):
            count = getattr(step.fates, fate)
            yield {"step": step.id, "stage": step.stage, "fate": fate, "reason": "", "rows": count}
        for reason, count in step.fates.reasons.items():
            yield {
                "step": step.id,
                "stage": step.stage,
                "fate": "lost",
                "reason": reason,
                "rows": count,
            }
