"""Planned against measured memory of one training run on a CPU.

    MALLOC_MMAP_THRESHOLD_=100000 python benchmarks/training_memory.py --shape 384,6,1024,8000

The shape is width, layers, feed-forward width, vocabulary. Prints one JSON object.
Measured is the growth of the peak resident set over that of a first tiny run,
which has loaded every library. The environment variable makes the allocator hand
pages back at once; without it fragmentation adds up to a third.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

REPO = Path(__file__).parents[1]
sys.path[:0] = [str(REPO), str(REPO / "tests")]


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def save_student(folder: Path, shape: tuple[int, int, int, int]) -> None:
    from tinymodels import FAMILIES, make_tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM

    hidden, layers, intermediate, vocabulary = shape
    tokenizer = make_tokenizer(FAMILIES[0])
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=intermediate,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        num_key_value_heads=hidden // 64,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train(student: Path, out: Path, batch_size: int, method: Any) -> Any:
    from tinymodels import countdown_row

    from cotdata.training.options import TrainOptions
    from cotdata.training.sft import train_model

    rows = [countdown_row(n, trace="1 + 2 = 3\n" * 12) for n in range(2 * batch_size)]
    options = TrainOptions(
        student=str(student),
        method=method,
        lr=1e-3,
        batch_size=batch_size,
        bf16=False,
        batching="flat",
    )
    return train_model(lambda: rows, out, options, quiet=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", default="384,6,1024,8000")
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--method", choices=["full", "lora"], default="full")
    given = parser.parse_args()
    hidden, layers, intermediate, vocabulary = map(int, given.shape.split(","))

    from transformers import AutoConfig

    from cotdata.training.memory import plan_memory, shape_of

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_student(folder / "small", (64, 1, 64, 500))
        save_student(folder / "student", (hidden, layers, intermediate, vocabulary))
        train(folder / "small", folder / "small-trained", 2, given.method)
        before = peak_bytes()
        done = train(folder / "student", folder / "trained", given.batch_size, given.method)
        measured = peak_bytes() - before
        shape = shape_of(AutoConfig.from_pretrained(folder / "student"))
    plan = plan_memory(shape, done.options, longest=done.coverage.longest, bf16=False)
    found = {
        "shape": given.shape,
        "method": given.method,
        "tokens": done.tokens,
        "measured": measured,
        "planned": plan.total,
        "ratio": plan.total / measured,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
