"""The processing units on which a benchmark binds its threads and ranks."""

import os
from pathlib import Path

from tutti.errors import UserError


def _core_of(unit: int) -> str:
    """Names the core of a processing unit: the units that are on it."""
    file = Path(f"/sys/devices/system/cpu/cpu{unit}/topology/thread_siblings_list")
    try:
        return file.read_text()
    except OSError:
        return str(unit)


def units_of_cores() -> list[int]:
    """The first processing unit of each core that this process may use."""
    units: dict[str, int] = {}
    for unit in sorted(os.sched_getaffinity(0)):
        units.setdefault(_core_of(unit), unit)
    return list(units.values())


def require_two(option: str) -> list[int]:
    """Returns units_of_cores, or two units of one core if there is no other. Raises UserError that names
    the option if this process may run on one unit only."""
    units = sorted(os.sched_getaffinity(0))
    if len(units) < 2:
        raise UserError(
            f"{option} needs two cores, and this process may run on one; allow it more with taskset"
        )
    cores = units_of_cores()
    return cores if len(cores) > 1 else units[:2]


def two_cores(option: str) -> tuple[int, int]:
    first, second, *_ = require_two(option)
    return first, second
