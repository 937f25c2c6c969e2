"""The memory plan agrees with what training takes, and its advice fits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")

from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from cotdata.training.memory import Shape, advice, plan_memory, shape_of
from cotdata.training.options import TrainOptions

OPTIONS = TrainOptions(student="s", batching="padded")


def billions(number: float, vocabulary: int = 150_000) -> Shape:
    return Shape(
        num_parameters=int(number * 1e9), num_linear=2_000_000, layers=28, hidden=2048,
        intermediate=8192, query=2048, vocabulary=vocabulary,
    )  # fmt: skip


@pytest.mark.parametrize("tied", [True, False])
def test_parameters_are_counted_from_the_config_alone(tied):
    config = LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=tied,
    )  # fmt: skip
    counted = sum(parameter.numel() for parameter in LlamaForCausalLM(config).parameters())
    assert shape_of(config).num_parameters == counted


def test_full_fine_tuning_takes_sixteen_bytes_a_weight_in_float32():
    plan = plan_memory(billions(1), OPTIONS, longest=10, bf16=False)
    assert plan.weights + plan.gradients + plan.optimizer == 16 * 10**9


@given(st.integers(1, 64), st.integers(1, 4096), st.booleans())
@settings(max_examples=30)
def test_checkpointing_and_adapters_never_take_more(batch_size, longest, bf16):
    def total(**more):
        options = TrainOptions(student="s", batch_size=batch_size, **more)
        return plan_memory(billions(1), options, longest=longest, bf16=bf16).total

    assert total(gradient_checkpointing=True) <= total()
    assert total(method="lora") <= total()


def test_what_fits_needs_no_change():
    assert advice(billions(0.1), OPTIONS, longest=100, bf16=True, capacity=80 << 30) == OPTIONS


def test_smaller_micro_batches_are_tried_first_and_keep_the_step():
    shape, capacity = billions(1.5), 40 << 30
    changed = advice(shape, OPTIONS, longest=1024, bf16=True, capacity=capacity)
    assert changed and changed.method == "full" and changed.batch_size < OPTIONS.batch_size
    assert changed.batch_size * changed.grad_accum == OPTIONS.batch_size * OPTIONS.grad_accum
    assert plan_memory(shape, changed, longest=1024, bf16=True).total <= capacity


def test_adapters_are_the_last_resort_and_then_nothing():
    changed = advice(billions(7), OPTIONS, longest=1024, bf16=True, capacity=48 << 30)
    assert changed and changed.method == "lora"
    assert advice(billions(70), OPTIONS, longest=1024, bf16=True, capacity=48 << 30) is None


MEASURE = Path(__file__).parents[1] / "benchmarks" / "training_memory.py"


# What else runs here changes what is measured, so CI does not depend on it.
@pytest.mark.measured
@pytest.mark.parametrize("shape", ["384,6,1024,8000", "512,4,1536,16000"])
def test_the_plan_is_within_a_fifth_of_the_memory_measured(shape):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "100000"}
    done = subprocess.run(
        [sys.executable, str(MEASURE), "--shape", shape], env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["planned"] == pytest.approx(found["measured"], rel=0.2)
