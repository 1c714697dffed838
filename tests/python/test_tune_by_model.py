"""`tutti tune --model` and `tutti explain --machine`: choosing by predictions."""

import json
import os

import pytest
from tutti.bench.measurements import Cell
from tutti.choose.candidates import Candidate
from tutti.choose.choice import Predicted, Question, algorithms_for_model, predicted, search
from tutti.choose.parameters import specs_for_model
from tutti.choose.placement import Placement, placement_on, roots_to_try
from tutti.cli import whole_app
from tutti.places import core
from tutti.predict.machines import known_files, model_of, read_model
from tutti.predict.prediction import Where
from tutti.tuning import command
from tutti.tuning.by_model import (
    FAR,
    MOST_MEASURED,
    NEAR,
    Contest,
    decide,
    decide_here,
    decide_unmeasured,
)
from typer.testing import CliRunner

TWO_UNITS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
MACHINE = {
    "format": "tutti-machine 1",
    "name": "by hand",
    "levels": [{"name": "node", "hand_over": 100, "byte": 0.2, "shared": 0.1}],
    "own": {"call": 20, "step": 5, "copy": 0.05, "combine": 0.05},
}
CELL = Cell(2, "bcast", 64)
FLAT, RING, TREE = Candidate("flat"), Candidate("ring"), Candidate("tree", 65536)


@pytest.fixture
def machine(tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(MACHINE))
    return file


def order(**times):
    names = {"flat": FLAT, "ring": RING, "tree": TREE}
    found = [Predicted(names[name], time) for name, time in times.items()]
    return sorted(found, key=lambda one: one.microseconds)


def test_what_is_measured_and_what_is_not():
    far, near = 1.01 * FAR, 0.99 * NEAR
    stays = decide(CELL, FLAT, order(flat=1, ring=NEAR * 1.01))
    assert (stays.label, stays.default_us, stays.ratio) == (None, 1, None)
    taken = decide(CELL, FLAT, order(flat=far, tree=1))
    assert taken.label == "tree segment 64K" and taken.tuned_us == 1
    assert (taken.ratio.value, taken.ratio.low) == (far, None)
    assert decide(CELL, FLAT, order(flat=1, ring=near)) == Contest(CELL, FLAT, [RING])
    assert decide(CELL, FLAT, order(flat=FAR * 0.99, ring=1)) == Contest(CELL, FLAT, [RING])
    both = decide(CELL, FLAT, order(flat=far, ring=1, tree=near))
    assert both == Contest(CELL, FLAT, [RING, TREE])
    unknown = decide(CELL, FLAT, order(ring=1))
    assert unknown == Contest(CELL, FLAT, [RING]), "a choice without a prediction is measured"
    many = [Predicted(Candidate(f"nary:{degree}"), 1.0) for degree in range(2, 20)]
    assert len(decide(CELL, FLAT, many).rivals) == MOST_MEASURED


def test_without_measurement_a_near_candidate_changes_nothing():
    near, far = NEAR * 0.99, NEAR * 1.01
    assert decide_unmeasured(CELL, FLAT, order(flat=near, ring=1)).label is None
    assert decide_unmeasured(CELL, FLAT, order(ring=1)).label is None
    taken = decide_unmeasured(CELL, FLAT, order(flat=far, ring=1, tree=1.1))
    assert (taken.label, taken.tuned_us, taken.ratio.low) == ("ring", 1, None)


def test_roots_in_different_positions():
    two_groups = placement_on("numa:2 core:4", 8, "slots")
    assert roots_to_try("reduce", two_groups) == [0, 2, 4, 6]
    assert roots_to_try("allreduce", two_groups) == [0]
    assert roots_to_try("bcast", Placement(2)) == [0, 1]
    uneven = placement_on("numa:2 core:4", 5, "slots")
    assert roots_to_try("gather", uneven) == [0, 2, 4]
    nodes = placement_on("node:3 core:2", 6, "slots")
    assert roots_to_try("scatter", nodes) == [0, 1, 2, 5]


def test_the_parameters_that_rules_have_words_for():
    groups = placement_on("numa:2 core:6", 12, "mapped")
    specs = specs_for_model("reduce", groups)
    assert {"nary:3", "nary:3:stepwise", "levels:flat:binary:stepwise", "tiled:levels"} <= set(
        specs
    )
    assert not any("stepwise" in spec for spec in specs_for_model("bcast", groups))
    assert {"direct:2", "direct:4"} <= set(specs_for_model("alltoall", Placement(8)))
    nodes = specs_for_model("allreduce", placement_on("node:4 core:4", 16, "slots"))
    assert any(spec.startswith("hierarchical:leaders=4+") for spec in nodes)
    assert all(spec.startswith("hierarchical") for spec in nodes)


def test_segments_and_reach_are_tried_for_the_leading_algorithms():
    model = read_model(known_files()["hmpi-xeon"])
    groups = placement_on("numa:2 core:2", 4, "mapped")
    found = search(model, "reduce", 1 << 20, groups, Candidate("flat"))
    assert found.by_root.keys() == {0, 1, 2, 3} and not found.refused
    words = {(one.candidate.segment_bytes, one.candidate.reach) for one in found.order}
    assert {(0, ""), (0, "staged"), (65536, ""), (8192, "staged")} <= words
    times = [one.microseconds for one in found.order]
    assert times == sorted(times) and found.time_of(Candidate("flat")) in times
    staged, direct = (found.time_of(Candidate("flat", 0, reach)) for reach in ("staged", ""))
    assert staged > direct, "through slots the data is copied once more"
    slots = placement_on("numa:2 core:2", 4, "slots")
    short = search(model, "reduce", 64, slots, Candidate("flat"))
    assert {(one.candidate.segment_bytes, one.candidate.reach) for one in short.order} == {(0, "")}


def test_the_systems_copies_are_tried_in_private_memory_if_the_machine_has_their_costs():
    def reaches(costs, reach, size=1 << 20):
        level = MACHINE["levels"][0] | costs
        model = model_of(json.dumps(MACHINE | {"levels": [level]}), "by hand")
        found = search(model, "bcast", size, placement_on("core:4", 4, reach), Candidate("flat"))
        return {one.candidate.reach for one in found.order}, found.order[0].candidate.reach

    quick, slow = ({"system": {"1": 400, "65536": cost}} for cost in (0.02, 2))
    assert reaches(quick, "slots") == ({"", "cma"}, "cma")
    assert reaches(slow, "slots") == ({"", "cma"}, "")
    assert reaches({}, "slots") == ({""}, "") and reaches(quick, "slots", 4096) == ({""}, "")
    assert "cma" not in reaches(quick, "mapped")[0], "readers load from memory that is mapped"


def test_threads_do_not_measure_the_systems_copies():
    cma = Candidate("flat", 0, "cma")
    near = decide_here(CELL, FLAT, [Predicted(cma, 1), *order(ring=NEAR * 0.9, flat=NEAR * 0.99)])
    assert near == Contest(CELL, FLAT, [RING])
    far = decide_here(CELL, FLAT, [Predicted(cma, 1), *order(ring=NEAR * 1.1, flat=NEAR * 1.2)])
    assert far.label == "flat reach cma" and far.tuned_us == 1


def test_candidates_are_ordered_by_prediction():
    model = core().Model(json.dumps(MACHINE), "machine")
    question = Question("reduce", 1000, 0, "", Where(8, [], [], "slots", 0, []))
    names = ["binomial", "nothing", "binomial:stepwise"]
    found, refused = predicted(model, question, [Candidate(name) for name in names])
    assert [one.candidate.algorithm for one in found] == ["binomial:stepwise", "binomial"]
    assert len(refused) == 1 and "nothing" in refused[0]


def test_the_leaves_of_a_tree_follow_from_the_machine():
    # b / B is 2, so a binary tree can have 2^(1 + 1) + 2 leaves.
    model = core().Model(json.dumps(MACHINE), "machine")
    assert [model.leaves([], ranks, 4096) for ranks in (4, 8, 64)] == [4, 6, 6]
    found = algorithms_for_model(
        model, "reduce", 8, placement_on("node:1 numa:2 core:8", 16, "slots")
    )
    assert found.count(Candidate("levels:leaves=6")) == 1


@pytest.mark.alone  # threads that measure poll, and take ten times as long beside others
@TWO_UNITS
def test_a_table_is_written(tutti, tmp_path, machine):
    table, document = tmp_path / "tuned.map", tmp_path / "tuned.json"
    result = tutti(
        *("tune", "--model", "--machine", str(machine), "--ranks", "2", "--bytes", "8,64K"),
        *("--collectives", "barrier,reduce", "--repetitions", "3"),
        *("-o", str(table), "--json-file", str(document)),
    )
    assert result.returncode == 0, result.stderr
    assert "cells were decided by prediction alone" in result.stdout
    text = table.read_text()
    assert "by predictions, and among threads where candidates are near" in text
    core().read_map(text, "tuned.map")
    found = json.loads(document.read_text())
    assert found["machine"]["name"] == "by hand"
    cells = {(one["cell"]["collective"], one["cell"]["bytes"]) for one in found["picks"]}
    assert cells == {("barrier", 0), ("reduce", 8), ("reduce", 65536)}


@pytest.mark.alone
@TWO_UNITS
def test_this_machine_is_measured_if_no_file_names_it(monkeypatch, tmp_path):
    """The model takes the medians of two measurements here, each of which takes seconds."""
    monkeypatch.setattr(command, "MEASUREMENTS_OF_STEPS", 2)
    table = tmp_path / "tuned.map"
    words = ("--ranks", "2", "--bytes", "8", "--collectives", "bcast", "--shared-heap")
    words = ("tune", "--model", *words, "--repetitions", "3", "-o", str(table))
    result = CliRunner().invoke(whole_app(), words)
    assert result.exit_code == 0, result.output
    assert "no model" not in result.output
    assert table.exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "cannot read"),
        ("{", "not valid JSON"),
        (json.dumps(MACHINE | {"shape": "node:2 numa:2 core:6"}), "12 cores a node"),
    ],
)
def test_why_there_is_no_model(tmp_path, text, why):
    file = tmp_path / "machine.json"
    if text is not None:
        file.write_text(text)
    model, said = command.model_of_this_machine(file)
    assert model is None and why in said


@pytest.mark.alone
@TWO_UNITS
def test_tuning_goes_on_without_a_model(tutti, tmp_path):
    file, table, why = tmp_path / "machine.json", tmp_path / "tuned.map", "not valid JSON"
    file.write_text("{")
    words = ("--ranks", "2", "--bytes", "8", "--collectives", "bcast", "--repetitions", "3")
    document = tmp_path / "tuned.json"
    result = tutti(
        *("tune", "--model", "--machine", str(file), *words),
        *("-o", str(table), "--json-file", str(document)),
    )
    assert result.returncode == 0, result.stderr
    (line,) = [one for one in result.stdout.splitlines() if one.startswith("no model, ")]
    assert why in line, line
    assert "0 cells were decided by prediction alone, 1 by measurement" in result.stdout
    assert "over roots 0, 1 decide" in result.stdout
    found = json.loads(document.read_text())
    assert found["machine"] is None and why in found["no_model"]
    core().read_map(table.read_text(), "tuned.map")


def test_a_table_for_a_machine_that_is_not_here(tutti, tmp_path):
    table, document = tmp_path / "tuned.map", tmp_path / "tuned.json"
    words = ("--ranks", "8,16", "--bytes", "8,16K", "--collectives", "barrier,bcast,allreduce")
    result = tutti(
        *("tune", "--model", "--shape", "node:2 numa:2 core:4", "--machine", "hmpi-xeon", *words),
        *("-o", str(table), "--json-file", str(document)),
    )
    assert result.returncode == 0, result.stderr
    assert "10 cells were decided by prediction alone, 0 by measurement" in result.stdout
    assert "over roots 0, 2, 4, 6 decide" in result.stdout
    assert "by predictions alone" in table.read_text()
    rules = core().read_map(table.read_text(), "tuned.map")["rules"]
    assert rules
    for rule in rules:
        on_nodes = "nodes 2 " in rule["text"]
        assert on_nodes == (rule["ranks"] == (16, 16)), rule
        assert on_nodes == ("hierarchical" in rule["text"]), rule


def explained(tutti, machine, *words):
    result = tutti("explain", *words, "--machine", str(machine), "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_explain_tells_the_predicted_time_and_the_runner_up(tutti, machine):
    words = ("allreduce", "--bytes", "1M", "--ranks", "2", "--no-oversubscribed", "--no-reached")
    found = explained(tutti, machine, *words)
    times = {one["algorithm"]: one["us"] for one in found["predicted"]["algorithms"]}
    assert found["predicted"]["us"] in times.values() and len(times) > 4
    assert list(times.values()) == sorted(times.values())
    assert found["measured_us"] is None
    text = tutti("explain", *words, "--machine", str(machine)).stdout
    assert "us on by hand" in text and ("runner-up" in text or "better" in text)


def test_explain_finds_the_measured_time_in_a_table(tutti, tmp_path):
    table = tmp_path / "tuned.map"
    table.write_text(
        "tutti-map 1\n# 2 ranks, 8 bytes: flat 1.00 us, now 0.50 (2.00x, 1.90x to 2.10x)\n"
        "# 2 ranks, 64 bytes: flat 1.00 us, now 0.60 (1.67x, predicted)\n"
        "bcast ranks 2 -> builtin:binomial\n"
    )
    for size, expected in (("8", 0.5), ("64", None), ("512", None)):
        result = tutti(
            *("explain", "bcast", "--bytes", size, "--ranks", "2", "--table", str(table), "--json")
        )
        assert json.loads(result.stdout)["measured_us"] == expected
    text = tutti("explain", "bcast", "--bytes", "8", "--ranks", "2", "--table", str(table)).stdout
    assert "measured   0.50 us, when the table was tuned" in text


def test_explain_predicts_the_systems_copies_where_a_rule_asks_for_them(tutti, tmp_path, machine):
    table = tmp_path / "by-system.map"
    table.write_text("tutti-map 1\nbcast -> builtin:flat reach cma\n")
    words = ("bcast", "--bytes", "64K", "--ranks", "2", "--no-oversubscribed", "--no-reached")
    words = (*words, "--table", str(table))
    lacking = explained(tutti, machine, *words)["predicted"]["failed"]
    assert "has no costs of the system's copies" in lacking
    costs = json.loads(machine.read_text())
    costs["levels"][0]["system"] = {"1": 400, "65536": 0.3}
    by_hand = tmp_path / "with-system.json"
    by_hand.write_text(json.dumps(costs))
    found = explained(tutti, by_hand, *words)["predicted"]
    times = {one["algorithm"]: one["us"] for one in found["algorithms"]}
    assert found["us"] == times["flat reach cma"] != times["flat reach staged"]
    assert all("reach" in algorithm for algorithm in times)
    asked = ("bcast", "--algorithm", "flat", "--ranks", "2", "--bytes", "64K", "--cma", "--json")
    result = tutti("model", "predict", *asked, "--machine", str(by_hand))
    assert json.loads(result.stdout)["cells"][0]["predicted_us"] == pytest.approx(found["us"])
    everywhere = explained(tutti, by_hand, *words, "--reached")["predicted"]
    assert not any("cma" in one["algorithm"] for one in everywhere["algorithms"])


def test_explain_goes_on_without_a_model(tutti, tmp_path, machine):
    words = ("bcast", "--bytes", "64", "--ranks", "8", "--shape", "numa:2 core:4")
    found = explained(tutti, machine, *words)
    assert "no costs of the level 'numa'" in found["predicted"]["failed"]
    assert found["runs"]
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    result = tutti("explain", *words, "--machine", str(broken))
    assert result.returncode == 0
    assert f"predicted  no time: {broken}:1: not valid JSON" in result.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--model", "--ranks", "1000"), "--model: this process may use"),
        (("--model", "--resume"), "--model: it needs neither --mpi nor --resume"),
        (("--machine", "m.json"), "--machine: it is for --model"),
        (("--shape", "core:4"), "--shape: it is for --model"),
        (("--model", "--shape", "core:4"), "--shape: the costs of that machine are needed"),
        (("--model", "--shape", "core:4", "--ranks", "8"), "--model: 'core:4' has 4 cores"),
        (
            ("--model", "--shape", "core:4", "--machine", "nowhere.json"),
            "--machine: cannot read 'nowhere.json'",
        ),
    ],
)
def test_bad_options_are_one_line(tutti, tmp_path, words, line):
    if words[0] == "--model" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    result = tutti("tune", *words, "-o", str(tmp_path / "t.map"))
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and line in result.stderr, result.stderr
