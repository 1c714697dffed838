"""Every kind of measurement gives the tables, the JSON and the plots that were recorded
(reports/NAME.json), from the made-up jobs of made_up_jobs.py.

After a change that is meant to change a report, TUTTI_RECORD_REPORTS=1 writes the files anew.
"""

import json
import os
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import made_up_jobs as made_up
import pytest
from made_up_jobs import MPICH, OPENMPI
from matplotlib.figure import Figure
from rich.console import Console
from tutti.bench import (
    applications,
    applications_report,
    applications_results,
    nodes_report,
    one_sided_nodes,
    over_nodes,
    overlap_nodes,
    saturation,
    threads,
    view,
    worth,
)
from tutti.bench.document import as_json
from tutti.bench.measurements import Measurements, Settings
from tutti.bench.over_nodes import Between
from tutti.bench.reading import parse_output
from tutti.bench.report import draw, show
from tutti.saturation import draw_map

REPORTS = Path(__file__).parent / "reports"
ROOT = Path(__file__).parents[2]
HOSTS = ROOT / "tests" / "hosts"
# What depends on the machine on which the tests run.
OF_THE_MACHINE = ("tutti", "machine", "version", "own_cores", "variables")
BORDERS = ("┏", "┡", "├", "└")
Report = tuple[Callable[[Console], None], Any, Callable[[Path], list[Path]] | None]


def plain_settings(**changes: Any) -> Settings:
    return Settings(
        **(
            {
                "mpis": [MPICH, OPENMPI],
                "ranks": [2, 4],
                "cores": 2,
                "collectives": ["allreduce", "bcast", "barrier"],
                "sizes": [8, 131072],
                "repetitions": 4,
                "seed": 1,
            }
            | changes
        )
    )


def measured(settings: Settings) -> Measurements:
    result = Measurements(settings, seed=settings.seed)
    for repetition in range(settings.repetitions):
        result.limits.append(made_up.limits(repetition))
        for ranks in settings.ranks:
            for variant in settings.variants(ranks):
                result.add(ranks, variant, made_up.job(settings, ranks, variant.key, repetition))
    return result


def of_collectives(**changes: Any) -> Report:
    measurements = measured(plain_settings(**changes))
    return (
        lambda console: show(measurements, console),
        as_json(measurements),
        lambda stem: draw(measurements, stem),
    )


def of_kinds() -> Report:
    shown, document, _ = of_collectives(kinds="programs", mixed=True, cold=4096, sizes=[8])
    return shown, document, None


def plan_of_nodes(**changes: Any) -> over_nodes.Nodes:
    settings = plain_settings(
        **({"ranks": [4, 6], "bind": "none", "peer_settings": "default"} | changes)
    )
    return over_nodes.Nodes(settings, HOSTS, [2, 3], 2, ["0", "1ms"])


def of_nodes(**changes: Any) -> Report:
    plan = plan_of_nodes(**changes)
    results = [
        over_nodes.AtDelay(delay, measured(plan.settings), [way, way + 1, way + 2, way + 3])
        for delay, way in (("0", 20.0), ("1ms", 1000.0))
    ]
    return (
        lambda console: nodes_report.show(plan, results, console),
        nodes_report.nodes_json(plan, results),
        lambda stem: nodes_report.draw_delays(plan, results, stem),
    )


def of_overlap_over_nodes(**changes: Any) -> Report:
    plan = plan_of_nodes(overlap=True, **changes)
    rows = []
    for delay in plan.delays:
        for nodes in plan.nodes:
            measurements = Measurements(plan.settings)
            for repetition in range(3):
                for variant in overlap_nodes.variants_of(plan):
                    ranks = plan.ranks(nodes)
                    job = made_up.job(plan.settings, ranks, variant.key, repetition)
                    measurements.add(ranks, variant, job)
            rows += overlap_nodes.rows_of(
                plan, measurements, overlap_nodes.milliseconds(delay), nodes
            )
    return (
        lambda console: overlap_nodes.show_overlap(plan, rows, console),
        overlap_nodes.overlap_json(plan, rows),
        lambda stem: overlap_nodes.draw_overlap(rows, stem),
    )


def of_worth() -> Report:
    plan = over_nodes.Nodes(plan_of_nodes().settings, HOSTS, [2, 3], 2, ["0"])
    rows = [
        worth.Worth(
            nodes,
            mpi,
            collective,
            size,
            {
                way: [
                    factor * made_up.microseconds(mpi.name, size, way, nodes, k) for k in range(3)
                ]
                for way, factor in (("messages", 3.0), ("between", 1.0), ("shared", 1.4))
            },
        )
        for nodes in plan.nodes
        for mpi in plan.settings.mpis
        for collective, size in (("bcast", 131072), ("bcast", 8), ("barrier", 0))
    ]
    return (
        lambda console: worth.show_worth(plan, rows, console),
        worth.worth_json(plan, rows),
        None,
    )


def of_one_sided() -> Report:
    def job(ways: Any) -> dict[str, Any]:
        names = sorted({name for way in ways for name in (way.name, way.base)})
        repetitions = made_up.transfers(names, 3)
        document: dict[str, Any] = {"cores": [0, 1], "repetitions": repetitions}
        return document | {"ratios": threads.ratios(ways, document)}

    process = {"mpi": "mpich", "label": MPICH.label} | job(threads.PROCESSES)
    document = job(threads.THREADS) | {"processes": [process]}
    return lambda console: threads.show_one_sided(document, console), document, None


def of_one_sided_between() -> Report:
    plan = Between([MPICH], HOSTS, 1, ["0", "1ms"], 20)
    result: one_sided_nodes.Measured = {}
    for repetition in range(3):
        for delay in plan.delays:
            for variant in one_sided_nodes.variants_of(plan):
                job = made_up.between(variant.servers, repetition)
                one_sided_nodes.add_job(result, variant, delay, job)
    return (
        lambda console: one_sided_nodes.show(plan, result, console),
        one_sided_nodes.document(plan, result),
        None,
    )


def of_alltoall() -> Report:
    document = threads.with_ratios(made_up.alltoall())
    return lambda console: threads.show_alltoall(document, console), document, None


def of_openmp() -> Report:
    document = made_up.openmp()
    return lambda console: threads.show_openmp([document], console), document, None


def of_array() -> Report:
    document = made_up.array()
    return lambda console: threads.show_array(document, console), document, None


def of_saturation() -> Report:
    map_ = made_up.saturation_map()
    return lambda console: saturation.show(map_, console), map_, lambda stem: draw_map(map_, stem)


def of_saturation_between() -> Report:
    map_ = made_up.saturation_map(mpi=MPICH.label, network="2 emulated nodes, delay 1ms")
    return lambda console: saturation.show_between(map_, console), map_, None


def of_application(application: str = "matvec", **changes: Any) -> Report:
    settings = applications.AppSettings(
        **(
            {
                "application": application,
                "arguments": ("--size", "3"),
                "mpis": [MPICH, OPENMPI],
                "ranks": [2, 4],
                "cores": 2,
                "collectives": [],
                "sizes": [],
                "repetitions": 3,
            }
            | changes
        )
    )
    result = applications.Applications(settings, seed=1)
    for place in settings.places:
        if place.delay is not None:
            result.one_way_us.setdefault(place.delay, [20.0, 21.0, 22.0])
        for variant in settings.variants(place.ranks):
            jobs = result.of(place, variant)
            jobs.outputs = [
                parse_output(made_up.output(variant.key, variant.form, place.ranks, k))
                for k in range(3)
            ]
            jobs.shares_of_others = [0.0, 0.4 if variant.key == "mpich" else None, 0.0]
            if variant.tutti:
                jobs.report, jobs.reported = made_up.report(variant.key), jobs.outputs[0]
    if settings.limits:
        result.limits = [made_up.limits(k) for k in range(3)]
    return (
        lambda console: applications_report.show(result, console),
        applications_results.as_json(result),
        lambda stem: applications_report.draw(result, stem),
    )


def of_files(*names: str, cells: bool = False) -> Report:
    rows = [row for name in names for row in view.rows_of(ROOT / name)[:30]]

    def shown(console: Console) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(view, "new_console", lambda width: console)
            view._show(rows, cells)

    return shown, view._as_json(rows), None


KINDS: dict[str, Callable[[], Report]] = {
    "calls": lambda: of_collectives(heap=True, collectives=["allreduce", "barrier"], repetitions=3),
    "calls_best": lambda: of_collectives(peer_settings="all", collectives=["bcast"], sizes=[8]),
    "many_collectives": lambda: of_collectives(
        collectives=["allreduce", "bcast", "reduce", "barrier", "gather"], ranks=[2], sizes=[4096]
    ),
    "calls_without_tutti": lambda: of_collectives(tutti=False),
    "one_mpi": lambda: of_collectives(mpis=[MPICH], repetitions=1),
    "every_root": lambda: of_collectives(
        every_root=True, collectives=["bcast", "allreduce"], repetitions=3
    ),
    "every_root_without_tutti": lambda: of_collectives(every_root=True, tutti=False, ranks=[2]),
    "conditions": of_kinds,
    "conditions_of_calls": lambda: of_collectives(load=2, mixed=False, ranks=[2], sizes=[8]),
    "forms": lambda: of_collectives(
        forms=("nonblocking", "persistent"), ranks=[2], collectives=["allreduce", "barrier"]
    ),
    "overlap": lambda: of_collectives(
        forms=("nonblocking", "persistent"),
        overlap=True,
        ranks=[2],
        durations={2: [4.0]},
        collectives=["allreduce"],
        sizes=[8],
        repetitions=3,
    ),
    "halo": lambda: of_collectives(collectives=["halo"], faces=(64,), repetitions=3),
    "nodes": of_nodes,
    "nodes_every_root": lambda: of_nodes(every_root=True, collectives=["bcast"]),
    "nodes_without_tutti": lambda: of_nodes(tutti=False),
    "overlap_over_nodes": lambda: of_overlap_over_nodes(
        forms=("nonblocking",), collectives=["bcast"]
    ),
    "halo_over_nodes": lambda: of_overlap_over_nodes(collectives=["halo"], faces=(64,)),
    "worth": of_worth,
    "one_sided": of_one_sided,
    "one_sided_between": of_one_sided_between,
    "alltoall": of_alltoall,
    "openmp": of_openmp,
    "array": of_array,
    "saturation": of_saturation,
    "saturation_between": of_saturation_between,
    "application": of_application,
    "application_best": lambda: of_application(peer_settings="both", heap=True, ranks=[2]),
    "application_forms": lambda: of_application(
        "fft", servers=True, hosts=HOSTS, per_node=1, delays=("1ms",), ranks=[2], limits=False
    ),
    "application_without_tutti": lambda: of_application(tutti=False),
    "files": lambda: of_files("docs/data/two-ranks.csv"),
    "files_cells": lambda: of_files("docs/data/two-ranks.csv", cells=True),
}


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """What is in each panel of a figure, as numbers and words."""
    panels = []
    for axes in figure.axes:
        panels.append(
            {
                "title": axes.get_title(),
                "x": axes.get_xlabel(),
                "y": axes.get_ylabel(),
                "ticks": [label.get_text() for label in axes.get_xticklabels()],
                "lines": [
                    [line.get_label(), line.get_linestyle(), line.get_color(), line.get_marker()]
                    + [list(map(float, line.get_xdata())), list(map(float, line.get_ydata()))]
                    for line in axes.get_lines()
                ],
                "bars": [
                    [bars.get_label()]
                    + [
                        [
                            float(bar.get_x() + bar.get_width()),
                            float(bar.get_y() + bar.get_height()),
                        ]
                        for bar in bars
                    ]
                    for bars in axes.containers
                    if hasattr(bars, "patches")
                ],
            }
        )
    return panels


def rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {
            str(name): rounded(one) for name, one in value.items() if name not in OF_THE_MACHINE
        }
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def report_of(name: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr("tutti.bench.hosts.have_own_cores", lambda *_: True)
    shown, document, draw = KINDS[name]()
    stream = StringIO()
    shown(Console(file=stream, width=220, markup=False, emoji=False))
    found = {"text": [shortened(line) for line in stream.getvalue().splitlines()]}
    found["document"] = rounded(json.loads(json.dumps(document)))
    if draw is not None:
        figures: list[Figure] = []
        save = Figure.savefig

        def keep(figure: Figure, *words: Any, **options: Any) -> None:
            if figure not in figures:
                figures.append(figure)
                found["plot"] = rounded(drawn(figure))
            save(figure, *words, **options)

        monkeypatch.setattr(Figure, "savefig", keep)
        written = draw(directory / "plot")
        found["files"] = [file.name for file in written]
        assert all(file.stat().st_size > 1000 for file in written)
    return found


def shortened(line: str) -> str:
    """A line of a table without padding; of a line that only separates others the first character."""
    return line[0] if line[:1] in BORDERS else re.sub(" {2,}", " ", line.rstrip())


def lines_of(part: Any) -> str:
    """JSON with a line for each entry."""
    if isinstance(part, list):
        return "[" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in part) + "]"
    return (
        "{"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in part.items())
        + "}"
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_report_is_as_recorded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = report_of(name, tmp_path, monkeypatch)
    file = REPORTS / f"{name}.json"
    if os.environ.get("TUTTI_RECORD_REPORTS"):
        parts = [f"{json.dumps(name)}: {lines_of(part)}" for name, part in found.items()]
        file.write_text("{" + ",\n".join(parts) + "}\n")
    expected = json.loads(file.read_text())
    for part in ("text", "document", "plot", "files"):
        assert found.get(part) == expected.get(part), part
