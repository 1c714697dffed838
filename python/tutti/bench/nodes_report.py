"""Shows measurements over several nodes: tables, JSON, and a plot of each collective's delays."""

from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.asked import plan_of, require_hosts, settings_of
from tutti.bench.document import (
    cell_json,
    comparisons_json,
    machine_json,
    variables_of_user,
)
from tutti.bench.hosts import cores_text, have_own_cores
from tutti.bench.measurements import LENGTHS, Cell
from tutti.bench.options import JOBS, NODES, PLOT, WHICH, Kind, Options
from tutti.bench.over_nodes import AtDelay, Nodes, measure_nodes
from tutti.bench.present import Report
from tutti.bench.progress import with_progress
from tutti.bench.remarks import load_json, load_text, loaded, remark
from tutti.bench.results import compare_cells, pairs, summarise
from tutti.bench.roots import root_comparisons_json, roots_tables
from tutti.bench.statistics import centre
from tutti.bench.texts import (
    call_columns,
    cells_text,
    ratio_columns,
    sides_columns,
    size_text,
    time_text,
)
from tutti.bench.variants import Variant
from tutti.bench.words import parse_lengths
from tutti.figures import Bars, draw_bars, new_figure, save
from tutti.rows import members
from tutti.tables import Table, number, table_of, words

LEAST = (
    "any collective can complete after one delay of the links, so 1 is the least number of delays"
)


def delays_of(result: AtDelay, cell: Cell, variant: Variant) -> float:
    """A cell's median time divided by the one-way delay of the links."""
    return centre(result.measurements.cells[cell][variant.key].median) / centre(result.one_way)


def delays_text(delays: float) -> str:
    return f"{delays:.1f}" if delays < 100 else f"{delays:.0f}"


def nodes_table(plan: Nodes, result: AtDelay, nodes: int, base: Variant, other: Variant) -> Table:
    ranks = plan.ranks(nodes)
    under_load = loaded(result.measurements, ranks, base, other)
    columns = [
        *sides_columns(lambda row: row),
        number("host, delays", lambda row: delays_text(delays_of(result, row.cell, base))),
        number("Tutti, delays", lambda row: delays_text(delays_of(result, row.cell, other))),
        number("", lambda row: remark(row, under_load)),
    ]
    way = f"delay {result.delay}, a byte takes {time_text(centre(result.one_way))} us one way"
    return table_of(
        f"{nodes} nodes of {plan.per_node} ranks ({way}): {base.label}",
        columns,
        compare_cells(result.measurements, ranks, base, other),
        lambda row: row.cell.collective,
    )


def host_nodes_table(plan: Nodes, result: AtDelay, nodes: int) -> Table:
    """The table without Tutti."""
    cells, columns = result.measurements.cells, call_columns(lambda cell: cell)
    for one in plan.settings.variants(plan.ranks(nodes)):
        columns += [
            number(
                f"{one.label}, us",
                lambda cell, key=one.key: time_text(centre(cells[cell][key].median)),
            ),
            number("delays", lambda cell, one=one: delays_text(delays_of(result, cell, one))),
        ]
    return table_of(
        f"{nodes} nodes of {plan.per_node} ranks, delay {result.delay}",
        columns,
        [cell for cell in cells if cell.ranks == plan.ranks(nodes)],
    )


def shortest(plan: Nodes, result: AtDelay, nodes: int) -> list[Cell]:
    """Each collective's cell of the smallest size."""
    least = min(plan.settings.sizes)
    return [
        cell
        for cell in result.measurements.cells
        if cell.ranks == plan.ranks(nodes) and cell.bytes in (0, least)
    ]


def nodes_summary(plan: Nodes, results: list[AtDelay]) -> Table:
    """A row for each delay, number of nodes and MPI."""
    rows = [
        (result, nodes, summarise(result.measurements, plan.ranks(nodes), base, other))
        for result in results
        for nodes in plan.nodes
        for base, other in pairs(result.measurements, plan.ranks(nodes))
    ]

    def delays(row: Any, variant: Variant) -> str:
        result, nodes, _ = row
        cells = shortest(plan, result, nodes)
        return delays_text(median(delays_of(result, cell, variant) for cell in cells))

    columns = [
        words("delay", lambda row: row[0].delay),
        words("nodes", lambda row: str(row[1])),
        words("MPI", lambda row: row[2].base.label),
        *ratio_columns(lambda row: row[2].means.short, "to 64 KiB"),
        *ratio_columns(lambda row: row[2].means.every, "all sizes"),
        number("slower", lambda row: cells_text(row[2].means.slower_cells)),
        number("host, delays", lambda row: delays(row, row[2].base)),
        number("Tutti, delays", lambda row: delays(row, row[2].other)),
    ]
    title = (
        "Geometric means of the ratios, and the median over the collectives of the delays at the "
        "smallest size"
    )
    return table_of(title, columns, rows)


def show(plan: Nodes, results: list[AtDelay], console: Console) -> None:
    for result in results:
        for nodes in plan.nodes:
            for base, other in pairs(result.measurements, plan.ranks(nodes)):
                console.print(nodes_table(plan, result, nodes, base, other))
            if not plan.settings.tutti:
                console.print(host_nodes_table(plan, result, nodes))
            where = f"{nodes} nodes of {plan.per_node} ranks, delay {result.delay}"
            for table in roots_tables(result.measurements, plan.ranks(nodes), where):
                console.print(table)
    if plan.settings.tutti:
        console.print(nodes_summary(plan, results))
    console.print(f"{LEAST}\n{cores_text(plan.most_nodes)}", highlight=False)
    for result in results:
        if text := load_text(result.measurements):
            console.print(f"delay {result.delay}: {text}", highlight=False, markup=False)


def _at_delay_json(plan: Nodes, result: AtDelay) -> dict[str, Any]:
    measurements = result.measurements
    variants = {nodes: plan.settings.variants(plan.ranks(nodes)) for nodes in plan.nodes}
    return {
        "delay": result.delay,
        "one_way_us": result.one_way,
        "cells": [
            cell_json(cell, by_variant)
            | {
                "nodes": cell.ranks // plan.per_node,
                "delays": {
                    variant.key: delays_of(result, cell, variant)
                    for variant in variants[cell.ranks // plan.per_node]
                },
                "least_delays": 1,
            }
            for cell, by_variant in measurements.cells.items()
        ],
        "comparisons": [
            entry
            for nodes in plan.nodes
            for entry in comparisons_json(measurements, plan.ranks(nodes))
        ],
        "root_comparisons": [
            entry
            for nodes in plan.nodes
            for entry in root_comparisons_json(measurements, plan.ranks(nodes))
        ],
        "left_out": [cell.size_words for cell in measurements.left_out],
        "load": load_json(measurements),
    }


def head_json(plan: Nodes) -> dict[str, Any]:
    """The machine and the settings, in the documents of measurements over nodes."""
    settings = plan.settings
    same = ("collectives", "sizes", "lengths", "repetitions", "dirty", "budget_ms", "every_root")
    return {
        "tutti": __version__,
        "machine": machine_json(settings.cores),
        "settings": members(settings, *same)
        | {
            "nodes": plan.nodes,
            "ranks_a_node": plan.per_node,
            "own_cores": have_own_cores(plan.most_nodes),
            "variables": variables_of_user(),
        },
    }


def nodes_json(plan: Nodes, results: list[AtDelay]) -> dict[str, Any]:
    return (
        {"format": "tutti-bench-nodes 1"}
        | head_json(plan)
        | {"delays": [_at_delay_json(plan, result) for result in results]}
    )


def draw_delays(plan: Nodes, results: list[AtDelay], stem: Path) -> list[Path]:
    """Draws the delays of each collective at the smallest size into STEM.png and STEM.svg.

    The plot shows the largest number of nodes and the longest delay. Returns the names of the
    files.
    """
    result, nodes = max(results, key=lambda one: centre(one.one_way)), max(plan.nodes)
    cells, names = shortest(plan, result, nodes), [mpi.name for mpi in plan.settings.mpis]
    bars = [
        Bars(
            variant.label,
            [delays_of(result, cell, variant) for cell in cells],
            names.index(variant.mpi.name),
            1.0 if variant.tutti else 0.4,
        )
        for variant in plan.settings.variants(plan.ranks(nodes))
    ]
    figure, grid = new_figure(1, 1, (1.6 + 0.75 * len(cells), 4.2))
    axes = grid[0, 0]
    draw_bars(axes, [cell.name for cell in cells], bars)
    axes.set_ylabel("delays of the links (median)")
    size = size_text(min(plan.settings.sizes))
    axes.set_title(
        f"{nodes} nodes of {plan.per_node} ranks, {size}, delay {result.delay} one way; 1 is the "
        "least",
        fontsize=10,
    )
    axes.legend(fontsize=8)
    figure.tight_layout()
    return save(figure, stem)


def run(options: Options) -> Report:
    """Measure collectives over several nodes.

    The nodes are emulated on this machine.
    """
    require_hosts(options)
    lengths = LENGTHS[:1] if options.lengths is None else parse_lengths(options.lengths)
    plan = plan_of(options, settings_of(options, lengths=lengths))
    results = with_progress(plan.jobs, "the nodes", partial(measure_nodes, plan))
    return Report(
        partial(show, plan, results), nodes_json(plan, results), partial(draw_delays, plan, results)
    )


KIND = Kind(run, (*NODES, *WHICH, "lengths", "every_root", *JOBS, *PLOT))
