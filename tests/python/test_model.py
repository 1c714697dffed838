"""`tutti model`: times of plans in virtual time, and one line for bad input."""

import json

import pytest

MACHINE = {
    "format": "tutti-machine 1",
    "name": "by hand",
    "levels": [
        {"name": "node", "hand_over": 100, "byte": 0.2, "shared": 0.1},
        {"name": "numa", "hand_over": 60, "byte": 0.1, "shared": 0.001},
    ],
    "own": {"call": 0, "step": 0, "copy": 0, "combine": 0},
    "network": {"overhead": 250, "latency": 1000, "gap": 400, "byte": 0.5, "prompt": 4096},
}


@pytest.fixture
def machine(tmp_path):
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(MACHINE))
    return file


@pytest.fixture
def predict(tutti, machine):
    def run(*words, code=0):
        result = tutti("model", "predict", *words, "--machine", str(machine))
        assert result.returncode == code, result.stdout + result.stderr
        return result

    return run


def cells(result):
    return json.loads(result.stdout)["cells"]


def test_one_prediction_shows_its_critical_path(predict):
    words = ("reduce", "--algorithm", "binomial:stepwise", "--ranks", "4", "--bytes", "1K")
    words += ("--shape", "numa:1 core:4")
    text = predict(*words).stdout
    # Two rounds of a hand-over and 1,024 bytes.
    assert text.startswith(
        "reduce, 4 ranks on by hand, binomial:stepwise, 1024 bytes: 0.325 us\n"
    ), text
    assert "rank 0 waited 0.060 us for transfer" in text
    assert "│ numa 0 │" in text
    result = predict(*words, "--json")
    assert json.loads(result.stdout)["machine"]["levels"][1]["hand_over"] == 60
    (cell,) = cells(result)
    assert cell["predicted_us"] == pytest.approx(0.3248)
    assert cell["critical"][-1]["rank"] == 0
    assert {event["rank"] for event in cell["events"]} == {0, 1, 2, 3}
    # Each wait names the step of another rank that ended it.
    waits = [event for event in cell["events"] if event["kind"] == "wait_word"]
    assert waits and all(cell["events"][event["cause"]]["rank"] == event["peer"] for event in waits)
    words = (*words[:6], "8,1K", *words[7:])
    several = cells(predict(*words, "--json"))
    assert not any("events" in one for one in several)  # those of many ranks take gigabytes
    assert several[1]["predicted_us"] == cell["predicted_us"] and several[1]["critical"]


def test_several_predictions_make_a_table(predict):
    text = predict(
        *("allreduce", "--algorithm", "binomial,binomial:stepwise", "--ranks", "16"),
        *("--bytes", "8,64K"),
    ).stdout
    assert "64 KiB" in text and "binomial:stepwise" in text
    assert "quickest" in text


def test_a_barrier_has_no_bytes(predict):
    barrier = ("barrier", "--algorithm", "flat", "--ranks", "3")
    short, long = (
        cells(predict(*barrier, "--bytes", size, "--json"))[0]["predicted_us"]
        for size in ("64", "1M")
    )
    assert short == long == pytest.approx(0.2128)  # the two lines share the link
    assert predict(*barrier).stdout.startswith("barrier, 3 ranks on by hand, flat: 0.213 us\n")


def test_levels_nodes_and_late_ranks(predict):
    bcast = ("bcast", "--algorithm", "flat", "--ranks", "2", "--bytes", "1000", "--json")
    near = cells(predict(*bcast, "--shape", "numa:2 core:4"))[0]["predicted_us"]
    far = cells(predict(*bcast, "--shape", "numa:2 core:1"))[0]["predicted_us"]
    between = cells(predict(*bcast, "--shape", "node:2 core:1"))[0]["predicted_us"]
    assert near < far < between
    assert (far, between) == (pytest.approx(0.3), pytest.approx(2.0))
    late = cells(predict(*bcast, "--shape", "numa:2 core:1", "--late", "0=5"))[0]["predicted_us"]
    assert late == pytest.approx(5.3)


def test_thousands_of_ranks(predict):
    (cell,) = cells(
        predict(
            *("barrier", "--algorithm", "hierarchical", "--ranks", "4096"),
            *("--shape", "node:256 numa:2 core:8", "--json"),
        )
    )
    assert len(cell["ends_ns"]) == 4096
    assert 8 * (0.25 + 1 + 0.25) < cell["predicted_us"] < 60


def test_a_prediction_as_a_trace(tutti, predict, tmp_path):
    file = tmp_path / "predicted.trace"
    words = ("allreduce", "--algorithm", "binomial:stepwise", "--ranks", "4", "--bytes", "4K")
    (cell,) = cells(predict(*words, "--trace", str(file), "--json"))
    summary = json.loads(tutti("trace", str(file), "--json").stdout)
    assert summary["ranks"] == 4
    (row,) = summary["collectives"]
    assert (row["collective"], row["by"]) == ("allreduce", "binomial:stepwise")
    assert row["max_us"] == pytest.approx(cell["predicted_us"], abs=0.001)
    result = predict(*words, "--trace", str(tmp_path), code=2)
    assert "cannot write the trace" in result.stderr and "--trace: give" in result.stderr
    result = predict(*words, "--algorithm", "flat,binomial", "--trace", str(file), code=2)
    assert "--trace: it is for one prediction, not for 2" in result.stderr


def test_a_plan_of_ones_own(predict, tmp_path):
    plan = tmp_path / "own.plan"
    plan.write_text(
        "tutti-plan 1\ncollective bcast\nranks 2\nroot 0\ncopy out[1] <- in[0]\n", "utf-8"
    )
    text = predict(str(plan), "--ranks", "2", "--bytes", "1000").stdout
    assert "own.plan, 1000 bytes: 0.300 us" in text
    result = predict(str(plan), "--ranks", "3", code=2)
    assert "is a plan of 2 ranks; give --ranks 2" in result.stderr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": "tutti-machine 2"}, 'this version reads "tutti-machine 1"'),
        ({"levels": []}, "levels: must be a list with at least one entry"),
        ({"own": {"call": 0}}, 'own: lacks the member "step"'),
        ({"speed": 3}, 'unknown member "speed"; known are format, name'),
        ({"own": MACHINE["own"] | {"yield": "long"}}, "own.yield: must be a number"),
        (
            {"levels": [MACHINE["levels"][0] | {"system": {"8": -1}}]},
            "levels[0].system.8: is -1; it must be a number from 0",
        ),
        (
            {"levels": [MACHINE["levels"][0] | {"write_past": 0.1}]},
            'levels[0]: has "write_past" without "write"',
        ),
        (
            {"messages": {"overhead": 1, "latency": 1, "byte": 0.1, "shared": 0.2}},
            'messages: "shared" is more than "byte"',
        ),
    ],
)
def test_a_wrong_machine_is_one_line(tutti, tmp_path, change, expected):
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(MACHINE | change))
    words = ("bcast", "--algorithm", "flat", "--ranks", "2", "--machine", str(file))
    result = tutti("model", "predict", *words)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr and "wrong.json" in result.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("bcast", "--ranks", "2"), "bcast: give --algorithm"),
        (("bcast", "--algorithm", "flat", "--ranks", "0"), "--ranks: 0 is out of range"),
        (("bcast", "--algorithm", "no", "--ranks", "2"), "unknown algorithm 'no'"),
        (("bcast", "--algorithm", "flat", "--ranks", "2", "--bytes", "x"), "--bytes: 'x'"),
        (("bcast", "--algorithm", "flat", "--ranks", "2", "--late", "1"), "--late: '1' is not"),
        (("bcast", "--algorithm", "flat", "--ranks", "2", "--late", "9=1"), "--late: rank 9"),
        (("bcast", "--algorithm", "flat", "--ranks", "2", "--segment", "-1"), "--segment: -1"),
        (
            ("bcast", "--algorithm", "flat", "--ranks", "2", "--reached", "--messages"),
            "--reached --messages: each says how ranks reach",
        ),
        (
            ("bcast", "--algorithm", "flat", "--ranks", "2", "--messages"),
            "machine 'by hand' has no costs of messages within a node",
        ),
        (
            ("bcast", "--algorithm", "flat", "--ranks", "4", "--shape", "cache:2 core:2"),
            "machine 'by hand' has no costs of the level 'cache'",
        ),
    ],
)
def test_bad_input_is_one_line(predict, words, expected):
    result = predict(*words, code=2)
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr, result.stderr


def test_the_host_mpi_decides_segments_between_nodes(tutti, tmp_path):
    """Tutti takes messages of up to 64 KiB for prompt ones with MPICH, of 32 KiB with Open MPI."""
    file = tmp_path / "machine.json"
    words = ("bcast", "--algorithm", "hierarchical", "--ranks", "2", "--shape", "node:2 core:1")
    segments = {}
    for mpi in ("mpich", "openmpi", None):
        network = MACHINE["network"] | ({"mpi": mpi} if mpi else {})
        file.write_text(json.dumps(MACHINE | {"network": network}))
        result = tutti(
            "model", "predict", *words, "--bytes", "1M", "--machine", str(file), "--json"
        )
        assert result.returncode == 0, result.stderr
        segments[mpi] = cells(result)[0]["segment_bytes"]
    assert segments == {"mpich": 65536, "openmpi": 32768, None: 32768}


def test_predictions_with_the_systems_copies(tutti, tmp_path):
    file = tmp_path / "machine.json"
    words = (
        "bcast",
        "--algorithm",
        "flat",
        "--ranks",
        "2",
        "--bytes",
        "8K",
        "--machine",
        str(file),
    )
    file.write_text(json.dumps(MACHINE))
    result = tutti("model", "predict", *words, "--cma")
    assert result.returncode == 2
    assert "has no costs of the system's copies" in result.stderr
    levels = [MACHINE["levels"][0] | {"system": 0.5}]
    file.write_text(json.dumps(MACHINE | {"levels": levels}))
    result = tutti("model", "predict", *words, "--cma")
    assert result.returncode == 0, result.stderr
    assert "8192 bytes: 4.296 us" in result.stdout, "two hand-overs and 8192 bytes"
    assert "read in the owners' buffers" in result.stdout
    result = tutti("model", "predict", *words, "--cma", "--reached")
    assert result.returncode == 2 and "--reached --cma: each says how ranks reach" in result.stderr


def test_without_network_nodes_are_refused(tutti, tmp_path):
    file = tmp_path / "one.json"
    file.write_text(json.dumps({k: v for k, v in MACHINE.items() if k != "network"}))
    words = ("bcast", "--algorithm", "flat", "--ranks", "2", "--shape", "node:2 core:1")
    result = tutti("model", "predict", *words, "--machine", str(file))
    assert result.returncode == 2
    assert "has no network, but the ranks are on 2 nodes" in result.stderr
