"""The algorithms from which the model chooses: with all parameters for which rules have words.

Predictions cost milliseconds, so the model tries more than `tutti tune` measures: every degree of a
tree, trees of two shapes on levels, step-by-step combining, numbers of leaders between nodes, and
more sizes of segments.
"""

from collections.abc import Iterator
from functools import lru_cache

from tutti.places import core
from tutti.tuning.candidates import HALVES, MOST_DIRECT_RANKS
from tutti.tuning.placement import Placement

SEGMENTS = (8 << 10, 16 << 10, 24 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, HALVES)
DEGREES = (2, 3, 4, 6, 8, 16)
WINDOWS = (2, 4, 8, 16)  # the windows of direct and token_ring
SHAPES = ("flat", "binomial", "binary", "4", "8")  # the shapes of the trees on levels
LEAVES = (2, 3, 4, 6)
LEADERS = (1, 2, 4)
STEPWISE = ":stepwise"
# Plans of more ranks are not compared with each other; then some are predicted twice.
MOST_COMPARED = 64


def _words(collective: str, name: str, usage: str) -> Iterator[str]:
    """The specs of one algorithm without the word `stepwise`."""
    if name == "levels":
        yield from ("levels", "levels:fixed", "levels:push", "levels:flat:push")
        yield from (f"levels:{outer}:{inner}" for outer in SHAPES for inner in SHAPES)
        yield from (f"levels:leaves={count}" for count in LEAVES)
        if "one_stage" in usage and collective in ("allreduce", "barrier"):
            yield from (f"levels:{shape}:one_stage" for shape in SHAPES)
    elif name == "tiled":
        yield from ("tiled", "tiled:cyclic", "tiled:levels")
    elif name == "nary":
        yield from (f"nary:{degree}" for degree in DEGREES)
    elif name == "staggered":
        yield from ("staggered:2", "staggered:3", "staggered:16")
    elif "N" in usage.partition(":")[2].partition("[")[0]:
        yield from (f"{name}:{window}" for window in WINDOWS)
    else:
        yield name


def _flat_specs(collective: str, ranks: int) -> list[str]:
    """The specs of all algorithms that are not made of two others."""
    specs = []
    for algorithm in core().algorithms():
        name, usage = algorithm["name"], algorithm["usage"]
        served = collective in algorithm["collectives"] and name != "hierarchical"
        if not served or (name == "all_read_all" and ranks > MOST_DIRECT_RANKS):
            continue
        # Sums of doubles, for which Tutti never uses an algorithm that is not uniform.
        if not algorithm["uniform"] and core().combines(collective):
            continue
        for spec in _words(collective, name, usage):
            specs.append(spec)
            if "stepwise" in usage and core().combines(collective) and "push" not in spec:
                specs.append(spec + STEPWISE)
    return specs


def _between_nodes(collective: str, placement: Placement) -> list[str]:
    """`hierarchical` with each algorithm between nodes, and with numbers of leaders."""
    nodes = placement.node_count
    between = [spec for spec in _flat_specs(collective, nodes) if not spec.startswith("levels")]
    fewest = min(placement.nodes.count(node) for node in set(placement.nodes))
    return [
        f"hierarchical{f':leaders={leaders}' if leaders > 1 else ''}+{spec}"
        for leaders in LEADERS
        if leaders <= fewest
        for spec in between
    ]


@lru_cache
def specs_for_model(collective: str, placement: Placement) -> list[str]:
    """The specs to predict. If several give the same plan, only the first is listed."""
    if placement.node_count > 1:
        # A message for each pair of ranks costs too much but for long parts.
        direct = ["flat", "direct:2"] if core().parted(collective) else []
        specs = direct + _between_nodes(collective, placement)
    else:
        specs = _flat_specs(collective, placement.ranks)
    by_contents: dict[str, str] = {}
    for spec in specs:
        by_contents.setdefault(_contents(collective, spec, placement), spec)
    return list(by_contents.values())


def _contents(collective: str, spec: str, placement: Placement) -> str:
    if placement.ranks > MOST_COMPARED:
        return spec
    text: str = core().generate(collective, spec, placement.ranks, 0, placement.known_levels).text
    return "\n".join(line for line in text.splitlines() if not line.startswith("algorithm "))
