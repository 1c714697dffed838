"""Calls beside computations over several nodes (`tutti bench overlap --hosts`), with --halo
exchanges of ghost cells (halo.py), whose blocking call is MPI_Neighbor_alltoallw.

Variants are the host MPI, the host with a progress thread of its own where it has one, and Tutti
without and with servers. All compute for the same time: as long as the option says, or twice as
long as the fastest host's blocking call at the same delay, so that a call could be hidden entirely.
Each node has cores of its own where there are enough, as real nodes have: else the system may run
the computations of two nodes on one core.
"""

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.hosts import cores_text, have_own_cores
from tutti.bench.measurements import HALO, Cell, Measurements
from tutti.bench.over_nodes import JobsOverNodes, Nodes, jobs_over
from tutti.bench.peer_files import PROGRESS, settings_of
from tutti.bench.present import WIDEST, Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import centre
from tutti.bench.texts import optional_time, size_text
from tutti.bench.variants import Variant
from tutti.bench.ways import WAYS as HALO_WAYS
from tutti.figures import Bars, draw_bars, legend_of, new_figure, save
from tutti.rows import grouped
from tutti.tables import number, table_of, words

TIMES_THE_CALL = 2
# The form that is the blocking call, for a collective that has a name of its own for it.
BLOCKING = {HALO: "neighbor_alltoallw"}


def blocking_form(collective: str) -> str:
    return BLOCKING.get(collective, "blocking")


# One call beside one loop, of one variant, as the document has it. Times are medians in
# microseconds.
Row = dict[str, Any]


def variants_of(plan: Nodes) -> list[Variant]:
    result = []
    for mpi in plan.settings.mpis:
        result.append(Variant(mpi, "default", False))
        if PROGRESS in settings_of(mpi.family):
            result.append(Variant(mpi, PROGRESS, False))
        if plan.settings.tutti:
            result.append(Variant(mpi, "default", True))
            result.append(Variant(mpi, "default", True, servers=True))
    return result


def jobs(plan: Nodes) -> int:
    hosts = len(plan.settings.mpis)
    each = plan.settings.repetitions * len(variants_of(plan)) + hosts
    return each * len(plan.delays) * len(plan.nodes)


def milliseconds(delay: str) -> float:
    """The one-way delay of the links, as tests/hosts/link takes it."""
    for unit, scale in (("ns", 1e-6), ("us", 1e-3), ("ms", 1.0), ("s", 1e3)):
        if delay.endswith(unit):
            return float(delay.removesuffix(unit)) * scale
    return float(delay)


def durations(line: str, jobs: JobsOverNodes, ranks: int) -> list[float]:
    """For each kind, the microseconds of computation: a multiple of the fastest host's call."""
    alone = replace(jobs.plan.settings, overlap=False, forms=())
    times = [
        [
            cell["median_us"]
            for cell in jobs.run(line, alone, ranks, Variant(mpi, "default", False))["cells"]
            if cell["form"] == blocking_form(cell["collective"])
        ]
        for mpi in alone.mpis
    ]
    return [TIMES_THE_CALL * min(of_kind) for of_kind in zip(*times, strict=True)]


def measure_overlap(
    plan: Nodes, microseconds: float | None, before_job: Callable[[str], None]
) -> list[Row]:
    """Runs all jobs; the order of the variants is shuffled in each repetition."""
    shuffle, variants = random.Random(plan.settings.seed), variants_of(plan)
    rows = []
    with jobs_over(plan, before_job) as jobs:
        for delay, nodes in itertools.product(plan.delays, plan.nodes):
            jobs.hosts.link(delay)
            ranks, where = plan.ranks(nodes), f"delay {delay}, {nodes} nodes"
            times = [microseconds] if microseconds is not None else durations(where, jobs, ranks)
            settings = replace(plan.settings, durations={ranks: times})
            measurements = Measurements(settings)
            for _ in range(settings.repetitions):
                shuffle.shuffle(variants)
                for variant in variants:
                    job = jobs.run(f"{where}, {variant.label}", settings, ranks, variant)
                    measurements.add(ranks, variant, job)
            rows += rows_of(plan, measurements, milliseconds(delay), nodes)
    return rows


def rows_of(plan: Nodes, measurements: Measurements, delay: float, nodes: int) -> list[Row]:
    return [
        _row(measurements, cell, variant, delay, nodes)
        for cell, by_variant in measurements.cells.items()
        if cell.work != "none" and cell.form not in ("none", blocking_form(cell.collective))
        for variant in variants_of(plan)
        if variant.key in by_variant
    ]


def _row(measurements: Measurements, cell: Cell, variant: Variant, delay: float, nodes: int) -> Row:
    def median_of(form: str, work: str) -> float:
        return centre(measurements.cells[cell.in_form(form).beside(work)][variant.key].median)

    samples = measurements.cells[cell][variant.key]
    call, compute = median_of(blocking_form(cell.collective), "none"), median_of("none", cell.work)
    whole = centre(samples.median)  # start, computation, wait
    return {
        "mpi": variant.mpi.name,
        "variant": variant.key,
        "servers": variant.servers,
        "delay_ms": delay,
        "nodes": nodes,
        "collective": cell.collective,
        "bytes": cell.bytes,
        "form": cell.form,
        "compute": cell.work,
        "blocking_us": call,  # the blocking call alone
        "compute_us": compute,  # the computation alone
        "start_us": centre(samples.start) if samples.start else None,  # until the start returned
        "whole_us": whole,
        # Parts of the whole: while the rank computed, the time in which servers, other processes
        # and the kernel's threads had its core (as far as the rank may use one core only); and the
        # wait, which has the unhidden part of the call.
        "others_us": centre(samples.others),
        "wait_us": centre(samples.wait),
        # The blocking call, then the computation.
        "after_blocking_us": median_of(blocking_form(cell.collective), cell.work),
        # The share of the shorter of call and computation that the other hides.
        "overlap_percent": 100 * (call + compute - whole) / min(call, compute),
    }


def _time(name: str) -> Callable[[Row], str]:
    return lambda row: optional_time(row[name])


COLUMNS = [
    words("collective", itemgetter("collective"), no_wrap=True),
    words("size", lambda row: size_text(row["bytes"]) if row["bytes"] else "-", no_wrap=True),
    words("computes", itemgetter("compute"), no_wrap=True),
    words("form", lambda row: HALO_WAYS.get(row["form"], row["form"]), no_wrap=True),
    words("variant", itemgetter("variant"), no_wrap=True),
    number("call, us", _time("blocking_us")),
    number("compute, us", _time("compute_us")),
    number("call, compute", _time("after_blocking_us")),
    number("start, us", _time("start_us")),
    number("others, us", _time("others_us")),
    number("wait, us", _time("wait_us")),
    number("whole, us", _time("whole_us")),
    number("of computation", lambda row: f"{row['whole_us'] / row['compute_us']:.2f}x"),
    number("overlap", lambda row: f"{row['overlap_percent']:.0f}%"),
]


def show_overlap(plan: Nodes, rows: list[Row], console: Console) -> None:
    groups = grouped(rows, itemgetter("delay_ms", "nodes"))
    kind = itemgetter("collective", "bytes", "compute", "form")
    for delay, nodes in itertools.product(plan.delays, plan.nodes):
        some = groups.get((milliseconds(delay), nodes), [])
        some = sorted(some, key=lambda row: (row["mpi"], *kind(row)))
        title = f"{nodes} nodes of {plan.per_node} ranks, delay {delay}"
        console.print(table_of(title, COLUMNS, some, kind))
    console.print(
        "call: the blocking one; call, compute: one after the other; whole: start, computation and "
        "wait; others: while a rank computes, what servers, other processes and the kernel's "
        "threads take of its core; of computation: whole over the computation alone; overlap: how "
        "much of the shorter of call and computation the other hides. "
        + cores_text(plan.most_nodes),
        highlight=False,
    )


def overlap_json(plan: Nodes, rows: list[Row]) -> dict[str, Any]:
    return {
        "tutti": __version__,
        "per_node": plan.per_node,
        "delays": plan.delays,
        "own_cores": have_own_cores(plan.most_nodes),
        "cells": rows,
    }


# Alpha and hatch for the end of a variant's name; the first that fits counts.
STYLES = {"+servers": (1.0, ""), "+tutti": (0.75, "//"), f"@{PROGRESS}": (0.5, ".."), "": (0.3, "")}
AFTER_BLOCKING = "blocking call, then computation"


def _kind_text(kind: tuple[str, int, str]) -> str:
    collective, size, form = kind
    return " ".join(
        filter(None, [collective, size_text(size) if size else "", HALO_WAYS.get(form, "")])
    )


def draw_overlap(rows: list[Row], stem: Path) -> list[Path]:
    """Writes STEM.png and STEM.svg and returns their paths.

    A panel for each delay, number of nodes, MPI and loop has a bar for each call and variant: the
    whole time over that of the computation alone. A mark shows the time of the blocking call and
    then the computation: what a call costs of which nothing is hidden.
    """
    panels = grouped(rows, itemgetter("delay_ms", "nodes", "mpi", "compute"))
    kind_of = itemgetter("collective", "bytes", "form")
    mpis = list(dict.fromkeys(row["mpi"] for row in rows))
    width = max(9.0, 4 + 0.9 * len(set(map(kind_of, rows))))
    figure, grid = new_figure(len(panels), 1, (width, 1 + 3.0 * len(panels)), layout="constrained")
    for axes, (panel, mine) in zip(grid[:, 0], sorted(panels.items()), strict=True):
        delay, nodes, mpi, compute = panel
        some = {(row["variant"], kind_of(row)): row for row in mine}
        kinds = [kind for kind in dict.fromkeys(map(kind_of, rows)) if kind in {k for _, k in some}]
        bars = []
        for variant in dict.fromkeys(name for name, _ in some):
            ratios = [
                [row[time] / row["compute_us"] if row else None for row in of_variant]
                for of_variant in ([some.get((variant, kind)) for kind in kinds],)
                for time in ("whole_us", "after_blocking_us")
            ]
            style = next(style for end, style in STYLES.items() if variant.endswith(end))
            bars.append(Bars(variant, ratios[0], mpis.index(mpi), *style, ratios[1]))
        draw_bars(axes, list(map(_kind_text, kinds)), bars, AFTER_BLOCKING)
        axes.set_ylabel("whole time over computation")
        axes.set_title(
            f"{nodes} nodes, delay {delay:g} ms one way, {mpi}, loop bound by {compute}; "
            "1: all is hidden",
            fontsize=10,
        )
        axes.legend(*legend_of([axes]), fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    return save(figure, stem)


def run(plan: Nodes, microseconds: float | None) -> Report:
    rows = with_progress(jobs(plan), "the nodes", partial(measure_overlap, plan, microseconds))
    return Report(
        partial(show_overlap, plan, rows),
        overlap_json(plan, rows),
        partial(draw_overlap, rows),
        WIDEST,
    )
