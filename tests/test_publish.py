"""Publishing: whole or not at all, tag last, nothing private, and it loads as it is."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hub_server import HubServer, Repo
from hypothesis import given
from hypothesis import strategies as st
from shell import Ran, cotdata
from toys import run_toy_ingest

from cotdata.errors import CotdataError, HubError, InputError, PartialRun
from cotdata.publishing import Bundle
from cotdata.publishing.cards import Card, merged_meta, split_card
from cotdata.publishing.datasets import stage_datasets
from cotdata.publishing.hub import WAITS_S, HubRepo, Sent, send
from cotdata.publishing.leaks import refuse_leaks, refuse_leaks_in
from cotdata.store import open_dataset

TOKEN = "hf_" + "AbCdEfGhIj" * 3


class NoWaits:
    """The time module of the Hub's own client, which also asks again, without its naps."""

    def __getattr__(self, name: str) -> Any:
        return (lambda _seconds: None) if name == "sleep" else getattr(time, name)


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.utils._http.time", NoWaits())


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        yield server


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """G and W, two small arms with verdicts, and the problems p."""
    folder = tmp_path_factory.mktemp("publish")
    cotdata("ingest", "countdown:n=12,numbers=2", "-o", "p", "-q", cwd=folder)
    cotdata("human", "p", "-o", "h", "-q", cwd=folder)
    cotdata("verify", "h", "-o", "v", "-q", cwd=folder)
    cotdata("filter", "v", "--verdict", "correct", "-o", "G", "-q", cwd=folder)
    cotdata("filter", "v", "--verdict", "correct", "--rows", 5, "-o", "W", "-q", cwd=folder)
    return folder


@pytest.fixture
def bundle(shop: Path, tmp_path: Path) -> Bundle:
    arms = {"G": open_dataset(str(shop / "G"))}
    return stage_datasets(arms, tmp_path / "files", repo="org/n", shape="messages")


def repo_of(hub: HubServer, waits: list[float] | None = None) -> HubRepo:
    from huggingface_hub import HfApi

    slept = waits if waits is not None else []
    return HubRepo(HfApi(hub.url, token=hub.token), "org/n", "dataset", sleep=slept.append)


def send_to(hub: HubServer, bundle: Bundle, tag: str | None = None, **more: Any) -> Sent:
    return send(bundle, repo_of(hub), tag=tag, **{"public": False, **more})


def env_of(hub: HubServer, folder: Path) -> dict[str, str]:
    return {
        "HF_ENDPOINT": hub.url, "HF_TOKEN": hub.token, "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1", "COTDATA_HOME": str(folder / "home"),
    }  # fmt: skip


def publish(hub: HubServer, shop: Path, folder: Path, *words: object) -> Ran:
    return cotdata("publish", *words, "--repo", "org/n", cwd=shop, **env_of(hub, folder))


def python(code: str, hub: HubServer, folder: Path, **more: str) -> str:
    import os

    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=280,
        env={**os.environ, **env_of(hub, folder), **more}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def oids(repo: Repo) -> list[str]:
    return [oid for oid, _title in repo.log]


def test_one_commit_on_the_head_then_the_tag(hub: HubServer, bundle: Bundle) -> None:
    done = send_to(hub, bundle)
    repo = hub.repo("org/n")
    assert (repo.private, repo.tags) == (True, {"v1": done.oid})
    assert [title for _, title in repo.log] == [
        "initial commit", f"cotdata publish n ({bundle.digest[:12]})"
    ]  # fmt: skip
    posts = [line.split("/")[-2] for line in hub.requests if line.startswith("POST")]
    assert posts[-2:] == ["commit", "tag"]


def test_the_repository_holds_what_was_staged(hub: HubServer, bundle: Bundle) -> None:
    done = send_to(hub, bundle)
    tree = hub.repo("org/n").trees[done.oid]
    assert tree.keys() == {*bundle.files, "README.md", ".gitattributes"}
    assert all(tree[name] == (bundle.folder / name).read_bytes() for name in bundle.files)


def test_the_same_again_sends_nothing(hub: HubServer, bundle: Bundle) -> None:
    first = send_to(hub, bundle)
    again = send_to(hub, bundle)
    assert (again.tag, again.oid, again.fresh) == ("v1", first.oid, False)
    assert len(hub.repo("org/n").log) == 2


def test_other_content_gets_the_next_tag_and_a_given_tag_is_never_moved(
    hub: HubServer, bundle: Bundle, shop: Path, tmp_path: Path
) -> None:
    send_to(hub, bundle)
    other = stage_datasets({"G": open_dataset(str(shop / "W"))}, tmp_path / "o", repo="org/n",
                           shape="messages")  # fmt: skip
    with pytest.raises(HubError, match=r"the tag v1 holds something else"):
        send_to(hub, other, tag="v1")
    assert len(hub.repo("org/n").log) == 2
    assert send_to(hub, other).tag == "v2"


def test_a_public_repository_wants_the_word_public(hub: HubServer, bundle: Bundle) -> None:
    hub.add_repo("org/n", private=False)
    with pytest.raises(HubError, match="nothing was sent: this repository is public"):
        send_to(hub, bundle)
    assert len(hub.repo("org/n").log) == 1
    assert send_to(hub, bundle, public=True).tag == "v1"


STEPS = ["/repos/create", "/revision/main", "/refs", "/tree/", "/preupload/", "/commit/", "/tag/"]


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize("step", STEPS)
def test_a_busy_hub_is_asked_again(hub: HubServer, bundle: Bundle, step: str, status: int) -> None:
    method = "GET" if step in ("/revision/main", "/refs", "/tree/") else "POST"
    hub.fail(method, step, status=status, times=2)
    done = send_to(hub, bundle)
    assert (len(hub.repo("org/n").log), hub.repo("org/n").tags) == (2, {"v1": done.oid})


@pytest.mark.parametrize("step", ["/repos/create", "/commit/", "/tag/"])
@pytest.mark.parametrize("after", [True, False])
def test_a_lost_answer_is_seen_as_done_and_nothing_is_sent_twice(
    hub: HubServer, bundle: Bundle, step: str, after: bool
) -> None:
    hub.fail("POST", step, after=after)
    done = send_to(hub, bundle)
    assert (len(hub.repo("org/n").log), hub.repo("org/n").tags) == (2, {"v1": done.oid})


def test_it_waits_as_long_as_it_is_asked_to(hub: HubServer, bundle: Bundle) -> None:
    waits: list[float] = []
    hub.fail("POST", "/commit/", status=429, Retry_After="7")
    hub.fail("POST", "/commit/", status=503)
    send(bundle, repo_of(hub, waits), tag=None, public=False)
    assert waits == [7.0, WAITS_S[1]]


def test_another_writer_is_not_overwritten(hub: HubServer, bundle: Bundle) -> None:
    def other(repo: Repo) -> None:
        repo.commit({**repo.trees[repo.head], "notes.txt": b"theirs"}, "theirs")

    hub.between.append(other)
    done = send_to(hub, bundle)
    assert hub.repo("org/n").trees[done.oid]["notes.txt"] == b"theirs"
    assert [title for _, title in hub.repo("org/n").log][1] == "theirs"


@pytest.mark.parametrize(
    ("status", "hint"),
    [(401, "hf auth login"), (403, "write access"), (404, "check the name"), (409, "another name")],
)
@pytest.mark.parametrize("step", ["/preupload/", "/commit/", "/tag/"])
def test_a_refusal_says_what_to_do_and_is_not_repeated(
    hub: HubServer, bundle: Bundle, step: str, status: int, hint: str
) -> None:
    hub.fail("POST", step, status=status)
    with pytest.raises(HubError, match=hint) as found:
        send_to(hub, bundle)
    assert f"the Hub answered {status}" in str(found.value)
    assert sum(step in line for line in hub.requests) == 1


@pytest.mark.parametrize("status", [412, 429, 502])
@pytest.mark.parametrize("step", ["/preupload/", "/commit/", "/tag/"])
def test_a_failure_midway_leaves_the_last_tag_and_the_same_command_goes_on(
    hub: HubServer, bundle: Bundle, shop: Path, tmp_path: Path, step: str, status: int
) -> None:
    first = send_to(hub, bundle)
    other = stage_datasets({"G": open_dataset(str(shop / "W"))}, tmp_path / "o", repo="org/n",
                           shape="messages")  # fmt: skip
    hub.fail("POST", step, status=status, times=99)
    with pytest.raises(PartialRun, match=str(status)):
        send_to(hub, other)
    assert hub.repo("org/n").tags == {"v1": first.oid}
    hub.faults.clear()
    done = send_to(hub, other)
    assert (done.tag, len(hub.repo("org/n").log)) == ("v2", 3)


def test_files_of_an_earlier_version_do_not_stay(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    arms = {name: open_dataset(str(shop / name)) for name in "GW"}
    send_to(hub, stage_datasets(arms, tmp_path / "a", repo="org/n", shape="raw"))
    only = {"G": arms["G"]}
    done = send_to(hub, stage_datasets(only, tmp_path / "b", repo="org/n", shape="messages"))
    tree = hub.repo("org/n").trees[done.oid]
    assert "G/manifest.json" not in tree
    assert "W/manifest.json" in tree
    configs = split_card(tree["README.md"].decode())[0]["configs"]
    assert {config["config_name"] for config in configs} == {"G", "W", "W-rejected"}


CARD = Card(
    title="org/n",
    meta={"license": ["mit"], "tags": ["a"], "configs": [{"config_name": "G", "data_files": []}]},
    sections={"G": "## G\n\nours"},
)
BODIES = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=60)


@given(BODIES, st.sampled_from(["", "---\ntags: b\nlicense: other\n---\n"]))
def test_merging_a_card_twice_changes_nothing(body: str, front: str) -> None:
    once = CARD.text(front + body)
    assert CARD.text(once) == once


def test_what_people_wrote_stays_and_our_section_is_replaced() -> None:
    theirs = "---\ntags:\n- b\npretty_name: Mine\n---\n# Mine\n\nKeep this.\n"
    merged = Card(title="x", meta=CARD.meta, sections={"G": "newer"}).text(CARD.text(theirs))
    assert "Keep this." in merged
    assert ("ours" in merged, merged.count("newer")) == (False, 1)
    assert split_card(merged)[0]["tags"] == ["b", "a"]
    assert split_card(merged)[0]["pretty_name"] == "Mine"


def test_counts_that_our_files_would_belie_are_taken_out() -> None:
    info = [{"config_name": "G", "splits": [1]}, {"config_name": "other"}]
    merged = merged_meta({"dataset_info": info}, CARD.meta, ())
    assert merged["dataset_info"] == [{"config_name": "other"}]


def test_a_card_that_cannot_be_read_is_not_replaced() -> None:
    with pytest.raises(InputError, match="no YAML"):
        CARD.text("---\na: [1\n---\n")


LEAKS = {
    "token": f"export HF_TOKEN={TOKEN}",
    "key": "sk-" + "a1B2c3D4" * 4,
    "home": "see /home/alice/data.jsonl",
    "mac": "in /Users/alice/runs",
    "windows": r"in C:\Users\alice\runs",
    "root": "in /root/models/x",
}


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS.keys())
@pytest.mark.parametrize("name", ["x.txt", "config.json", "notes/y.bin"])
def test_keys_and_home_folders_are_refused_in_any_file(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(b"\0" * ((1 << 20) - 8) + b"\n" + text.encode())
    with pytest.raises(InputError, match="nothing was sent"):
        refuse_leaks(tmp_path, [name])


@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS.keys())
def test_a_leak_within_a_row_is_refused(bundle: Bundle, text: str) -> None:
    name = next(name for name in bundle.files if name.endswith(".parquet"))
    table = pq.read_table(bundle.folder / name).to_pylist()
    table[3]["messages"][1]["content"] = f"so it is\n{text}"
    import pyarrow as pa

    pq.write_table(pa.Table.from_pylist(table), bundle.folder / name)
    with pytest.raises(InputError, match="nothing was sent"):
        refuse_leaks(bundle.folder, bundle.files)


def test_a_key_is_not_shown_in_the_message() -> None:
    with pytest.raises(InputError) as found:
        refuse_leaks_in(TOKEN, "x")
    assert TOKEN not in str(found.value)


@pytest.mark.parametrize("text", ["--student /scratch/m/smollm2", '"/data/x/y.jsonl"'])
def test_no_absolute_path_is_in_what_we_write(text: str) -> None:
    with pytest.raises(InputError, match="absolute path"):
        refuse_leaks_in(text, "manifest.json")


@pytest.mark.parametrize(
    "text",
    ["https://host.org/home/alice/x", "half of 3/4/5", "a/b/c", "task-sk-x", "</answer>/x", "~/x/y",
     "hf:org/name@v1", "raw/data/train-*", "s3://bucket/home/x"],
)  # fmt: skip
def test_what_is_no_leak_passes(text: str) -> None:
    refuse_leaks_in(text, "README.md")


def test_a_leak_stops_the_command_before_anything_is_sent(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    cotdata("filter", "G", "--where", f"trace <> '{TOKEN}'", "-o", tmp_path / "L", cwd=shop)
    ran = publish(hub, shop, tmp_path, tmp_path / "L")
    assert (ran.code, ran.out) == (1, "")
    assert "it holds a Hugging Face token" in ran.err
    assert hub.requests == []


def test_the_command_prints_an_address_that_cotdata_reads(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    ran = publish(hub, shop, tmp_path, "G", "second=W", "--shape", "raw")
    assert (ran.code, ran.out) == (0, "hf:org/n@v1\n")
    assert "17 rows" not in ran.err
    back = cotdata("check", "hf:org/n@v1:second", cwd=shop, **env_of(hub, tmp_path))
    assert back.code == 0, back.err


def test_a_dry_run_writes_the_very_bytes_and_sends_nothing(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    out = tmp_path / "dry"
    ran = publish(hub, shop, tmp_path, "G", "--dry-run", "-o", out)
    assert (ran.code, ran.out, hub.repos) == (0, f"{out}\n", {})
    publish(hub, shop, tmp_path, "G")
    tree = hub.repo("org/n").trees[hub.repo("org/n").head]
    there = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert there == {name: content for name, content in tree.items() if name != ".gitattributes"}


def test_a_dry_run_shows_the_merged_card(hub: HubServer, shop: Path, tmp_path: Path) -> None:
    repo = hub.add_repo("org/n")
    repo.commit({"README.md": b"# Mine\n\nKeep this.\n"}, "theirs")
    publish(hub, shop, tmp_path, "G", "--dry-run", "-o", tmp_path / "dry")
    assert "Keep this." in (tmp_path / "dry" / "README.md").read_text()


LOAD = """
import datasets, json
datasets.disable_progress_bars()
found = {}
for config, streaming in (("G", False), ("G", True), ("W", False)):
    loaded = datasets.load_dataset("org/n", config, revision="v1", streaming=streaming)
    found[f"{config} {streaming}"] = [sum(1 for _ in loaded["train"]), sorted(loaded)]
    found["row"] = next(iter(loaded["train"]))["messages"]
print(json.dumps(found))
"""


def test_the_tag_loads_with_datasets_streaming_and_not(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    ran = publish(hub, shop, tmp_path, "G", "W", "--json")
    assert json.loads(ran.out)["tag"] == "v1"
    # A later commit, without a tag, changes nothing for those who load by tag.
    hub.repo("org/n").commit({}, "emptied")
    found = json.loads(python(LOAD, hub, tmp_path))
    assert found["G False"] == found["G True"] == [12, ["train"]]
    assert found["W False"] == [5, ["train"]]
    assert [message["role"] for message in found["row"]] == ["user", "assistant"]


def test_a_published_set_that_does_not_load_back_is_said(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    hub.fail("GET", "/data/train-", status=404, times=99)
    hub.fail("HEAD", "/data/train-", status=404, times=99)
    ran = publish(hub, shop, tmp_path, "G")
    assert (ran.code, ran.out) == (1, "")
    assert "sent and tagged, but the config G does not load back" in ran.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["G", "G"], 2, "another has it"),
        (["p"], 1, "publish problems with --shape raw"),
        (["nothing"], 1, "no dataset here"),
        (["G", "-o", "x"], 2, "goes with --dry-run"),
    ],
)
def test_what_cannot_be_published_is_refused_before_the_hub_is_asked(
    hub: HubServer, shop: Path, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    ran = publish(hub, shop, tmp_path, *words)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert hub.requests == []


def test_a_wrong_token_is_named(hub: HubServer, bundle: Bundle) -> None:
    from huggingface_hub import HfApi

    repo = HubRepo(HfApi(hub.url, token="wrong"), "org/n", "dataset")
    with pytest.raises(CotdataError, match="hf auth login"):
        send(bundle, repo, tag=None, public=False)


def test_an_export_holds_one_training_shape_and_no_column_a_trainer_would_take(
    shop: Path, tmp_path: Path
) -> None:
    arms = {"G": open_dataset(str(shop / "G"))}
    columns = {}
    for shape in ("messages", "prompt-completion"):
        staged = stage_datasets(arms, tmp_path / shape, repo="org/n", shape=shape)
        place = next(p for p in staged.files if p.endswith(".parquet"))
        columns[shape] = set(pq.read_schema(staged.folder / place).names)
    takes = {"prompt", "completion", "chosen", "rejected", "messages", "text", "conversations"}
    assert columns["messages"] & takes == {"messages"}
    assert columns["prompt-completion"] & takes == {"prompt", "completion"}


def test_the_card_tells_how_it_was_made(bundle: Bundle) -> None:
    card = bundle.card.text(None)
    for said in ("cotdata ingest countdown:n=12,numbers=2", "cotdata filter verify-", "apache-2.0",
                 "| filter | 12 | 12 | 0 | 0 | 12 |", "correct (12)", "Origins: human (12)",
                 "| `messages` |"):  # fmt: skip
        assert said in card, said


TRAIN = """
import datasets
from pathlib import Path
from tinymodels import FAMILIES, make_student
from trl import SFTConfig, SFTTrainer
datasets.disable_progress_bars()
folder = make_student(Path(FOLDER), FAMILIES[1])
config = SFTConfig(output_dir=FOLDER, max_steps=1, per_device_train_batch_size=2, report_to=[],
                   use_cpu=True, bf16=False, save_strategy="no", max_length=512)
for tag in ("v1", "v2"):
    rows = datasets.load_dataset("org/n", "G", revision=tag)["train"]
    trainer = SFTTrainer(str(folder), args=config, train_dataset=rows)
    print(trainer.train().training_loss > 0)
"""


def test_both_exports_train_in_trl_as_they_are(hub: HubServer, shop: Path, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    for shape in ("messages", "prompt-completion"):
        publish(hub, shop, tmp_path, "G", "--shape", shape, "--no-reload")
    code = f"FOLDER = {str(tmp_path / 'student')!r}\n{TRAIN}"
    said = python(code, hub, tmp_path, PYTHONPATH=str(Path(__file__).parent))
    assert said.split("\n")[-1] == "True"
    assert said.count("True") == 2


def test_a_model_is_sent_with_its_lineage_and_without_the_runs_leavings(
    hub: HubServer, shop: Path, tmp_path: Path
) -> None:
    model = tmp_path / "student"
    model.mkdir()
    steps = json.loads((shop / "G" / "manifest.json").read_text())["ancestors"]
    (model / "cotdata.json").write_text(json.dumps({"id": "train-1", "steps": steps}))
    for name in ("config.json", "model.safetensors", "training_args.bin", "trainer_state.json"):
        (model / name).write_text("{}")
    ran = publish(hub, shop, tmp_path, model)
    assert (ran.code, ran.out) == (0, "hf:org/n@v1\n"), ran.err
    tree = hub.repo("org/n", "models").trees[hub.repo("org/n", "models").head]
    assert tree.keys() == {".gitattributes", "README.md", "config.json", "cotdata.json",
                           "model.safetensors"}  # fmt: skip
    assert b"cotdata verify human-" in tree["README.md"]


def test_problems_are_published_raw(hub: HubServer, shop: Path, tmp_path: Path) -> None:
    ran = publish(hub, shop, tmp_path, "p", "--shape", "raw")
    assert (ran.code, ran.out) == (0, "hf:org/n@v1\n"), ran.err


def test_several_splits_are_kept(hub: HubServer, tmp_path: Path) -> None:
    toys = run_toy_ingest(tmp_path / "toys")
    staged = stage_datasets({"toys": toys}, tmp_path / "s", repo="org/n", shape="raw")
    assert staged.splits == {"toys": {"test": 4, "train": 16}}
