"""Lists the alternatives to the default for a collective: algorithms, each with segment sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tutti.errors import UserError
from tutti.places import core
from tutti.plan.machine import Machine

DEGREES = (2, 4, 8, 16)
HALVES = (1 << 64) - 1  # the core's value for "two segments for each message"
SEGMENTS = (24 << 10, 64 << 10, HALVES)
LONG_BYTES = 8 << 10  # shorter messages have one segment, whatever the segment size
MOST_DIRECT_RANKS = (
    64  # with more ranks all_read_all needs much memory and set-up and is never best
)
# Plans are compared for at most so many ranks: degrees that give the same plan there are taken as
# the same.
COMPARED_RANKS = 32
# tutti-bench calls these collectives by MPI's names.
BENCH_NAMES = {"reduce_scatter": "reduce_scatter_block"}


@dataclass(frozen=True, order=True)
class Candidate:
    """An algorithm by its name in tables, with the other words of a rule.

    With `segment_bytes` 0 the executor chooses segments, and with `reach` "" readers take data from
    where they can.
    """

    algorithm: str
    segment_bytes: int = 0
    reach: str = ""

    @property
    def label(self) -> str:
        """The words of a rule behind `builtin:`; unique."""
        reach = f" reach {self.reach}" if self.reach else ""
        return self.algorithm + segment_words(self.segment_bytes) + reach

    @property
    def is_for_long(self) -> bool:
        """True if it is another candidate only for messages of more than LONG_BYTES."""
        return self.segment_bytes != 0 or self.reach != ""


def segment_words(segment_bytes: int) -> str:
    """The words of a rule for a segment size; none for 0, where the executor chooses."""
    if segment_bytes == 0:
        return ""
    return " segment " + ("halves" if segment_bytes == HALVES else size_word(segment_bytes))


def size_word(size: int) -> str:
    """A number of bytes as tables and options write it: 24K, 1M, 1000."""
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def bench_name(collective: str) -> str:
    return BENCH_NAMES.get(collective, collective)


def core_name(collective: str) -> str:
    """The core's name of a collective that has MPI's, or already the core's."""
    return next((ours for ours, theirs in BENCH_NAMES.items() if theirs == collective), collective)


def parse_collectives(text: str) -> list[str]:
    """The core's names of the collectives that `text` lists, each once; `all` lists every one.

    MPI's names are accepted too. Raises UserError for an unknown name.
    """
    known: list[str] = core().collectives()
    if text == "all":
        return known
    result = []
    for word in text.split(","):
        name = core_name(word)
        if name not in known:
            raise UserError(
                f"--collectives: '{word}' is unknown; known are all, {', '.join(known)}"
            )
        if name not in result:
            result.append(name)
    return result


def serving(collective: str, ranks: int) -> Iterator[dict[str, Any]]:
    """The algorithms to try for a collective.

    They serve sums of doubles, for which Tutti never uses an algorithm that is not uniform.
    """
    for algorithm in core().algorithms():
        too_many = algorithm["name"] == "all_read_all" and ranks > MOST_DIRECT_RANKS
        summed = algorithm["uniform"] or not core().combines(collective)
        if collective in algorithm["collectives"] and summed and not too_many:
            yield algorithm


def _specs(ranks: int, collective: str) -> list[str]:
    specs = []
    for algorithm in serving(collective, ranks):
        name = algorithm["name"]
        specs += [f"{name}:{degree}" for degree in DEGREES] if algorithm["takes_degree"] else [name]
        specs += algorithm["variants"]
    return specs


@lru_cache
def levels_here(ranks: int) -> str:
    """The levels of so many ranks, one on each core of this machine; "" with fewer cores."""
    here = Machine.this()
    return here.place(ranks).levels() if ranks <= here.cores else ""


def contents_of(collective: str, spec: str, ranks: int, levels: str) -> str:
    """A plan's text without the name of its algorithm."""
    text: str = core().generate(collective, spec, ranks, 0, levels).text
    return "\n".join(line for line in text.splitlines() if not line.startswith("algorithm "))


def algorithms_for(ranks: int, collective: str, leaves: Sequence[int] = ()) -> list[str]:
    """The algorithms that serve a collective. If several give the same plan, only the first is
    listed.

    `leaves`: numbers of leaves that a binary tree can have in a group without congestion, from
    measurements (links.py).
    """
    by_contents: dict[str, str] = {}
    compared = min(ranks, COMPARED_RANKS)
    specs = _specs(ranks, collective)
    for spec in specs + [f"levels:leaves={count}" for count in leaves if "levels" in specs]:
        contents = contents_of(collective, spec, compared, levels_here(compared))
        by_contents.setdefault(contents, spec)
    return list(by_contents.values())


def candidates_for(
    ranks: int,
    collective: str,
    sizes: list[int],
    leaves: Sequence[int] = (),
    system_copies: bool = False,
) -> list[Candidate]:
    """All candidates of a collective. Segment sizes are tried only if a message size is long
    enough, and so are the system's copies (`reach cma`).
    """
    algorithms = algorithms_for(ranks, collective, leaves)
    kinds = [(0, "")]
    if collective != "barrier" and any(size > LONG_BYTES for size in sizes):
        kinds += [(segment, "") for segment in SEGMENTS]
        kinds += [(0, "cma")] if system_copies else []
    return [Candidate(algorithm, *kind) for kind in kinds for algorithm in algorithms]
