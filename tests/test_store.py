"""Rulings on the dataset folder: what is written is what is read, by every reader."""

import json
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import run_toy_ingest, toy_problem

from cotdata.errors import DamagedDataset, DatasetError, NewerFormat
from cotdata.schema import COLUMNS, rejected_schema, schema_of
from cotdata.store import DatasetWriter, Digest, open_dataset


@pytest.mark.parametrize("kind", ["problem", "trace"])
def test_no_column_is_of_a_type_that_readers_stumble_over(kind: str) -> None:
    for column in COLUMNS[kind]:
        assert not pa.types.is_null(column.type)
        assert not pa.types.is_map(column.type)


def test_a_dataset_folder_holds_manifest_card_and_hub_named_files(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    names = sorted(str(p.relative_to(tmp_path / "p")) for p in (tmp_path / "p").rglob("*.*"))
    assert names == [
        "README.md",
        "data/test-00000-of-00001.parquet",
        "data/train-00000-of-00001.parquet",
        "manifest.json",
    ]


def test_datasets_loads_the_folder_with_the_documented_types(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    run_toy_ingest(tmp_path / "p")
    loaded = datasets.load_dataset(str(tmp_path / "p"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 16, "test": 4}
    assert loaded["train"].features.arrow_schema.field("numbers").type == pa.list_(pa.int64())
    assert loaded["train"][0]["answer"] == "02"


def test_pandas_and_duckdb_keep_strings_as_strings(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    glob = str(tmp_path / "p" / "data" / "train-*.parquet")
    assert duckdb.sql(f"SELECT answer FROM '{glob}' LIMIT 1").fetchall() == [("02",)]
    assert pd.read_parquet(tmp_path / "p" / "data")["answer"].iloc[0] == "00"


def test_the_card_names_every_column(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    card = (tmp_path / "p" / "README.md").read_text()
    assert all(f"| `{column.name}` |" in card for column in COLUMNS["problem"])


def test_the_manifest_names_no_host(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    text = (tmp_path / "p" / "manifest.json").read_text()
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text


@given(st.permutations(range(6)))
def test_the_digest_does_not_depend_on_row_order(order: list[int]) -> None:
    digests = []
    for numbers in (range(6), order):
        digest = Digest()
        digest.add(pa.Table.from_pylist([toy_problem(n) for n in numbers], schema_of("problem")))
        digests.append(digest.hexdigest())
    assert digests[0] == digests[1]


@given(
    st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.integers(-(2**63), 2**63 - 1))
)
def test_rows_come_back_as_they_went_in(tmp_path_factory, text: str, numbers: list[int]) -> None:
    folder = tmp_path_factory.mktemp("d")
    row = {**toy_problem(1), "problem": text, "numbers": numbers}
    writer = DatasetWriter(folder, "problem")
    writer.add(pa.Table.from_pylist([row], schema_of("problem")))
    (entry,) = writer.close()
    assert pq.read_table(folder / entry.path).to_pylist() == [row]


def test_rejected_files_have_the_same_columns_and_the_reason() -> None:
    names = rejected_schema("trace").names
    assert names == [*schema_of("trace").names, "reject_reason", "reject_detail"]


def test_a_newer_manifest_is_refused_with_the_way_on(tmp_path: Path) -> None:
    run_toy_ingest(tmp_path / "p")
    place = tmp_path / "p" / "manifest.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "format": 99}))
    with pytest.raises(NewerFormat, match="pip install -U cotdata"):
        open_dataset(str(tmp_path / "p"))


def test_a_folder_without_manifest_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="there is no manifest"):
        open_dataset(str(tmp_path))


def test_a_broken_manifest_is_called_damaged(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(DamagedDataset, match="not JSON"):
        open_dataset(str(tmp_path))


def test_large_sets_are_cut_into_row_groups_and_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("cotdata.store.GROUP_ROWS", 10)
    monkeypatch.setattr("cotdata.store.GROUPS_PER_FILE", 2)
    dataset = run_toy_ingest(tmp_path / "p", 60)
    train = dataset.files("data", "train")
    assert [entry.rows for entry in train] == [20, 20, 8]
    assert train[0].path == "data/train-00000-of-00003.parquet"
    assert sum(batch.num_rows for batch in dataset.batches(split="train")) == 48
