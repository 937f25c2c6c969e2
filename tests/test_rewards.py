r"""Rulings on rewards, and one real step of a trainer that calls them."""

from pathlib import Path

import pytest

from cotdata import mathpool, mathverdict
from cotdata.opinions import OPINIONS
from cotdata.rewards import reward_function

reward = reward_function("math")


def test_right_and_wrong_answers_are_rewarded_in_order() -> None:
    texts = [r"\boxed{0.5}", r"\boxed{2}", "I do not know"]
    assert reward(completions=texts, answer=[r"\frac12"] * 3) == [1.0, 0.0, 0.0]


def test_chat_turns_are_read_by_their_last_one() -> None:
    turns = [[{"role": "assistant", "content": r"\boxed{4}"}]]
    assert reward(completions=turns, answer=["4"], prompts=[[]], trainer_state=None) == [1.0]


def test_what_cannot_be_judged_has_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reward(completions=[r"\boxed{4}"], answer=[""]) == [None]
    slow = mathpool.Reply(kind="timeout")
    monkeypatch.setattr(mathpool, "ask", lambda *pair: slow)
    mathverdict._asked.cache_clear()
    mathverdict._decided.cache_clear()
    assert reward(completions=[r"\boxed{\sqrt[3]{2}}"], answer=["7"]) == [None]
    mathverdict._asked.cache_clear()
    mathverdict._decided.cache_clear()


def test_the_values_are_the_users_own() -> None:
    strict = reward_function("gsm8k", correct=2.0, wrong=-1.0, no_answer=-2.0)
    texts = ["The answer is 18.", "The answer is 17.", "hm"]
    assert strict(completions=texts, answer=["18"] * 3) == [2.0, -1.0, -2.0]
    assert strict.__name__ == "gsm8k_reward"


@pytest.mark.parametrize(
    ("text", "raw", "exact"),
    [
        ("The answer is 7.", True, True),
        ("The answer is 7.0", True, False),
        (r"First \boxed{5}, then \boxed{7}.", False, True),
        ("nothing", False, None),
    ],
)
def test_second_opinions_are_the_common_tools_own(text: str, raw: bool, exact: bool | None) -> None:
    problem = {"answer": "7"}
    assert OPINIONS["math-verify"](problem, text) is raw
    assert OPINIONS["exact"](problem, text) is exact


@pytest.mark.model
@pytest.mark.filterwarnings("ignore")  # TRL and vLLM warn of each other and of torch
def test_a_trainer_takes_a_step_with_the_reward(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from datasets import Dataset
    from tinymodels import make_student
    from trl import GRPOConfig, GRPOTrainer

    problems = [{"prompt": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(4)]
    options = GRPOConfig(
        output_dir=str(tmp_path / "out"), max_steps=1, per_device_train_batch_size=4,
        num_generations=2, max_completion_length=8, use_cpu=True, bf16=False, report_to=[],
        save_strategy="no",
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=str(make_student(tmp_path / "student")),
        reward_funcs=reward_function("gsm8k"),
        args=options,
        train_dataset=Dataset.from_list(problems),
    )
    trainer.train()
    assert "rewards/gsm8k_reward/mean" in trainer.state.log_history[0]
