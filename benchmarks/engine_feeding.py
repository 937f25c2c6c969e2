"""Tokens per second of the engine vllm, beside one bare `LLM.generate`, in one process.

The same model, prompts, lengths and seeds; output lengths are skewed (log-normal), so an
engine that drains its batch would show. Engine start is left out. Rounds alternate, the
first of each is warm-up, and the medians are compared.

    python benchmarks/engine_feeding.py models/smollm2 --requests 256
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import closing

from cotdata.engines import Completion, Request, Sampling
from cotdata.engines.vllm import VllmEngine, open_vllm, sampling_params
from cotdata.prompts import Prompt, prompt_ids
from cotdata.seeds import rng_for


def requests(count: int) -> list[Request]:
    draw = rng_for(0, "engine_feeding", "lengths")
    lengths = [min(400, max(4, round(draw.lognormvariate(3.6, 0.9)))) for _ in range(count)]
    return [
        Request(
            id=str(number),
            prompt=Prompt(style="plain", text=f"Problem: What is {number} + 17?\nSolution:\n"),
            sampling=Sampling(max_tokens=length, temperature=0.7, top_p=1.0, seed=number),
        )
        for number, length in enumerate(lengths)
    ]


def bare(engine: VllmEngine, asked: list[Request]) -> float:
    start = time.perf_counter()
    prompts = [{"prompt_token_ids": prompt_ids(engine.tokenizer, r.prompt)} for r in asked]
    params = [sampling_params(r.sampling, engine.context) for r in asked]
    outputs = engine.llm.generate(prompts, params, use_tqdm=False)
    tokens = sum(len(output.outputs[0].token_ids) for output in outputs)
    return tokens / (time.perf_counter() - start)


def fed(engine: VllmEngine, asked: list[Request]) -> float:
    start = time.perf_counter()
    replies = [r for r in engine.generate(iter(asked)) if isinstance(r, Completion)]
    assert len(replies) == len(asked)
    return sum(r.completion_tokens for r in replies) / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="models/smollm2")
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-num-seqs", default="32")
    given = parser.parse_args()
    asked = requests(given.requests)
    options = {"max_num_seqs": given.max_num_seqs, "enable_prefix_caching": "false"}
    with closing(open_vllm(given.model, options)) as engine:
        bare(engine, asked[:32]), fed(engine, asked[:32])
        pairs = [(bare(engine, asked), fed(engine, asked)) for _ in range(given.rounds)]
    plain, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
    for left, right in pairs:
        print(f"LLM.generate {left:.1f} tokens/s, engine {right:.1f} tokens/s")
    print(f"median: {plain:.1f} and {ours:.1f} tokens/s, ratio {ours / plain:.3f}")


if __name__ == "__main__":
    main()
