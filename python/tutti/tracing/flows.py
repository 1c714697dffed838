"""Flows: which step of which rank ended each wait."""

import numpy as np

from tutti.tracing.trace import TELLING, WAIT_ARRIVAL, WAITING, Array, Trace


def wait_times(trace: Trace) -> tuple[Array, Array, Array]:
    """(waiting rank, rank waited for, nanoseconds) for every wait in a call whose peer belongs to MPI_COMM_WORLD."""
    waiting = (trace.group_of[trace.steps["kind"]] == WAITING) & (trace.step_peer >= 0)
    waiting &= ~trace.step_in_lane
    rank = trace.operations["rank"][trace.steps["operation"]][waiting]
    spent = (trace.steps["end"] - trace.steps["begin"])[waiting]
    return rank.astype(np.int64), trace.step_peer[waiting], spent


def _arrival_transfers(trace: Trace, chosen: Array) -> Array:
    """The transfer that ended each wait inside a reduce_any: the arrival of the peer that came first names it."""
    transfers = np.zeros(len(chosen), dtype=np.int64)
    programs = trace.operations["program"][trace.steps["operation"][chosen]]
    for place, step in enumerate(chosen):
        steps = trace.programs[int(programs[place])].steps
        index, peer = int(trace.steps["index"][step]), int(trace.steps["peer"][step])
        if steps is not None and index < len(steps):
            transfers[place] = next(
                (number for member, number in steps[index].arrivals if member == peer), 0
            )
    return transfers


def _numbered(one: Array, other: Array) -> Array:
    """Numbers pairs from 0; equal pairs get equal numbers."""
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    _, number = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)
    return np.asarray(number)


def flows(trace: Trace) -> tuple[Array, Array]:
    """Pairs of steps: (a publish or stamp, the wait that it ended), by their places in the table of steps.

    They belong to one operation, one transfer and one segment; the file says which segment a wait is for. A wait has no
    pair where the records of the other side are lost.
    """
    kind, operation = trace.steps["kind"], trace.steps["operation"]
    get = trace.operations
    tells = np.flatnonzero(trace.group_of[kind] == TELLING)
    waits = np.flatnonzero((trace.group_of[kind] == WAITING) & (trace.step_peer >= 0))
    transfer = trace.step_transfer.copy()
    arrival = waits[kind[waits] == WAIT_ARRIVAL]
    transfer[arrival] = _arrival_transfers(trace, arrival)
    segment = trace.step_told_segment

    both = np.concatenate([tells, waits])
    if len(both) == 0:
        return tells, tells
    ranks = np.concatenate([get["rank"][operation[tells]], trace.step_peer[waits]])
    number = _numbered(_numbered(get["communicator"], get["epoch"])[operation[both]], ranks)
    number = _numbered(_numbered(number, transfer[both]), segment[both])
    teller = np.full(int(number.max()) + 1, -1, dtype=np.int64)
    teller[number[: len(tells)]] = tells
    found = teller[number[len(tells) :]]
    known = (found >= 0) & (transfer[waits] > 0)
    return found[known], waits[known]
