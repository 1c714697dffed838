"""Numbers as the tables of `tutti bench` show them."""

from tutti.bench.driver import Cell
from tutti.bench.statistics import Ratio

MOST_TOLD = 100.0  # an interval from one to more times as much tells nothing


def size_text(size: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def kind_text(cell: Cell) -> str:
    """A kind of call, such as `bcast 4 KiB from 1` or `allreduce 4 B uint32 dup`."""
    words = [cell.collective, *([size_text(cell.bytes)] if cell.bytes else [])]
    if cell.root is not None:
        words.append(
            f"{'to' if cell.collective in ('reduce', 'gather', 'gatherv') else 'from'} {cell.root}"
        )
    return " ".join(
        words
        + [word for word in (cell.element, cell.communicator) if word not in ("double", "world")]
    )


def time_text(microseconds: float) -> str:
    digits = (
        3 if microseconds < 10 else 2 if microseconds < 100 else 1 if microseconds < 1000 else 0
    )
    return f"{microseconds:,.{digits}f}"


def factor_text(factor: float) -> str:
    """Three digits are more than a measurement has."""
    if factor >= 10000:
        return ">9999"
    return f"{factor:.{2 if factor < 10 else 1 if factor < 100 else 0}f}"


def interval_text(ratio: Ratio) -> str:
    if ratio.low is None or ratio.high is None:
        return "-"
    return (
        "wide" if ratio.wider(MOST_TOLD) else f"{factor_text(ratio.low)}-{factor_text(ratio.high)}"
    )


def ratio_text(ratio: Ratio) -> str:
    colour = "red" if ratio.slower else "green" if (ratio.low or ratio.value) > 1 else "default"
    return f"[{colour}]{factor_text(ratio.value)}x[/]"
