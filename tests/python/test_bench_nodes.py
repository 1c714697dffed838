"""`tutti bench nodes`: refused options, computed results, and a small run on emulated nodes."""

import json
from io import StringIO
from pathlib import Path

import pytest
from conftest import ROOT
from made_up_jobs import MPICH, OPENMPI, cell_of
from rich.console import Console
from tutti.bench import over_nodes, worth
from tutti.bench.checks import startable
from tutti.bench.hosts import Hosts
from tutti.bench.measurements import LENGTHS, UNEVEN, Cell, Settings
from tutti.bench.mpis import Mpi
from tutti.bench.nodes_report import delays_of, draw_delays, nodes_json, show
from tutti.bench.over_nodes import nodes_plan
from tutti.bench.overlap_nodes import draw_overlap
from tutti.bench.words import parse_delays, parse_nodes
from tutti.bench.worth import BETWEEN, MESSAGES, SHARED, Worth, together
from tutti.errors import RunError, UserError

HOSTS = ROOT / "tests" / "hosts"
INTEL = Mpi(
    "intel", "intel", "2021.19", Path("/opt/intel/bin/mpiexec"), Path("/opt/intel/lib/libmpi.so.12")
)


def plan(**changes):
    values = {
        "mpis": [MPICH, OPENMPI],
        "ranks": [2],
        "cores": 2,
        "collectives": ["bcast", "barrier"],
        "sizes": [8, 4096],
        "repetitions": 3,
        "seed": 1,
    }
    nodes, delays = changes.pop("nodes", "2,3"), changes.pop("delays", "0,1ms")
    return nodes_plan(
        Settings(**(values | changes)), str(HOSTS), nodes, changes.pop("per_node", 2), delays
    )


def test_an_overlap_plot_has_a_panel_for_each_mpi_and_loop(tmp_path):
    whole = {"": 1.5, "@progress": 1.2, "+tutti": 1.4, "+tutti+servers": 1.05}
    rows = [
        {
            "mpi": mpi,
            "variant": mpi + way,
            "servers": way.endswith("+servers"),
            "delay_ms": 1.0,
            "nodes": 2,
            "collective": collective,
            "bytes": size,
            "form": "nonblocking",
            "compute": work,
            "blocking_us": 1000.0,
            "compute_us": 2000.0,
            "start_us": 10.0,
            "whole_us": 2000 * over,
            "others_us": 5.0,
            "wait_us": 5.0,
            "after_blocking_us": 3000.0,
        }
        for mpi in ("mpich", "openmpi")
        for work in ("arithmetic", "memory")
        for collective, size in (("barrier", 0), ("bcast", 8), ("bcast", 16384))
        for way, over in whole.items()
        if mpi == "mpich" or way != "@progress"
    ]
    written = draw_overlap(rows, tmp_path / "plot")
    assert [name.name for name in written] == ["plot.png", "plot.svg"]
    assert written[0].stat().st_size > 10000
    assert written[1].read_text().count('<g id="axes_') == 4


class FakeHosts:
    """Stands for Hosts: it only records the delay."""

    delay = "0"

    def __init__(self, directory, nodes):
        self.nodes = nodes

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def link(self, delay):
        FakeHosts.delay = delay

    def one_way_us(self):
        return {"0": 20.0, "1ms": 1000.0}[self.delay]


def fake_job(settings, ranks, variant, directory, nodes=None, variables=None):
    """A job that takes three delays with the host, 1.5 with Tutti, and 30 us more."""
    delay = nodes.hosts.one_way_us()
    cells = []
    for collective in settings.collectives:
        for size in settings.sizes if collective != "barrier" else [0]:
            time = delay * (1.5 if variant.tutti else 3.0)
            for lengths in settings.lengths if collective in UNEVEN else [None]:
                words = {"lengths": lengths} if lengths else {}
                cells.append(cell_of(time, collective=collective, bytes=size, **words))
    return {"library": variant.mpi.label, "cells": cells, "interposed": variant.tutti}


@pytest.fixture
def measured(monkeypatch):
    jobs = []

    def run_job(*arguments, **named):
        jobs.append((FakeHosts.delay, arguments[1], arguments[2].key))
        return fake_job(*arguments, **named)

    monkeypatch.setattr(over_nodes, "Hosts", FakeHosts)
    monkeypatch.setattr(over_nodes, "run_job", run_job)
    made = plan()
    return made, over_nodes.measure_nodes(made, lambda line: None), jobs


def test_every_variant_runs_once_a_repetition_at_each_delay(measured):
    made, results, jobs = measured
    assert made.settings.ranks == [4, 6]
    assert len(jobs) == made.jobs == 3 * 2 * 2 * 4
    assert [result.delay for result in results] == ["0", "1ms"]
    assert all(sorted(jobs[at : at + 16]) == sorted(jobs[:16]) for at in range(0, 48, 16))
    assert {jobs[at][0] for at in range(8)} == {"0"}


def test_cells_of_every_length(monkeypatch):
    monkeypatch.setattr(over_nodes, "Hosts", FakeHosts)
    monkeypatch.setattr(over_nodes, "run_job", fake_job)
    made = plan(collectives=["bcast", "alltoallv"], lengths=LENGTHS)
    results = over_nodes.measure_nodes(made, lambda line: None)
    document = json.loads(json.dumps(nodes_json(made, results)))
    cells = document["delays"][0]["cells"]
    assert {cell.get("lengths") for cell in cells if cell["collective"] == "bcast"} == {None}
    assert {cell["lengths"] for cell in cells if cell["collective"] == "alltoallv"} == set(LENGTHS)
    compared = document["delays"][0]["comparisons"]
    assert sum(entry.get("lengths") == "heavy" for entry in compared) == 2 * 2 * 2
    stream = StringIO()
    show(made, results, Console(file=stream, width=160))
    assert "alltoallv, heavy" in stream.getvalue() and "alltoallv, equal" in stream.getvalue()


def test_times_are_shown_in_delays(measured):
    made, results, _ = measured
    host, own = made.settings.variants(4)[:2]
    assert [
        delays_of(result, Cell(4, "bcast", 8), variant)
        for result in results
        for variant in (host, own)
    ] == [3, 1.5, 3, 1.5]
    stream = StringIO()
    show(made, results, Console(file=stream, width=160))
    text = stream.getvalue()
    assert "3 nodes of 2 ranks (delay 1ms, a byte takes 1,000 us one way): Open MPI 5.0.11" in text
    assert "2.00x" in text and "medians" in text


def test_json_holds_every_number(measured):
    made, results, _ = measured
    document = json.loads(json.dumps(nodes_json(made, results)))
    assert document["format"] == "tutti-bench-nodes 1"
    cells = document["delays"][1]["cells"]
    assert len(cells) == 2 * 3
    assert {cell["nodes"] for cell in cells} == {2, 3}
    assert cells[0]["least_delays"] == 1
    assert cells[0]["delays"] == {
        "mpich": 3.0,
        "mpich+tutti": 1.5,
        "openmpi": 3.0,
        "openmpi+tutti": 1.5,
    }
    assert len(cells[0]["variants"]["mpich"]["median_us"]) == 3
    assert len(document["delays"][0]["comparisons"]) == 2 * 2 * 3


def test_every_root_over_nodes(monkeypatch):
    """The host's times grow with the root; Tutti's do not."""

    def run_job(settings, ranks, variant, directory, nodes=None, variables=None):
        cells = [
            cell_of(
                10.0 if variant.tutti else 20.0 + 4 * root, collective="bcast", bytes=8, root=root
            )
            for root in range(ranks)
        ]
        return {"library": variant.mpi.label, "cells": cells, "interposed": variant.tutti}

    monkeypatch.setattr(over_nodes, "Hosts", FakeHosts)
    monkeypatch.setattr(over_nodes, "run_job", run_job)
    made = plan(
        collectives=["bcast"], sizes=[8], mpis=[MPICH], nodes="3", delays="1ms", every_root=True
    )
    results = over_nodes.measure_nodes(made, lambda line: None)
    document = nodes_json(made, results)
    assert document["settings"]["every_root"] is True
    [comparison] = document["delays"][0]["root_comparisons"]
    assert comparison["ratio_of_slowest_roots"]["value"] == pytest.approx(4.0)
    assert document["delays"][0]["cells"][0]["variants"]["mpich"]["over_roots"]["slowest_root"] == 5
    stream = StringIO()
    show(made, results, Console(file=stream, width=200))
    [row] = [
        line
        for line in stream.getvalue().splitlines()
        if line.count("x") == 3 and "bcast" in line and "4.00x" in line
    ]
    assert "2.00x" in row and "1.00x" in row, stream.getvalue()


def test_plot_writes_both_formats(measured, tmp_path):
    made, results, _ = measured
    written = draw_delays(made, results, tmp_path / "plot")
    assert [name.name for name in written] == ["plot.png", "plot.svg"]
    text = written[1].read_text()
    assert "3 nodes of 2 ranks, 8 B, delay 1ms one way; 1 is the least" in text
    assert ">Open MPI 5.0.11, Tutti<" in text


def test_a_node_of_one_rank_has_the_data_of_all_its_ranks():
    assert [
        together(name, 3) for name in ("allreduce", "gather", "reduce_scatter_block", "alltoallv")
    ] == [1, 3, 3, 9]


def test_the_gain_of_shared_memory_and_its_bound():
    row = Worth(
        4,
        MPICH,
        "bcast",
        8,
        {MESSAGES: [100.0, 200.0], SHARED: [50.0, 100.0], BETWEEN: [25.0, 50.0]},
    )
    assert row.could_give.value == pytest.approx(4)
    assert row.gives.value == pytest.approx(2)
    assert row.share == pytest.approx(2 / 3)
    # If the time within nodes is 0, nothing can be saved, and there is no share.
    assert (
        Worth(4, MPICH, "bcast", 8, {MESSAGES: [10.0], SHARED: [9.0], BETWEEN: [10.0]}).share
        is None
    )


def test_worth_runs_three_ways_and_scales_parts(monkeypatch):
    jobs = []

    def run_job(settings, ranks, variant, directory, nodes, variables):
        jobs.append(
            (
                ranks,
                nodes.per_node,
                tuple(settings.collectives),
                tuple(settings.sizes),
                tuple(variables),
            )
        )
        return fake_job(settings, ranks, variant, directory, nodes)

    monkeypatch.setattr(over_nodes, "Hosts", FakeHosts)
    monkeypatch.setattr(over_nodes, "run_job", run_job)
    made = plan(
        mpis=[MPICH],
        collectives=["bcast", "gather", "alltoall"],
        nodes="3",
        delays="1ms",
        repetitions=1,
    )
    rows = worth.measure_worth(made, lambda line: None)
    assert len(jobs) == worth.jobs(made) == 5
    assert (6, 2, ("bcast", "gather", "alltoall"), (8, 4096), ("TUTTI_REACH",)) in jobs
    assert (3, 1, ("gather",), (16, 8192), ()) in jobs
    assert (3, 1, ("alltoall",), (32, 16384), ()) in jobs
    assert [(row.collective, row.bytes) for row in rows] and {row.bytes for row in rows} == {
        8,
        4096,
    }
    document = worth.worth_json(made, rows)
    assert [row["collective"] for row in document["rows"]] == ["bcast"] * 2 + ["gather"] * 2 + [
        "alltoall"
    ] * 2
    stream = StringIO()
    worth.show_worth(made, rows, Console(file=stream, width=160))
    assert "3 nodes of 2 ranks, delay 1ms: MPICH 5.0.2, Tutti" in stream.getvalue()


def test_parsing():
    assert parse_nodes("4,2,4") == [4, 2]
    assert parse_delays("0,50us,1ms") == ["0", "50us", "1ms"]
    for text in ("1", "2,x", "", "99"):
        with pytest.raises(UserError, match="--nodes: "):
            parse_nodes(text)
    for text in ("1", "ms", "", "-1ms"):
        with pytest.raises(UserError, match="--delay: "):
            parse_delays(text)


def test_messages_of_up_are_passed_on(tmp_path):
    for name in ("up", "down", "link", "clusters", "mpiexec", "pingpong"):
        (tmp_path / name).write_text("#!/bin/sh\necho 'up: skipped: needs root' >&2\nexit 77\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(UserError, match="^--hosts: up: skipped: needs root$"), Hosts(tmp_path, 2):
        pass
    with pytest.raises(RunError, match="pingpong: up: skipped"):
        Hosts(tmp_path, 2).one_way_us()


def sets_of_nodes():
    return sorted(path.name for path in Path("/run").glob("tutti-bench-*"))


def skip_without_nodes():
    try:
        with Hosts(HOSTS, 2):
            pass
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.alone  # checks that no set of nodes remains
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_run(document_of, mpi):
    skip_without_nodes()
    before = sets_of_nodes()
    words = "--nodes 2,3 --delay 0,1ms --collectives bcast,barrier,alltoall,exscan --bytes 8"
    words += f" --mpi {mpi.name} --repetitions 1 --budget-ms 1"
    document, _ = document_of(f"bench nodes --hosts {HOSTS} {words}", seconds=280)
    near, far = document["delays"]
    assert len(near["cells"]) == len(far["cells"]) == 2 * 4
    assert far["one_way_us"][0] >= 1000 > near["one_way_us"][0]
    for cell in far["cells"]:
        # No data from another node can arrive in less than a delay.
        assert all(
            median >= 1000 for times in cell["variants"].values() for median in times["median_us"]
        ), cell
    assert sets_of_nodes() == before


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_run_of_worth(document_of):
    skip_without_nodes()
    words = "--nodes 2 --mpi mpich --collectives bcast,gather --bytes 8,4K --repetitions 2"
    document, _ = document_of(f"bench worth --hosts {HOSTS} {words} --budget-ms 5", seconds=200)
    rows = document["rows"]
    assert [(row["collective"], row["bytes"]) for row in rows] == [
        ("bcast", 8),
        ("bcast", 4096),
        ("gather", 8),
        ("gather", 4096),
    ]
    assert all(
        len(row[way]) == 2 for row in rows for way in ("messages_us", "between_us", "shared_us")
    )


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_run_beside_computations(document_of, tmp_path):
    skip_without_nodes()
    words = "--nodes 2 --per-node 1 --delay 1ms --mpi mpich --collectives allreduce --bytes 8"
    words += f" --repetitions 1 --budget-ms 1 --plot {tmp_path / 'plot'}"
    document, said = document_of(f"bench overlap --hosts {HOSTS} {words}", seconds=200)
    assert "mpich+tutti+servers" in said
    assert all((tmp_path / f"plot{suffix}").stat().st_size > 0 for suffix in (".png", ".svg"))
    cells = document["cells"]
    variants = ("mpich", "mpich@progress", "mpich+tutti", "mpich+tutti+servers")
    assert {(cell["variant"], cell["compute"]) for cell in cells} == {
        (variant, work) for variant in variants for work in ("arithmetic", "memory")
    }
    for cell in cells:
        assert cell["servers"] == cell["variant"].endswith("+servers")
        # No data from another node can arrive in less than a delay.
        assert cell["delay_ms"] == 1 and cell["blocking_us"] >= 1000, cell
        assert cell["start_us"] > 0 and cell["whole_us"] >= 1000, cell
        # Each is a part of the whole in every sample, so its median is no longer.
        for part in (cell["others_us"], cell["wait_us"]):
            assert 0 <= part <= 1.001 * cell["whole_us"], cell


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
def test_a_small_run_of_halos_beside_computations(document_of):
    skip_without_nodes()
    words = "--halo --faces 64 --nodes 2 --per-node 1 --delay 1ms --mpi mpich"
    words += " --repetitions 1 --budget-ms 1"
    document, said = document_of(f"bench overlap --hosts {HOSTS} {words}", seconds=200)
    assert "halo" in said and "alltoallw_init" in said
    cells = document["cells"]
    variants = ("mpich", "mpich@progress", "mpich+tutti", "mpich+tutti+servers")
    ways = ("ineighbor_alltoallw", "neighbor_alltoallw_init", "isend_irecv")
    assert sorted((cell["variant"], cell["form"], cell["compute"]) for cell in cells) == sorted(
        (variant, way, work)
        for variant in variants
        for way in ways
        for work in ("arithmetic", "memory")
    )
    for cell in cells:
        assert (cell["collective"], cell["bytes"], cell["delay_ms"]) == ("halo", 64, 1), cell
        assert cell["blocking_us"] >= 1000 and cell["start_us"] > 0, cell
        assert cell["whole_us"] >= 1000 and cell["after_blocking_us"] >= 1000, cell


def test_an_mpi_that_nodes_cannot_start_is_left_out_unless_it_is_named():
    assert startable([MPICH, INTEL, OPENMPI], named=False) == [MPICH, OPENMPI]
    assert startable([OPENMPI], named=True) == [OPENMPI]
    for mpis, named in (([MPICH, INTEL], True), ([INTEL], False)):
        with pytest.raises(
            UserError,
            match="'intel' is Intel MPI 2021.19; --hosts can only start jobs of MPICH and Open MPI",
        ):
            startable(mpis, named=named)


@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize(
    ("application", "arguments", "served"),
    [
        ("fft", "--size 16 16 16 --iterations 4", {"alltoall", "reduce"}),
        ("multigrid", "--side 16 --cycles 8 --solves 4", {"allreduce"}),
    ],
)
def test_forms_of_an_application(document_of, application, arguments, served):
    """Servers drive the collectives of the overlapped form; all forms give the same answers."""
    skip_without_nodes()
    words = f"bench apps {application} --servers --hosts {HOSTS} --nodes 2 --per-node 1 --delay 0"
    words += " --mpi mpich --repetitions 1"
    document, _ = document_of(words, after=f"-- {arguments}", seconds=200)
    variants = ["mpich:blocking", "mpich:overlapped"]
    variants += ["mpich+tutti:blocking", "mpich+tutti+servers:overlapped"]
    assert {job["variant"] for job in document["jobs"]} == set(variants)
    run = document["runs"][1]
    assert (run["form"], run["host_form"], run["servers"]) == ("overlapped", "blocking", True)
    calls = {share["collective"]: share for share in run["collectives"]}
    assert all(calls[name]["calls"] > 0 == calls[name]["host_calls"] for name in served), calls
    report = next(job["report"] for job in document["jobs"] if job["variant"] == variants[3])
    assert report["driving"]["servers"] == 2
