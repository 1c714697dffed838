"""`tutti bench forms`, `overlap` and `halo`: the driver's results and tables, from made-up times, and
small real runs.
"""

import json
from io import StringIO

import pytest
from made_up_jobs import LIMITS, cell_of
from rich.console import Console
from test_bench_driver import MPICH, OPENMPI, fake_settings
from tutti.bench import calls, driver
from tutti.bench.document import as_json
from tutti.bench.measurements import Measurements
from tutti.bench.report import draw, show
from tutti.bench.variants import Variant
from tutti.bench.ways import WAYS, form_means, rows_of
from tutti.bench.words import parse_faces, parse_forms
from tutti.errors import UserError
from tutti.places import find_interposer, find_program

# How much longer than Tutti's blocking call a call takes.
FACTORS = {"blocking": 1.0, "nonblocking": 2.0, "persistent": 1.5}


def entry(time: float, **words) -> dict:
    return cell_of(time, 3 * time, **words)


def call_time(variant: Variant, form: str) -> float:
    """Tutti takes 1 us for a blocking call, MPICH twice as long and Open MPI three times."""
    host = 2.0 if variant.mpi == MPICH else 3.0
    return FACTORS[form] * (1.0 if variant.tutti else host)


def fake_job(settings, ranks: int, variant: Variant) -> dict:
    forms = ("blocking", *settings.forms)
    if variant.mpi == OPENMPI and not variant.tutti:
        forms = tuple(form for form in forms if form != "persistent")
    cells = []
    for size in settings.sizes:
        words = {"collective": "allreduce", "bytes": size}
        for form in forms:
            start = {} if form == "blocking" else {"start_us": 0.25}
            cells.append(entry(call_time(variant, form), form=form, **words, **start))
        for work in ("arithmetic", "memory") if settings.overlap else ():
            beside = words | {"work": work, "work_us": 4.0}
            cells.append(entry(4.0, form="none", **beside))
            cells += [entry(4.0 + call_time(variant, form), form=form, **beside) for form in forms]
    job = {"library": variant.mpi.label, "cells": cells, "interposed": variant.tutti}
    return job | ({"form_left_out": "persistent"} if len(forms) <= len(settings.forms) else {})


def fake_exchange(settings, ranks: int, variant: Variant) -> dict:
    """Tutti's neighbourhood collectives take half of the host's time, messages by hand the same."""
    cells = []
    for place, way in enumerate(WAYS):
        time = 10.0 + place if variant.mpi == MPICH else 20.0
        served = variant.tutti and way != "isend_irecv"
        in_order = variant.mpi == OPENMPI and way == "ineighbor_alltoallw"
        words = {"collective": "halo", "bytes": 64, "form": way, "in_order": in_order}
        cells.append(entry(time / (2 if served else 1), **words))
    return {"library": variant.mpi.label, "cells": cells, "interposed": variant.tutti}


@pytest.fixture
def measured(monkeypatch):
    """Measures without MPI, by the jobs that a function makes up."""

    def measure(make, **changes) -> Measurements:
        settings = fake_settings(
            **({"ranks": [2], "collectives": ["allreduce"], "sizes": [8, 4096]} | changes)
        )
        for module in (driver, calls):
            monkeypatch.setattr(
                module, "run_job", lambda one, ranks, variant, _: make(one, ranks, variant)
            )
        monkeypatch.setattr(driver, "measure_limits", lambda: LIMITS)
        if settings.overlap:
            return calls.measure_beside(settings, None, lambda line: None)
        return driver.run(settings, lambda line: None)

    return measure


def shown(measurements: Measurements) -> str:
    stream = StringIO()
    show(measurements, Console(file=stream, width=200))
    return stream.getvalue()


def variant_of(measurements: Measurements, key: str) -> Variant:
    return next(one for one in measurements.settings.variants(2) if one.key == key)


FORMS = ("nonblocking", "persistent")


def test_a_form_is_compared_with_the_blocking_call_the_host_and_the_best_peer(measured):
    measurements = measured(fake_job, forms=FORMS)
    rows = rows_of(measurements, 2, variant_of(measurements, "openmpi+tutti"))
    assert [(row.cell.bytes, row.cell.form) for row in rows] == [
        (size, form) for size in (8, 4096) for form in FORMS
    ]
    nonblocking, persistent = rows[:2]
    assert nonblocking.start == 0.25
    assert nonblocking.over_usual.ratio.value == pytest.approx(1 / 2)
    assert nonblocking.over_host.ratio.value == pytest.approx(3)
    assert nonblocking.over_best.peer.key == "mpich"
    assert nonblocking.over_best.comparison.ratio.value == pytest.approx(2)
    # Open MPI alone has no persistent collectives in this test.
    assert persistent.over_host is None and persistent.over_best is None
    assert persistent.over_usual.ratio.value == pytest.approx(1 / 1.5)


def test_means_of_forms_count_each_form_alone(measured):
    measurements = measured(fake_job, forms=FORMS)
    means = {(row.variant.key, row.form): row for row in form_means(measurements)}
    assert means["mpich+tutti", "nonblocking"].over_host.value == pytest.approx(2)
    assert means["mpich+tutti", "persistent"].over_host.value == pytest.approx(2)
    assert means["mpich+tutti", "nonblocking"].over_usual.value == pytest.approx(1 / 2)
    assert not any(row.behind for row in means.values())


def test_other_forms_are_not_part_of_the_means_of_blocking_calls(measured):
    document = json.loads(json.dumps(as_json(measured(fake_job, forms=FORMS))))
    blocking = json.loads(json.dumps(as_json(measured(fake_job))))
    assert blocking["forms"] is None and blocking["overlap"] is None and blocking["halo"] is None
    assert document["geometric_means"] == blocking["geometric_means"]
    assert document["best_peers"] == blocking["best_peers"]
    assert len(document["forms"]["calls"]) == 2 * (2 * 4 - 1)
    assert document["forms"]["without_persistent"] == ["openmpi"]
    for cell in document["cells"]:
        start = None if cell["form"] == "blocking" else 4 * [0.25]
        assert cell["variants"]["mpich"].get("start_us") == start


def test_the_tables_of_forms_name_an_mpi_without_persistent_collectives(measured):
    text = shown(measured(fake_job, forms=FORMS))
    assert "no persistent collectives, which came with MPI 4.0: Open MPI 5.0.11" in text
    assert "start+wait" in text and "allreduce 4 KiB" in text


def test_a_call_slower_than_the_best_peers_is_named(measured):
    def slow(settings, ranks, variant):
        job = fake_job(settings, ranks, variant)
        for cell in job["cells"]:
            if variant.tutti and cell["form"] == "nonblocking" and cell["bytes"] == 4096:
                cell["median_us"] = 100.0
        return job

    measurements = measured(slow, forms=("nonblocking",))
    assert [len(row.behind) for row in form_means(measurements)] == [1, 1]
    assert "behind, 2 ranks, MPICH 5.0.2, Tutti, nonblocking, repeated: allreduce 4 KiB" in shown(
        measurements
    )


def test_computations_take_as_long_as_the_best_peers_blocking_call(measured):
    measurements = measured(fake_job, forms=("nonblocking",), overlap=True)
    assert measurements.settings.durations == {2: [2.0, 2.0]}
    assert calls.jobs_beside(measurements.settings) == 4 * 4 + 2


def test_whole_times_beside_a_computation_are_compared_with_every_way_of_the_peers(measured):
    measurements = measured(fake_job, forms=("nonblocking",), overlap=True)
    rows = rows_of(measurements, 2, variant_of(measurements, "openmpi+tutti"))
    assert [(row.cell.bytes, row.cell.work) for row in rows] == [
        (size, work) for size in (8, 4096) for work in ("arithmetic", "memory")
    ]
    first = rows[0]
    assert (first.computing, first.alone) == (4.0, 4.0)
    assert first.over_usual.ratio.value == pytest.approx(5 / 6)
    assert first.over_host.ratio.value == pytest.approx(10 / 6)
    # MPICH's blocking call and the computation take 6 us, its start, computation and wait 8 us.
    assert (first.over_best.peer.key, first.over_best.way) == ("mpich", "blocking")
    assert first.over_best.comparison.ratio.value == pytest.approx(1)
    text = shown(measurements)
    assert "mpich: blocking" in text and "memory" in text
    document = json.loads(json.dumps(as_json(measurements)))
    assert len(document["overlap"]["rows"]) == 4 * 4
    assert document["overlap"]["durations_us"] == {"2": [2.0, 2.0]}


def test_exchanges_are_compared_with_messages_by_hand_and_the_best_way(measured):
    measurements = measured(fake_exchange, collectives=["halo"], faces=(64,))
    rows = {row.cell.form: row for row in rows_of(
        measurements, 2, variant_of(measurements, "mpich+tutti"))}  # fmt: skip
    assert list(rows) == list(WAYS)
    one = rows["neighbor_alltoallw"]
    assert one.over_usual.ratio.value == pytest.approx(13 / 5)
    assert one.over_host.ratio.value == pytest.approx(2)
    assert (one.over_best.peer.key, one.over_best.way) == ("mpich", "neighbor_alltoallw")
    assert one.over_best.comparison.ratio.value == pytest.approx(2)
    assert rows["isend_irecv"].over_usual.ratio.value == pytest.approx(1)
    text = shown(measurements)
    assert "match its faces in order" in text and "Open MPI 5.0.11 (Ialltoallw)" in text
    assert "MPICH 5.0.2 (Ialltoallw)" not in text
    document = json.loads(json.dumps(as_json(measurements)))
    assert document["geometric_means"] == [] and len(document["halo"]["rows"]) == 4 * 6


@pytest.mark.parametrize("what", ["forms", "overlap", "halo"])
def test_plots_are_drawn(measured, tmp_path, what):
    changes = {
        "forms": {"forms": FORMS},
        "overlap": {"forms": FORMS, "overlap": True},
        "halo": {"collectives": ["halo"], "faces": (64,)},
    }[what]
    measurements = measured(fake_exchange if what == "halo" else fake_job, **changes)
    written = draw(measurements, tmp_path / "plot")
    assert [name.name for name in written] == ["plot.png", "plot.svg"]
    title, label = {
        "forms": ("allreduce, 2 ranks", "Open MPI 5.0.11, Tutti: persistent"),
        "overlap": (
            "allreduce, 2 ranks, bound by memory",
            "MPICH 5.0.2: start, compute, wait (persistent)",
        ),
        "halo": ("MPICH 5.0.2, 2 ranks", "Tutti: packed alltoallv"),
    }[what]
    text = written[1].read_text()
    assert f">{title}<" in text and f">{label}<" in text


def test_words():
    assert parse_forms("all") == FORMS
    assert parse_forms("persistent,persistent") == ("persistent",)
    assert parse_faces("4,36,1K,4") == (4, 36, 1024)
    for text in ("0", "8", "2K", "1M", "x", ""):
        with pytest.raises(UserError, match="--faces"):
            parse_faces(text)


RUN = "--ranks 2 --repetitions 2 --budget-ms 2 --peer-settings default"


@pytest.fixture
def run_bench(document_of, mpi):
    """Runs `tutti bench`; the result is (document, output, with Tutti)."""
    with_tutti = find_program("tutti-run") is not None and find_interposer(mpi.abi) is not None

    def run(words: str):
        more = "" if with_tutti else " --no-tutti"
        words = f"bench {words} {RUN} --mpi {mpi.name}{more}"
        return *document_of(words, is_silent=True, seconds=280), with_tutti

    return run


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_run_of_forms_repeated_and_shuffled(run_bench):
    document, output, with_tutti = run_bench(
        "forms --mixed --kinds allreduce:8,alltoallw:64,barrier"
    )
    cells = {(c["collective"], c["condition"], c["form"]) for c in document["cells"]}
    assert cells == {
        (name, condition, form)
        for name in ("allreduce", "alltoallw", "barrier")
        for condition in ("plain", "mixed")
        for form in ("blocking", *FORMS)
    }
    calls = document["forms"]["calls"]
    assert len(calls) == 3 * 2 * 2 * (1 + with_tutti)
    assert all(
        call["median_us"] > 0 and call["over_blocking"]["base_mean_us"] > 0 for call in calls
    )
    assert "start+wait" in output


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_run_beside_computations(run_bench):
    document, output, with_tutti = run_bench("overlap --collectives bcast,barrier --bytes 8,4K")
    rows = document["overlap"]["rows"]
    assert len(rows) == 3 * 2 * (1 + with_tutti)
    assert len(document["overlap"]["durations_us"]["2"]) == 3
    assert all(row["alone_us"] > 0 and row["computing_us"] > 0 for row in rows)
    assert "start, compute" in output


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_run_of_exchanges(run_bench):
    document, output, with_tutti = run_bench("halo --faces 4,1K")
    rows = document["halo"]["rows"]
    assert {row["face_bytes"] for row in rows} == {4, 1024}
    ways = set(WAYS) - (
        {"neighbor_alltoallw_init"} if document["halo"]["without_persistent"] else set()
    )
    assert {row["way"] for row in rows} == ways
    assert len(rows) == 2 * len(ways) * (1 + with_tutti)
    assert all(row["over_by_hand"]["ratio_of_medians"]["value"] > 0 for row in rows)
    assert "exchange of six faces" in output
