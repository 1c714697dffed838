"""`tutti model measure`: the costs of this machine's steps, as a file that the model reads.

tutti-threads measures a pair of cores for each level that cores of this machine share, and then all
cores of one unit of that level at once.
"""

import itertools
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from math import floor
from typing import Any

import numpy as np

from tutti.bench.driver import execute_own
from tutti.bench.results import typical
from tutti.errors import UserError
from tutti.places import core
from tutti.rows import PrintedRow

LEVELS = ("node", "socket", "numa", "cache", "core")
MOST_AT_ONCE = 16
SECONDS = 120
A_FEW_BYTES = 8
PARTED_FROM = 4096  # combinations of so many bytes are shared (bench/steps/step_costs.cpp)
PIPELINED = "16384"  # bytes of a pipeline's segment (bench/steps/step_costs.cpp)
Steps = list[tuple[str, dict[str, Any]]]  # the levels from the outside in


@dataclass(frozen=True)
class Unit:
    """Processing units of this machine that share a unit of a level.

    Each and the next share no unit inside that one.
    """

    level: str
    units: list[int]


def places_of(tree: Any) -> dict[int, dict[str, int]]:
    """For each usable processing unit, the vertex of each level that it is in."""
    places: dict[int, dict[str, int]] = {}
    cores = [(index, one) for index, one in enumerate(tree.cores) if one["usable"]]
    for index, one in cores:
        inside = [
            number
            for number, vertex in enumerate(tree.vertices)
            if vertex["first_core"] <= index < vertex["first_core"] + vertex["core_count"]
        ]
        # The innermost vertex of a level counts: of caches, the one that fewest cores share.
        where = {
            tree.vertices[number]["level"]: number
            for number in sorted(inside, key=lambda number: -tree.vertices[number]["core_count"])
        }
        for unit in one["processing_units"]:
            places[unit] = {level: where[level] for level in LEVELS if level in where}
    return places


def innermost(one: dict[str, int], other: dict[str, int]) -> str:
    """The innermost level of which two processing units share a unit."""
    shared = [level for level in LEVELS if level in one and one[level] == other.get(level)]
    return shared[-1] if shared else "node"


def units_to_measure(places: dict[int, dict[str, int]]) -> list[Unit]:
    """For each level that is the innermost of some pair, one unit with processing units to use."""
    found: dict[str, tuple[int, int]] = {}
    for one, other in itertools.combinations(sorted(places), 2):
        found.setdefault(innermost(places[one], places[other]), (one, other))
    result = []
    for level in LEVELS:
        if level not in found:
            continue
        units = list(found[level])
        for unit in sorted(places):
            if len(units) < MOST_AT_ONCE and all(
                innermost(places[unit], places[other]) == level for other in units
            ):
                units.append(unit)
        # Few units may share nothing inside it: then two sides take turns, so that each reads from
        # the other.
        if len(units) == 2:
            sides = [
                [
                    unit
                    for unit in sorted(places)
                    if unit not in found[level]
                    and innermost(places[unit], places[away]) == level
                    and innermost(places[unit], places[home]) != level
                ]
                for home, away in (found[level], found[level][::-1])
            ]
            for pair in zip(*sides, strict=False):
                if len(units) < MOST_AT_ONCE:
                    units += pair
        count = 1 << (len(units).bit_length() - 1)  # powers of two are measured
        result.append(Unit(level, units[:count]))
    return result


def steps_of(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """Nanoseconds by step, or by step and bytes; and whether the state of the cores was steady."""
    steps: dict[str, Any] = {}
    for row in rows:
        if row["call"] == "steady":
            steps["steady"] = row["steady"]
        elif "bytes" in row:
            steps.setdefault(row["call"], {})[str(row["bytes"])] = row["ns"]
        else:
            steps[row["call"]] = row["ns"]
    return steps


def run_steps(units: list[int]) -> dict[str, Any]:
    """Measures these processing units by tutti-threads."""
    return steps_of(execute_own("steps", {"cores": units}, SECONDS))


def by_length(times: dict[str, float]) -> dict[str, float]:
    """From times of accesses by length to costs of a byte.

    A single byte takes as long as the shortest access, if that is of a few bytes.
    """
    table = {int(length): time for length, time in times.items()}
    first = min(table)
    costs = {1: table[first]} if first <= A_FEW_BYTES else {}
    costs |= {length: time / length for length, time in table.items()}
    return {str(length): round(cost, 5) for length, cost in costs.items()}


def _time_at(costs: dict[int, float], length: int) -> float:
    """The time of an access, as the model has it (model/machine.h)."""
    if length > max(costs):
        return length * costs[max(costs)]
    return float(np.interp(length, [*costs], [one * cost for one, cost in costs.items()]))


def shared_costs(steps: dict[str, Any], kind: str) -> dict[str, float]:
    """HMPI's B: what t accesses at once take a byte, by t, for the least favourable t.

    It is at most b, what one takes alone. In a long combination each of the t does its part, so its
    time counts at the length of a part.
    """
    shared: dict[int, float] = {}
    for name, times in steps.items():
        if name.startswith(f"{kind}_by_"):
            count = int(name.rpartition("_")[2])
            for length, time in times.items():
                is_parted = kind == "add" and int(length) >= PARTED_FROM
                part = int(length) // count if is_parted else int(length)
                shared[part] = max(shared.get(part, 0.0), time / (count * part))
    shared = dict(sorted(shared.items()))
    alone = {int(length): cost for length, cost in by_length(steps[kind]).items()}
    return {  # at the lengths of both, so that it is at most b in between, too
        str(length): floor(min(_time_at(shared, length), _time_at(alone, length)) / length * 1e6)
        / 1e6
        for length in sorted({*alone, *shared})
    }


def _writes(steps: dict[str, Any], hand: str, read: str = "read") -> dict[str, float]:
    """The time of writing for another rank: the writer's own time, or all of handing data over but for
    its reading, where stores that the core has taken still wait for their lines or for memory.
    """
    return {
        length: max(time - steps[read][length], steps[f"{hand}_written"][length])
        for length, time in steps[hand].items()
    }


def _shared_writes(steps: dict[str, Any]) -> dict[str, float]:
    """The share of writes in a link, from a pipeline in which one writes while the other reads.

    So much longer than the slower of the two alone it takes, as both together need of the link.
    """
    write, read, shared = _writes(steps, "hand"), steps["read"], shared_costs(steps, "read")
    shares = {}
    for length, time in steps["pipeline"].items():
        if length in write:
            slower = max(write[length], read[length])
            together = (time - write[PIPELINED]) / slower
            of_reads = shared[length] * int(length) / read[length]
            shares[int(length)] = min(max(together - of_reads, 0), 1)
    costs = by_length(write)
    return {
        length: round(cost * shares[min(shares, key=lambda one: abs(one - int(length)))], 6)
        for length, cost in costs.items()
    }


def level_of(name: str, steps: dict[str, Any]) -> dict[str, Any]:
    level = {
        "name": name,
        "hand_over": steps["hand_over"],
        "exchange": steps["exchange"],
        "byte": by_length(steps["read"]),
        "add": by_length(steps["add"]),
        "add_same": by_length(steps["add_same"]),
        "shared": shared_costs(steps, "read"),
        "shared_add": shared_costs(steps, "add"),
        "write": by_length(_writes(steps, "hand")),
        "shared_write": _shared_writes(steps),
        "write_in_place": by_length(_writes(steps, "hand_in_place")),
        "write_past": by_length(_writes(steps, "hand_past", "hand_past_read")),
        "byte_past": by_length(steps["hand_past_read"]),
    }
    if "system" in steps:
        level["system"] = by_length(steps["system"])
    return level


def machine_of(measured: Steps, name: str, source: str) -> dict[str, Any]:
    """The machine from the steps of each level, from the outside in."""
    levels = [level_of(level, steps) for level, steps in measured]
    if levels[0]["name"] != "node":  # nothing outside is shared here
        levels.insert(0, levels[0] | {"name": "node"})
    innermost_steps = measured[-1][1]
    shared_core = {"yield": innermost_steps["yield"]} if "yield" in innermost_steps else {}
    return {
        "format": "tutti-machine 1",
        "name": name,
        "source": source,
        "levels": levels,
        "own": {
            "call": innermost_steps["call"],
            "step": innermost_steps["step"],
            "copy": by_length(innermost_steps["copy"]),
            "combine": by_length(innermost_steps["combine"]),
        }
        | shared_core,
    }


def measure_steps(say: Callable[[str], None] = lambda line: None) -> Steps:
    """Measures each level by tutti-threads. `say` takes a line before each."""
    measured = []
    for unit in units_here():
        say(f"{unit.level}: processing units {', '.join(map(str, unit.units))}")
        measured.append((unit.level, run_steps(unit.units)))
    return measured


def units_here() -> list[Unit]:
    """The processing units of this machine that are to be measured. Raises UserError on a single processing unit."""
    units = units_to_measure(places_of(core().load_tree()))
    if not units:
        raise UserError(
            "the model's machine needs two processing units, and this process may run on one; "
            "write the file by hand (docs/model.md), or allow it more with taskset"
        )
    return units


def machine_here(measurements: list[Steps]) -> dict[str, Any]:
    """This machine, from the medians of several measurements."""
    today = datetime.now(timezone.utc).date().isoformat()
    steps: Steps = [
        (same[0][0], typical([one for _, one in same])) for same in zip(*measurements, strict=True)
    ]
    return machine_of(steps, platform.node() or "this machine", f"tutti model measure, {today}")


def measure(say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    return machine_here([measure_steps(say)])
