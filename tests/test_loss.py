"""Our loss is the plain one, token by token and gradient by gradient."""

import pytest

pytest.importorskip("trl")

import torch
from tinymodels import countdown_row, make_student
from transformers import AutoModelForCausalLM, AutoTokenizer

from cotdata.training.examples import Example, build_example
from cotdata.training.loss import completion_loss, shared_beginning
from cotdata.training.trainer import StepSampler

PAD = 1


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_student(tmp_path_factory.mktemp("models") / "tiny")


def padded(examples: list[Example]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    longest = max(len(example.ids) for example in examples)
    gaps = [longest - len(example.ids) for example in examples]
    ids = [e.ids + [PAD] * gap for e, gap in zip(examples, gaps, strict=True)]
    mask = [[1] * len(e.ids) + [0] * gap for e, gap in zip(examples, gaps, strict=True)]
    labels = [e.labels + [-100] * gap for e, gap in zip(examples, gaps, strict=True)]
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor(mask),
    }, torch.tensor(labels)


def examples_of(place, numbers, **more):
    tokenizer = AutoTokenizer.from_pretrained(place)
    rows = [countdown_row(number, **more) for number in numbers]
    return [build_example(row, tokenizer, style="plain", num_shots=0) for row in rows]


def plain_loss(model, examples):
    losses = []
    for example in examples:
        logits = model(torch.tensor([example.ids])).logits[0, :-1].log_softmax(-1)
        wanted = torch.tensor(example.ids[1:])
        nll = -logits.gather(1, wanted[:, None])[:, 0]
        losses.append(nll[example.num_prompt - 1 :].sum())
    return torch.stack(losses).sum()


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return [parameter.grad.clone() for parameter in model.parameters()]


@pytest.mark.parametrize("numbers", [range(5), [3], [4, 4]], ids=["several", "one", "equal"])
def test_sharing_the_beginning_changes_neither_loss_nor_gradient(place, numbers):
    model = AutoModelForCausalLM.from_pretrained(place)
    examples = examples_of(place, numbers)
    inputs, labels = padded(examples)
    ours, plain = completion_loss(model, inputs, labels), plain_loss(model, examples)
    assert ours.item() == pytest.approx(plain.item(), rel=1e-5)
    for left, right in zip(gradients(model, ours), gradients(model, plain), strict=True):
        assert torch.allclose(left, right, atol=2e-5)


def test_the_shared_beginning_ends_before_anything_that_is_trained(place):
    inputs, labels = padded(examples_of(place, [4, 4]))
    prompt = examples_of(place, [4])[0].num_prompt
    assert shared_beginning(inputs, labels) == prompt - 1


def test_packed_neighbours_do_not_see_each_other(place):
    model = AutoModelForCausalLM.from_pretrained(place)
    examples = examples_of(place, range(4))
    flat = {
        "input_ids": torch.tensor([[i for e in examples for i in e.ids]]),
        "position_ids": torch.tensor([[p for e in examples for p in range(len(e.ids))]]),
    }
    labels = torch.tensor([[label for e in examples for label in e.labels]])
    ours = completion_loss(model, flat, labels)
    assert ours.item() == pytest.approx(plain_loss(model, examples).item(), rel=1e-5)


def test_each_epoch_visits_every_example_once_in_an_order_of_its_own():
    sampler = StepSampler([5, 1, 4, 2, 3, 9, 7], num_in_step=3, seed=0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert sorted(first) == sorted(sampler) == list(range(7)) and first != list(sampler)


def test_the_examples_of_one_step_go_by_length():
    lengths = [5, 1, 4, 2, 3, 9]
    order = list(StepSampler(lengths, num_in_step=3, seed=0))
    for step in (order[:3], order[3:]):
        assert step == sorted(step, key=lengths.__getitem__)


def test_chunks_of_the_output_layer_change_neither_loss_nor_gradient(place, monkeypatch):
    model = AutoModelForCausalLM.from_pretrained(place)
    inputs, labels = padded(examples_of(place, range(4)))
    whole = gradients(model, completion_loss(model, inputs, labels))
    monkeypatch.setattr("cotdata.training.loss.HEAD_CHUNK", 7)
    chunked = gradients(model, completion_loss(model, inputs, labels))
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(whole, chunked, strict=True))
