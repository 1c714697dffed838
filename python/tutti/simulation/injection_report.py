"""Tables and pictures of simulated injection."""

from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.texts import size_text
from tutti.figures import Bars, new_figure, save, side_by_side
from tutti.saturation import KINDS, draw_map, show_map
from tutti.tables import Table


def new_table(title: str, first: str, columns: list[str]) -> Table:
    table = Table(title=title)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _show_parallel(document: dict[str, Any], console: Console) -> None:
    rows = document["parallel"]
    counts = sorted({row["messages"] for row in rows})
    for clients in sorted({row["clients"] for row in rows}):
        for kind in KINDS:
            table = new_table(
                f"{kind}s, {clients} client(s) of a node with {document['servers']} servers each: "
                "percent faster than without, best static setting (adaptive policy)",
                "bytes",
                [f"{count} messages" for count in counts],
            )
            own = [row for row in rows if (row["clients"], row["kind"]) == (clients, kind)]
            for size in sorted({row["bytes"] for row in own}):
                cells = {row["messages"]: row for row in own if row["bytes"] == size}
                table.add_row(
                    size_text(size),
                    *(
                        f"{100 * (cells[count]['gain'] - 1):.0f} "
                        f"({100 * (cells[count]['own_us'] / cells[count]['adaptive_us'] - 1):.0f})"
                        for count in counts
                    ),
                )
            console.print(table)
    worst = min(rows, key=lambda row: row["adaptive_of_best"])
    console.print(
        f"The adaptive policy is slowest against the best static setting of the {len(rows)} cells "
        f"with {worst['messages']} {worst['kind']}s of {worst['bytes']} bytes, "
        f"{worst['clients']} client(s): {100 * worst['adaptive_of_best']:.1f}% of its speed.",
        highlight=False,
    )


def _show_all_to_all(document: dict[str, Any], console: Console) -> None:
    rows = document["alltoall"]
    served = [f"{one['servers']} servers, GB/s" for one in rows[0]["served"]]
    gains = [f"{one['servers']} servers, gain" for one in rows[0]["served"]]
    table = new_table(
        f"all-to-all by gets, {rows[0]['nodes']} nodes, at most 128 outstanding: sent by a node",
        "bytes",
        ["one client, GB/s", *served, *gains],
    )
    for row in rows:
        table.add_row(
            size_text(row["bytes"]),
            f"{row['own_gigabytes']:.3g}",
            *(f"{one['gigabytes']:.3g}" for one in row["served"]),
            *(f"{one['gain']:.2f}x" for one in row["served"]),
        )
    console.print(table)


def _show_trends(document: dict[str, Any], console: Console) -> None:
    rows = document["trends"]
    table = new_table(
        f"one client in each NUMA region, {rows[0]['messages']} messages: GB/s",
        "bytes",
        [f"{kind}s {what}" for kind in KINDS for what in ("alone", "served", "peak", "gain")],
    )
    for size in sorted({row["bytes"] for row in rows}):
        cells = []
        for kind in KINDS:
            row = next(row for row in rows if (row["kind"], row["bytes"]) == (kind, size))
            cells += [
                f"{row[name + '_gigabytes']:.3g}" for name in ("own", "served", "peak")
            ]  # fmt: skip
            cells.append(f"{row['gain']:.2f}x")
        table.add_row(size_text(size), *cells)
    console.print(table)


def _show_transposes(document: dict[str, Any], console: Console) -> None:
    rows = document["fft"]
    served = [f"{one['servers']} servers, gain" for one in rows[0]["served"]]
    whole = [f"{one['servers']}, whole" for one in rows[0]["served"]]
    table = new_table(
        "both rounds of a transform's transposes: microseconds of a process; whole: with computing",
        "class, cores",
        ["grid", "first round", "second round", "one client, us", *served, *whole],
    )
    for row in rows:
        table.add_row(
            f"{row['class']}, {row['cores']:,}",
            " x ".join(map(str, row["grid"])),
            *(f"{one['exchanges']} of {size_text(one['bytes'])}" for one in row["rounds"]),
            f"{row['own_us']:,.0f}",
            *(f"{one['gain']:.2f}x" for one in row["served"]),
            *(f"{one['whole_gain']:.2f}x" for one in row["served"]),
        )
    console.print(table)


MULTIGRID_WAYS = ("all", "selective", "adaptive")


def _show_multigrid(document: dict[str, Any], console: Console) -> None:
    rows = document["multigrid"]
    gains = [f"{one['servers']}: {way}" for one in rows[0]["served"] for way in MULTIGRID_WAYS]
    table = new_table(
        "a V-cycle of multigrid, with computing: gain of 2 and 3 servers, whose cores threads lack",
        "boxes, cells",
        ["one client, us", "communicating", *gains],
    )
    for row in rows:
        table.add_row(
            f"{row['boxes']} of {row['side']}^3",
            f"{row['own_us']:,.0f}",
            f"{100 * row['communicating']:.0f}%",
            *(f"{one['gains'][way]:.2f}x" for one in row["served"] for way in MULTIGRID_WAYS),
        )
    console.print(table)


def show(document: dict[str, Any], console: Console) -> None:
    machine = document["machine"]
    console.print(f"{machine['name']}: {machine['what']}", highlight=False)
    if "map" in document:
        show_map(document["map"], console)
    if "parallel" in document:
        _show_parallel(document, console)
    if "alltoall" in document:
        _show_all_to_all(document, console)
    if "trends" in document:
        _show_trends(document, console)
    if "fft" in document:
        _show_transposes(document, console)
    if "multigrid" in document:
        _show_multigrid(document, console)


def _draw_parallel(axes: Any, document: dict[str, Any], kind: str) -> None:
    rows = [row for row in document["parallel"] if row["kind"] == kind]
    clients = max(row["clients"] for row in rows)
    for count in sorted({row["messages"] for row in rows}):
        line = [r for r in rows if (r["messages"], r["clients"]) == (count, clients)]
        gains = [100 * (row["own_us"] / row["adaptive_us"] - 1) for row in line]
        axes.plot([row["bytes"] for row in line], gains, marker="o", markersize=3, label=f"{count}")
    axes.set_title(f"{kind}s, adaptive policy, by number of messages", fontsize=10)
    axes.set_ylabel("percent faster")
    axes.set_xscale("log", base=2)
    axes.legend(fontsize=7)


def _draw_all_to_all(axes: Any, document: dict[str, Any]) -> None:
    rows = document["alltoall"]
    sizes = [row["bytes"] for row in rows]
    axes.plot(sizes, [row["own_gigabytes"] for row in rows], label="one client")
    for place, one in enumerate(rows[0]["served"]):
        line = [row["served"][place]["gigabytes"] for row in rows]
        axes.plot(sizes, line, label=f"{one['servers']} servers")
    axes.set_title(f"all-to-all by gets, {rows[0]['nodes']} nodes", fontsize=10)
    _logarithmic(axes)


def _draw_trends(axes: Any, document: dict[str, Any], kind: str) -> None:
    rows = [row for row in document["trends"] if row["kind"] == kind]
    for name, label in (("own", "one client a region"), ("served", "served"), ("peak", "peak")):
        axes.plot(
            [row["bytes"] for row in rows], [row[name + "_gigabytes"] for row in rows], label=label
        )
    axes.set_title(f"{kind}s", fontsize=10)
    _logarithmic(axes)


def _draw_transposes(axes: Any, document: dict[str, Any]) -> None:
    """A group of bars for each problem, as in the paper's figure 10."""
    rows = document["fft"]
    ways = [Bars("one client", [row["own_us"] for row in rows])]
    for place, one in enumerate(rows[0]["served"]):
        times = [row["served"][place]["us"] for row in rows]
        ways.append(Bars(f"{one['servers']} servers", times))
    names = [f"{row['class']}\n{' x '.join(map(str, row['grid']))}" for row in rows]
    side_by_side(axes, names, ways)
    axes.set_xticks(range(len(rows)), names, fontsize=7)
    axes.set_title("transposes of a transform, by class and grid of processes", fontsize=10)
    axes.set_yscale("log")
    for formatter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        formatter("{x:g}")
    axes.set_ylabel("us of a process")
    axes.legend(fontsize=7)


def _draw_multigrid(axes: Any, document: dict[str, Any]) -> None:
    """A group of bars for each problem, as in the paper's figures 6 to 8."""
    rows = document["multigrid"]
    ways = [
        Bars(
            f"{one['servers']} servers, {way}",
            [100 * (row["served"][place]["gains"][way] - 1) for row in rows],
        )
        for place, one in enumerate(rows[0]["served"])
        for way in MULTIGRID_WAYS
    ]
    names = [f"{row['boxes']} of\n{row['side']}^3" for row in rows]
    side_by_side(axes, names, ways)
    axes.set_xticks(range(len(rows)), names, fontsize=7)
    axes.set_title("a V-cycle of multigrid, by boxes and cells", fontsize=10)
    axes.set_ylabel("percent faster")
    axes.legend(fontsize=7)


def _logarithmic(axes: Any) -> None:
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("GB/s of a node")
    axes.legend(fontsize=7)


def draw(document: dict[str, Any], stem: Path) -> list[Path]:
    """Writes a picture for each experiment, STEM-EXPERIMENT.png and .svg. Returns their paths."""
    written = []
    if "map" in document:
        written += draw_map(document["map"], stem.with_name(stem.name + "-saturation"))
    for name, kinds in (
        ("parallel", 2),
        ("alltoall", 1),
        ("trends", 2),
        ("fft", 1),
        ("multigrid", 1),
    ):
        if name not in document:
            continue
        figure, axes = new_figure(1, kinds, (5.5 * kinds, 4.5))
        for one, kind in zip(axes[0], KINDS, strict=False):
            if name == "parallel":
                _draw_parallel(one, document, kind)
            elif name == "alltoall":
                _draw_all_to_all(one, document)
            elif name == "fft":
                _draw_transposes(one, document)
            elif name == "multigrid":
                _draw_multigrid(one, document)
            else:
                _draw_trends(one, document, kind)
        figure.suptitle(f"simulated: {document['machine']['name']}", fontsize=10)
        figure.tight_layout()
        written += save(figure, stem.with_name(f"{stem.name}-{name}"))
    return written
