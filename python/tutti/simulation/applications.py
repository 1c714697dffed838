"""The communication of applications (`tutti sim --app`), at the sizes of HMPI's section 3.7.

An application is written down as the collectives that its ranks call, with their sizes and how
often. Each kind of call is simulated like any other cell; the time of the application's
communication is the sum over its calls. So ranks begin each call together, and what they compute in
between takes no time. The programs are in examples/apps of Tutti's sources.
"""

from dataclasses import asdict, dataclass
from typing import Any

from tutti.bench.texts import optional_time
from tutti.errors import UserError
from tutti.simulation.jobs import Cell
from tutti.simulation.report import BEST, Results, ratio_text, variant_label
from tutti.simulation.variants import TUTTI
from tutti.tables import Table, number, table_of, words

MATRIX = 49152  # rows and columns
ITERATIONS = 128
# These lengths are printed by `barnes_hut --bodies 4000000 --heaviest 64 --steps 1`, with any
# number of ranks. The paper gives the number of bodies, and neither their distribution nor what is
# too heavy.
LENGTHS = (1, 8, 64, 448, 1824, 4736, 10440, 23152, 47216, 83104, 77024)
NUMBER = 8  # bytes of a double, and of a count


@dataclass(frozen=True)
class Step:
    """Calls of one kind in an application."""

    cell: Cell
    calls: int


APPLICATIONS = {
    # The scatter of the matrix is left out: its 18 GiB would not fit into a simulation's buffers,
    # and they leave rank 0's node by one link, whatever the algorithm.
    "matvec": (
        Step(Cell("bcast", MATRIX * NUMBER, 0), 1),
        Step(Cell("reduce", MATRIX * NUMBER, 0), ITERATIONS),
    ),
    "barnes_hut": tuple(Step(Cell("allreduce", length * NUMBER, 0), 1) for length in LENGTHS),
}


def steps_of(name: str) -> tuple[Step, ...]:
    if name not in APPLICATIONS:
        raise UserError(
            f"--app: the communication of '{name}' is not written down; known are "
            f"{', '.join(APPLICATIONS)}"
        )
    return APPLICATIONS[name]


@dataclass(frozen=True)
class Total:
    """The time of an application's communication, of each variant; None: a cell is not known."""

    application: str
    steps: tuple[Step, ...]
    microseconds: dict[str, float | None]  # indexed by variant

    def ratio(self, key: str) -> float | None:
        """How many times faster Tutti is."""
        own, other = self.microseconds.get(TUTTI), self.microseconds[key]
        return None if own is None or other is None else other / own


def total_of(application: str, results: Results) -> Total:
    """The best of the MPIs is the one whose whole communication is shortest."""
    steps = steps_of(application)
    found: dict[str, float | None] = {}
    for key in results.runs:
        times = [results.time(key, step.cell) for step in steps]
        known = [
            time * step.calls for time, step in zip(times, steps, strict=True) if time is not None
        ]
        found[key] = sum(known) if len(known) == len(steps) else None
    selectors = [time for key in results.selectors if (time := found[key]) is not None]
    if len(results.selectors) > 1:
        found[BEST] = min(selectors, default=None)
    return Total(application, steps, found)


def total_table(total: Total, results: Results) -> Table:
    calls = sum(step.calls for step in total.steps)
    settings = results.settings
    ratio = number(
        "Tutti is faster", lambda key: "" if key == TUTTI else ratio_text(total.ratio(key))
    )
    columns = [
        words("who", lambda key: "best of the MPIs" if key == BEST else variant_label(key)),
        number("us", lambda key: optional_time(total.microseconds[key])),
        *([ratio] if results.tutti else []),
    ]
    title = (
        f"{total.application}: its {calls} calls on {settings.ranks} simulated ranks of "
        f"{settings.machine.name}, microseconds together"
    )
    return table_of(title, columns, total.microseconds)


def as_json(total: Total) -> dict[str, Any]:
    return {
        "name": total.application,
        "steps": [asdict(step.cell) | {"calls": step.calls} for step in total.steps],
        "us": total.microseconds,
        "ratios": {key: total.ratio(key) for key in total.microseconds if key != TUTTI},
    }
