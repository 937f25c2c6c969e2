"""match: bring arms to the same problems, the same rows of each, and near token budgets.

Reads several datasets of traces and writes one per arm, OUT/<arm>; changes no
column. The rule is in `cotdata/matching.py`; each row that is left out goes to
`rejected/` as `problem_not_in_all`, `surplus` or `budget`. Every arm's manifest
names all arms as parents and the rule among its options. Arms that cannot be
matched are refused (exit status 3) and nothing is written.

    cotdata match d/H d/G d/W -o d/arms
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import typer

from cotdata import options as opt
from cotdata.command import new_app, reader_may_leave
from cotdata.errors import InputError, UsageError
from cotdata.journal import Outcome, passed, rejected
from cotdata.lengths import Unit, common_unit
from cotdata.locations import Location
from cotdata.manifest import run_id
from cotdata.matching import RULE, Balance, Candidate, Match, MatchRule, imbalance
from cotdata.matching import match as matched
from cotdata.modelref import model_ref
from cotdata.progress import say
from cotdata.runner import EXPLAIN, Finished, Stage, run_stage
from cotdata.store import Dataset, open_dataset, read_manifest

VERSION = 1

Arms = dict[str, Dataset]


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """`counted` is what the budgets are counted in; `arms` are the names of all of them."""

    per_problem: int | None = None
    token_tolerance: float = 0.1
    min_kept: float = 0.5
    tokenizer: str | None = None
    seed: int = 0
    tokenizer_digest: str | None = opt.derived(None)
    counted: str = opt.derived("")
    rule: str = opt.derived(RULE)
    arms: tuple[str, ...] = opt.derived(())
    arm: str = opt.derived("")
    group: str = opt.derived("")

    def match_rule(self) -> MatchRule:
        return MatchRule(
            per_problem=self.per_problem,
            tolerance=self.token_tolerance,
            min_kept=self.min_kept,
            seed=self.seed,
        )


def run(batches: Iterator[pa.RecordBatch], options: Options, *, found: Match) -> Iterator[Outcome]:
    lost = found.lost[options.arm]
    for batch in batches:
        for row_id in batch["trace_id"].to_pylist():
            reason = lost.get(row_id)
            yield passed(row_id, {}) if reason is None else rejected(row_id, *reason)


def stage_for(found: Match) -> Stage[Options]:
    return Stage(
        name="match",
        version=VERSION,
        kind="trace",
        reads=("trace_id",),
        writes=(),
        run=partial(run, found=found),
        remembers=True,
    )


app = new_app()


@app.command(epilog="Example: cotdata match d/H d/G d/W -o d/arms")
def match(
    sources: list[str] = typer.Argument(
        ..., metavar="[NAME=]DATASET...", help="Two or more arms.", show_default=False
    ),
    out: opt.Out = None,
    per_problem: int | None = typer.Option(None, min=1, help="At most K rows of each problem."),
    token_tolerance: float = typer.Option(
        0.1, min=0.0, help="How much more tokens the longest arm may have than the shortest."
    ),
    min_kept: float = typer.Option(
        0.5, min=0.0, max=1.0, help="Smallest share of the shared problems that may be left."
    ),
    tokenizer: str | None = typer.Option(
        None, help="Model whose tokenizer counts; else the tokens' column, or characters."
    ),
    seed: opt.Seed = 0,
    limit: opt.Limit = None,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Bring arms to the same problems, rows and tokens."""
    flags = opt.RunFlags(out=out, limit=limit, dry_run=dry_run, as_json=as_json, quiet=quiet)
    arms = _open_arms(sources)
    unit = common_unit(arms.values(), tokenizer)
    ref = model_ref(tokenizer) if tokenizer else None
    options = Options(
        per_problem=per_problem, token_tolerance=token_tolerance, min_kept=min_kept, seed=seed,
        tokenizer=ref.name if ref else None, tokenizer_digest=ref.digest if ref else None,
        counted=unit.name, arms=tuple(arms),
    )  # fmt: skip
    options = replace(options, group=_group(arms, options, limit))
    folder = out or str(opt.home() / options.group)
    places = {name: Location.parse(folder).child(name) for name in arms}
    found = Match(kept={}, lost={}, balances=[])
    if not EXPLAIN.get() and not all(read_manifest(place) for place in places.values()):
        found = _match(arms, unit, options, flags)
    done = [
        _write_arm(name, arms, replace(options, arm=name), found, replace(flags, out=str(place)))
        for name, place in places.items()
    ]
    _print_paths([one for one in done if one is not None], found, flags)


def _open_arms(sources: list[str]) -> Arms:
    """The arms by name, in the order of their names: the order given means nothing."""
    arms: Arms = {}
    for source in sources:
        name, equals, place = source.partition("=")
        if not equals or "/" in name:
            place = opt.resolve_input(source)
            name = Path(place).name
        if name in arms:
            raise UsageError(f"two arms are called {name!r}", hint="name one of them: NAME=DATASET")
        if not name or "/" in name or name.startswith("."):
            raise UsageError(f"{name!r} is no name for a folder", hint="write NAME=DATASET")
        arms[name] = open_dataset(place, kind="trace")
    if len(arms) < 2:
        raise UsageError("arms are matched with each other: give two or more")
    return dict(sorted(arms.items()))


def _group(arms: Arms, options: Options, limit: int | None) -> str:
    """The id that all arms of one match share."""
    content = {**opt.result_options(options), "limit": limit}
    return run_id("match", VERSION, content, [arm.parent for arm in arms.values()])


def _match(arms: Arms, unit: Unit, options: Options, flags: opt.RunFlags) -> Match:
    for arm in arms.values():
        arm.check_files()
    rows = {name: _candidates(name, arm, unit, flags.limit) for name, arm in arms.items()}
    found = matched(rows, options.match_rule())
    say(_table(found.balances, unit), quiet=flags.quiet)
    if found.refusal:
        say(f"match: refused: {found.refusal}")
        raise typer.Exit(3)
    return found


def _candidates(name: str, arm: Dataset, unit: Unit, limit: int | None) -> list[Candidate]:
    found: dict[str, Candidate] = {}
    columns = ["trace_id", "problem_id", *unit.columns]
    for batch in arm.batches(columns, limit=limit):
        ids, problems = batch["trace_id"].to_pylist(), batch["problem_id"].to_pylist()
        for row_id, problem, tokens in zip(ids, problems, unit.lengths(batch), strict=True):
            if row_id in found:
                raise InputError(f"two rows of {name} have the id {row_id}")
            found[row_id] = Candidate(row_id=row_id, problem_id=problem, tokens=tokens)
    return list(found.values())


def _table(balances: list[Balance], unit: Unit) -> str:
    head = f"{'arm':<16} {'problems':>17} {'rows':>19} {unit.name:>17} {'mean':>8} {'exchanged':>9}"
    lines = [head]
    for b in balances:
        problems = f"{b.problems:,} of {b.problems_in:,}"
        rows = f"{b.rows:,} of {b.rows_in:,}"
        mean = b.tokens / b.rows if b.rows else 0.0
        lines.append(
            f"{b.arm:<16} {problems:>17} {rows:>19} {b.tokens:>17,} {mean:>8,.1f} {b.exchanged:>9,}"
        )
    share = imbalance([b.tokens for b in balances])
    return "\n".join([*lines, f"match: the longest arm has {share:.1%} more than the shortest"])


def _write_arm(
    name: str, arms: Arms, options: Options, found: Match, flags: opt.RunFlags
) -> Finished | None:
    others = tuple(arm for other, arm in arms.items() if other != name)
    inputs = tuple(f"{other}={arm.id}" for other, arm in arms.items())
    return run_stage(
        stage_for(found), arms[name], options, flags, models=others, inputs=inputs
    )  # fmt: skip


def _print_paths(done: list[Finished], found: Match, flags: opt.RunFlags) -> None:
    if not done:
        return
    paths = [str(one.location) for one in done]
    record = {
        "paths": paths,
        "ids": [one.manifest.id for one in done],
        "rows": [one.manifest.fates.written for one in done],
    }
    with reader_may_leave():
        print(json.dumps(record, ensure_ascii=False) if flags.as_json else "\n".join(paths))
