"""Memory and rate of `verify` and `filter` as the rows grow, beside a plain Parquet copy.

    python benchmarks/scale.py --rows 100000 1000000

Countdown traces are made by the solver; half of them are spoiled. The baseline
reads and writes the same columns with pyarrow alone, batch by batch.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cotdata.countdown import generate, parse_spec
from cotdata.journal import passed
from cotdata.options import RunFlags
from cotdata.rawrows import RawRows
from cotdata.runner import Stage, run_stage
from cotdata.schema import COLUMNS, Row, problem_id, project, trace_id
from cotdata.stages.ingest import Options
from cotdata.store import open_dataset
from cotdata.tasks import get_task


def make_traces(num_rows: int, out: Path) -> None:
    """num_rows traces over 1,000 problems, every second one with a spoiled answer."""
    task = get_task("countdown")
    problems = [task.parse(row) for row in generate(parse_spec("countdown:n=1000,numbers=3-4"))]

    def rows():
        for number in range(num_rows):
            problem = problems[number % len(problems)]
            trace = task.human_trace(problem)
            yield number, problem, trace if number % 2 else trace.replace("+", "-")

    def run(batches, options):
        made = rows()
        for batch in batches:
            for raw_id in batch["raw_id"].to_pylist():
                number, problem, trace = next(made)
                yield passed(raw_id, full_row(number, problem, trace))

    names = tuple(column.name for column in COLUMNS["trace"])
    stage = Stage(name="made", version=1, kind="trace", reads=("raw",), writes=names, run=run)
    source = RawRows(
        name="made", digest=str(num_rows), split="train", license=None, num_rows=num_rows,
        read=lambda: ({} for _ in range(num_rows)),
    )  # fmt: skip
    run_stage(stage, source, Options(task="countdown"), RunFlags(out=str(out), quiet=True))


def full_row(number: int, problem: Row, trace: str) -> Row:
    key = problem_id("countdown", [str(problem["numbers"]), problem["target"]])
    row = {**problem, "task": "countdown", "split": "train", "problem_id": key, "trace": trace}
    return project({**row, "trace_id": trace_id(key, "model", number), "origin": "model"}, "trace")


def measured(words: list[str]) -> tuple[float, float]:
    """Seconds and peak MiB of a command and its children."""
    code = (
        "import resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, int(done.stdout) / 1024


COPY = """
import sys, pyarrow.parquet as pq
from pathlib import Path
source, out = sys.argv[1:]
files = sorted(Path(source, "data").glob("*.parquet"))
with pq.ParquetWriter(out, pq.read_schema(files[0]), compression="zstd") as writer:
    for file in files:
        for batch in pq.ParquetFile(file, pre_buffer=False).iter_batches(1000):
            writer.write_batch(batch)
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000])
    cotdata = [sys.executable, "-m", "cotdata"]
    print(f"{'rows':>10} {'command':<8} {'rows/s':>9} {'peak MiB':>9}")
    for num_rows in parser.parse_args().rows:
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder, "raw")
            make_traces(num_rows, raw)
            assert open_dataset(str(raw)).num_rows == num_rows
            commands = {
                "copy": [sys.executable, "-c", COPY, str(raw), f"{folder}/copy.parquet"],
                "verify": [*cotdata, "verify", str(raw), "-o", f"{folder}/v", "-q"],
                "filter": [
                    *cotdata, "filter", f"{folder}/v", "--verdict", "wrong", "-o", f"{folder}/w",
                    "-q",
                ],
            }  # fmt: skip
            for name, words in commands.items():
                seconds, peak = measured(words)
                print(f"{num_rows:>10,} {name:<8} {num_rows / seconds:>9,.0f} {peak:>9,.0f}")


if __name__ == "__main__":
    main()
