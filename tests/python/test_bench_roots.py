"""`tutti bench calls --every-root`: times of each root, their summary, tables and plots."""

import json
from io import StringIO

import pytest
from made_up_jobs import MPICH, cell_of
from rich.console import Console
from test_bench_program import run_program
from tutti.bench.document import as_json
from tutti.bench.measurements import ROOTED, Measurements, Samples, Settings
from tutti.bench.report import show
from tutti.bench.results import compare_cells, pairs
from tutti.bench.roots import compare_roots, spread

# Microseconds by root. A tree that ignores the topology is fast from root 0. With Tutti all roots
# take the same time.
HOST, TUTTI = (4.0, 10.0, 6.0, 8.0), (3.0, 3.0, 3.0, 3.0)


def entry(collective: str, size: int, time: float, root: int | None = None) -> dict[str, object]:
    named = {} if root is None else {"root": root}
    return {
        "collective": collective,
        "bytes": size,
        **named,
        "median_us": time,
        "mean_us": 2 * time,
        "min_us": time / 2,
        "p95_us": 4 * time,
    }


def measured(repetitions: int = 3, **changes) -> Measurements:
    """Measurements in which each repetition takes 1.5 times as long as the one before."""
    values = dict(
        mpis=[MPICH],
        ranks=[4],
        cores=4,
        collectives=["bcast", "barrier"],
        sizes=[8, 4096],
        repetitions=repetitions,
        every_root=True,
    )
    measurements = Measurements(Settings(**(values | changes)))
    measurements.limits = [{"format": "tutti-limits 1"}]
    for repetition in range(repetitions):
        drift = 1.5**repetition
        for variant in measurements.settings.variants(4):
            times = TUTTI if variant.tutti else HOST
            cells = [
                entry("bcast", size, time * drift, root)
                for size in (8, 4096)
                for root, time in enumerate(times)
            ]
            measurements.add(
                4, variant, {"library": "", "cells": [*cells, entry("barrier", 0, 1.0)]}
            )
    return measurements


def test_a_cell_is_the_median_of_its_roots():
    measurements = measured()
    (base, other) = pairs(measurements, 4)[0]
    by_cell = {c.cell.collective: c for c in compare_cells(measurements, 4, base, other)}
    bcast = by_cell["bcast"]
    assert bcast.base.median == [7.0, 7.0 * 1.5, 7.0 * 2.25] and bcast.base.mean[0] == 14.0
    assert (bcast.base.least[0], bcast.base.percentile_95[0]) == (2.0, 40.0)
    assert bcast.by_median.value == pytest.approx(7 / 3)
    assert bcast.base.by_root == [[time, time * 1.5, time * 2.25] for time in HOST]
    assert by_cell["barrier"].base.by_root == [] and spread(by_cell["barrier"].base) is None


def test_the_spread_is_of_roots_and_not_of_repetitions():
    found = spread(measured().cells[next(iter(measured().cells))]["mpich"])
    assert found is not None
    assert (found.min_us, found.median_us, found.max_us) == (
        6.0,
        10.5,
        15.0,
    )  # the times of the middle repetition
    assert (found.quartile_1_us, found.quartile_3_us) == (8.25, 12.75)
    assert (found.fastest_root, found.slowest_root, found.factor) == (0, 1, 2.5)
    one = Samples()
    one.add([cell_of(2.0)], True)
    lone = spread(one)
    assert lone is not None and (
        lone.quartile_1_us,
        lone.median_us,
        lone.quartile_3_us,
        lone.factor,
    ) == (
        2.0,
        2.0,
        2.0,
        1.0,
    )


def test_slowest_roots_are_compared_by_repetition():
    measurements = measured()
    rows = compare_roots(measurements, 4, *pairs(measurements, 4)[0])
    assert [(row.cell.collective, row.cell.bytes) for row in rows] == [
        ("bcast", 8),
        ("bcast", 4096),
    ]
    assert rows[0].of_slowest.value == pytest.approx(10 / 3)
    assert rows[0].of_slowest.low == pytest.approx(10 / 3)  # both have the same drift
    assert rows[0].other.factor == 1.0


def test_tables_and_json():
    stream = StringIO()
    measurements = measured()
    show(measurements, Console(file=stream, width=200))
    text = stream.getvalue()
    assert "MPICH 5.0.2, over the roots, us" in text
    rows = [line.replace("\u2502", " ").split() for line in text.splitlines() if "2.50x" in line]
    host, tutti = "6.000 10.50 15.00 1 2.50x", "4.500 4.500 4.500 0 1.00x"
    assert " ".join(rows[0][:14]) == f"bcast 8 B {host} {tutti} 3.33x"
    document = json.loads(json.dumps(as_json(measurements)))
    assert document["settings"]["every_root"] is True
    bcast = document["cells"][0]["variants"]["mpich"]
    assert bcast["by_root_us"][1] == [10.0, 15.0, 22.5]
    assert bcast["over_roots"] == {
        "min_us": 6.0,
        "quartile_1_us": 8.25,
        "median_us": 10.5,
        "quartile_3_us": 12.75,
        "max_us": 15.0,
        "fastest_root": 0,
        "slowest_root": 1,
    }
    assert "over_roots" not in document["cells"][2]["variants"]["mpich"]
    assert [entry["bytes"] for entry in document["root_comparisons"]] == [8, 4096]
    assert document["root_comparisons"][0]["ratio_of_slowest_roots"]["value"] == pytest.approx(
        10 / 3
    )


def test_without_tutti_hosts_have_their_own_table():
    stream = StringIO()
    show(measured(tutti=False), Console(file=stream, width=160))
    assert sum("2.50x" in line for line in stream.getvalue().splitlines()) == 2


def test_with_one_root_there_is_no_table_of_roots():
    measurements = measured(every_root=False)
    assert all(
        samples.by_root == []
        for by_variant in measurements.cells.values()
        for samples in by_variant.values()
    )
    stream = StringIO()
    show(measurements, Console(file=stream, width=160))
    assert "over the roots" not in stream.getvalue()


def test_plot_draws_whiskers(tmp_path):
    import matplotlib
    from matplotlib import pyplot
    from tutti.bench.report import _panel, draw
    from tutti.figures import draw_lines

    text = draw(measured(), tmp_path / "plot")[1].read_text()
    assert ">bcast, 4 ranks, every root<" in text and ">barrier, 4 ranks<" in text
    assert ">median and span of the roots, us<" in text
    matplotlib.use("Agg")
    figure, axes = pyplot.subplots()
    draw_lines(axes, _panel(measured(), 4, "bcast"))
    segments = [segment for lines in axes.collections for segment in lines.get_segments()]
    pyplot.close(figure)
    spans = {tuple(round(float(y), 3) for y in segment[:, 1]) for segment in segments}
    assert (6.0, 15.0) in spans and (8.25, 12.75) in spans  # the host's whiskers and box
    places = {round(float(segment[0, 0]), 3) for segment in segments}
    assert len(places) == 4  # two variants beside each other at two sizes


def test_help_says_why(tutti):
    words = " ".join(
        tutti("bench", "calls", "--help", environment={"COLUMNS": "200"})
        .stdout.replace("\u2502", " ")
        .split()
    )
    assert "With root 0 alone, trees that ignore the machine's topology look too good." in words


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 3])
def test_the_program_measures_every_root(mpi, ranks, tmp_path):
    """The program verifies the data of every root, with buffers that are large enough for all."""
    words = f"--root every --collectives {','.join(ROOTED)},scan,barrier --bytes 8,40000"
    job = run_program(mpi, ranks, tmp_path, f"{words} --budget-ms 1")
    assert job["every_root"] and job["verified"]
    rooted = [(name, size, root) for name in ROOTED for size in (8, 40000) for root in range(ranks)]
    rest = [("scan", 8, None), ("scan", 40000, None), ("barrier", 0, None)]
    assert [(c["collective"], c["bytes"], c.get("root")) for c in job["cells"]] == rooted + rest


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_run(document_of, tmp_path, mpi):
    words = f"--ranks 3 --collectives bcast,allreduce --bytes 8 --mpi {mpi.name}"
    words += f" --repetitions 2 --budget-ms 1 --plot {tmp_path / 'roots'}"
    document, said = document_of(f"bench calls --every-root --no-tutti {words}")
    assert "over the roots" in said
    cells = document["cells"]
    for samples in cells[0]["variants"].values():
        assert [len(times) for times in samples["by_root_us"]] == [2, 2, 2]
        assert (
            samples["over_roots"]["min_us"]
            <= samples["over_roots"]["median_us"]
            <= samples["over_roots"]["max_us"]
        )
    assert (tmp_path / "roots.svg").exists()
