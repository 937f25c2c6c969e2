"""Rulings on the gate, and on the stage that tries again."""

import json
from pathlib import Path

import pytest
from paraphrases import BAD, SAMPLES, Sample
from shell import cotdata

from cotdata.paraphrasing import gate
from cotdata.schema import project


def refusal(sample: Sample, text: str, finish_reason: str = "stop") -> str | None:
    row = {"task": "gsm8k", "problem": sample.problem, "answer": sample.answer}
    found = gate({**project(row, "trace"), "trace": sample.trace}, text, finish_reason)
    return found[0] if found else None


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.answer)
def test_a_good_paraphrase_is_accepted(sample: Sample) -> None:
    assert refusal(sample, sample.good) is None


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.answer)
def test_a_bad_paraphrase_is_refused(sample: Sample, kind: str) -> None:
    assert refusal(sample, getattr(sample, kind)) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SAMPLES[0].trace, "copied"),
        (SAMPLES[0].good.replace("is 37", "is 38"), "answer_changed"),
        (SAMPLES[0].good.partition("The answer")[0], "no_answer"),
        (f"{SAMPLES[0].good}\nI hope this helps!", "meta_talk"),
        (SAMPLES[0].good.replace("Once 5", "Once 5 of 99"), "numbers_added"),
    ],
)
def test_a_refusal_says_why(text: str, reason: str) -> None:
    assert refusal(SAMPLES[0], text) == reason


def test_a_text_cut_off_is_refused_whatever_it_says() -> None:
    assert refusal(SAMPLES[0], SAMPLES[0].good, "length") == "truncated"


def test_a_wrong_trace_may_be_paraphrased_if_its_answer_stays() -> None:
    sample = SAMPLES[1]
    row = {"task": "gsm8k", "problem": sample.problem, "answer": "999", "trace": sample.trace}
    assert gate({**project(row, "trace"), "trace": sample.trace}, sample.good, "stop") is None


def test_the_stage_keeps_what_was_refused_and_tries_again(tmp_path: Path) -> None:
    rows = [{"problem": s.problem, "answer": s.answer, "trace": s.trace} for s in SAMPLES[:3]]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    # The script answers by problem: a good text, one announced, and nothing for the third.
    script = [
        {"match": SAMPLES[0].problem, "text": SAMPLES[0].good},
        {"match": SAMPLES[1].problem, "text": SAMPLES[1].announced},
    ]
    (tmp_path / "script.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in script))
    words = ("ingest", "t.jsonl", "--task", "gsm8k", "--no-check-gold", "-o", "t", "-q")
    assert cotdata(*words, cwd=tmp_path).code == 0
    words = ("paraphrase", "t", "--model", "m", "--engine", "fake", "--tries", 2, "-o", "hp")
    ran = cotdata(*words, "--engine-option", "script=script.jsonl", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "hp\n")
    assert "3 read = 1 passed + 2 rejected + 0 failed" in ran.err
    kept = json.loads(cotdata("show", "hp", "--json", cwd=tmp_path).out)
    assert (kept["origin"], kept["trace"], kept["tries"]) == ("paraphrase", SAMPLES[0].good, [])
    lost = cotdata("show", "hp", "--rejected", "--json", cwd=tmp_path).out.splitlines()
    assert [len(json.loads(row)["tries"]) for row in lost] == [2, 2]
    assert json.loads(lost[0])["reject_reason"] == "meta_talk"
