"""Formats numbers for the tables of `tutti bench`, and declares the columns that many of them have."""

from collections.abc import Callable
from typing import Any

from tutti.bench.measurements import Cell
from tutti.bench.results import Comparison
from tutti.bench.statistics import Ratio
from tutti.tables import Column, number, words

# An interval whose upper end is more than so many times its lower end is shown as "wide".
WIDEST_SHOWN = 100.0


def size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def kind_text(cell: Cell) -> str:
    """A kind of call, such as `bcast 4 KiB from 1` or `allreduce 4 B uint32 dup`, in any form."""
    words = [cell.collective, *([size_text(cell.bytes)] if cell.bytes else [])]
    if cell.root is not None:
        words.append(
            f"{'to' if cell.collective in ('reduce', 'gather', 'gatherv') else 'from'} {cell.root}"
        )
    return " ".join(
        words
        + [word for word in (cell.element, cell.communicator) if word not in ("double", "world")]
    )


def _decimals(value: float, digits: int) -> int:
    """The number of decimal places that show so many digits of the value.

    A value below 1 gets as many places as 1.
    """
    whole = 1
    while value >= 10**whole and whole < digits:
        whole += 1
    return digits - whole


def time_text(microseconds: float) -> str:
    return f"{microseconds:,.{_decimals(microseconds, 4)}f}"


def factor_text(factor: float) -> str:
    """A factor with three digits, which is more than measurements are precise to."""
    if factor >= 10000:
        return ">9999"
    return f"{factor:.{_decimals(factor, 3)}f}"


def interval_text(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return "-"
    return (
        "wide"
        if ratio.wider(WIDEST_SHOWN)
        else f"{factor_text(ratio.low)}-{factor_text(ratio.high)}"
    )


def ratio_text(ratio: Ratio) -> str:
    return in_colour(ratio.value, ratio.slower, (ratio.low or ratio.value) > 1)


def in_colour(factor: float, slower: bool, faster: bool) -> str:
    """How many times faster something is, for a table: red if it is slower, green if it is faster."""
    colour = "default"
    if slower:
        colour = "red"
    elif faster:
        colour = "green"
    return f"[{colour}]{factor_text(factor)}x[/]"


def optional_time(microseconds: float | None, unknown: str = "-") -> str:
    return unknown if microseconds is None else time_text(microseconds)


def modes_mark(comparison: Comparison) -> str:
    """A star for two modes, for rows with several cells."""
    return "[yellow]*[/]" if any(comparison.modes) else ""


def ratio_columns(
    get: Callable[..., Ratio | None],
    head: str = "ratio",
    mark: Callable[[Any], str] = lambda entry: "",
    unknown: str = "-",
) -> list[Column]:
    """The ratio of an entry and its interval."""

    def text(entry: Any) -> str:
        ratio = get(entry)
        return unknown if ratio is None else mark(entry) + ratio_text(ratio)

    def interval(entry: Any) -> str:
        ratio = get(entry)
        return unknown if ratio is None else interval_text(ratio)

    return [number(head, text, no_wrap=True), number("95%", interval, no_wrap=True)]


def compared(get: Callable[..., Comparison | None], head: str) -> list[Column]:
    """The ratio of a comparison and its interval; a star marks two modes."""

    def ratio(entry: Any) -> Ratio | None:
        comparison = get(entry)
        return None if comparison is None else comparison.ratio

    def mark(entry: Any) -> str:
        comparison = get(entry)
        return "" if comparison is None else modes_mark(comparison)

    return ratio_columns(ratio, head, mark)


def timed(get: Callable[..., Comparison | None], head: str) -> list[Column]:
    """The time of what a variant is compared with, the ratio and its interval."""

    def time(entry: Any) -> str:
        comparison = get(entry)
        return "-" if comparison is None else time_text(comparison.centres[0])

    return [number(head, time, no_wrap=True), *compared(get, "ratio")]


def call_columns(get: Callable[[Any], Cell]) -> list[Column]:
    """The collective of an entry and its size."""
    return [
        words("collective", lambda entry: get(entry).name),
        words("size", lambda entry: size_text(get(entry).bytes) if get(entry).bytes else "-"),
    ]


def sides_columns(get: Callable[[Any], Comparison], base: str = "host") -> list[Column]:
    """The call of a comparison, its times without Tutti and with it, and their ratio."""
    return [
        *call_columns(lambda entry: get(entry).cell),
        number(f"{base}, us", lambda entry: time_text(get(entry).centres[0])),
        number("Tutti, us", lambda entry: time_text(get(entry).centres[1])),
        *ratio_columns(lambda entry: get(entry).ratio),
    ]


def cells_text(slower: int, of: int | None = None) -> str:
    """How many cells are slower, for a table."""
    among = "" if of is None else f" of {of}"
    return f"[red]{slower}{among}[/]" if slower else "-"
