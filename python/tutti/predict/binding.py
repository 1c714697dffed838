"""How much quicker calls are, by the model, if ranks are bound.

Bound ranks lie side by side, and algorithms follow the levels that they share. Ranks that nobody
binds may lie in any order, which no algorithm knows.
"""

import json
import random
from dataclasses import dataclass
from statistics import geometric_mean

from tutti.choose.choice import Question, predicted
from tutti.choose.placement import Placement
from tutti.plan.machine import Machine
from tutti.predict.machines import known_files, read_model
from tutti.tuning.measuring import chosen_by
from tutti.tuning.writing import default_on

CALLS = [(name, size) for name in ("bcast", "reduce", "allreduce") for size in (64, 4096, 65536)]
MOST_RANKS = 64


@dataclass(frozen=True)
class Gain:
    """Times of unbound ranks over those of bound ones, by the default rules."""

    machine: str  # the machine that these costs belong to: one that comes with Tutti
    is_same: bool  # it has the groups of cores of the machine in question
    ranks: int
    mean: float  # the geometric mean over CALLS
    most: float
    most_of: tuple[str, int]  # the collective and the bytes of the largest


def _nearest(machine: Machine) -> tuple[str, bool]:
    """The machine that comes with Tutti and has the same groups of cores, or at least all levels of
    this one; "" if there is none."""
    levels = Placement(machine.cores, machine.place().levels()).where().levels
    names = {level for level, groups in levels if 1 < len(set(groups)) < len(groups)}
    best, nearest = "", (0, 0)
    for name, file in known_files().items():
        costs = json.loads(read_model(file).text)
        theirs = {level["name"] for level in costs["levels"]}
        if not costs.get("shape") or not names <= theirs:
            continue
        node = Machine.parse(costs["shape"]).node
        if node.shape == machine.node.shape:
            return name, True
        distance = (len(theirs - names), abs(node.cores - machine.node.cores))
        if not best or distance < nearest:
            best, nearest = name, distance
    return best, False


def gain_of_binding(machine: Machine) -> Gain | None:
    """For a rank on each core of a node, at most MOST_RANKS; None if no known machine is like it."""
    name, is_same = _nearest(machine)
    if not name:
        return None
    model = read_model(known_files()[name])
    ranks = min(machine.node.cores, MOST_RANKS)
    spread = [at * machine.node.cores // ranks for at in range(ranks)]
    anywhere = random.Random(1).sample(spread, ranks)
    unbound = Placement(ranks, machine.place(deal=anywhere).levels(), bound=False)
    bound = Placement(ranks, machine.place(deal=spread).levels())
    ratios = {}
    for collective, size in CALLS:
        times = []
        for placement in (unbound, bound):
            with chosen_by(None):
                served = default_on(collective, size, placement)
            question = Question(collective, size, 0, placement.known_levels, placement.where())
            found, _ = predicted(model, question, [served.candidate])
            times += [one.microseconds for one in found]
        if len(times) == 2:
            ratios[collective, size] = times[0] / times[1]
    if not ratios:
        return None
    most_of = max(ratios, key=lambda call: ratios[call])
    return Gain(name, is_same, ranks, geometric_mean(ratios.values()), ratios[most_of], most_of)
