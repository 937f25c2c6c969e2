"""vllm: vLLM in this process, fed without a pause.

    cotdata sample d/p --model models/smollm2 --engine vllm --engine-option max_num_seqs=128

Twice as many requests as may run are kept in the engine, so its batch never drains
while there is work, and completions are handed on as they finish. LoRA folders are
loaded without merging. The same seed does not promise the same text in another
batch: vLLM itself does not.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cotdata.engines import Completion, EngineSpec, Refusal, Request, Sampling
from cotdata.engines._checkpoint import (
    Checkpoint,
    find_checkpoint,
    load_tokenizer,
    lora_rank,
    need_package,
    slow_at_bfloat16,
    too_long,
)
from cotdata.engines._options import read_options
from cotdata.engines._quiet import stdout_to_stderr
from cotdata.errors import EngineError
from cotdata.prompts import prompt_ids

CPU_NUM_SEQS = 64
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
# vLLM prints its log to stdout, which belongs to the result.
ENVIRONMENT = {"VLLM_LOGGING_STREAM": "ext://sys.stderr", "VLLM_LOGGING_LEVEL": "ERROR"}


@dataclass(frozen=True, kw_only=True, slots=True)
class VllmOptions:
    """Where None, vLLM's own default holds; on a CPU some suit it better,
    and `dtype` auto is float32 where bfloat16 is slow.
    """

    max_num_seqs: int | None = None
    max_model_len: int | None = None
    max_num_batched_tokens: int | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    quantization: str | None = None
    tensor_parallel_size: int | None = None
    gpu_memory_utilization: float | None = None
    enable_prefix_caching: bool | None = None
    enforce_eager: bool | None = None
    kv_cache_gb: int = 4


class VllmEngine:
    name = "vllm"

    def __init__(self, model: str, options: VllmOptions) -> None:
        found = find_checkpoint(model)
        self.model = model
        self.tokenizer = load_tokenizer(found.tokenizer)
        self.llm: Any = load_llm(found, options)
        config = self.llm.llm_engine.vllm_config
        self.context: int = config.model_config.max_model_len
        self.num_kept = 2 * config.scheduler_config.max_num_seqs
        self.lora = lora_request(found)
        self.revision: str | None = getattr(config.model_config.hf_config, "_commit_hash", None)
        self.has_chat_template = self.tokenizer.chat_template is not None
        self.version = engine_version(config)

    def close(self) -> None:
        if self.llm is None:
            return
        with stdout_to_stderr():
            self.llm.llm_engine.engine_core.shutdown()
        self.llm = None

    def generate(self, requests: Iterable[Request]) -> Iterator[Completion | Refusal]:
        engine = self.llm.llm_engine
        source = iter(requests)
        in_engine: dict[str, int] = {}
        try:
            while True:
                while len(in_engine) < self.num_kept and (request := next(source, None)):
                    ids = prompt_ids(self.tokenizer, request.prompt)
                    if len(ids) >= self.context:
                        yield self._refusal(request, len(ids))
                        continue
                    self._add(request, ids)
                    in_engine[request.id] = len(ids)
                if not in_engine:
                    return
                for output in self._step():
                    yield reply_of(output, in_engine.pop(output.request_id))
        finally:
            if in_engine:
                engine.abort_request(list(in_engine))

    def _add(self, request: Request, ids: list[int]) -> None:
        room = self.context - len(ids)
        self.llm.llm_engine.add_request(
            request.id,
            {"prompt_token_ids": ids},
            sampling_params(request.sampling, room),
            lora_request=self.lora,
        )

    def _step(self) -> list[Any]:
        """Finished requests. Whatever vLLM raises here, the engine is gone."""
        try:
            return [output for output in self.llm.llm_engine.step() if output.finished]
        except Exception as error:
            raise EngineError(
                f"vLLM stopped: {type(error).__name__}: {error}",
                where=self.model,
                hint="the same command goes on; out of memory: try a smaller "
                "--engine-option max_num_seqs=N or max_model_len=N",
            ) from error

    def _refusal(self, request: Request, length: int) -> Refusal:
        detail = too_long(length, self.context)
        return Refusal(id=request.id, reason="prompt_too_long", detail=detail, permanent=True)


def reply_of(output: Any, prompt_tokens: int) -> Completion | Refusal:
    made = output.outputs[0]
    if made.finish_reason not in ("stop", "length"):
        detail = f"vLLM ended the request: {made.finish_reason}"
        return Refusal(
            id=output.request_id, reason="engine_aborted", detail=detail, permanent=False
        )
    return Completion(
        id=output.request_id,
        text=made.text,
        finish_reason=made.finish_reason,
        prompt_tokens=prompt_tokens,
        completion_tokens=len(made.token_ids),
    )


def sampling_params(sampling: Sampling, room: int) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        temperature=sampling.temperature,
        # Zero is refused by vLLM; this keeps the likeliest token alone, as zero means.
        top_p=max(sampling.top_p, 1e-6),
        max_tokens=min(sampling.max_tokens, room),
        seed=sampling.seed,
        stop=list(sampling.stop),
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def load_llm(found: Checkpoint, options: VllmOptions) -> Any:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with stdout_to_stderr(), warnings.catch_warnings():
        # What vLLM's own imports deprecate is no news to a user.
        warnings.simplefilter("ignore")
        from vllm import LLM

        try:
            return LLM(
                model=found.base,
                tokenizer=found.tokenizer,
                disable_log_stats=True,
                **lora_arguments(found),
                **engine_arguments(options),
            )
        except Exception as error:
            raise EngineError(
                f"vLLM cannot load the model: {error}",
                where=found.base,
                hint="out of memory: try --engine-option max_model_len=2048",
            ) from error


def engine_arguments(options: VllmOptions) -> dict[str, Any]:
    from vllm.platforms import current_platform

    names = (
        "max_num_seqs", "max_model_len", "max_num_batched_tokens", "quantization",
        "tensor_parallel_size", "gpu_memory_utilization", "enable_prefix_caching", "enforce_eager",
    )  # fmt: skip
    asked = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if current_platform.is_cpu():
        # A second process would only compete for the same cores.
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", str(options.kv_cache_gb))
        # A prompt cut in two rewinds its request's generator, which a CPU's cannot do.
        cpu = {"max_num_seqs": CPU_NUM_SEQS, "enforce_eager": True, "enable_chunked_prefill": False}
        asked = {**cpu, **asked}
        if options.dtype == "auto" and slow_at_bfloat16():
            return {"dtype": "float32", **asked}
    return {"dtype": options.dtype, **asked}


def lora_arguments(found: Checkpoint) -> dict[str, Any]:
    if found.adapter is None:
        return {}
    rank = lora_rank(found.adapter)
    return {"enable_lora": True, "max_lora_rank": next(r for r in LORA_RANKS if r >= rank)}


def lora_request(found: Checkpoint) -> Any:
    if found.adapter is None:
        return None
    from vllm.lora.request import LoRARequest

    return LoRARequest("adapter", 1, str(found.adapter))


def engine_version(config: Any) -> str:
    """The facts that texts depend on beside the seed."""
    import vllm
    from vllm.platforms import current_platform

    precision = str(config.model_config.dtype).removeprefix("torch.")
    split = config.parallel_config.tensor_parallel_size
    return f"{vllm.__version__} ({current_platform.device_name}, {precision}, tp {split})"


def open_vllm(model: str, options: Mapping[str, str]) -> VllmEngine:
    read = read_options(VllmOptions, "vllm", options)
    need_package("vllm", "vllm")
    return VllmEngine(model, read)


ENGINE = EngineSpec(
    name="vllm",
    about="vLLM in this process, on GPUs or a CPU",
    open=open_vllm,
)
