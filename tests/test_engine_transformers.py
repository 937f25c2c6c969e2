"""The embedded engine: batch mates change no text, and it stops where it should."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="install cotdata[transformers]")

import torch
from test_engines import asked
from tiny_model import CONTEXT, tiny_model

from cotdata.engines import Completion, Engine, Request, Sampling, open_engine
from cotdata.engines._decoding import DecodingRow, draw_tokens
from cotdata.errors import InputError
from cotdata.prompts import Prompt, completion_ids, prompt_ids


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Engine]:
    options = {"batch_size": "5", "dtype": "float32"}
    with closing(open_engine("transformers", str(folder), options)) as engine:
        yield engine


def texts(engine: Engine, requests: list[Request]) -> dict[str, Completion]:
    replies = list(engine.generate(iter(requests)))
    assert all(isinstance(reply, Completion) for reply in replies)
    return {reply.id: reply for reply in replies if isinstance(reply, Completion)}


def mixed(count: int) -> list[Request]:
    return [
        asked(n, max_tokens=1 + 7 * n % 40, text="word " * (n % 7) + "{n}") for n in range(count)
    ]


def test_batch_mates_and_order_change_no_text(engine: Engine) -> None:
    requests = mixed(30)
    together = texts(engine, requests)
    shuffled = random.Random(1).sample(requests, len(requests))
    assert texts(engine, shuffled) == together
    alone = [texts(engine, [request])[request.id] for request in requests[:10]]
    assert alone == [together[request.id] for request in requests[:10]]


def test_the_batch_draws_what_the_plain_forward_draws(engine: Engine) -> None:
    """Greedy tokens through cache, padding and refilling are those of the whole sequence."""
    network, tokenizer = engine.network, engine.tokenizer  # type: ignore[attr-defined]
    cold = Sampling(max_tokens=9, temperature=0.0, top_p=1.0, seed=0)
    requests = [Request(id=r.id, prompt=r.prompt, sampling=cold) for r in mixed(12)]
    for request in requests:
        ids = prompt_ids(tokenizer, request.prompt)
        with torch.inference_mode():
            for _ in range(9):
                ids.append(int(network(torch.tensor([ids])).logits[0, -1].argmax()))
                if ids[-1] == tokenizer.eos_token_id:
                    break
        made = ids[len(prompt_ids(tokenizer, request.prompt)) :]
        reply = texts(engine, requests)[request.id]
        assert reply.text == tokenizer.decode(made, skip_special_tokens=True)
        assert reply.completion_tokens == len(made)


def test_another_seed_is_another_text(engine: Engine) -> None:
    prompt = Prompt(style="plain", text="x")
    requests = [Request(id=str(n), prompt=prompt, sampling=asked(n).sampling) for n in range(20)]
    assert len({reply.text for reply in texts(engine, requests).values()}) > 15


def test_a_stop_text_ends_the_reply_and_is_left_out(engine: Engine) -> None:
    free = texts(engine, [asked(4, max_tokens=40)])["r4"]
    stop = free.text[10:12]
    cut = texts(engine, [asked(4, max_tokens=40, stop=(stop,))])["r4"]
    assert cut.text == free.text[: free.text.find(stop)]
    assert cut.finish_reason == "stop"
    assert cut.completion_tokens < free.completion_tokens


def test_a_reply_ends_with_the_context(engine: Engine) -> None:
    reply = texts(engine, [asked(2, max_tokens=999, text="a" * (CONTEXT - 5))])["r2"]
    assert reply.completion_tokens <= 5


def test_an_end_token_is_counted_and_not_shown(engine: Engine) -> None:
    ended = [r for r in texts(engine, mixed(60)).values() if r.finish_reason == "stop"]
    assert ended
    assert all("<|end|>" not in reply.text for reply in ended)


def row(temperature: float, top_p: float, seed: int) -> DecodingRow:
    sampling = Sampling(max_tokens=1, temperature=temperature, top_p=top_p, seed=seed)
    return DecodingRow(id="r", prompt=[], sampling=sampling, limit=1, draw=random.Random(seed))


def test_draws_follow_the_probabilities() -> None:
    share = torch.tensor([0.5, 0.3, 0.15, 0.05])
    rows = [row(1.0, 1.0, seed) for seed in range(4000)]
    drawn = torch.tensor(draw_tokens(share.log().repeat(4000, 1), rows)).bincount(minlength=4)
    assert torch.allclose(drawn / 4000, share, atol=0.03)


def test_top_p_keeps_the_likeliest_tokens() -> None:
    share = torch.tensor([0.1, 0.5, 0.3, 0.1])
    rows = [row(1.0, 0.6, seed) for seed in range(300)]
    assert set(draw_tokens(share.log().repeat(300, 1), rows)) == {1, 2}
    assert draw_tokens(share.log()[None], [row(1.0, 0.0, 1)]) == [1]


def test_a_cold_row_beside_a_hot_one_stays_greedy() -> None:
    logits = torch.tensor([0.1, 2.0, 1.9]).repeat(40, 1)
    rows = [row(5.0 * (n % 2), 1.0, n) for n in range(40)]
    drawn = draw_tokens(logits, rows)
    assert set(drawn[::2]) == {1}
    assert len(set(drawn[1::2])) == 3


def test_a_folder_without_tokenizer_is_refused(folder: Path, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).symlink_to(folder / name)
    with pytest.raises(InputError, match="no tokenizer"):
        open_engine("transformers", str(tmp_path), {})


def test_what_it_asks_is_what_a_student_is_trained_on(engine: Engine) -> None:
    tokenizer = engine.tokenizer  # type: ignore[attr-defined]
    assert engine.ends == {completion_ids(tokenizer, "x")[-1]}  # type: ignore[attr-defined]


def test_an_adapter_is_laid_over_its_base(folder: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft", reason="install cotdata[train]")
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(folder)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    peft.get_peft_model(network, config).save_pretrained(tmp_path)
    with closing(open_engine("transformers", str(tmp_path), {})) as adapted:
        with_adapter = texts(adapted, mixed(6))
    with closing(open_engine("transformers", str(folder), {})) as plain:
        assert with_adapter != texts(plain, mixed(6))


def test_an_adapter_without_its_base_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "./gone"}')
    with pytest.raises(InputError, match=r"base model '\./gone' is not there"):
        open_engine("transformers", str(tmp_path), {})
