"""Formats numbers for the tables of `tutti bench`."""

from tutti.bench.measurements import Cell
from tutti.bench.statistics import Ratio

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
