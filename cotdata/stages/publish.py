"""publish: send datasets, or one model folder, to the Hub.

Reads datasets (each becomes a config of one repository) or a finished model;
writes one commit and then one tag there, and loads it back from the tag. Private
unless --public. What is sent is searched for keys and paths first. With --dry-run
the very files are written to a folder instead. The token is HF_TOKEN or the
saved login, never an option.

    cotdata publish d/arms/G d/arms/W --repo org/name
"""

from __future__ import annotations

import filecmp
import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath

import typer

from cotdata import options as opt
from cotdata.command import new_app, print_result
from cotdata.errors import HubError, OutputExists, UsageError
from cotdata.progress import say
from cotdata.publishing import Bundle
from cotdata.publishing.datasets import stage_datasets
from cotdata.publishing.exports import Shape
from cotdata.publishing.hub import CARD, Changes, HubRepo, Passing, Sent, next_tag, send
from cotdata.publishing.leaks import refuse_leaks, refuse_leaks_in
from cotdata.publishing.models import is_model, stage_model
from cotdata.publishing.reload import check_reload
from cotdata.store import open_dataset

# What the Hub allows in a config's name, and a folder of any file system.
CONFIG_NAME = re.compile(r"\w[\w.-]*")

app = new_app()


@app.command(epilog="Example: cotdata publish d/arms/G d/arms/W --repo org/name --dry-run")
def publish(
    sources: list[str] = typer.Argument(
        ..., metavar="[NAME=]DATASET...", help="Datasets, or one model folder.", show_default=False
    ),
    repo: str = typer.Option(..., metavar="ORG/NAME", help="The repository on the Hub."),
    shape: Shape = typer.Option("messages", help="messages, prompt-completion or raw."),
    shots: int = typer.Option(0, min=0, help="Worked examples before the problem."),
    tag: str | None = typer.Option(None, help="Name of this version; default the next vN."),
    public: bool = typer.Option(False, "--public", help="All may read it; else private."),
    reload: bool = typer.Option(True, help="Load it back from the tag and count the rows."),
    out: opt.Out = None,
    dry_run: opt.DryRun = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Send datasets, or one model folder, to the Hub."""
    flags = opt.RunFlags(out=out, dry_run=dry_run, as_json=as_json, quiet=quiet)
    if repo.count("/") != 1:
        raise UsageError(f"{repo!r} is no repository", hint="write ORG/NAME")
    if out is not None and not dry_run:
        raise UsageError("nothing is written here", hint="-o goes with --dry-run")
    opt.home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=opt.home(), prefix=".publish-") as folder:
        bundle = _stage(sources, Path(folder) / "files", repo, shape, shots)
        if dry_run:
            _dry_run(bundle, tag, public, flags)
            return
        refuse_leaks(bundle.folder, bundle.files)
        refuse_leaks_in(bundle.card.text(None), CARD)
        done = send(bundle, _repo(bundle), tag=tag, public=public)
        if reload and bundle.splits:
            check_reload(repo, done.tag, bundle.splits)
    say(f"publish: {_story(done, bundle)}", quiet=quiet)
    record = {"tag": done.tag, "commit": done.oid, "fresh": done.fresh}
    print_result(f"hf:{repo}@{done.tag}", flags, record)


def _stage(sources: list[str], folder: Path, repo: str, shape: Shape, shots: int) -> Bundle:
    places = [opt.resolve_input(source) if source == "-" else source for source in sources]
    if any(is_model(Path(place)) for place in places):
        if len(places) > 1:
            raise UsageError("a model is published alone", hint="one repository for each")
        return stage_model(Path(places[0]), folder, repo=repo)
    datasets = {}
    for place in places:
        name, equals, address = place.partition("=")
        if not equals or not CONFIG_NAME.fullmatch(name):
            name, address = PurePosixPath(place).name, place
        if not CONFIG_NAME.fullmatch(name) or name in datasets:
            raise UsageError(
                f"{name!r} is no name for a config, or another has it", hint="write NAME=DATASET"
            )
        datasets[name] = open_dataset(address)
    return stage_datasets(datasets, folder, repo=repo, shape=shape, num_shots=shots)


def _repo(bundle: Bundle) -> HubRepo:
    from huggingface_hub import HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    return HubRepo(HfApi(), bundle.card.title, bundle.kind)


def _story(done: Sent, bundle: Bundle) -> str:
    if not done.fresh:
        return f"already published as {done.tag}, nothing was sent"
    rows = sum(sum(splits.values()) for splits in bundle.splits.values())
    what = f"{rows:,} rows in {len(bundle.splits)} configs" if bundle.splits else "the model"
    return f"{what} are in commit {done.oid[:12]}, tagged {done.tag}"


def _dry_run(bundle: Bundle, tag: str | None, public: bool, flags: opt.RunFlags) -> None:
    changes, tags = _plan(bundle, public)
    if changes.card is not None:
        (bundle.folder / CARD).write_bytes(changes.card.encode())
    sent = [*changes.add, *([CARD] if changes.card is not None else [])]
    for name in set(bundle.files) - set(sent):
        (bundle.folder / name).unlink()
    refuse_leaks(bundle.folder, sent)
    out = Path(flags.out or opt.home() / f"publish-{bundle.digest[:12]}")
    _place(bundle.folder, out, sent)
    lines = [
        f"publish: would send to the {'public' if public else 'private'} {bundle.kind} "
        f"{bundle.card.title}, tagged {tag or next_tag(tags)}:",
        *(f"  add    {name}  {(out / name).stat().st_size:,} bytes" for name in sent),
        *(f"  delete {name}" for name in changes.delete),
    ]
    say("\n".join(lines), quiet=flags.quiet)
    print_result(str(out), flags, {"add": sent, "delete": changes.delete})


def _plan(bundle: Bundle, public: bool) -> tuple[Changes, dict[str, str]]:
    """What would be sent, as far as the Hub can be asked; else as to a new repository."""
    try:
        repo = _repo(bundle)
        return repo.changes(bundle, repo.head(public=public)), repo.tags()
    except (HubError, Passing) as error:
        say(f"publish: planned as for a new repository, since the Hub was not read: {error}")
        return Changes(add=list(bundle.files), delete=[], card=bundle.card.text(None)), {}


def _place(folder: Path, out: Path, names: list[str]) -> None:
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, out)
        return
    there = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    same, *_ = filecmp.cmpfiles(folder, out, names, shallow=False)
    if sorted(there) != sorted(names) or sorted(same) != sorted(names):
        raise OutputExists(
            "something else is here", where=str(out), hint="choose another -o, or delete it"
        )
