"""report: one self-contained HTML page, with the same figures as JSON, CSV and SVG.

Reads any datasets: results of `eval` give accuracies with intervals and paired
tests, the others their counts and lineage. An arm is called as its folder, or
NAME=DATASET; results of one name on one set are runs of one arm.

    cotdata report d/results/untouched d/results/student d/W -o report.html
"""

from __future__ import annotations

from pathlib import Path

import typer

from cotdata import options as opt
from cotdata.command import new_app, print_result
from cotdata.errors import UsageError
from cotdata.progress import say
from cotdata.report.export import write_exports
from cotdata.report.page import render_html
from cotdata.report.results import COLUMNS, REJECTED_COLUMNS, ArmRows
from cotdata.report.summary import Report, summarise
from cotdata.store import open_dataset

app = new_app()


@app.command(epilog="Example: cotdata report d/results/untouched d/results/student -o report.html")
def report(
    sources: list[str] = typer.Argument(
        ..., metavar="[NAME=]DATASET...", help="Results and other datasets.", show_default=False
    ),
    out: str = typer.Option("report.html", "--out", "-o", metavar="FILE", help="The page."),
    data: str | None = typer.Option(
        None, metavar="DIR", help="Also write the figures as JSON, CSV and SVG here."
    ),
    title: str = typer.Option("cotdata report", help="The page's heading."),
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Write one HTML page from results and datasets."""
    found = summarise([_arm(source) for source in sources])
    page = Path(out)
    if page.suffix not in (".html", ".htm"):
        raise UsageError(f"{out} is no name for a page", hint="for example -o report.html")
    page.parent.mkdir(parents=True, exist_ok=True)
    unfinished = page.with_name(f".{page.name}.part")
    unfinished.write_text(render_html(found, title), encoding="utf-8")
    unfinished.replace(page)
    if data is not None:
        write_exports(found, Path(data))
    say(_lines(found), quiet=quiet)
    print_result(out, opt.RunFlags(as_json=as_json), {"accuracy": _accuracies(found)})


def _arm(source: str) -> ArmRows:
    name, equals, place = source.partition("=")
    place = opt.resolve_input(place if equals else source)
    dataset = open_dataset(place)
    dataset.check_files()
    columns = [name for name in COLUMNS if name in dataset.schema.names]
    rejects = list(REJECTED_COLUMNS)
    return ArmRows(
        name=name if equals else Path(place).name,
        manifest=dataset.manifest,
        batches=dataset.batches(columns),
        rejected=dataset.batches(rejects, folder="rejected"),
    )


def _lines(found: Report) -> str:
    lines = []
    for summary in found.sets:
        for arm in summary.arms:
            e = arm.accuracy
            interval = f"[{e.low:.1%}, {e.high:.1%}]"
            lines.append(f"  {arm.name:<20} {e.value:>6.1%} {interval} on {summary.name}")
    return "\n".join(lines) if lines else "report: no results among the datasets"


def _accuracies(found: Report) -> dict[str, dict[str, float]]:
    return {s.name: {arm.name: arm.accuracy.value for arm in s.arms} for s in found.sets}
