"""Shows measurements over several nodes: tables, JSON, and a plot of each collective's delays."""

import os
import platform
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.document import cell_json, comparison_json, processor_name
from tutti.bench.hosts import cores_text, have_own_cores
from tutti.bench.lines import COLOURS
from tutti.bench.measurements import Cell
from tutti.bench.over_nodes import AtDelay, Nodes
from tutti.bench.remarks import load_json, load_text, loaded, remark
from tutti.bench.results import compare_cells, pairs, summarise
from tutti.bench.root_tables import roots_tables
from tutti.bench.roots import compare_roots, comparisons_json
from tutti.bench.statistics import centre
from tutti.bench.texts import interval_text, ratio_text, size_text, time_text
from tutti.bench.variants import Variant
from tutti.tables import Table

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
    way = f"delay {result.delay}, a byte takes {time_text(centre(result.one_way))} us one way"
    table = Table(
        title=f"{nodes} nodes of {plan.per_node} ranks ({way}): {base.label}", title_justify="left"
    )
    for column in ("collective", "size"):
        table.add_column(column)
    for column in ("host, us", "Tutti, us", "ratio", "95%", "host, delays", "Tutti, delays", ""):
        table.add_column(column, justify="right")
    last = None
    for row in compare_cells(result.measurements, ranks, base, other):
        if last is not None and row.cell.collective != last:
            table.add_section()
        last = row.cell.collective
        table.add_row(
            row.cell.name,
            size_text(row.cell.bytes) if row.cell.bytes else "-",
            *map(time_text, row.centres),
            ratio_text(row.ratio),
            interval_text(row.ratio),
            *(delays_text(delays_of(result, row.cell, variant)) for variant in (base, other)),
            remark(row, loaded(result.measurements, ranks, base, other)),
        )
    return table


def host_nodes_table(plan: Nodes, result: AtDelay, nodes: int) -> Table:
    """The table without Tutti."""
    ranks = plan.ranks(nodes)
    variants = plan.settings.variants(ranks)
    table = Table(
        title=f"{nodes} nodes of {plan.per_node} ranks, delay {result.delay}", title_justify="left"
    )
    for column in ("collective", "size"):
        table.add_column(column)
    for variant in variants:
        table.add_column(f"{variant.label}, us", justify="right")
        table.add_column("delays", justify="right")
    for cell, by_variant in result.measurements.cells.items():
        if cell.ranks != ranks:
            continue
        texts = [
            (time_text(centre(by_variant[v.key].median)), delays_text(delays_of(result, cell, v)))
            for v in variants
        ]
        table.add_row(
            cell.name,
            size_text(cell.bytes) if cell.bytes else "-",
            *(text for pair in texts for text in pair),
        )
    return table


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
    table = Table(
        title="Geometric means of the ratios, and the median over the collectives of the delays at "
        "the smallest size",
        title_justify="left",
    )
    for column in ("delay", "nodes", "MPI"):
        table.add_column(column)
    for column in (
        "to 64 KiB",
        "95%",
        "all sizes",
        "95%",
        "slower",
        "host, delays",
        "Tutti, delays",
    ):
        table.add_column(column, justify="right")
    for result in results:
        for nodes in plan.nodes:
            for base, other in pairs(result.measurements, plan.ranks(nodes)):
                row = summarise(result.measurements, plan.ranks(nodes), base, other)
                short = (
                    (ratio_text(row.short), interval_text(row.short)) if row.short else ("-", "-")
                )
                cells = shortest(plan, result, nodes)
                delays = [
                    median(delays_of(result, cell, variant) for cell in cells)
                    for variant in (base, other)
                ]
                table.add_row(
                    result.delay,
                    str(nodes),
                    base.label,
                    *short,
                    ratio_text(row.every),
                    interval_text(row.every),
                    f"[red]{row.slower_cells}[/]" if row.slower_cells else "-",
                    *map(delays_text, delays),
                )
    return table


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
            comparison_json(base, other, comparison)
            for nodes in plan.nodes
            for base, other in pairs(measurements, plan.ranks(nodes))
            for comparison in compare_cells(measurements, plan.ranks(nodes), base, other)
        ],
        "root_comparisons": [
            entry
            for nodes in plan.nodes
            for base, other in pairs(measurements, plan.ranks(nodes))
            for entry in comparisons_json(
                base, other, compare_roots(measurements, plan.ranks(nodes), base, other)
            )
        ],
        "left_out": [cell.size_words for cell in measurements.left_out],
        "load": load_json(measurements),
    }


def machine_json(plan: Nodes) -> dict[str, Any]:
    settings = plan.settings
    return {
        "tutti": __version__,
        "machine": {
            "processor": processor_name(),
            "cores": settings.cores,
            "system": platform.platform(),
        },
        "settings": {
            "nodes": plan.nodes,
            "ranks_a_node": plan.per_node,
            "own_cores": have_own_cores(plan.most_nodes),
            "collectives": settings.collectives,
            "sizes": settings.sizes,
            "lengths": settings.lengths,
            "repetitions": settings.repetitions,
            "dirty": settings.dirty,
            "budget_ms": settings.budget_ms,
            "every_root": settings.every_root,
            "variables": {
                name: value for name, value in os.environ.items() if name.startswith("TUTTI_")
            },
        },
    }


def nodes_json(plan: Nodes, results: list[AtDelay]) -> dict[str, Any]:
    return (
        {"format": "tutti-bench-nodes 1"}
        | machine_json(plan)
        | {"delays": [_at_delay_json(plan, result) for result in results]}
    )


def draw_delays(plan: Nodes, results: list[AtDelay], stem: Path) -> list[Path]:
    """Draws the delays of each collective at the smallest size into STEM.png and STEM.svg.

    The plot shows the largest number of nodes and the longest delay. Returns the names of the
    files.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    result, nodes = max(results, key=lambda one: centre(one.one_way)), max(plan.nodes)
    cells, variants = shortest(plan, result, nodes), plan.settings.variants(plan.ranks(nodes))
    names = [mpi.name for mpi in plan.settings.mpis]
    figure, axes = pyplot.subplots(figsize=(1.6 + 0.75 * len(cells), 4.2))
    width = 0.8 / len(variants)
    for place, variant in enumerate(variants):
        at = [index + (place + 0.5) * width - 0.4 for index in range(len(cells))]
        colour = COLOURS[names.index(variant.mpi.name) % len(COLOURS)]
        alpha = 1.0 if variant.tutti else 0.4
        heights = [delays_of(result, cell, variant) for cell in cells]
        axes.bar(at, heights, width, label=variant.label, color=colour, alpha=alpha)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(
        range(len(cells)), [cell.name for cell in cells], rotation=40, ha="right", fontsize=8
    )
    axes.set_ylabel("delays of the links (median)")
    size = size_text(min(plan.settings.sizes))
    axes.set_title(
        f"{nodes} nodes of {plan.per_node} ranks, {size}, delay {result.delay} one way; 1 is the "
        "least",
        fontsize=10,
    )
    axes.legend(fontsize=8)
    figure.tight_layout()
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for name in written:
        figure.savefig(name, dpi=150)
    pyplot.close(figure)
    return written
