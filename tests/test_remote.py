"""Rulings on datasets that lie elsewhere: an S3-compatible server on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from toys import INGEST, SHADE, NoOptions, files_of, raw_rows, run_toy_ingest

from cotdata.errors import DatasetError
from cotdata.options import RunFlags
from cotdata.runner import run_stage
from cotdata.store import open_dataset


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    server_module = pytest.importorskip("moto.server", reason="moto is in the extra dev")
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("COTDATA_HOME", str(tmp_path / "home"))
    server = server_module.ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    # The server's buckets outlive it within a process.
    name = tmp_path.name.replace("_", "-").lower()
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket=name)
    yield f"s3://{name}/NAME?endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    server.stop()


def test_a_stage_reads_from_and_writes_to_s3(bucket: str, tmp_path: Path) -> None:
    out = bucket.replace("NAME", "toys/p")
    run_stage(INGEST, raw_rows(30), NoOptions(), RunFlags(out=out, quiet=True))
    problems = open_dataset(out)
    problems.check_files()
    shaded = bucket.replace("NAME", "toys/s")
    flags = RunFlags(out=shaded, quiet=True, accept_failed=True)
    run_stage(SHADE, problems, NoOptions(), flags)
    assert open_dataset(shaded).num_rows == 17


def test_the_rows_are_those_of_a_local_run(bucket: str, tmp_path: Path) -> None:
    out = bucket.replace("NAME", "p")
    run_stage(INGEST, raw_rows(30), NoOptions(), RunFlags(out=out, quiet=True))
    local = run_toy_ingest(tmp_path / "p", 30)
    remote = open_dataset(out)
    assert remote.manifest.files == local.manifest.files
    assert files_of(tmp_path / "p").keys() == {entry.path for entry in remote.manifest.files}


def test_no_work_folder_is_left_behind(bucket: str, tmp_path: Path) -> None:
    out = bucket.replace("NAME", "p")
    run_stage(INGEST, raw_rows(30), NoOptions(), RunFlags(out=out, quiet=True))
    assert list((tmp_path / "home" / ".work").iterdir()) == []
    with pytest.raises(DatasetError, match="no dataset here"):
        open_dataset(bucket.replace("NAME", "nothing"))
