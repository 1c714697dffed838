"""`tutti trace FILE`: the sums of a trace, and the trace in other forms."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from tutti.errors import UserError
from tutti.tables import Table, new_console

if TYPE_CHECKING:
    from tutti.tracing.trace import Trace


def _table(
    console: Console, title: str, columns: dict[str, str], rows: list[dict[str, Any]]
) -> None:
    table = Table()
    for name, heading in columns.items():
        number = any(isinstance(row[name], (int, float)) for row in rows)
        table.add_column(heading, justify="right" if number else "left", no_wrap=number)
    for row in rows:
        table.add_row(*(_cell(name, row[name]) for name in columns))
    console.print(f"\n{title}", style="bold", highlight=False)
    console.print(table)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.{3 if name.endswith('_ms') else 2}f}"


def _heading(trace: "Trace", found: dict[str, Any]) -> list[str]:
    nodes = len(trace.nodes)
    lines = [f"{trace.program} over {trace.mpi}: {len(trace.ranks)} rank{'s' if len(trace.ranks) > 1 else ''} on {nodes} "
             f"node{'s' if nodes > 1 else ''}, "
             f"{len(trace.operations['rank'])} calls, {len(trace.steps['kind'])} steps"]  # fmt: skip
    if nodes > 1:
        worst = max(node.error for node in trace.nodes)
        lines.append(
            f"clocks of the nodes: set beside rank 0's by round trips, known to {worst / 1000:.2f} us"
        )
    else:
        lines.append(f"clock: {trace.ranks[0].clock}, one for all ranks")
    if trace.filter:
        lines.append(f"filter: {trace.filter}; what it leaves out is not here")
    if found["lost_records"]:
        lines.append(f"lost: the {found['lost_records']} oldest records, which the rings could not hold; "
                     "raise TUTTI_TRACE_BYTES to keep them")  # fmt: skip
    return lines


def show(trace: "Trace", found: dict[str, Any], top: int, console: Console) -> None:
    """The tables of `tutti trace FILE`."""
    for line in _heading(trace, found):
        console.print(line, highlight=False)
    rows = [row | {"by": row["by"] if row["reason"] is None else f"host MPI: {row['reason']}",
                   "operations": row["operations"]}
            for row in found["collectives"]]  # fmt: skip
    columns = {"collective": "collective", "size": "size", "by": "by", "operations": "operations", "calls": "calls",
               "mean_us": "mean us", "median_us": "median us", "p90_us": "90 % us", "max_us": "max us"}  # fmt: skip
    if any(row["between_us"] is not None for row in rows):
        columns["between_us"] = "between us"
    _table(console, "collectives (times of a rank's call)", columns, rows)
    rows = [
        row | {"share": f"{100 * row['share']:.1f} %"}
        for row in found["step_kinds"]
        if row["count"]
    ]
    if rows:
        _table(console, "steps (all ranks together)", {
            "group": "group", "kind": "kind", "count": "count", "total_ms": "total ms", "mean_us": "mean us",
            "share": "of the time"}, rows)  # fmt: skip
    if found["waits"]:
        title = f"who waited for whom (the {min(top, len(found['waits']))} longest of {len(found['waits'])} pairs)"
        _table(console, title, {"rank": "rank", "waited_for": "waited for", "waits": "waits",
                                     "total_ms": "total ms", "mean_us": "mean us"}, found["waits"][:top])  # fmt: skip
    skew = found["arrival_skew"]
    if skew["operations"]:
        title = (
            f"arrival: from the first rank's entry to the last's, {skew['operations']} operations"
        )
        columns = {name: name.removesuffix("_us").replace("p", "") + (" % us" if name[0] == "p" else " us")
                   for name in ("min_us", "p10_us", "median_us", "mean_us", "p90_us", "max_us")}  # fmt: skip
        _table(console, title, columns, [skew])
        last = ", ".join(
            f"rank {entry['rank']} ({entry['operations']})" for entry in skew["last"][:top]
        )
        console.print(f"last to arrive, how often: {last}", highlight=False)


def _write(file: Path, how: Callable[[IO[str]], None], read_from: Path, notes: IO[str]) -> None:
    try:
        if file.exists() and file.samefile(read_from):
            raise UserError(
                f"cannot write '{file}': it is the trace that is read; give another file"
            )
        with file.open("w", encoding="utf-8") as stream:
            how(stream)
    except OSError as error:
        raise UserError(f"cannot write '{file}': {error.strerror or error}") from error
    print(f"wrote {file}", file=notes)


def _draw(
    found: "Trace", stem: Path, from_ms: float, until_ms: float | None, notes: IO[str]
) -> None:
    from tutti.tracing import plot

    window = plot.Window(from_ms, float("inf") if until_ms is None else until_ms)
    try:
        written = plot.draw(found, window, stem)
    except OSError as error:
        raise UserError(f"cannot write '{stem}.png': {error.strerror or error}") from error
    for path in written:
        print(f"wrote {path}", file=notes)


def trace(
    file: Annotated[Path, typer.Argument(help="What tutti-run --trace FILE wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Write the summary as JSON.")] = False,
    perfetto_file: Annotated[
        Path | None,
        typer.Option("--perfetto", help="Write Chrome trace events, for ui.perfetto.dev."),
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="Write one page: the timeline beside the plan.")
    ] = None,
    plot_stem: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw the timeline of all ranks; writes STEM.png and STEM.svg."
        ),
    ] = None,
    from_ms: Annotated[
        float,
        typer.Option(
            "--from", help="With --plot: draw from so many ms after the first call.", min=0
        ),
    ] = 0,
    until_ms: Annotated[
        float | None,
        typer.Option("--until", help="With --plot: draw until so many ms after the first call."),
    ] = None,
    top: Annotated[int, typer.Option(help="Rows of the longest lists.", min=1)] = 10,
    skip: Annotated[
        int, typer.Option(help="Leave so many operations out at the start of the page.", min=0)
    ] = 0,
) -> None:
    """Read a trace: where the time went, and who waited for whom."""
    from tutti.tracing import page, perfetto  # numpy takes longer to load than most commands take
    from tutti.tracing.file import read
    from tutti.tracing.summary import summary

    if str(file) == "-":
        raise UserError(
            "a trace is not read from stdin, because its parts are read in another order; give a file"
        )
    if plot_stem is None and (from_ms > 0 or until_ms is not None):
        raise UserError("--from, --until: they need --plot")
    if until_ms is not None and until_ms <= from_ms:
        raise UserError(f"--until: {until_ms:g} is not later than --from; give a later time")
    found = read(file)
    if html_file is not None and skip > 0 and skip >= len(found.meetings):
        raise UserError(
            f"--skip: {skip} of the trace's {len(found.meetings)} operations leaves none for the page; take less"
        )
    notes = sys.stderr if as_json else sys.stdout

    def write_events(stream: IO[str]) -> None:
        perfetto.write(found, stream)

    def write_page(stream: IO[str]) -> None:
        stream.write(page.page(found, skip))

    if perfetto_file is not None:
        _write(perfetto_file, write_events, file, notes)
    if html_file is not None:
        _write(html_file, write_page, file, notes)
    if plot_stem is not None:
        _draw(found, plot_stem, from_ms, until_ms, notes)
    if as_json:
        print(json.dumps(summary(found), indent=1))
    elif perfetto_file is None and html_file is None and plot_stem is None:
        show(found, summary(found), top, new_console(132))
