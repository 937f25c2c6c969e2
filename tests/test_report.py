"""What the report states, and the page that states it."""

import csv
import io
import json
import random
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from arms import (
    PROBLEMS,
    drawn_rows,
    experiment,
    manifest,
    result,
    result_row,
    step,
    tolerance,
    traces,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from cotdata.errors import InputError
from cotdata.report.arms import ArmSummary
from cotdata.report.export import csv_tables, report_json, write_exports
from cotdata.report.figures import figures, set_figures
from cotdata.report.lineage import _is_lane, _width, place
from cotdata.report.page import render_html
from cotdata.report.results import ArmRows, is_result, problem_set
from cotdata.report.summary import summarise
from cotdata.schema import Row

VOID = {"meta", "br", "hr", "link", "img"}


def only_arm(arm: ArmRows) -> ArmSummary:
    return summarise([arm]).sets[0].arms[0]


def verdict_rows(*verdicts: str, **more: object) -> list[Row]:
    return [result_row(number, verdict, **more) for number, verdict in enumerate(verdicts)]


def test_every_problem_counts_and_only_correct_ones_are_correct() -> None:
    arm = only_arm(result("A", verdict_rows("correct", "wrong", "no_answer", "timeout", "error")))
    assert arm.accuracy.value == 1 / 5
    assert arm.verdicts == dict.fromkeys(["correct", "wrong", "no_answer", "timeout", "error"], 1)


def test_accuracy_over_parsed_answers_is_another_figure() -> None:
    arm = only_arm(result("A", verdict_rows("correct", "wrong", "no_answer", "timeout")))
    assert arm.accuracy_parsed is not None
    assert (arm.accuracy.value, arm.accuracy_parsed.value, arm.accuracy_parsed.n) == (0.25, 0.5, 2)


def test_without_any_parsed_answer_there_is_no_such_figure() -> None:
    arm = only_arm(result("A", verdict_rows("no_answer", "error")))
    assert arm.accuracy_parsed is None
    assert "–" in render_html(summarise([result("A", verdict_rows("no_answer"))]))


def test_a_problem_that_got_no_trace_counts_with_all_its_samples() -> None:
    rows = [result_row(1, "correct", sample_index=i) for i in range(4)]
    lost = [{"problem_id": "p0002", "task": "countdown", "reject_reason": "prompt_too_long"}]
    arm = only_arm(result("A", rows, rejected=lost))
    assert (arm.accuracy.value, arm.num_problems, arm.num_samples) == (0.5, 2, 8)
    assert arm.reasons["no_trace"] == {"prompt_too_long": 4}
    assert arm.pass_at[4].value == 0.5


def test_truncated_and_unanswered_shares_are_stated() -> None:
    rows = [*verdict_rows("no_answer", "wrong", finish_reason="length"), result_row(7, "correct")]
    arm = only_arm(result("A", rows))
    assert (arm.truncated_rate.value, arm.no_answer_rate.value) == (2 / 3, 1 / 3)


def test_problems_weigh_alike_however_often_they_were_sampled() -> None:
    rows = [result_row(1, "correct", sample_index=i) for i in range(9)] + [result_row(2, "wrong")]
    raw = step("sample", "r", [PROBLEMS], 2)
    verified = traces("A", rows, [PROBLEMS, raw, step("verify", "v", [raw], 10)])
    assert only_arm(verified).accuracy.value == 0.5


def test_a_sample_that_was_refused_is_not_correct() -> None:
    rows = [result_row(1, "correct", sample_index=i) for i in range(3)]
    arm = only_arm(result("A", rows, n=4))
    assert (arm.accuracy.value, arm.verdicts) == (0.75, {"correct": 3, "no_trace": 1})


def test_pass_and_majority_come_with_several_samples_only() -> None:
    greedy, sampled = (only_arm(result("A", drawn_rows(20, 0.5, 1, n))) for n in (1, 8))
    assert not greedy.pass_at and not greedy.majority_at
    assert (list(sampled.pass_at), list(sampled.majority_at)) == ([2, 4, 8], [4, 8])


def test_programs_have_no_majority() -> None:
    rows = [result_row(1, "correct", sample_index=i, tests=["assert f() == 1"]) for i in range(4)]
    arm = only_arm(result("A", rows))
    assert arm.pass_at and not arm.majority_at


def test_results_of_one_name_on_one_set_are_runs_of_one_arm() -> None:
    arms = [result("A", drawn_rows(50, 0.5, seed)) for seed in range(3)]
    runs = [
        ArmRows(name="A", manifest=manifest([PROBLEMS, step("eval", f"s{i}", [PROBLEMS], 50)]),
                batches=arm.batches)
        for i, arm in enumerate(arms)
    ]  # fmt: skip
    arm = summarise(runs).sets[0].arms[0]
    assert (arm.num_runs, arm.accuracy.method, arm.num_samples) == (3, "runs", 150)


def test_runs_that_were_not_trained_alike_are_pointed_out() -> None:
    def run(mark: str, **options: object) -> ArmRows:
        train = step("train", mark, [PROBLEMS], 10, **options)
        done = manifest([PROBLEMS, train, step("eval", mark, [PROBLEMS, train], 10)])
        return ArmRows(name="A", manifest=done, batches=result("A", drawn_rows(9, 0.5, 1)).batches)

    seeds = [run("s1", seed=1), run("s2", seed=2)]
    assert not summarise(seeds).sets[0].notes
    assert "not trained alike" in summarise([*seeds, run("s3", epochs=9)]).sets[0].notes[0]


def test_a_dataset_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="twice"):
        summarise([result("A", verdict_rows("correct"))] * 2)


def test_nothing_to_report_on_is_refused() -> None:
    with pytest.raises(InputError, match="nothing"):
        summarise([])


def test_arms_are_paired_on_the_problems_that_both_have() -> None:
    first = result("A", verdict_rows("correct", "correct", "wrong"))
    second = result("B", verdict_rows("correct", "wrong"), limit=2)
    summary = summarise([first, second]).sets[0]
    comparison = summary.differences[0].comparison
    assert (comparison.n, comparison.value, comparison.num_first_better) == (2, 0.5, 1)
    assert any("different problems" in note for note in summary.notes)
    assert any("limit differs" in note for note in summary.notes)


def test_arms_on_other_problems_are_never_compared() -> None:
    other = step("ingest", "zzzz", [], 9, kind="problem")
    arms = [
        result("A", verdict_rows("correct")),
        result("B", verdict_rows("wrong"), steps=[other]),
    ]
    report = summarise(arms)
    assert [len(summary.arms) for summary in report.sets] == [1, 1]
    assert report.sets[0].name != report.sets[1].name


def test_a_verified_sample_is_a_result_and_a_filtered_one_is_not() -> None:
    raw = step("sample", "r", [PROBLEMS], 9)
    verified = step("verify", "v", [raw], 9)
    assert is_result(manifest([PROBLEMS, raw, verified]))
    assert not is_result(manifest([PROBLEMS, raw, verified, step("filter", "f", [verified], 3)]))
    assert problem_set(manifest([PROBLEMS, raw, verified])) == PROBLEMS.digest


def test_an_empty_result_is_left_out_with_a_note() -> None:
    summary = summarise([result("A", []), result("B", verdict_rows("correct"))]).sets[0]
    assert [arm.name for arm in summary.arms] == ["B"]
    assert "left out: A" in summary.notes[0]
    assert "No rows" in render_html(summarise([result("A", [])]))


def test_arms_of_flawed_traces_make_a_curve_and_are_paired_where_that_asks_something() -> None:
    summary = summarise(tolerance()).sets[0]
    assert [arm.level.level for arm in summary.arms if arm.level] == [0, 0.25, 0.5, 1] * 2
    pairs = {(d.first, d.second) for d in summary.differences}
    assert ("wrong_result@0.5", "placebo@0.5") in pairs
    assert ("wrong_result@0", "wrong_result@1") in pairs
    assert len(pairs) == 4 + 3 + 3
    assert "tolerance" in set_figures(summary)


def test_the_report_does_not_depend_on_the_order_of_rows() -> None:
    rows = drawn_rows(40, 0.4, 3, samples=4)
    shuffled = random.Random(0).sample(rows, len(rows))
    first, second = (summarise([result("A", r)]) for r in (rows, shuffled))
    assert first.sets[0].arms[0].accuracy == second.sets[0].arms[0].accuracy
    assert first.sets[0].arms[0].majority_at[4].value == pytest.approx(
        second.sets[0].arms[0].majority_at[4].value, abs=0.02
    )


def test_the_same_input_gives_the_same_page() -> None:
    assert render_html(summarise(experiment(4))) == render_html(summarise(experiment(4)))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert not tags.open
    return tags


@pytest.mark.parametrize("samples", [1, 8])
def test_the_page_is_well_formed_and_needs_nothing_from_outside(samples: int) -> None:
    page = render_html(summarise(experiment(samples)))
    tags = parsed(page)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in tags.seen}
    assert not [
        a
        for _, attrs in tags.seen
        for a in attrs
        if a in ("src", "style") and "url" in str(attrs[a])
    ]
    outside = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|//|@import|url\(", outside)


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><b>x', "a & b", "</svg>", "{{ 1 }}"]
)
def test_whatever_data_says_is_shown_as_text(evil: str) -> None:
    rows = [result_row(1, "wrong", verdict_reason=evil, task=evil), result_row(2, "correct")]
    source = step("ingest", evil, [], 3, kind="problem", lost={evil: 1})
    arms = [result(evil, rows, steps=[source], model=evil), result("B", rows, steps=[source])]
    arms.append(traces(evil, rows, [source, step("filter", evil, [source], 2)]))
    page = render_html(summarise(arms), title=evil)
    tags = parsed(page)
    assert "script" not in {tag for tag, _ in tags.seen} and "b" not in {
        tag for tag, _ in tags.seen
    }
    assert evil in " ".join(tags.words)


def test_each_figure_says_what_it_is_and_its_n() -> None:
    page = " ".join(parsed(render_html(summarise(experiment(1)))).words)
    for words in ("over 150 problems", "95% intervals", "All samples of all runs", "n = 150"):
        assert words in page


def test_ids_in_the_page_are_unique_and_the_links_lead_to_them() -> None:
    tags = parsed(render_html(summarise(experiment(4))))
    ids = [attrs["id"] for _, attrs in tags.seen if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [str(attrs["href"])[1:] for tag, attrs in tags.seen if tag == "a"]
    assert links and set(links) <= set(ids)


def test_figures_are_svg_with_a_title_and_a_description(tmp_path: Path) -> None:
    paths = write_exports(summarise(experiment(4)), tmp_path)
    drawn = [path for path in paths if path.suffix == ".svg"]
    assert len(drawn) == 6
    for path in drawn:
        svg = ElementTree.parse(path).getroot()
        name = "{http://www.w3.org/2000/svg}"
        assert svg.findtext(f"{name}title") and svg.findtext(f"{name}desc")


def test_nothing_is_drawn_outside_its_figure() -> None:
    drawn = [*figures(summarise(experiment(4))).values(), *figures(summarise(tolerance())).values()]
    for svg in drawn:
        root = ElementTree.fromstring(svg)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for part in root.iter():
            x, y = float(part.get("x", 0)), float(part.get("y", 0))
            assert 0 <= x <= width and 0 <= y <= height
            assert x + float(part.get("width", 0)) <= width + 0.5 or part is root


def test_json_and_csv_hold_the_same_figures() -> None:
    report = summarise(experiment(4))
    data = json.loads(report_json(report))
    rows = list(csv.DictReader(io.StringIO(csv_tables(report)["accuracy.csv"])))
    found = {row["arm"]: float(row["value"]) for row in rows if row["figure"] == "accuracy"}
    assert found == {arm["name"]: arm["accuracy"]["value"] for arm in data["sets"][0]["arms"]}
    fates = list(csv.DictReader(io.StringIO(csv_tables(report)["fates.csv"])))
    assert [row["rows"] for row in fates if row["reason"] == "verdict"] == ["330"]


def test_datasets_without_results_still_make_a_report() -> None:
    report = summarise([arm for arm in experiment(1) if not is_result(arm.manifest)])
    assert "no accuracy to show" in render_html(report)
    assert report.datasets[0].verdicts["correct"] > 400


graphs = st.integers(1, 12).flatmap(
    lambda n: st.lists(
        st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1]),
        unique=True,
    ).map(lambda edges: (n, edges))
)


@settings(max_examples=60)
@given(graphs)
def test_every_step_is_drawn_below_its_parents_and_beside_no_other(
    graph: tuple[int, list[tuple[int, int]]],
) -> None:
    edges = [(str(a), str(b)) for a, b in graph[1]]
    layout = place([str(i) for i in range(graph[0])], edges)
    layer_of = {node: i for i, nodes in enumerate(layout.layers) for node in nodes}
    assert all(layer_of[parent] < layer_of[child] for parent, child in edges)
    assert {node for node in layer_of if not _is_lane(node)} == set(map(str, range(graph[0])))
    for nodes in layout.layers:
        for left, right in pairwise(nodes):
            assert layout.x[left] + _width(left) < layout.x[right]


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=500,900",
)  # fmt: skip
MEASURE = (
    "<script>document.title = document.documentElement.scrollWidth + ' ' + innerWidth</script>"
)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_shows_the_page_without_scrolling_sideways(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(render_html(summarise(experiment(8))).replace("</body>", f"{MEASURE}</body>"))
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    shown = subprocess.run(
        [str(CHROMIUM), *FLAGS, profile, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    ).stdout  # fmt: skip
    found = re.search(r"<title>(\d+) (\d+)</title>", shown)
    assert found and int(found[1]) <= int(found[2])
