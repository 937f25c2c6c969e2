"""What the README shows is what the commands do."""

import re
from pathlib import Path

import pytest
from shell import bash

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```\n(.*?)```", README, re.DOTALL)
SHARED = ROOT.parent / "shared"


def test_the_first_pipe_prints_what_is_shown(tmp_path: Path) -> None:
    shown = BLOCKS[0].removeprefix("$ ").splitlines()
    num_lines = 1 + sum(line.endswith("\\") for line in shown)
    command = "\n".join(shown[:num_lines])
    ran = bash(f"{{ {command}; }} 2>&1", tmp_path)
    assert ran.out.splitlines() == shown[num_lines:]


@pytest.mark.model
@pytest.mark.timeout(1800)
def test_the_pipe_with_a_model_runs(tmp_path: Path, smollm2: Path) -> None:
    data = SHARED / "data" / "gsm8k_train.jsonl"
    if not data.exists():
        pytest.skip("no ../shared/data here")
    script = next(block for block in BLOCKS if "cotdata model import" in block)
    script = script.replace("models/smollm2", str(smollm2))
    script = script.replace("gsm8k_train.jsonl", str(data))
    script = script.replace("--limit 64", "--limit 8").replace(
        "--max-tokens 160", "--max-tokens 24"
    )
    script = script.replace("--student", "--max-steps 1 --student")
    script = script.replace("--on d/test", "--on d/test --limit 2 --max-tokens 16")
    test = f"cotdata ingest {SHARED}/data/gsm8k_test.jsonl --task gsm8k --limit 8 -o d/test"
    # So few tokens rarely hold an answer: an empty arm is exit status 3, and no fault.
    script = script.replace("--verdict wrong", "--verdict wrong --verdict no_answer")
    ran = bash(f"set -e; {test}\n{script}", tmp_path)
    assert ran.code == 0, ran.err[-3000:]
    assert (tmp_path / "report.html").stat().st_size > 10_000
