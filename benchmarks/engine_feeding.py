"""Tokens per second of the engine vllm, beside one bare `LLM.generate`, in one process.

The same model, prompts, lengths and seeds; output lengths are skewed (log-normal), so an
engine that drains its batch would show. Engine start and a warm-up are left out, rounds
alternate, and medians are compared. On a CPU the model runs in this process, so tokens
per second of its processor time is the figure to trust beside other work.

    python benchmarks/engine_feeding.py models/smollm2 --requests 256
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import closing
from dataclasses import dataclass

from cotdata.engines import Completion, Request, Sampling
from cotdata.engines.vllm import VllmEngine, open_vllm, sampling_params
from cotdata.prompts import Prompt, prompt_ids
from cotdata.seeds import rng_for


def requests(count: int, longest: int) -> list[Request]:
    draw = rng_for(0, "engine_feeding", "lengths")
    lengths = [min(longest, max(4, round(draw.lognormvariate(3.6, 0.9)))) for _ in range(count)]
    return [
        Request(
            id=str(number),
            prompt=Prompt(style="plain", text=f"Problem: {number} + 17?\nSolution:\n"),
            sampling=Sampling(max_tokens=length, temperature=0.7, top_p=1.0, seed=number),
        )
        for number, length in enumerate(lengths)
    ]


@dataclass(frozen=True)
class Speed:
    per_s: float
    per_cpu_s: float


class Clock:
    def __init__(self) -> None:
        self.start, self.cpu = time.perf_counter(), time.process_time()

    def read(self, tokens: int) -> Speed:
        wall, cpu = time.perf_counter() - self.start, time.process_time() - self.cpu
        return Speed(tokens / wall, tokens / cpu)


def bare(engine: VllmEngine, asked: list[Request]) -> Speed:
    clock = Clock()
    prompts = [{"prompt_token_ids": prompt_ids(engine.tokenizer, r.prompt)} for r in asked]
    params = [sampling_params(r.sampling, engine.context) for r in asked]
    outputs = engine.llm.generate(prompts, params, use_tqdm=False)
    return clock.read(sum(len(output.outputs[0].token_ids) for output in outputs))


def fed(engine: VllmEngine, asked: list[Request]) -> Speed:
    clock = Clock()
    replies = [r for r in engine.generate(iter(asked)) if isinstance(r, Completion)]
    assert len(replies) == len(asked)
    return clock.read(sum(reply.completion_tokens for reply in replies))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="models/smollm2")
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--longest", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-num-seqs", default="32")
    given = parser.parse_args()
    asked = requests(given.requests, given.longest)
    options = {"max_num_seqs": given.max_num_seqs, "enable_prefix_caching": "false"}
    with closing(open_vllm(given.model, options)) as engine:
        bare(engine, asked[:32]), fed(engine, asked[:32])
        pairs = [(bare(engine, asked), fed(engine, asked)) for _ in range(given.rounds)]
    for unit in ("per_s", "per_cpu_s"):
        plain, ours = (
            statistics.median(getattr(s, unit) for s in side) for side in zip(*pairs, strict=True)
        )
        print(
            f"tokens {unit}: LLM.generate {plain:.1f}, engine {ours:.1f}, ratio {ours / plain:.3f}"
        )


if __name__ == "__main__":
    main()
