"""vLLM in this process, on random models of two layers; the contract is in test_engines.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

if not find_spec("vllm"):
    pytest.skip("install cotdata[vllm]", allow_module_level=True)

from test_engines import asked
from tiny_model import CONTEXT, tiny_model

from cotdata.engines import Completion, Request, Sampling, open_engine
from cotdata.engines.vllm import LORA_RANKS, VllmEngine
from cotdata.errors import EngineError

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]
OPTIONS = {"max_num_seqs": "4", "kv_cache_gb": "1", "dtype": "float32"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def adapter(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    peft = pytest.importorskip("peft", reason="install cotdata[train]")
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("adapter")
    config = peft.LoraConfig(
        r=4, lora_alpha=64, target_modules=["q_proj", "v_proj"], init_lora_weights=False
    )
    network = AutoModelForCausalLM.from_pretrained(base)
    peft.get_peft_model(network, config).save_pretrained(folder)
    return folder


def cold(count: int) -> list[Request]:
    sampling = Sampling(max_tokens=12, temperature=0.0, top_p=1.0, seed=0)
    return [Request(id=str(n), prompt=asked(n).prompt, sampling=sampling) for n in range(count)]


def replies(engine: str, folder: Path) -> dict[str, object]:
    options = OPTIONS if engine == "vllm" else {"dtype": "float32"}
    with closing(open_engine(engine, str(folder), options)) as opened:
        return {reply.id: reply for reply in opened.generate(cold(9))}


def test_it_says_greedily_what_the_embedded_engine_says(
    base: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert replies("vllm", base) == replies("transformers", base)
    assert capfd.readouterr().out == ""


def test_an_adapter_is_loaded_as_the_embedded_engine_loads_it(base: Path, adapter: Path) -> None:
    adapted = replies("vllm", adapter)
    assert adapted == replies("transformers", adapter)
    assert adapted != replies("transformers", base)


def test_the_batch_is_never_drained_while_there_is_work(base: Path) -> None:
    with closing(open_engine("vllm", str(base), OPTIONS)) as engine:
        assert isinstance(engine, VllmEngine)
        left, in_engine, step = [40], [], engine._step

        def watched() -> list[object]:
            in_engine.append((engine.llm.llm_engine.get_num_unfinished_requests(), left[0]))
            return step()

        def source() -> Iterator[Request]:
            for number in range(40):
                left[0] -= 1
                yield asked(number, max_tokens=1 + 11 * number % 50)

        engine._step = watched  # type: ignore[method-assign]
        assert len(list(engine.generate(source()))) == 40
        assert {count for count, unasked in in_engine if unasked} == {engine.num_kept}


def test_stop_texts_and_the_end_of_the_context_hold(base: Path) -> None:
    with closing(open_engine("vllm", str(base), OPTIONS)) as engine:
        (free,) = engine.generate([asked(4, max_tokens=40)])
        assert isinstance(free, Completion)
        stop = free.text[10:12]
        long = asked(2, max_tokens=999, text="a" * (CONTEXT - 5))
        made = {r.id: r for r in engine.generate([asked(4, max_tokens=40, stop=(stop,)), long])}
        cut, last = made["r4"], made["r2"]
        assert isinstance(cut, Completion)
        assert isinstance(last, Completion)
        assert (cut.text, cut.finish_reason) == (free.text[: free.text.find(stop)], "stop")
        assert last.completion_tokens <= 5


def test_an_engine_that_breaks_is_an_engine_error(base: Path) -> None:
    with closing(open_engine("vllm", str(base), OPTIONS)) as engine:
        assert isinstance(engine, VllmEngine)

        def broken() -> None:
            raise RuntimeError("device-side assert")

        engine.llm.llm_engine.step = broken
        with pytest.raises(EngineError, match="vLLM stopped: RuntimeError: device-side assert"):
            list(engine.generate(cold(2)))


def test_lora_ranks_are_those_that_vllm_takes() -> None:
    from typing import get_args

    from vllm.config.lora import MaxLoRARanks

    assert set(LORA_RANKS) <= set(get_args(MaxLoRARanks))
