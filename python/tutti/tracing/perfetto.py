"""Chrome trace events: JSON for Perfetto (ui.perfetto.dev) and chrome://tracing."""

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from tutti.tracing.flows import flows
from tutti.tracing.trace import ELSEWHERE, GROUPS, Trace


def _names(trace: Trace) -> Iterator[dict[str, Any]]:
    for place, node in enumerate(trace.nodes):
        host = trace.ranks[node.leader].host if node.leader < len(trace.ranks) else ""
        name = f"node {place}: {host} (clock known to {node.error / 1000:.3g} us)"
        yield {"ph": "M", "name": "process_name", "pid": place, "args": {"name": name}}
    for rank in trace.ranks:
        where = {"pid": rank.node, "tid": rank.rank}
        numa = f", numa {rank.numa}" if rank.numa >= 0 else ""
        yield {
            "ph": "M",
            "name": "thread_name",
            **where,
            "args": {"name": f"rank {rank.rank} (cores {rank.cores}{numa})"},
        }
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": rank.rank}}


def _track(trace: Trace, rank: int, track: int, first_track: dict[int, int]) -> dict[str, int]:
    """The track of a rank's thread; those of its further threads come after the tracks of all ranks."""
    if first_track.setdefault(rank, track) == track:
        return {"pid": trace.ranks[rank].node, "tid": rank}
    return {"pid": trace.ranks[rank].node, "tid": len(trace.ranks) + track}


def _slice(
    name: str,
    category: str,
    begin: float,
    end: float,
    where: dict[str, int],
    details: dict[str, Any],
) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "ts": begin / 1000,
        "dur": (end - begin) / 1000,
        **where,
        "args": details,
    }


def _around(
    name: str, number: int, begin: float, end: float, where: dict[str, int], details: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """A persistent collective from its start to its completion, on a track of its own, because other operations of the rank
    may begin inside it and end outside."""
    same = {"name": name, "cat": "persistent", "id": number, **where}
    yield {"ph": "b", "ts": begin / 1000, **same, "args": details}
    yield {"ph": "e", "ts": end / 1000, **same}


def events(trace: Trace) -> Iterator[dict[str, Any]]:
    yield from _names(trace)
    get, steps = trace.operations, trace.steps
    first_track: dict[int, int] = {}
    where = []
    outside = np.flatnonzero(trace.group_of[steps["kind"]] == ELSEWHERE)
    between = {
        int(steps["operation"][i]): (float(steps["begin"][i]), float(steps["end"][i]))
        for i in outside
    }
    for i in range(len(get["rank"])):
        where.append(_track(trace, int(get["rank"][i]), int(get["track"][i]), first_track))
        details: dict[str, Any] = {"bytes": int(get["bytes"][i]), "root": int(get["root"][i])}
        if get["host"][i]:
            details["reason"] = trace.reasons[int(get["reason"][i])]
        else:
            details |= {
                "communicator": int(get["communicator"][i]),
                "epoch": int(get["epoch"][i]),
                "segments": int(get["segments"][i]),
            }
        begin, end = float(get["begin"][i]), float(get["end"][i])
        if i in between:
            yield from _around(trace.label(i), i, begin, end, where[i], details)
            left, came_back = between[i]
            yield _slice(f"start of {trace.label(i)}", "operation", begin, left, where[i], details)
            yield _slice(
                f"completion of {trace.label(i)}", "operation", came_back, end, where[i], details
            )
        else:
            yield _slice(trace.label(i), "operation", begin, end, where[i], details)
    for i in range(len(steps["kind"])):
        kind = trace.kinds[int(steps["kind"][i])]
        if kind.group == GROUPS[ELSEWHERE]:
            continue
        details = {
            "step": int(steps["index"][i]),
            "transfer": int(trace.step_transfer[i]),
            "segment": int(steps["segment"][i]),
        }
        name = kind.name
        if trace.step_peer[i] >= 0:
            name += f" for rank {int(trace.step_peer[i])}"
        if steps["bytes"][i]:
            details["bytes"] = int(steps["bytes"][i])
        yield _slice(
            name,
            kind.group,
            float(steps["begin"][i]),
            float(steps["end"][i]),
            where[int(steps["operation"][i])],
            details,
        )
    for number, (told, waited) in enumerate(zip(*flows(trace), strict=True)):
        flow = {"name": "hand-over", "cat": "hand-over", "id": number}
        start, end = float(steps["begin"][told]), float(steps["end"][waited])
        yield {"ph": "s", "ts": start / 1000, **flow, **where[int(steps["operation"][told])]}
        # The arrow ends a nanosecond before the wait does, because it must lie inside the slice.
        yield {
            "ph": "f",
            "bp": "e",
            "ts": max(end - 1, float(steps["begin"][waited])) / 1000,
            **flow,
            **where[int(steps["operation"][waited])],
        }


def write(trace: Trace, stream: IO[str]) -> None:
    stream.write(
        '{"displayTimeUnit":"ns","otherData":'
        + json.dumps({"program": trace.program, "mpi": trace.mpi})
    )
    stream.write(',"traceEvents":[')
    for number, event in enumerate(events(trace)):
        stream.write(("\n" if number == 0 else ",\n") + json.dumps(event, separators=(",", ":")))
    stream.write("\n]}\n")
