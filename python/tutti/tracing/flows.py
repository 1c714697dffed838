"""From waits to what ended them: which step of which rank a wait was for."""

import numpy as np

from tutti.tracing.trace import WAIT_ARRIVAL, Array, Trace


def wait_times(trace: Trace) -> tuple[Array, Array, Array]:
    """(waiting rank, rank waited for, nanoseconds) of every wait for one peer that belongs to the world."""
    waiting = (trace.group_of[trace.steps["kind"]] == 0) & (trace.step_peer >= 0)
    rank = trace.operations["rank"][trace.steps["operation"]][waiting]
    spent = (trace.steps["end"] - trace.steps["begin"])[waiting]
    return rank.astype(np.int64), trace.step_peer[waiting], spent


def _arrival_transfers(trace: Trace, chosen: Array) -> Array:
    """The transfers that waits inside a reduce_any ended with: told by the peer that came first."""
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
    """Numbers pairs from 0: the same for the same pair."""
    _, first = np.unique(one, return_inverse=True)
    _, second = np.unique(other, return_inverse=True)
    _, number = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)
    return np.asarray(number)


def flows(trace: Trace) -> tuple[Array, Array]:
    """Pairs of steps: (a publish or stamp, the wait that it ended), by their places in the table of steps.

    They belong to one operation, one transfer and one segment; a wait for a ring position is for the segment that used
    it before, and a token may be for the segment before. Waits of which the other side was lost have no pair.
    """
    names = {kind.name: kind.number for kind in trace.kinds.values()}
    kind, operation = trace.steps["kind"], trace.steps["operation"]
    get = trace.operations
    tells = np.flatnonzero(trace.group_of[kind] == 3)
    waits = np.flatnonzero((trace.group_of[kind] == 0) & (trace.step_peer >= 0))
    transfer = trace.step_transfer.copy()
    arrival = waits[kind[waits] == WAIT_ARRIVAL]
    transfer[arrival] = _arrival_transfers(trace, arrival)
    segment = trace.steps["segment"].copy()
    reuse = kind == names.get("wait_reuse", -1)
    segment[reuse] -= get["positions"][operation[reuse]]
    segment[kind == names.get("wait_before", -1)] -= 1

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
