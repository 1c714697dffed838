"""Exchanges of ghost cells in three dimensions (`tutti bench --halo`).

The ranks form a periodic Cartesian communicator, and each exchanges the six faces of a cube with
its neighbours, as a 7-point stencil needs it. The ways are one call of MPI_Neighbor_alltoallw with
subarray types, in its three forms; MPI_Irecv and MPI_Isend by hand with the same types; and faces
packed by hand into MPI_Neighbor_alltoall or MPI_Neighbor_alltoallv. Each rank rewrites its cells
before each exchange, and every ghost cell is verified after it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.conditions_report import in_detail
from tutti.bench.forms import host_of, ratios_json
from tutti.bench.forms_report import ratio_texts
from tutti.bench.lines import Line, Panel, draw_panels
from tutti.bench.measurements import HALO, Cell, Measurements
from tutti.bench.peers import peers_of
from tutti.bench.remarks import MODES, load_text, loaded
from tutti.bench.results import Comparison, comparison_of, measured_ranks
from tutti.bench.states import states_of, states_text
from tutti.bench.statistics import centre
from tutti.bench.texts import size_text, time_text
from tutti.bench.variants import Variant
from tutti.tables import Table

BY_HAND = "isend_irecv"
WAYS = {
    "neighbor_alltoallw": "alltoallw",
    "ineighbor_alltoallw": "Ialltoallw",
    "neighbor_alltoallw_init": "alltoallw_init",
    BY_HAND: "Isend, Irecv",
    "packed_neighbor_alltoall": "packed alltoall",
    "packed_neighbor_alltoallv": "packed alltoallv",
}


@dataclass(frozen=True)
class HaloRow:
    """One face size and way of one variant. Each comparison has it as `other`."""

    variant: Variant
    cell: Cell  # `form` is the way
    start: float | None  # microseconds until the start returned, in ways that have one
    over_by_hand: Comparison  # `base`: the host MPI's messages by hand
    over_host: Comparison | None  # `base`: the host MPI in the same way; None without Tutti
    best_peer: Variant | None  # the fastest peer, in whichever way is fastest
    best_way: str
    over_best: Comparison | None


def _row(measurements: Measurements, cell: Cell, variant: Variant) -> HaloRow:
    cells = measurements.cells
    mine = cells[cell][variant.key]
    host = host_of(measurements, cell.ranks, variant)
    by_hand = cells[cell.in_form(BY_HAND)][(host or variant).key]
    peers = peers_of(measurements, cell.ranks) if variant.tutti else []
    ways = [
        (peer, way)
        for way in WAYS
        for peer in peers
        if peer.key in cells.get(cell.in_form(way), {})
    ]
    best = min(
        ways, key=lambda one: centre(cells[cell.in_form(one[1])][one[0].key].median), default=None
    )
    return HaloRow(
        variant,
        cell,
        centre(mine.start) if mine.start else None,
        comparison_of(cell, by_hand, mine),
        comparison_of(cell, cells[cell][host.key], mine)
        if host is not None and host.key in cells[cell]
        else None,
        best[0] if best else None,
        best[1] if best else "",
        comparison_of(cell, cells[cell.in_form(best[1])][best[0].key], mine) if best else None,
    )


def halo_rows(measurements: Measurements, ranks: int, variant: Variant) -> list[HaloRow]:
    """A row for each face and way."""
    exchanges = [cell for cell in measurements.cells if cell.ranks == ranks]
    return [
        _row(measurements, cell.in_form(way), variant)
        for cell in exchanges
        if cell.collective == HALO and cell.form == BY_HAND
        for way in WAYS
        if variant.key in measurements.cells.get(cell.in_form(way), {})
    ]


def halo_table(measurements: Measurements, rows: list[HaloRow]) -> Table:
    """A row for each face size and way; `rows` are of one rank count and variant."""
    first = rows[0]
    under_load = ", load" if loaded(measurements, first.cell.ranks, first.variant) else ""
    table = Table(
        title=f"{first.cell.ranks} ranks: {first.variant.label}, exchange of six faces, us, "
        f"medians of the slowest rank{under_load}",
        title_justify="left",
    )
    table.add_column("face", justify="right", no_wrap=True)
    table.add_column("way", no_wrap=True)
    with_tutti = first.variant.tutti
    columns = ["start", "whole", "mean", "by hand", "95%"]
    for column in columns + (["host", "95%", "best peer", "95%"] if with_tutti else []):
        table.add_column(column, justify="right", min_width=9 if column == "95%" else 6)
    if with_tutti:
        table.add_column("which", no_wrap=True)
    last = None
    for row in rows:
        if last is not None and row.cell.bytes != last:
            table.add_section()
        last = row.cell.bytes
        words = [
            size_text(row.cell.bytes),
            WAYS[row.cell.form],
            time_text(row.start) if row.start is not None else "",
            time_text(row.over_by_hand.centres[1]),
            time_text(centre(row.over_by_hand.other.mean)),
            *ratio_texts(row.over_by_hand),
        ]
        if with_tutti:
            words += [*ratio_texts(row.over_host), *ratio_texts(row.over_best)]
            words.append(f"{row.best_peer.key}: {WAYS[row.best_way]}" if row.best_peer else "-")
        table.add_row(*words)
    return table


def in_order_text(measurements: Measurements) -> str:
    """One line that names the MPIs that match both faces of one neighbour in order."""
    labels = {v.key: v.label for ranks in measurements.settings.ranks
              for v in measurements.settings.variants(ranks)}  # fmt: skip
    found = sorted(f"{labels[key]} ({WAYS[way]})" for key, way in measurements.in_order)
    if not found:
        return ""
    return (
        "where both neighbours of a dimension are one rank, these match its faces in order, while "
        f"MPI 4.0 asks for the opposite face; they were verified as they match: {'; '.join(found)}"
    )


def show_halo(measurements: Measurements, console: Console) -> None:
    settings = measurements.settings
    every = []
    for ranks in measured_ranks(measurements):
        variants = settings.variants(ranks)
        for variant in in_detail(variants) + [one for one in variants if not one.tutti]:
            rows = halo_rows(measurements, ranks, variant)
            every += rows
            if rows:
                console.print(halo_table(measurements, rows))
    states = states_of(measurements)
    lacking = "; ".join(sorted(measurements.without_persistent))
    notes = [
        f"no MPI_Neighbor_alltoallw_init, which came with MPI 4.0: {lacking}" if lacking else "",
        in_order_text(measurements),
        "the ways but Isend, Irecv are neighbourhood collectives; by hand (Isend, Irecv on the "
        "host MPI), host, best peer: their times over the row's time",
        *(states_text(states, ranks) for ranks in measured_ranks(measurements)),
        load_text(measurements),
        f"seed {measurements.seed}",
        MODES if any(any(row.over_by_hand.modes) for row in every) else "",
    ]
    for line in notes:
        if line:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


def halo_json(measurements: Measurements) -> dict[str, Any] | None:
    """None if no exchange was measured."""
    if not measurements.settings.faces:
        return None

    def entry(row: HaloRow) -> dict[str, Any]:
        best = None
        if row.over_best is not None and row.best_peer is not None:
            best = {"peer": row.best_peer.key, "way": row.best_way} | ratios_json(row.over_best)
        return {
            "ranks": row.cell.ranks,
            "face_bytes": row.cell.bytes,
            "way": row.cell.form,
            "variant": row.variant.key,
            "in_order": (row.variant.key, row.cell.form) in measurements.in_order,
            "start_us": row.start,
            "median_us": centre(row.over_by_hand.other.median),
            "mean_us": centre(row.over_by_hand.other.mean),
            "over_by_hand": ratios_json(row.over_by_hand),
            "over_host": ratios_json(row.over_host) if row.over_host else None,
            "over_best_peer": best,
        }

    return {
        "rows": [
            entry(row)
            for ranks in measured_ranks(measurements)
            for variant in measurements.settings.variants(ranks)
            for row in halo_rows(measurements, ranks, variant)
        ],
        "without_persistent": sorted(measurements.without_persistent),
    }


def draw_halo(measurements: Measurements, stem: Path) -> list[Path]:
    """Draws time over face size, a panel for each rank count and MPI."""
    settings = measurements.settings
    panels = []
    for ranks in measured_ranks(measurements):
        for mpi in settings.mpis:
            lines = []
            for variant in (one for one in settings.variants(ranks) if one.mpi == mpi):
                rows = halo_rows(measurements, ranks, variant)
                for place, way in enumerate(WAYS):
                    times = {row.cell.bytes: centre(row.over_by_hand.other.median)
                             for row in rows if row.cell.form == way}  # fmt: skip
                    setting = "" if variant.setting == "default" else f", {variant.setting}"
                    label = f"{'Tutti' if variant.tutti else 'host'}{setting}: {WAYS[way]}"
                    lines.append(
                        Line(label, [times.get(face) for face in settings.faces], place,
                             variant.tutti, place)
                    )  # fmt: skip
            panels.append(Panel(f"{mpi.label}, {ranks} ranks", list(settings.faces), lines))
    return draw_panels(panels, min(len(settings.mpis), 3), "exchange of six faces, us", stem)
