"""The records of a trace: turns the words of each ring into the tables of operations and steps."""

from dataclasses import dataclass

import numpy as np

from tutti.tracing.errors import TraceError
from tutti.tracing.header import RankTables, Ring
from tutti.tracing.trace import WAIT_ARRIVAL, Array, Trace

RECORD = np.dtype(
    [
        ("begin", "<u8"),
        ("end", "<u8"),
        ("what", "<u4"),
        ("segment", "<u4"),
        ("peer", "<i4"),
        ("bytes", "<u4"),
    ]
)
FARTHEST = 1e15  # nanoseconds from the start of the trace: eleven days
HOST_CALL, OPERATION, DETAILS = 0xFD, 0xFE, 0xFF


@dataclass
class Track:
    """One ring's part of the two tables. Its steps name operations by their place in this part."""

    operations: dict[str, Array]
    steps: dict[str, Array]


def _refuse(wrong: Array, places: Array, ring: Ring, what: str) -> None:
    if wrong.any():
        raise TraceError(f"rank {ring.rank}, record {int(places[np.argmax(wrong)])}: {what}")


def _find_operations(kinds: Array, ring: Ring) -> Array:
    """The places of the pairs that end operations."""
    everywhere = np.arange(len(kinds))
    opens = (kinds == OPERATION) | (kinds == HOST_CALL)
    closes = kinds == DETAILS
    if len(kinds) and closes[0] and ring.lost > 0:  # the first half of the pair was overwritten
        closes = closes.copy()
        closes[0] = False
    followed = np.append(closes[1:], False)
    preceded = np.append(False, opens[:-1])
    _refuse(opens & ~followed, everywhere, ring, "an operation without its details")
    _refuse(closes & ~preceded, everywhere, ring, "details without an operation")
    return np.flatnonzero(opens)


def _look_up(table: list[int], numbers: Array, places: Array, ring: Ring, what: str) -> Array:
    _refuse(
        (numbers < 0) | (numbers >= len(table)), places, ring, f"there is no {what} of this number"
    )
    return np.array([*table, -1], dtype=np.int64)[numbers]


def _operations(
    trace: Trace, tables: RankTables, number: int, ring: Ring, records: Array, at: Array
) -> dict[str, Array]:
    pairs, details = records[at], records[at + 1]
    host = (pairs["what"] & 0xFF) == HOST_CALL
    own = np.flatnonzero(~host)
    value = (pairs["what"] >> 8).astype(np.int64)
    program = np.full(len(at), -1, dtype=np.int64)
    program[own] = _look_up(tables.programs, value[own], at[own], ring, "program")
    communicator = np.full(len(at), -1, dtype=np.int64)
    communicator[own] = _look_up(
        tables.communicators, pairs["peer"][own].astype(np.int64), at[own], ring, "communicator"
    )
    collective = np.where(host, value & 0xFF, 0)
    named = {name: place for place, name in enumerate(trace.collectives)}
    by_program = np.array(
        [named.get(p.collective, 255) for p in trace.programs] + [255], dtype=np.int64
    )
    collective[own] = by_program[program[own]]
    _refuse(collective >= len(trace.collectives), at, ring, "an unknown collective")
    reason = np.where(host, value >> 8, 0)
    _refuse(reason >= len(trace.reasons), at, ring, "an unknown reason")
    for place in np.unique(np.stack([program[own], communicator[own]]), axis=1).T:
        if len(trace.communicators[place[1]]) != trace.programs[place[0]].ranks:
            raise TraceError(
                f"rank {ring.rank}: a program and its communicator have different numbers of ranks"
            )
    node = trace.nodes[trace.ranks[ring.rank].node]
    return {
        "rank": np.full(len(at), ring.rank), "track": np.full(len(at), number), "host": host, "collective": collective,
        "bytes": details["begin"].astype(np.float64), "root": details["peer"].astype(np.int64), "program": program,
        "communicator": communicator, "epoch": details["end"].astype(np.int64), "reason": reason,
        "segments": details["segment"].astype(np.int64), "positions": (details["what"] >> 8).astype(np.int64),
        "segment_bytes": pairs["bytes"].astype(np.int64), "begin": node.nanoseconds(pairs["begin"]),
        "end": node.nanoseconds(pairs["end"]),
    }  # fmt: skip


def _check_steps(
    trace: Trace, ring: Ring, records: Array, at: Array, operations: dict[str, Array], owner: Array
) -> None:
    kinds = (records["what"] & 0xFF)[at].astype(np.int64)
    indices = (records["what"] >> 8)[at].astype(np.int64)
    known = np.zeros(256, dtype=bool)
    known[list(trace.kinds)] = True
    _refuse(~known[kinds], at, ring, "an unknown kind of step")
    programs = operations["program"][owner]
    for number in np.unique(programs):
        program = trace.programs[number]
        if program.steps is None:
            continue
        mine = (programs == number) & (kinds <= WAIT_ARRIVAL)
        _refuse(
            indices[mine] >= len(program.steps),
            at[mine],
            ring,
            "a step that its program does not have",
        )
        listed = program.kinds[indices[mine]] if program.steps else kinds[mine]
        _refuse(
            (listed != kinds[mine]) & (kinds[mine] != WAIT_ARRIVAL),
            at[mine],
            ring,
            "a step of another kind than its program's",
        )
    members = np.array([len(c) for c in trace.communicators] + [0])[
        operations["communicator"][owner]
    ]
    peers = records["peer"][at]
    _refuse(
        (peers < -1) | (peers >= members), at, ring, "a peer that its communicator does not have"
    )


def add_track(trace: Trace, tables: RankTables, number: int, ring: Ring, records: Array) -> Track:
    at = _find_operations(records["what"] & 0xFF, ring)
    operations = _operations(trace, tables, number, ring, records, at)
    counts = np.where(operations["host"], 0, records["segment"][at]).astype(np.int64)
    # The first operation may have lost its beginning. A failure leaves steps that belong to no operation.
    room = at - np.append(0, at[:-1] + 2)
    whole = counts <= room
    cut = ~whole
    if len(cut) and ring.lost > 0:
        cut[0] = False
    _refuse(cut, at, ring, "an operation that lacks some of its steps")
    counts[~whole] = 0
    owner = np.repeat(np.arange(len(at)), counts)
    firsts = np.cumsum(counts) - counts
    places = np.arange(len(owner)) - firsts[owner] + (at - counts)[owner]
    _check_steps(trace, ring, records, places, operations, owner)
    node = trace.nodes[trace.ranks[ring.rank].node]
    chosen = records[places]
    begin, end = node.nanoseconds(chosen["begin"]), node.nanoseconds(chosen["end"])
    far = np.maximum(np.abs(operations["begin"]), np.abs(operations["end"])) > FARTHEST
    _refuse(far, at, ring, "a time that is days away")
    _refuse(
        operations["begin"] > operations["end"], at, ring, "an operation that ends before it begins"
    )
    outside = (
        (begin > end) | (begin < operations["begin"][owner]) | (end > operations["end"][owner])
    )
    _refuse(outside, places, ring, "a step whose times are not inside its operation's")
    steps = {
        "operation": owner, "kind": (chosen["what"] & 0xFF).astype(np.int64),
        "index": (chosen["what"] >> 8).astype(np.int64), "segment": chosen["segment"].astype(np.int64),
        "peer": chosen["peer"].astype(np.int64), "bytes": chosen["bytes"].astype(np.int64), "begin": begin, "end": end,
    }  # fmt: skip
    return Track(operations | {"first_step": firsts, "step_count": counts, "whole": whole}, steps)


def finish(trace: Trace, tracks: list[Track]) -> None:
    """Joins the tables of all tracks."""
    operation_count = step_count = 0
    for track in tracks:
        track.steps["operation"] = track.steps["operation"] + operation_count
        track.operations["first_step"] = track.operations["first_step"] + step_count
        operation_count += len(track.operations["rank"])
        step_count += len(track.steps["kind"])
    if not tracks:
        raise TraceError("it holds no rank's records")
    for table, parts in (
        (trace.operations, [t.operations for t in tracks]),
        (trace.steps, [t.steps for t in tracks]),
    ):
        for name in parts[0]:
            table[name] = np.concatenate([part[name] for part in parts])
