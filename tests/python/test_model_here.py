"""`tutti model measure` and `tutti model check`: this machine, and predictions beside measurements."""

import json
import os
import subprocess
from dataclasses import replace

import pytest
from tutti.bench.mpis import Mpi, find_mpis
from tutti.model.algorithms import Grid, trials_text
from tutti.model.check import (
    Checked,
    Compared,
    Conditions,
    as_json,
    compare,
    families,
    family_of,
    judged,
    of_one_state,
    regrets,
    steady,
)
from tutti.model.measure import Unit, by_length, machine_of, places_of, units_to_measure
from tutti.places import core, program

TWO_UNITS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")


@pytest.mark.parametrize(
    ("topology", "expected"),
    [
        ("core:4", {"numa": [0, 1, 2, 3]}),
        ("numa:2 core:4", {"node": [0, 4, 1, 5, 2, 6, 3, 7], "numa": [0, 1, 2, 3]}),
        ("numa:4 core:2", {"node": [0, 2, 4, 6], "numa": [0, 1]}),
        (
            "socket:2 numa:2 cache:2 core:2",
            {
                "node": [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15],
                "socket": [0, 4, 1, 5, 2, 6, 3, 7],
                "numa": [0, 2, 1, 3],
                "cache": [0, 1],
            },
        ),
    ],
)
def test_each_level_is_measured_across_what_is_inside_it(topology, expected):
    units = units_to_measure(places_of(core().load_tree(topology)))
    assert {unit.level: unit.units for unit in units} == expected


STEPS = {
    "hand_over": 70.0, "exchange": 75.0, "call": 20.0, "step": 5.0,
    "copy": {"8": 4.0, "4096": 50.0}, "combine": {"8": 5.0, "4096": 90.0},
    "read": {"8": 40.0, "4096": 200.0, "16384": 800.0, "65536": 3000.0}, "add": {"8": 41.0, "4096": 220.0, "16384": 1500.0},
    "hand": {"8": 30.0, "4096": 450.0, "16384": 1700.0, "65536": 7000.0},
    "pipeline": {"65536": 6900.0}, "add_same": {"8": 70.0, "4096": 300.0},
    "hand_written": {"8": 4.0, "4096": 230.0, "16384": 900.0, "65536": 3500.0}, "hand_in_place": {"8": 50.0, "4096": 600.0},
    "hand_in_place_written": {"8": 4.0, "4096": 300.0}, "hand_past_written": {"4096": 150.0},
    "hand_past": {"4096": 550.0}, "hand_past_read": {"4096": 350.0}, "system": {"64": 400.0, "4096": 700.0}, "yield": 300.0,
    "read_by_2": {"8": 50.0, "4096": 240.0, "65536": 3600.0},
    "add_by_2": {"8": 30.0, "4096": 240.0, "16384": 2500.0},
}  # fmt: skip


def test_a_machine_from_steps():
    assert by_length({"8": 40.0, "4096": 200.0}) == {"1": 40.0, "8": 5.0, "4096": 0.04883}
    machine = machine_of([("cache", STEPS)], "here", "a test")
    node, cache = machine["levels"]
    assert node == cache | {"name": "node"}
    assert cache["shared"]["1"] == 25 and cache["shared"]["4096"] == 0.029296
    # Two of 2 KiB at once take 240 ns; two of 8 KiB take longer than one after the other.
    assert cache["shared_add"]["2048"] == pytest.approx(240 / 4096, abs=1e-6)
    assert cache["shared_add"]["8192"] == pytest.approx((220 + 1280 / 3) / 8192, abs=1e-5)
    assert cache["shared_add"]["4096"] == cache["add"]["4096"], "at most what one alone takes"
    # Through a slot: writing takes what is left of 450 ns after reading, and at least what the
    # writer's own clock says.
    assert cache["write"]["1"] == 4 and cache["write"]["4096"] == 0.06104
    assert cache["write_in_place"]["4096"] == 0.09766
    # The writer's stores are on their way to memory when its own clock says that it has ended.
    assert cache["write_past"] == {"4096": 0.04883} and cache["byte_past"] == {"4096": 0.08545}
    assert (cache["hand_over"], cache["exchange"]) == (70, 75)
    # After the first segment the pipeline takes 1.5 times its slower side, and readers need 0.6.
    assert cache["shared_write"]["4096"] == pytest.approx(0.9 * 0.06104, abs=1e-5)
    assert cache["system"] == {"64": 6.25, "4096": 0.1709}
    assert machine["own"]["yield"] == 300
    core().Model(json.dumps(machine), "a test")


def test_the_repetitions_of_one_state_are_kept():
    assert list(steady([70, 72, 71, 250, 260, 255, 80, 75])) == [0, 1, 3, 4, 6]
    assert list(steady([70, 250, 70, 250])) == []
    assert list(of_one_state([(70, 300), (250, 900), None, (260, 950), (70, 600), (280, 800)])) == [
        1,
        3,
        5,
    ]


def test_repetitions_in_which_the_cores_left_their_state_are_left_out(monkeypatch):
    steps = STEPS | {"steady": True}
    found = {
        "states": [[70, 300], [71, 300], [80, 330], [72, 700], [75, 280]],
        "steady": [True, False, True, True, True],
        "steps": [[steps]] * 6,
        "cells": [
            {"collective": "bcast", "algorithm": "flat", "served": "flat", "bytes": 8,
             "us": [1.0, 7.0, 2.0, 9.0, 3.0]},
            {"collective": "bcast", "algorithm": "ring", "served": "flat", "bytes": 8, "us": [1.0] * 5},
        ],
    }  # fmt: skip
    unit = Unit("cache", [0, 1])
    monkeypatch.setattr("tutti.model.check.run_algorithms", lambda *words: found)
    monkeypatch.setattr("tutti.model.check.units_here", lambda: [unit])
    monkeypatch.setattr("tutti.model.check.levels_here", lambda ranks: "cache:0,0")
    checked = compare(None, ["bcast"], 2, [8], 5, Conditions())
    (cell,) = checked.cells
    assert cell.measurements == [1.0, 2.0, 3.0], "nor what another algorithm served"
    assert checked.left_out == 2 and not checked.mixed
    found["steps"][1:] = [[steps | {"steady": False}]] * 5
    mixed = compare(None, ["bcast"], 2, [8], 5, Conditions())
    assert mixed.left_out == 0 and mixed.mixed, "all, rather than none"
    assert as_json(mixed)["mixed"] is True


def test_errors_and_regret():
    assert family_of("levels:binomial:push") == "tree"
    assert family_of("hierarchical+ring") == "hierarchical"
    flat = Compared("bcast", "flat", 2, 8, [1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    ring = Compared("bcast", "ring", 2, 8, [4.0, 4.0, 4.0], [1.0, 1.6, 1.0])
    assert (flat.error, flat.measured_us, flat.spread) == (0.0, 2.0, 0.0)
    (regret,) = regrets([flat, ring])
    assert (regret.chosen, regret.best, regret.lost) == ("flat", "ring", 1.0)


def test_errors_are_judged_with_a_core_for_each_rank():
    cores = len(os.sched_getaffinity(0))
    here, crowded = (
        Compared("bcast", "flat", ranks, 8, [2.0], [1.0]) for ranks in (cores, cores + 1)
    )
    assert judged([here, crowded]) == [here]
    assert families([here, crowded])["direct"]["cells"] == 1 and families([crowded]) == {}
    found = as_json(Checked([here, crowded], []))
    assert [one["judged"] for one in found["cells"]] == [True, False]
    assert len(found["regret"]["cells"]) == 2


@pytest.mark.alone  # threads that measure poll, and take ten times as long beside others
@TWO_UNITS
def test_this_machine_is_measured_and_read(tutti, tmp_path):
    file = tmp_path / "here.json"
    result = tutti("model", "measure", "--output", str(file))
    assert result.returncode == 0, result.stderr
    assert "hand-over ns" in result.stdout and f"written to {file}" in result.stdout
    machine = json.loads(file.read_text())
    assert machine["format"] == "tutti-machine 1"
    level = machine["levels"][-1]
    assert level["hand_over"] > 0 and level["byte"]["1048576"] > 0 and level["write"]["4096"] > 0
    assert level["write_past"]["4096"] > 0 and machine["own"]["yield"] > 0
    if "system" in level:  # containers may refuse it
        assert level["system"]["64"] > 0
    words = ("bcast", "--algorithm", "flat", "--ranks", "2", "--bytes", "8,1M", "--shape", "this")
    result = tutti("model", "predict", *words, "--machine", str(file), "--json")
    assert result.returncode == 0, result.stderr
    short, long = (cell["predicted_us"] for cell in json.loads(result.stdout)["cells"])
    assert 0 < short < long


@pytest.mark.alone
@TWO_UNITS
def test_latencies_of_lines_over_the_size_of_the_data(tutti, tmp_path):
    file, stem = tmp_path / "latency.json", tmp_path / "latency"
    result = tutti(
        "model", "measure", "--latency", "--output", str(file), "--plot", str(stem), seconds=300
    )
    assert result.returncode == 0, result.stderr
    assert "64 MiB" in result.stdout and f"written to {file}" in result.stdout
    assert all(stem.with_suffix(suffix).stat().st_size > 1000 for suffix in (".png", ".svg"))
    found = json.loads(file.read_text())
    assert found["format"] == "tutti-latency 1"
    own, *others = found["curves"]
    assert own["name"] == "own" and len(set(own["processing_units"])) == 1
    assert others and all(one["name"].startswith("same ") for one in others)
    assert all(len(set(one["processing_units"])) == 2 for one in others)
    for curve in found["curves"]:
        assert list(curve["ns"]) == [str(1024 << i) for i in range(17)]
        assert all(ns > 0 for ns in curve["ns"].values())


@pytest.mark.alone
@TWO_UNITS
def test_latencies_of_given_cores(tutti):
    """Issue 40: pairs of cores at different distances, as in figure 21."""
    reader, other, *_ = sorted(os.sched_getaffinity(0), reverse=True)
    result = tutti(
        "model", "measure", "--latency", "--cores", f"{reader},{other}", "--json", seconds=300
    )
    assert result.returncode == 0, result.stderr
    curves = json.loads(result.stdout)["curves"]
    assert [one["name"] for one in curves] == ["own", f"modified by {other}"]
    assert [one["processing_units"] for one in curves] == [[reader, reader], [reader, other]]


@pytest.mark.alone
@TWO_UNITS
def test_predictions_beside_measurements(tutti, tmp_path):
    words = ("--collectives", "barrier,allreduce", "--bytes", "8,4K", "--repetitions", "2")
    result = tutti("model", "check", *words, "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    cells = found["cells"]
    assert {cell["collective"] for cell in cells} == {"barrier", "allreduce"}
    assert {cell["bytes"] for cell in cells} == {0, 8, 4096}
    assert all(cell["predicted_us"] > 0 and cell["measured_us"] > 0 for cell in cells)
    assert {"tree", "tiled", "direct", "dissemination"} <= found["families"].keys()
    assert len(found["regret"]["cells"]) == 3
    assert 0 <= found["regret"]["mean"] <= found["regret"]["worst"]
    machine = tmp_path / "machine.json"  # measuring this one again would take as long as the rest
    machine.write_text(json.dumps(machine_of([("node", STEPS)], "here", "a test")))
    result = tutti("model", "check", *words, "--reach", "slots", "--machine", str(machine))
    assert result.returncode == 0, result.stderr
    assert "errors by family" in result.stdout and "regret of choosing" in result.stdout


@pytest.mark.alone
@TWO_UNITS
def test_shuffled_kinds_and_a_late_rank(tutti):
    words = ("--collectives", "barrier,bcast", "--bytes", "8", "--repetitions", "2", "--json")
    words += ("--machine", "hmpi-xeon")
    shuffled = json.loads(tutti("model", "check", *words, "--mixed").stdout)["cells"]
    assert {cell["collective"] for cell in shuffled} == {"barrier", "bcast"}
    late = json.loads(tutti("model", "check", *words, "--late", "1=20").stdout)["cells"]
    for cell in late:
        # Once the last rank comes, the others are there; what takes 20 us is not in the times.
        assert 0 <= cell["predicted_us"] < 10 and cell["measured_us"] >= 0, cell


@pytest.mark.skipif(not find_mpis(), reason="needs an MPI")
def test_predictions_beside_jobs(tutti, tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(machine_of([("node", STEPS)], "here", "a test")))
    ranks = len(os.sched_getaffinity(0)) + 1
    mpi = find_mpis()[0].name
    words = ("--collectives", "scan", "--bytes", "8", "--repetitions", "2", "--mixed")
    result = tutti(
        *("model", "check", *words, "--mpi", mpi, "--ranks", str(ranks)),
        *("--machine", str(file), "--json"),
    )
    assert result.returncode == 0, result.stderr
    cells = json.loads(result.stdout)["cells"]
    assert {"flat", "doubling"} <= {cell["algorithm"] for cell in cells}
    for cell in cells:
        assert (cell["ranks"], cell["judged"]) == (ranks, False)
        assert cell["measured_us"] > 0 and cell["predicted_us"] > 0


def test_a_budget_shortens_cells(tmp_path):
    names = ("barrier", "bcast", "allreduce")
    mpi = Mpi("none", "mpich", "", tmp_path, None)
    grid = Grid(mpi, names, 4, (8, 4096), 5, 2, False, False, False)
    calls = sum(1 if name == "barrier" else 2 for trial in grid.trials for name in trial)
    assert calls > 30 and grid.cell_ms == 20
    assert replace(grid, budget=calls * 5 * 0.004).cell_ms == pytest.approx(4, abs=1)
    assert replace(grid, budget=calls * 5 * 0.004, shuffled=True).cell_ms in (1, 2)
    assert replace(grid, budget=0.01).cell_ms == 1
    text = trials_text([{"reduce_scatter": "ring", "bcast": "flat"}, {"bcast": "nary:4"}])
    assert text.splitlines() == [
        "trial reduce_scatter_block,bcast",
        "tutti-map 1",
        "reduce_scatter -> builtin:ring",
        "bcast -> builtin:flat",
        "trial bcast",
        "tutti-map 1",
        "bcast -> builtin:nary:4",
    ]


def test_a_machine_from_a_file(tutti, tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(machine_of([("node", STEPS)], "here", "a test")))
    words = ("--collectives", "barrier", "--bytes", "8", "--repetitions", "2", "--json")
    result = tutti("model", "check", *words, "--ranks", "3", "--machine", str(file))
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert [machine["name"] for machine in found["machines"]] == ["here"]
    assert {cell["ranks"] for cell in found["cells"]} == {3}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("check", "--bytes", "12"), "--bytes: '12' is not a size; give multiples of 8"),
        (("check", "--collectives", "all_reduce"), "--collectives: 'all_reduce' is unknown"),
        (("check", "--ranks", "0"), "--ranks: '0' is not a rank count"),
        (("check", "--machine", "nowhere.json"), "--machine: cannot read 'nowhere.json'"),
        (("check", "--reach", "far"), "--reach: 'far' is none of threads, mapped, slots"),
        (("check", "--late", "1=2,0=3"), "--late: one rank can be late"),
        (("check", "--late", "7=2"), "--late: rank 7 is out of range"),
        (("check", "--budget", "9"), "--budget: it is for jobs of an MPI; give --mpi"),
        (("check", "--mpi", "mpich", "--late", "1=2"), "--late: ranks of MPI jobs cannot be"),
        (("check", "--mpi", "mpich", "--reach", "threads"), "--reach: ranks of MPI jobs are"),
        (("rules", "--machine", "hmpi-xeon", "--ranks", "1000"), "has 192 cores"),
        (("measure", "--output", "nowhere/here.json"), "--output:"),
        (("measure", "--latency", "--network"), "--latency: it measures no messages"),
        (("measure", "--cores", "0,1"), "--cores: they are of --latency"),
        (("measure", "--latency", "--cores", "0"), "--cores: give the reader's core and one or"),
        (("measure", "--latency", "--cores", "0,x"), "--cores: 'x' is not a processing unit"),
        (("measure", "--latency", "--cores", "0,99999"), "may not run on 99999; it may on"),
        (("measure", "--plot", "here"), "--plot: it draws the curves of --latency"),
    ],
)
def test_bad_options_are_one_line(tutti, words, line):
    result = tutti("model", *words)
    assert result.returncode != 0
    assert result.stderr.count("\n") == 1 and line in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("kind", "words", "line"),
    [
        ("gossip", [], "the first word must be one of"),
        ("steps", [], "give --cores"),
        ("steps", ["--cores", "0,x"], "'0,x' is no list of cores"),
        ("steps", ["--cores", "0,1000"], "may not run on core 1000"),
        ("latency", ["--cores", "0", "--bytes", "1024,1024"], "--cores needs 2 or more"),
        ("latency", ["--cores", "0", "--bytes", "4096,1024"], "the first and the last number"),
        ("latency", ["--cores", "0", "--bytes", "64,1024"], "'64' is no number from 128"),
        ("algorithms", ["--cores", "0"], "give --cores, --bytes and at least one"),
        ("algorithms", ["--bytes", "7"], "'7' is no number from 8"),
        ("algorithms", ["--bytes"], "--bytes: its value is missing"),
        ("algorithms", ["bcast=flat=x"], "give --cores"),
        ("algorithms", ["bcast=flat@0"], "SEGMENT: '0' is no number"),
        ("algorithms", ["bcast=flat^direct"], "'^direct': ^staged is known"),
        ("algorithms", ["bcast:x=flat"], "ROOT: 'x' is no number"),
        ("algorithms", ["--late", "1"], "--late: '1' is not RANK=MICROSECONDS"),
        (
            "algorithms",
            ["--cores", "0", "--bytes", "8", "--late", "1=1", "bcast=flat"],
            "--late: rank 1 is none of 1",
        ),
        ("algorithms", ["--reach", "far"], "--reach: 'far' is none of threads"),
        ("algorithms", ["gossip=flat"], "gossip"),
        (
            "algorithms",
            ["--cores", "0", "--bytes", "8", "bcast=nothing"],
            "nothing",
        ),
    ],
)  # fmt: skip
def test_bad_words_for_the_programs_are_one_line(kind, words, line):
    result = subprocess.run(
        [program("tutti-threads"), kind, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and line in result.stderr, result.stderr
