"""Rulings on every registered task; a new task file is tested without a line here."""

import pytest

from cotdata.prompts import build_prompt, prompt_sha
from cotdata.schema import project
from cotdata.tasks import Task, get_task, task_names

TASKS = [get_task(name) for name in task_names()]
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
every_shot = pytest.mark.parametrize(
    ("task", "number"),
    [(task, number) for task in TASKS for number in range(len(task.shots))],
    ids=lambda value: getattr(value, "name", value),
)


@every_task
def test_a_task_is_called_as_its_file(task: Task) -> None:
    assert task is get_task(task.name)


@every_task
def test_there_are_at_least_three_worked_examples(task: Task) -> None:
    assert len(task.shots) >= 3


@every_shot
def test_a_worked_example_verifies(task: Task, number: int) -> None:
    shot = task.shots[number]
    assert task.verify(shot.problem, shot.trace).correct


@every_shot
def test_a_worked_example_does_not_solve_another_problem(task: Task, number: int) -> None:
    trace = task.shots[number - 1].trace
    assert not task.verify(task.shots[number].problem, trace).correct


@every_task
def test_an_empty_trace_has_no_answer(task: Task) -> None:
    assert task.verify(task.shots[0].problem, "").verdict == "no_answer"


@every_task
def test_a_verdict_names_the_rules_that_gave_it(task: Task) -> None:
    verdict = task.verify(task.shots[0].problem, task.shots[0].trace)
    assert verdict.verifier.startswith(task.verifier.split()[0])


@every_task
def test_two_examples_are_two_problems(task: Task) -> None:
    identities = {task.identity(project(shot.problem, "problem")) for shot in task.shots}
    assert len(identities) == len(task.shots)


@every_task
@pytest.mark.parametrize("style", ["chat", "plain"])
def test_a_prompt_holds_question_and_instruction_once(task: Task, style: str) -> None:
    problem = task.shots[0].problem
    prompt = build_prompt(task, problem, style=style, num_shots=0)
    text = prompt.text or prompt.messages[-1]["content"]
    assert text.count(task.question(problem)) == 1
    assert text.count(task.instruction) == 1


@every_task
def test_worked_examples_come_before_the_problem(task: Task) -> None:
    prompt = build_prompt(task, task.shots[0].problem, style="chat", num_shots=2)
    roles = [message["role"] for message in prompt.messages]
    assert roles == ["user", "assistant"] * 2 + ["user"]


@every_task
def test_the_prompt_sha_tells_prompts_apart(task: Task) -> None:
    shas = {
        prompt_sha(task, style=style, num_shots=shots)
        for style in ("chat", "plain")
        for shots in (0, 1, 2)
    }
    assert len(shas) == 6


@every_task
def test_the_instruction_does_not_promise_what_verify_would_refuse(task: Task) -> None:
    assert task.verify(task.shots[0].problem, task.instruction).verdict in ("no_answer", "wrong")
