"""`tutti bench one-sided --hosts` and `saturation --hosts`: refused options, what becomes of the
numbers of jobs, and small runs on emulated nodes."""

from io import StringIO

import pytest
from rich.console import Console
from test_bench_nodes import HOSTS, MPICH, skip_without_nodes
from tutti.bench import one_sided_nodes, saturation
from tutti.bench.one_sided_nodes import HANDED, Measured, Place
from tutti.bench.over_nodes import Between
from tutti.bench.variants import Variant
from tutti.saturation import draw_map, where

PLAN = Between([MPICH], HOSTS, 1, ["0", "1ms"], 20)


def cell(kind, target, way, whole, **more):
    times = {"start_ns": 5e3, "compute_ns": 200e3, "beside_ns": 210e3}
    words = {"what": "between", "call": kind, "bytes": 8, "target": target, "way": way}
    return words | {"ns": 1000 * whole} | (times if way != "ping_pong" else {}) | more


def job(host, tutti, computing=None):
    """Of a put of 8 bytes; computing: by Tutti, with a target that computes."""
    cells = [
        cell("put", "waits", "tutti", tutti),
        cell("put", "waits", "host", host),
        cell("put", "waits", "ping_pong", 40.0),
    ]
    if computing is not None:
        cells.append(cell("put", "computes", "tutti", computing, beside_ns=400e3))
        cells.append(cell("put", "computes", "host", 10 * computing))
    return cells


def test_the_time_of_handing_over():
    """Starts of a server's transfers, over those of a client without servers."""
    result = Measured()
    for servers, form, start in ((False, "", 8e3), (True, "", 8e3), (True, HANDED, 2e3)):
        cells = job(100.0, 50.0)
        cells[0]["start_ns"] = start
        variant = Variant(MPICH, "default", True, servers=servers, form=form)
        one_sided_nodes.add_job(result, variant, "1ms", cells)
    found = one_sided_nodes.document(PLAN, result)["cells"]
    assert [(one["servers"], one["handed"]) for one in found] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert [one["tutti"]["of_own_start"] for one in found] == pytest.approx([1, 1, 0.25])
    stream = StringIO()
    one_sided_nodes.show(PLAN, result, Console(file=stream, width=176))
    rows = [line for line in stream.getvalue().splitlines() if "1, all " in line and "│" in line]
    assert len(rows) == 1 and "0.25x" in rows[0]


@pytest.fixture
def measured():
    """Three repetitions of a job without and one with servers at one delay."""
    result = Measured()
    for host in (100.0, 110.0, 90.0):
        alone, served = (Variant(MPICH, "default", True, servers=one) for one in (False, True))
        one_sided_nodes.add_job(result, alone, "1ms", job(host, host / 2))
        one_sided_nodes.add_job(result, served, "1ms", job(1000.0, host, 2 * host))
    return result


def test_what_follows_from_jobs(measured):
    """All are compared with the host's transfer of the job without servers, by repetition."""
    found = one_sided_nodes.document(PLAN, measured)
    assert (found["pairs"], found["delays"]) == (1, ["0", "1ms"])
    assert [(one["target"], one["servers"]) for one in found["cells"]] == [
        ("waits", False),
        ("waits", True),
        ("computes", True),
    ]
    alone, served, computes = found["cells"]
    assert alone["delay_ms"] == 1.0 and alone["mpi"] == "mpich" and alone["bytes"] == 8
    assert alone["over_host"]["value"] == pytest.approx(2)
    assert served["over_host"]["value"] == pytest.approx(1)
    assert computes["over_host"]["value"] == pytest.approx(0.5)
    assert computes["over_host"]["low"] <= 0.5 <= computes["over_host"]["high"]
    assert alone["tutti"]["whole_us"] == [50, 55, 45]
    assert alone["tutti"]["of_computation"] == pytest.approx(1.05)
    assert computes["tutti"]["of_computation"] == pytest.approx(2)
    assert alone["ping_pong"] == {"whole_us": [40, 40, 40]} and "ping_pong" not in computes


def test_the_table_says_what_was_not_measured(measured):
    stream = StringIO()
    one_sided_nodes.show(PLAN, measured, Console(file=stream, width=176))
    text = " ".join(stream.getvalue().split())
    assert "MPICH 5.0.2, 1 pair of ranks, delay 1ms" in text
    assert "Without servers nobody answers for a target that computes" in text
    rows = [line for line in stream.getvalue().splitlines() if "computes" in line and "│" in line]
    assert len(rows) == 1 and "2.00x" in rows[0] and "0.50x" in rows[0]


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_run(document_of):
    """The programs check the data of every transfer."""
    skip_without_nodes()
    words = "--quick --repetitions 2 --delay 0 --mpi mpich --bytes 8,256K --budget-ms 1"
    document, _ = document_of(f"bench one-sided --hosts {HOSTS} {words}", seconds=280)
    cells = document["cells"]
    words = ("kind", "bytes", "target", "servers", "handed")
    assert {tuple(one[word] for word in words) for one in cells} == {
        (kind, size, *case)
        for kind in ("put", "get")
        for size in (8, 256 << 10)
        for case in (
            ("waits", False, False),
            ("waits", True, False),
            ("computes", True, False),
            ("waits", True, True),
        )
    }
    for one in cells:
        ways = {"tutti", "host"} | ({"ping_pong"} if one["target"] == "waits" else set())
        assert ways <= set(one)
        for way in ways:
            assert len(one[way]["whole_us"]) == 2 and min(one[way]["whole_us"]) > 0
        assert all(
            start <= whole
            for start, whole in zip(one["tutti"]["start_us"], one["tutti"]["whole_us"], strict=True)
        )


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_map(mpi, tmp_path):
    skip_without_nodes()
    map_ = saturation.measure_between(Between([mpi], HOSTS, 2, ["0"], 1), (8, 64), 2, (1, 2))
    assert (map_["scope"], map_["network"]) == ("between nodes", "2 emulated nodes, delay 0")
    assert (map_["cores"], map_["messages"], map_["bytes"]) == ([1, 2], [1, 2], [8, 16, 32, 64])
    assert [one["servers"] for one in map_["served"]] == [1, 2]
    for bandwidths in (map_, *map_["served"]):
        for kind in ("puts", "gets"):
            assert [[len(row) for row in rows] for rows in bandwidths[kind]] == [[4, 4], [4, 4]]
            assert all(rate > 0 for rows in bandwidths[kind] for row in rows for rate in row)
    piece = (63 if mpi.family == "openmpi" else 64) << 10
    assert map_["under_way"] >= 2 * piece and "hand_over" not in map_
    stream = StringIO()
    saturation.show_between(map_, Console(file=stream, width=160))
    text = " ".join(stream.getvalue().split())
    assert f"puts, {where(map_)}: percent of the peak" in text
    alone, two = map_["puts"], map_["served"][1]["puts"]
    gains = [two[c][m][b] / alone[c][m][b] for c in (0, 1) for m in (0, 1) for b in range(4)]
    assert f"With 2 servers of each node instead of the ranks: puts {min(gains):.2g}x to" in text
    assert "under way at once to each rank of another node" in text
    assert [path.exists() for path in draw_map(map_, tmp_path / "heat")] == [True, True]


def test_places_are_ordered():
    """Puts first, then by size; targets that wait first."""
    places = [
        Place("mpich", "0", kind, size, target, servers)
        for kind in ("get", "put")
        for size in (1024, 8)
        for target, servers in (("computes", True), ("waits", True), ("waits", False))
    ]
    measured = {place: {} for place in places}
    ordered = one_sided_nodes._ordered(measured)
    assert [one.kind for one in ordered] == ["put"] * 6 + ["get"] * 6
    assert [one.bytes for one in ordered[:6]] == [8] * 3 + [1024] * 3
    assert [(one.target, one.servers) for one in ordered[:3]] == [
        ("waits", False),
        ("waits", True),
        ("computes", True),
    ]
