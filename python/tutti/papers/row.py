"""A row: a sentence or a figure of a paper, the commands that reproduce it, and how they are read.

Rows are constants; results are read from the commands' JSON documents.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

REPRODUCED, PARTLY, IN_VIEW, CONTRADICTED, OUT_OF_REACH = VERDICTS = (
    "reproduced",
    "partly",
    "in view",
    "contradicted",
    "out of reach",
)
FAILED = "failed"  # no row's recorded verdict: its commands gave no values
WHOLE = "--segment 67108864"  # vectors go in one piece
SHIFTS = {"K": 10, "M": 20}


def bytes_of(text: str) -> int:
    return int(text[:-1]) << SHIFTS[text[-1]] if text[-1] in SHIFTS else int(text)


class Found:
    """The documents of a row's commands that write one, in order."""

    def __init__(self, documents: Sequence[dict[str, Any]]) -> None:
        self.documents = documents

    def us(self, key: str, size: str, command: int = 0) -> float:
        """The microseconds of a call, by a predicted algorithm or a simulated variant."""
        for cell in self.documents[command]["cells"]:
            if cell["bytes"] != bytes_of(size):
                continue
            if "us" in cell:
                return float(cell["us"][key])
            if cell["algorithm"] == key:
                return float(cell["predicted_us"])
        raise KeyError(f"{size} bytes by {key}")

    def ratio(self, slower: str, faster: str, size: str) -> float:
        """How many times as fast `faster` is."""
        return self.us(slower, size) / self.us(faster, size)

    def quickest(self, command: int = 0) -> str:
        """The algorithm that is quickest at every size, or all that are at some."""
        best: dict[int, tuple[float, str]] = {}
        for cell in self.documents[command]["cells"]:
            one = (cell["predicted_us"], cell["algorithm"])
            best[cell["bytes"]] = min(best.get(cell["bytes"], one), one)
        return ", ".join(dict.fromkeys(name for _, name in best.values()))


Reader = Callable[[Found], float]


def us_of(key: str, size: str) -> Reader:
    return lambda found: found.us(key, size)


def times_as_fast(slower: str, faster: str, size: str) -> Reader:
    return lambda found: found.ratio(slower, faster, size)


@dataclass(frozen=True)
class Value:
    """One value of a row. `paper` is a number or a word; it may be computed from the machine. None:
    the paper has a sentence and no number ("is ahead"), which a range of numbers stands for."""

    what: str
    paper: float | str | Callable[[Found], float] | None
    ours: Callable[[Found], float | str]
    least: float = 0.9  # ours is at least so much of the paper's number,
    most: float = 1.1  # and at most so much; without one they are the range
    unit: str = ""


@dataclass(frozen=True)
class Row:
    name: str  # PAPER/FIGURE
    says: str
    verdict: str
    commands: tuple[str, ...] = ()  # words of `tutti`, run in an empty folder
    values: tuple[Value, ...] = ()
    why: str = ""  # the reason, unless it is simply reproduced
    is_part: bool = False  # the values are less than the sentence: at best they hold partly
    files: dict[str, dict[str, Any]] = field(default_factory=dict)  # machines that they need
    minutes: float = 0  # if the commands take long

    @property
    def paper(self) -> str:
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Compared:
    """A value as the paper has it and as it came out."""

    what: str
    paper: float | str | tuple[float, float]  # a pair: the range that a sentence stands for
    ours: float | str
    unit: str
    holds: bool

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, as a fraction of the paper's."""
        if isinstance(self.paper, (str, tuple)) or isinstance(self.ours, str):
            return None
        return self.ours / self.paper - 1


def compared(value: Value, found: Found) -> Compared:
    paper = value.paper(found) if callable(value.paper) else value.paper
    ours = value.ours(found)
    if paper is None:
        holds = not isinstance(ours, str) and value.least <= ours <= value.most
        return Compared(value.what, (value.least, value.most), ours, value.unit, holds)
    if isinstance(paper, str) or isinstance(ours, str):
        return Compared(value.what, paper, ours, value.unit, paper == ours)
    holds = value.least * paper <= ours <= value.most * paper
    return Compared(value.what, paper, ours, value.unit, holds)


def verdict_of(row: Row, values: Sequence[Compared]) -> str:
    """Judges by today's numbers. The row itself says whether a figure was chosen in view, and
    whether the values are only a part of the sentence."""
    held = sum(one.holds for one in values)
    if held < len(values):
        return PARTLY if held else CONTRADICTED
    if row.verdict == IN_VIEW:
        return IN_VIEW
    return PARTLY if row.is_part else REPRODUCED
