"""What could serve a collective instead of the default: algorithms of the core, each with the segments worth trying."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tutti.errors import UserError
from tutti.places import core
from tutti.plan.machine import Machine

DEGREES = (2, 4, 8, 16)
HALVES = (1 << 64) - 1  # the core's word for it: two of each message
SEGMENTS = (24 << 10, 64 << 10, HALVES)
LONG_BYTES = 8 << 10  # up to here a message goes in one piece, so that segments make no difference
MOST_DIRECT_RANKS = 64  # beyond it all reading all costs memory and set-up, and never pays
COMPARED_RANKS = 32  # degrees that make no difference among these make none that matters
BENCH_NAMES = {
    "reduce_scatter": "reduce_scatter_block"
}  # where tutti-bench calls a collective by MPI's name


@dataclass(frozen=True, order=True)
class Candidate:
    """An algorithm as tables name it; `segment_bytes` 0 leaves segments to the executor."""

    algorithm: str
    segment_bytes: int = 0

    @property
    def label(self) -> str:
        """As a rule says it behind `builtin:`; unique."""
        return self.algorithm + segment_words(self.segment_bytes)


def segment_words(segment_bytes: int) -> str:
    """What a rule adds for segments of a size; nothing where it leaves them to the executor."""
    if segment_bytes == 0:
        return ""
    return " segment " + ("halves" if segment_bytes == HALVES else size_word(segment_bytes))


def size_word(size: int) -> str:
    """Bytes as tables and options write them: 24K, 1M, 1000."""
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def bench_name(collective: str) -> str:
    return BENCH_NAMES.get(collective, collective)


def parse_collectives(text: str) -> list[str]:
    """Names of the core's collectives (MPI's names for the same work too), each once; `all` is every one."""
    known: list[str] = core().collectives()
    if text == "all":
        return known
    result = []
    for word in text.split(","):
        name = next((ours for ours, theirs in BENCH_NAMES.items() if theirs == word), word)
        if name not in known:
            raise UserError(
                f"--collectives: '{word}' is unknown; known are all, {', '.join(known)}"
            )
        if name not in result:
            result.append(name)
    return result


def _specs(ranks: int, collective: str) -> list[str]:
    specs = []
    for algorithm in core().algorithms():
        name = algorithm["name"]
        if collective not in algorithm["collectives"] or (
            name == "all_read_all" and ranks > MOST_DIRECT_RANKS
        ):
            continue
        # Sums of doubles are measured, which an algorithm that is not uniform never serves.
        if not algorithm["uniform"] and core().combines(collective):
            continue
        specs += (
            [f"{name}:{degree}" for degree in DEGREES]
            if algorithm["takes_degree"]
            else [name, *algorithm["variants"]]
        )
    return specs


@lru_cache
def _levels(ranks: int) -> str:
    """Of so many ranks, one a core of this machine; unknown with more ranks than cores."""
    here = Machine.this()
    return here.place(ranks).levels() if ranks <= here.cores else ""


def _contents(collective: str, spec: str, ranks: int) -> str:
    compared = min(ranks, COMPARED_RANKS)
    text: str = core().generate(collective, spec, compared, 0, _levels(compared)).text
    return "\n".join(line for line in text.splitlines() if not line.startswith("algorithm "))


def algorithms_for(ranks: int, collective: str, leaves: Sequence[int] = ()) -> list[str]:
    """Those that serve it, but of the ones that are the same plan for so many ranks only the first.

    `leaves`: how many a binary tree bears in a group, by what was measured (links.py).
    """
    by_contents: dict[str, str] = {}
    specs = _specs(ranks, collective)
    for spec in specs + [f"levels:leaves={count}" for count in leaves if "levels" in specs]:
        by_contents.setdefault(_contents(collective, spec, ranks), spec)
    return list(by_contents.values())


def candidates_for(
    ranks: int, collective: str, sizes: list[int], leaves: Sequence[int] = ()
) -> list[Candidate]:
    """All candidates of a collective; those with segments only where a size is long enough to have some."""
    algorithms = algorithms_for(ranks, collective, leaves)
    segments = (
        SEGMENTS if collective != "barrier" and any(size > LONG_BYTES for size in sizes) else ()
    )
    return [Candidate(algorithm, segment) for segment in (0, *segments) for algorithm in algorithms]
