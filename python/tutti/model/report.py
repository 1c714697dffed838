"""Tables, sentences and plots of predictions."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console

from tutti.bench.texts import size_text
from tutti.choose.rules import RuleCell, by_call, summaries
from tutti.figures import Line, Panel, draw_panels
from tutti.model.check import LEAST_STEADY, OUTLIER, Checked, Compared, families, judged, regrets
from tutti.predict.prediction import Cell
from tutti.tables import Table, new_console, number, table_of, words

MOST_STEPS = 40  # steps of a critical path, in a report for people


def _console() -> Console:
    return new_console(120)


def _microseconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1000:.3f}"


def step_text(event: dict[str, Any]) -> str:
    """An action of a rank, in words."""
    took = _microseconds(event["end_ns"] - event["begin_ns"])
    who = f"rank {event['rank']}"
    segment = f", segment {event['segment']}" if event["segment"] > 0 else ""
    if event["kind"] == "receive":
        return f"{who} waited {took} us for the message of rank {event['peer']}{segment}"
    if event["kind"] == "sent":
        return f"{who} waited {took} us until rank {event['peer']} let its message go{segment}"
    if event["group"] == "waiting":
        return (
            f"{who} waited {took} us for transfer {event['transfer']} of rank {event['peer']}"
            f"{segment}"
        )
    words = {"reduce_any": "combined", "reduce": "combined", "copy": "copied"}
    if event["kind"] in words:
        return f"{who} {words[event['kind']]} for {took} us (transfer {event['transfer']}{segment})"
    words = {"send": "sent a message to", "post": "expected a message of"}
    if event["kind"] in words:
        return f"{who} {words[event['kind']]} rank {event['peer']}: {took} us{segment}"
    return f"{who} published transfer {event['transfer']}: {took} us{segment}"


def print_one(cell: Cell, title: str) -> None:
    found = cell.found
    if found["ns"] == 0:
        print(f"{title}: no time, because no rank copies, combines or waits")
        return
    print(f"{title}: {cell.microseconds:.3f} us")
    if found["carrier"] == "line":
        print("data and flags travel together, in lines")
    else:
        pieces = (
            "in one piece"
            if found["segments"] == 1
            else f"in {found['segments']} segments of {found['segment_bytes']} bytes"
        )
        way = "read in the owners' buffers" if found["bypass"] else "through the slots"
        print(f"data goes {pieces}, {way}")
    print("\nthe steps that decide the time, from the first to the last:")
    critical = [event for event in found["critical"] if event["end_ns"] > event["begin_ns"]]
    for event in critical[:MOST_STEPS]:
        print(f"  {_microseconds(event['begin_ns']):>10} us  {step_text(event)}")
    if len(critical) > MOST_STEPS:
        print(f"  ... and {len(critical) - MOST_STEPS} more; --json has all")
    if not found["loads"]:
        return
    whole = found["ns"]
    columns = [
        words("link", lambda load: load["name"]),
        number("busy us", lambda load: _microseconds(load["busy_ns"])),
        number(
            "of the time", lambda load: f"{100 * load['busy_ns'] / whole:.0f}%" if whole else ""
        ),
        number("bytes", lambda load: f"{load['bytes']:.0f}"),
        number("at once", lambda load: str(load["most"])),
    ]
    loads = sorted(found["loads"], key=lambda load: -load["busy_ns"])[:MOST_STEPS]
    print()
    _console().print(table_of("links", columns, loads))


def print_table(cells: list[Cell], title: str) -> None:
    """Times of several algorithms or sizes; the quickest of each size is marked."""
    algorithms = list(dict.fromkeys(cell.algorithm for cell in cells))
    times: dict[int, dict[str, float]] = {}
    for cell in cells:
        times.setdefault(cell.size, {})[cell.algorithm] = cell.microseconds

    def after_the_quickest(size: int) -> str:
        first, second = sorted(times[size].values())[:2]
        return f"{second / first:.2f}x" if first > 0 else ""

    columns = [words("size", size_text)]
    columns += [
        number(name, lambda size, name=name: f"{times[size][name]:.3f}") for name in algorithms
    ]
    if len(algorithms) > 1:
        columns.append(words("quickest", lambda size: min(algorithms, key=times[size].__getitem__)))
        columns.append(number("next", after_the_quickest))
    _console().print(table_of(f"{title}: predicted us", columns, times))


def draw(cells: Sequence[Cell], title: str, stem: Path) -> list[Path]:
    """Draws time over size, a line for each algorithm, into STEM.png and STEM.svg."""
    sizes = sorted({cell.size for cell in cells})
    times = {(cell.algorithm, cell.size): cell.microseconds for cell in cells}
    lines = [
        Line(algorithm, [times.get((algorithm, size)) for size in sizes], place)
        for place, algorithm in enumerate(dict.fromkeys(cell.algorithm for cell in cells))
    ]
    return draw_panels([Panel(title, sizes, lines)], "predicted us", stem)


def print_machines(machines: list[dict[str, Any]]) -> None:
    """Machines that come with Tutti; of a single one, where its figures are from."""
    for one in machines:
        print(f"{one['name']:<16} {one['what']}\n{'':<17}--shape '{one['shape']}'")
    if len(machines) == 1:
        print(f"figures from: {machines[0]['source']}")
    else:
        print("`tutti model machines NAME` says where the figures of a machine are from.")


def _at(costs: float | dict[str, float], length: int) -> str:
    """The cost of a byte in an access of one of the lengths that were measured."""
    if isinstance(costs, float | int):
        return f"{costs:.3f}"
    return f"{costs[str(length)]:.3f}" if str(length) in costs else ""


def message_lines(machine: dict[str, Any]) -> list[str]:
    """The costs of the host MPI's messages, a line for each kind that the machine has."""
    lines = []
    if "messages" in machine:
        one = machine["messages"]
        lines.append(
            f"a message within a node: overhead {one['overhead']:.0f} ns, latency "
            f"{one['latency']:.0f} ns, a byte {one['byte']:.3f} ns; of many at once "
            f"{one['shared']:.3f} ns"
        )
    if "network" in machine:
        one = machine["network"]
        lines.append(
            f"a message between nodes: overhead {one['overhead']:.0f} ns, latency "
            f"{one['latency']:.0f} ns, gap {one['gap']:.0f} ns, a byte {one['byte']:.3f} ns; up to "
            f"{one['prompt']} bytes it does not wait for its receiver"
        )
    return lines


ACCESSES = {
    "byte": "read",
    "add": "add",
    "write": "write",
    "write_in_place": "write what others read in place",
    "write_past": "write past the cache",
    "byte_past": "read from past the cache",
    "system": "read by the system",
}


def print_machine(machine: dict[str, Any]) -> None:
    """The costs of a machine, at a few lengths."""
    lengths = (64, 4096, 65536, 1048576)
    table = Table(title=machine["name"], title_justify="left")
    for name in ("level", "hand-over ns", "access", *map(size_text, lengths)):
        table.add_column(name, justify="left" if name in ("level", "access") else "right")
    for level in machine["levels"]:
        for kind, access in ACCESSES.items():
            if kind in level:
                first = kind == "byte"
                table.add_row(
                    level["name"] if first else "",
                    f"{level['hand_over']:.1f}" if first else "",
                    access,
                    *(_at(level[kind], length) for length in lengths),
                )
    own = machine["own"]
    for kind in ("copy", "combine"):
        table.add_row("own", "", kind, *(_at(own[kind], length) for length in lengths))
    _console().print(table)
    print("columns with sizes: ns a byte, in accesses of that size")
    yields = f"; a yield to another rank: {own['yield']:.1f} ns" if "yield" in own else ""
    print(f"a call: {own['call']:.1f} ns; a step: {own['step']:.1f} ns{yields}")
    for line in message_lines(machine):
        print(line)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def print_check(checked: Checked) -> None:
    cells, rated = checked.cells, judged(checked.cells)
    columns = [
        words("collective", lambda one: one.collective),
        number("ranks", lambda one: str(one.ranks)),
        number("size", lambda one: size_text(one.size)),
        words("algorithm", lambda one: one.algorithm),
        number("predicted us", lambda one: f"{one.predicted_us:.3f}"),
        number("measured us", lambda one: f"{one.measured_us:.3f}"),
        number("spread", lambda one: _percent(one.spread)),
        number("error", lambda one: _error_text(one) if one in rated else "not judged"),
    ]
    ordered = sorted(cells, key=lambda one: (one.collective, one.ranks, one.size, one.measured_us))
    _console().print(table_of("predictions and measurements", columns, ordered))
    if rated:
        _print_families(rated)
    if len(rated) < len(cells):
        print(
            "with more ranks than cores the scheduler decides, which is not modelled: errors are "
            "not judged there, only the regret is"
        )
    _print_regrets(checked)


def _error_text(one: Compared) -> str:
    return f"{100 * one.error:+.0f}%{' *' if abs(one.error) > OUTLIER else ''}"


def _print_families(cells: list[Compared]) -> None:
    columns = [
        words("family", lambda entry: entry[0]),
        number("cells", lambda entry: str(int(entry[1]["cells"]))),
        number("median", lambda entry: _percent(entry[1]["median"])),
        number("90th percentile", lambda entry: _percent(entry[1]["percentile_90"])),
        number("spread of repetitions", lambda entry: _percent(entry[1]["spread"])),
    ]
    _console().print(table_of("errors by family", columns, families(cells).items()))


def _print_regrets(checked: Checked) -> None:
    if checked.left_out:
        print(f"{checked.left_out} repetitions are left out, in which the machine changed")
    if checked.mixed:
        print(
            f"fewer than {LEAST_STEADY} repetitions found the cores in one state, so all are compared, "
            "and errors contain its changes; give more --repetitions"
        )
    lost = regrets(checked.cells)
    print(
        "regret of choosing by prediction: "
        f"mean {_percent(fmean(one.lost for one in lost))}, "
        f"worst {_percent(max(one.lost for one in lost))}"
    )
    for cell in sorted(lost, key=lambda one: -one.lost)[:5]:
        if cell.lost > 0:
            print(
                f"  {cell.collective}, {cell.ranks} ranks, {size_text(cell.size)}: chose "
                f"{cell.chosen}, best {cell.best}, {_percent(cell.lost)} more"
            )


def print_rules(cells: list[RuleCell], table: str = "") -> None:
    """For each rule and machine the regret, and the worst call with what is best there; then the
    regret by machine, ranks and collective.
    """
    last = ""
    for one in summaries(cells, table):
        if one.place != last:
            print(f"{one.place}: {one.text}")
        last = one.place
        worst = one.worst
        size = size_text(worst.size) if worst.size else "barrier"
        print(
            f"  {one.machine:<14}{len(one.cells):>3} calls, mean {_percent(one.mean):>6}, worst "
            f"{_percent(worst.regret):>6}: {worst.ranks} ranks, {size}: {worst.us:.2f} us, "
            f"{worst.best_us:.2f} by {worst.best}"
        )
    rows = [(call, mine, max(mine, key=lambda one: one.regret)) for call, mine in by_call(cells)]
    columns = [
        words("machine", lambda row: row[0][0]),
        number("ranks", lambda row: str(row[0][1])),
        words("collective", lambda row: row[0][2]),
        number("mean", lambda row: _percent(fmean(one.regret for one in row[1]))),
        number("worst", lambda row: _percent(row[2].regret)),
        words("bytes", lambda row: size_text(row[2].size) if row[2].size else ""),
        words("runs", lambda row: row[2].runs),
        words("best", lambda row: row[2].best),
    ]
    print()
    _console().print(table_of("regret of what runs, by the model", columns, rows))
    print(
        "This says how far the rules agree with the model, which also judges them; it says nothing "
        "about speed."
    )
