"""Fine-tuning: the right loss, resumable to the same curve, whole or absent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("trl")

import torch
from tinymodels import FAMILIES, countdown_row, make_student
from transformers import AutoModelForCausalLM, AutoTokenizer

from cotdata.errors import InputError, OutputExists, UnknownName
from cotdata.training.options import TrainOptions
from cotdata.training.sft import TrainResult, finish_model, train_model

ROWS = [countdown_row(number) for number in range(24)]


def options(student: Path, **more: object) -> TrainOptions:
    settings = {"batch_size": 2, "grad_accum": 2, "lr": 1e-3, "bf16": False, **more}
    return TrainOptions(student=str(student), **settings)  # type: ignore[arg-type]


def train(out: Path, wanted: TrainOptions, rows: list[dict[str, object]] = ROWS) -> TrainResult:
    return train_model(lambda: rows, out, wanted, quiet=True)


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_student(tmp_path_factory.mktemp("models") / "tiny")


def test_flat_and_padded_batches_give_the_same_losses(student: Path, tmp_path: Path) -> None:
    flat = train(tmp_path / "flat", options(student, batching="flat"))
    padded = train(tmp_path / "padded", options(student, batching="padded"))
    assert flat.losses == pytest.approx(padded.losses, abs=1e-4)
    assert flat.tokens == padded.tokens == flat.coverage.tokens


def test_accumulation_averages_over_tokens_not_micro_batches(student: Path, tmp_path: Path) -> None:
    whole = train(tmp_path / "one", options(student, batch_size=4, grad_accum=1))
    split = train(tmp_path / "four", options(student, batch_size=1, grad_accum=4))
    assert whole.losses == pytest.approx(split.losses, abs=1e-4)


def test_first_loss_is_the_students_own_nll_of_the_completions(
    student: Path, tmp_path: Path
) -> None:
    from cotdata.training.examples import build_example

    result = train(tmp_path / "m", options(student, max_steps=1, batch_size=24, grad_accum=1))
    model = AutoModelForCausalLM.from_pretrained(student)
    tokenizer, total, count = AutoTokenizer.from_pretrained(student), 0.0, 0
    for row in ROWS:
        example = build_example(row, tokenizer, style="plain", num_shots=0)
        labels = torch.tensor([example.labels])
        total += model(torch.tensor([example.ids]), labels=labels).loss.item() * example.num_trained
        count += example.num_trained
    assert result.losses[0] == pytest.approx(total / count, abs=1e-4)


def test_training_lowers_the_loss_and_the_model_stops_at_the_taught_token(
    student: Path, tmp_path: Path
) -> None:
    row = countdown_row(1)
    result = train(tmp_path / "m", options(student, epochs=12.0, lr=1e-2), [row] * 24)
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "m")
    assert result.losses[-1] < 0.1 < result.losses[0]
    assert model.generation_config.eos_token_id == tokenizer.eos_token_id
    from cotdata.training.examples import build_example

    example = build_example(row, tokenizer, style="plain", num_shots=0)
    asked = torch.tensor([example.ids[: example.num_prompt]])
    said = model.generate(asked, max_new_tokens=200, do_sample=False)[0].tolist()
    assert said == example.ids


def test_adapters_are_trained_and_saved_alone(student: Path, tmp_path: Path) -> None:
    result = train(tmp_path / "m", options(student, method="lora", epochs=4.0, lr=1e-2))
    assert result.losses[-1] < result.losses[0]
    assert (tmp_path / "m/adapter_model.safetensors").exists()
    assert not (tmp_path / "m/model.safetensors").exists()
    eos = json.loads((tmp_path / "m/generation_config.json").read_text())["eos_token_id"]
    assert eos == AutoTokenizer.from_pretrained(tmp_path / "m").eos_token_id


def test_chat_template_travels_with_the_model(tmp_path: Path) -> None:
    student = make_student(tmp_path / "chat", FAMILIES[1])
    train(tmp_path / "m", options(student, prompt_style="chat", max_steps=1))
    saved = AutoTokenizer.from_pretrained(tmp_path / "m")
    assert saved.chat_template == AutoTokenizer.from_pretrained(student).chat_template


def test_weights_are_saved_in_the_students_own_type(tmp_path: Path) -> None:
    student = make_student(tmp_path / "half", dtype="bfloat16")
    train(tmp_path / "m", options(student, max_steps=1))
    assert json.loads((tmp_path / "m/config.json").read_text())["dtype"] == "bfloat16"


RUN = """
import sys
sys.path[:0] = [{tests!r}, {repo!r}]
from pathlib import Path
from test_training import options, train
train(Path({out!r}), options(Path({student!r}), save_every=2, epochs=4.0))
"""


def start_run(out: Path, student: Path) -> "subprocess.Popen[bytes]":
    tests = Path(__file__).parent
    code = RUN.format(tests=str(tests), repo=str(tests.parent), out=str(out), student=str(student))
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def test_a_killed_run_resumes_to_the_losses_and_weights_of_an_uninterrupted_one(
    student: Path, tmp_path: Path
) -> None:
    wanted = options(student, save_every=2, epochs=4.0)
    whole = train(tmp_path / "whole", wanted)
    process = start_run(tmp_path / "killed", student)
    while not list((tmp_path / "killed/.work/checkpoints").glob("checkpoint-*/whole")):
        assert process.poll() is None, "the run ended before it could be killed"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    resumed = train(tmp_path / "killed", wanted)
    assert resumed.losses == pytest.approx(whole.losses, abs=1e-5)
    weights = [
        AutoModelForCausalLM.from_pretrained(tmp_path / name).state_dict()
        for name in ("whole", "killed")
    ]
    assert all(torch.allclose(weights[0][k], weights[1][k], atol=1e-5) for k in weights[0])


def test_a_torn_checkpoint_is_not_resumed_from(tmp_path: Path) -> None:
    from cotdata.training.checkpoints import last_whole

    for step, is_whole in ((2, True), (10, True), (12, False)):
        (tmp_path / f"checkpoint-{step}").mkdir()
        if is_whole:
            (tmp_path / f"checkpoint-{step}/whole").touch()
    assert last_whole(tmp_path) == tmp_path / "checkpoint-10"
    assert not (tmp_path / "checkpoint-12").exists()


def test_an_unfinished_run_is_not_resumed_with_other_options(student: Path, tmp_path: Path) -> None:
    train(tmp_path / "m", options(student, max_steps=1))
    with pytest.raises(OutputExists, match="other options"):
        train(tmp_path / "m", options(student, max_steps=2))


def test_the_folder_is_finished_by_a_lineage_that_names_no_host(
    student: Path, tmp_path: Path
) -> None:
    result = train(tmp_path / "m", options(student, save_every=2, keep_checkpoints=2))
    finish_model(tmp_path / "m", {"id": "train-1", **result.record()}, result.options)
    text = (tmp_path / "m/cotdata.json").read_text()
    assert json.loads(text)["training"]["options"]["student"] == "tiny"
    assert str(tmp_path) not in text and not (tmp_path / "m/.work").exists()
    kept = sorted(path.name for path in (tmp_path / "m/checkpoints").iterdir())
    assert kept == ["step-4", "step-6"]
    assert not list((tmp_path / "m/checkpoints").rglob("optimizer.pt"))


def test_a_finished_model_is_not_trained_over(student: Path, tmp_path: Path) -> None:
    result = train(tmp_path / "m", options(student, max_steps=1))
    finish_model(tmp_path / "m", result.record(), result.options)
    with pytest.raises(OutputExists, match="finished model"):
        train(tmp_path / "m", options(student, max_steps=1))


def test_nothing_to_train_on_is_an_error_that_says_why(student: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="24 too_long"):
        train(tmp_path / "m", options(student, max_length=3))


def test_unknown_trainer_options_are_named(student: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="neftune_noise_alpha"):
        train(tmp_path / "m", options(student, extra=("neftune_noise_alfa=5",)))


def test_training_prints_nothing_and_progress_stays_off_stdout(
    student: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    train_model(lambda: ROWS, tmp_path / "m", options(student, max_steps=2))
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("train: 24 traces read, 24 trained on; ")
    assert len(printed.err.splitlines()) == 1
