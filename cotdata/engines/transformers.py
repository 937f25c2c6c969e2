"""transformers: the embedded engine, where vLLM is not installed.

    cotdata sample d/p --model models/smollm2 --engine transformers --engine-option batch_size=8

It decodes a batch that finished requests leave and new ones join. The same seed gives
the same text beside other requests as far as rounding allows. LoRA folders are laid
over their base model by peft. It is slower than vLLM and does not shard a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cotdata.engines import Completion, EngineSpec, Refusal, Request
from cotdata.engines._checkpoint import (
    Checkpoint,
    context_length,
    end_ids,
    find_checkpoint,
    load_tokenizer,
    need_package,
    slow_at_bfloat16,
    too_long,
)
from cotdata.engines._decoding import Batch, DecodingRow
from cotdata.engines._options import read_options
from cotdata.errors import EngineError, InputError
from cotdata.prompts import prompt_ids
from cotdata.seeds import rng_for


@dataclass(frozen=True, kw_only=True, slots=True)
class TransformersOptions:
    """`dtype` auto is the checkpoint's own, or float32 on a CPU that is slow at bfloat16."""

    batch_size: int | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    device: str | None = None


class TransformersEngine:
    name = "transformers"

    def __init__(self, model: str, options: TransformersOptions) -> None:
        import torch

        found = find_checkpoint(model)
        self.model = model
        self.tokenizer = load_tokenizer(found.tokenizer)
        device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.network = load_network(found, options.dtype, device)
        self.batch_size = options.batch_size or (64 if device.startswith("cuda") else 16)
        self.context = context_length(self.network.config)
        self.ends = end_ids(self.tokenizer, self.network.generation_config)
        self.revision: str | None = getattr(self.network.config, "_commit_hash", None)
        self.has_chat_template = self.tokenizer.chat_template is not None
        self.version = engine_version(self.network.dtype)

    def close(self) -> None:
        self.network = None

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion | Refusal]:
        source = iter(requests)
        batch = Batch(self.network, ends=self.ends, decode=self._decode)
        more = True
        while more or batch.rows:
            room = self.batch_size - len(batch.rows)
            fresh: list[DecodingRow] = []
            # Reading a prompt halts the others, so several are read at once.
            if more and (room * 4 >= self.batch_size or not batch.rows):
                while len(fresh) < room and (request := next(source, None)):
                    row = self._row(request)
                    if isinstance(row, Refusal):
                        yield row
                    else:
                        fresh.append(row)
                more = len(fresh) == room
            yield from map(completion, self._advance(batch, fresh))

    def _advance(self, batch: Batch, fresh: list[DecodingRow]) -> list[DecodingRow]:
        import torch

        try:
            finished = batch.admit(fresh) if fresh else []
            return finished + (batch.step() if batch.rows else [])
        except torch.OutOfMemoryError as error:
            raise EngineError(
                f"out of GPU memory at {self.batch_size} requests at once",
                where=self.model,
                hint=f"try --engine-option batch_size={max(1, self.batch_size // 2)}",
            ) from error

    def _row(self, request: Request) -> DecodingRow | Refusal:
        ids = prompt_ids(self.tokenizer, request.prompt)
        room = self.context - len(ids)
        if room < 1:
            detail = too_long(len(ids), self.context)
            return Refusal(id=request.id, reason="prompt_too_long", detail=detail, permanent=True)
        return DecodingRow(
            id=request.id,
            prompt=ids,
            sampling=request.sampling,
            limit=min(request.sampling.max_tokens, room),
            draw=rng_for(request.sampling.seed, "completion", "tokens"),
        )

    def _decode(self, ids: list[int]) -> str:
        text: str = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


def completion(row: DecodingRow) -> Completion:
    assert row.finish_reason is not None
    return Completion(
        id=row.id,
        text=row.text,
        finish_reason=row.finish_reason,
        prompt_tokens=len(row.prompt),
        completion_tokens=len(row.tokens),
    )


def load_network(found: Checkpoint, dtype: str, device: str) -> Any:
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        network = AutoModelForCausalLM.from_pretrained(found.base, dtype=dtype_for(dtype, device))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"the model cannot be loaded: {error}", where=found.base) from error
    if found.adapter:
        need_package("peft", "train")
        from peft import PeftModel

        generation_config = network.generation_config
        network = PeftModel.from_pretrained(network, str(found.adapter))
        network.generation_config = generation_config
    return network.to(device).eval()


def dtype_for(asked: str, device: str) -> Any:
    import torch

    if asked != "auto":
        return getattr(torch, asked)
    return torch.float32 if device == "cpu" and slow_at_bfloat16() else "auto"


def engine_version(dtype: Any) -> str:
    """The facts that texts depend on beside the seed."""
    import torch
    import transformers

    precision = str(dtype).removeprefix("torch.")
    return f"{transformers.__version__} (torch {torch.__version__}, {precision})"


def open_transformers(model: str, options: Mapping[str, str]) -> TransformersEngine:
    read = read_options(TransformersOptions, "transformers", options)
    for package in ("torch", "transformers"):
        need_package(package, "transformers")
    return TransformersEngine(model, read)


ENGINE = EngineSpec(
    name="transformers",
    about="a model in this process, on a CPU or one GPU",
    open=open_transformers,
)
