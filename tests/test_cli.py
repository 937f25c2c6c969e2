"""Rulings on the command line: what stdout, stderr and the exit status say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from shell import bash, cotdata

from cotdata.cli import STAGES

ROOT = Path(__file__).parents[1]
HEAVY = "{'torch', 'vllm', 'datasets', 'pyarrow', 'transformers', 'duckdb', 'numpy'}"


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    ran = cotdata("ingest", "countdown:n=30,numbers=2", "-o", "p", "-q", cwd=folder)
    assert (ran.code, ran.out, ran.err) == (0, "p\n", "")
    return folder


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys; sys.argv = ['cotdata', '--help']\n"
        "from cotdata.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"sys.exit(bool({HEAVY} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_every_command_has_help_that_ends_with_an_example(stage: str, tmp_path: Path) -> None:
    ran = cotdata(stage, "--help", cwd=tmp_path)
    assert ran.code == 0
    assert f"Example: cotdata {stage}" in " ".join(ran.out.split())


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_every_command_is_in_the_readme(stage: str) -> None:
    assert f"`{stage}`" in (ROOT / "README.md").read_text()


def test_stdout_is_the_path_and_stderr_says_where_the_rows_went(tmp_path: Path) -> None:
    ran = cotdata("ingest", "countdown:n=5,numbers=2", "-o", "p", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "p\n")
    line = "ingest: 5 read = 5 passed + 0 rejected + 0 failed; 5 rows written\n"
    assert ran.err == line


def test_json_prints_one_object(problems: Path) -> None:
    ran = cotdata("human", "p", "-o", "h", "--json", "-q", cwd=problems)
    record = json.loads(ran.out)
    assert (record["path"], record["fates"]["passed"], record["kind"]) == ("h", 30, "trace")


def test_stages_chain_in_a_pipe(problems: Path) -> None:
    ran = bash(
        "cotdata human p -o a/h -q | cotdata verify - -o a/v -q "
        "| cotdata filter - --verdict correct -o a/g -q",
        problems,
    )
    assert (ran.code, ran.out, ran.err) == (0, "a/g\n", "")


def test_a_dead_upstream_is_named(problems: Path) -> None:
    ran = bash("cotdata verify nowhere -q | cotdata filter - --verdict correct -q", problems)
    assert ran.code == 1
    assert "nowhere: no dataset here" in ran.err
    assert "no dataset path came through the pipe" in ran.err


def test_nothing_survived_is_exit_status_3_and_a_dataset(problems: Path) -> None:
    ran = bash("cotdata human p -o b/h -q | cotdata verify - -o b/v -q", problems)
    ran = cotdata("filter", "b/v", "--verdict", "timeout", "-o", "b/none", cwd=problems)
    assert (ran.code, ran.out) == (3, "b/none\n")
    assert "30 verdict_correct" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("sample",),
        ("filter", "p", "--no-such-option"),
        ("filter", "p", "--verdict", "maybe"),
        ("ingest", "x.jsonl", "--task", "gsm9k"),
        ("no-such-stage",),
    ],
)
def test_usage_errors_are_exit_status_2(words: tuple[str, ...], problems: Path) -> None:
    assert cotdata(*words, cwd=problems).code == 2


def test_an_unknown_task_lists_the_known_ones(tmp_path: Path) -> None:
    ran = cotdata("ingest", "x.jsonl", "--task", "gsm9k", cwd=tmp_path)
    assert "did you mean 'gsm8k'? known: countdown, " in ran.err


def test_a_dry_run_writes_nothing_and_shows_an_example(problems: Path) -> None:
    ran = cotdata("human", "p", "-o", "dry", "--dry-run", cwd=problems)
    assert (ran.code, ran.out) == (0, "")
    assert "would read 30 rows" in ran.err
    assert "<answer>" in ran.err
    assert not (problems / "dry").exists()


def test_a_reader_that_leaves_is_no_failure(problems: Path) -> None:
    ran = bash("cotdata show p -n 30 | head -1 >/dev/null", problems)
    assert (ran.code, ran.err) == (0, "")


def test_a_stage_that_reads_traces_says_so(problems: Path) -> None:
    ran = cotdata("verify", "p", cwd=problems)
    assert ran.code == 1
    assert "reads traces, but p holds problems" in ran.err


def test_an_output_with_other_options_is_refused(problems: Path) -> None:
    cotdata("human", "p", "-o", "kept", "-q", cwd=problems)
    ran = cotdata("human", "p", "-o", "kept", "--raw", cwd=problems)
    assert ran.code == 1
    assert "raw is False, asked True" in ran.err


def test_without_out_the_store_holds_the_result(problems: Path) -> None:
    ran = cotdata("human", "p", "-q", cwd=problems, COTDATA_HOME="store")
    again = cotdata("human", "p", cwd=problems, COTDATA_HOME="store")
    assert ran.out.startswith("store/human-")
    assert (again.out, again.code) == (ran.out, 0)
    assert "already done" in again.err


def test_limit_takes_the_first_rows(problems: Path) -> None:
    cotdata("human", "p", "--limit", 3, "-o", "three", "-q", cwd=problems)
    ran = cotdata("show", "three", "-n", 9, "--json", cwd=problems)
    assert len(ran.out.splitlines()) == 3


def test_explain_names_the_difference(problems: Path) -> None:
    cotdata("human", "p", "-o", "told", "-q", cwd=problems)
    same = cotdata("explain", "human", "p", "-o", "told", cwd=problems)
    other = cotdata("explain", "human", "p", "-o", "told", "--raw", cwd=problems)
    assert "is done" in same.out
    assert "raw is False, asked True" in other.out


def test_check_finds_a_changed_file(problems: Path) -> None:
    cotdata("human", "p", "-o", "hurt", "-q", cwd=problems)
    assert cotdata("check", "hurt", cwd=problems).code == 0
    (path,) = (problems / "hurt" / "data").glob("*.parquet")
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    ran = cotdata("check", "hurt", cwd=problems)
    assert ran.code == 1
    assert "the file changed since it was written" in ran.err


def test_diff_counts_changed_columns(problems: Path) -> None:
    cotdata("human", "p", "-o", "one", "-q", cwd=problems)
    cotdata("verify", "one", "-o", "two", "-q", cwd=problems)
    assert cotdata("diff", "one", "one", cwd=problems).out == "equal: the same rows\n"
    ran = cotdata("diff", "one", "two", "-n", 0, cwd=problems)
    assert ran.code == 3
    assert "30 rows differ in verdict\n" in ran.out


def test_lineage_tells_the_commands(problems: Path) -> None:
    cotdata("human", "p", "-o", "lin", "-q", cwd=problems)
    ran = cotdata("lineage", "lin", cwd=problems)
    assert "cotdata ingest countdown:n=30,numbers=2 --task countdown" in ran.out
    assert "cotdata human ingest-" in ran.out


def test_ls_lists_datasets_and_unfinished_runs(problems: Path) -> None:
    ran = cotdata("ls", ".", cwd=problems)
    assert "problems" in ran.out
    assert "ingest-" in ran.out
