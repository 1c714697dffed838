"""`tutti tune --model` and `tutti explain --machine`: choosing by predictions."""

import json
import os
from types import SimpleNamespace

import pytest
from tutti.bench.measurements import Cell
from tutti.model.choice import Predicted, Question, predicted
from tutti.model.prediction import Where
from tutti.places import core
from tutti.tuning.by_model import FAR, MOST_MEASURED, NEAR, Contest, _candidates, decide
from tutti.tuning.candidates import Candidate

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
    settings = SimpleNamespace(sizes=[8])
    where = Where(8, [], [], "slots", 0, [])
    found = _candidates(model, settings, where, "reduce", 8)
    assert Candidate("levels:leaves=6") in found


@TWO_UNITS
def test_a_table_is_written(tutti, tmp_path, machine):
    table, document = tmp_path / "tuned.map", tmp_path / "tuned.json"
    result = tutti(
        *("tune", "--model", "--machine", str(machine), "--ranks", "2", "--sizes", "8,64K"),
        *("--collectives", "barrier,reduce", "-o", str(table), "--json", str(document)),
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


@TWO_UNITS
def test_this_machine_is_measured_if_no_file_names_it(tutti, tmp_path):
    table = tmp_path / "tuned.map"
    words = ("--ranks", "2", "--sizes", "8", "--collectives", "bcast", "--shared-heap")
    result = tutti("tune", "--model", *words, "-o", str(table))
    assert result.returncode == 0, result.stderr
    assert table.exists()


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
        (("--model", "--machine", "nowhere.json"), "--machine: cannot read 'nowhere.json'"),
    ],
)
def test_bad_options_are_one_line(tutti, tmp_path, words, line):
    if words[0] == "--model" and len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two cores")
    result = tutti("tune", *words, "-o", str(tmp_path / "t.map"))
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and line in result.stderr, result.stderr
