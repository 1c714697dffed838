"""One self-contained page: the timeline of a trace beside the plan, step by step.

The page holds a part of the trace as JSON, in a compact form that pages/data.js reads:

    calls        [rank, begin - operation's begin, end - begin, program, [code, segment, duration, ...]]
    code         a step's index; -1: a wait for room in a ring; -2 - (index * ranks + member): a wait inside that step,
                 which ended when this member came first

All times are whole nanoseconds. Each step of a call begins where the one before it ended.
"""

from typing import Any

import numpy as np

from tutti.drawing.single_file import single_file
from tutti.tracing.trace import GROUPS, WAIT_ARRIVAL, Array, Program, Trace

# A browser draws so much quickly. The page leaves the rest out, and says so.
MOST_STEPS = 400_000
MOST_OPERATIONS = 20_000
SCRIPTS = ("data.js", "state.js", "timeline.js", "plan.js", "picker.js", "page.js")


def _codes(trace: Trace, first: int, count: int, ranks: int) -> Array:
    part = slice(first, first + count)
    kind, index, peer = (trace.steps[name][part] for name in ("kind", "index", "peer"))
    codes = np.where(kind == WAIT_ARRIVAL, -2 - (index * ranks + peer), index)
    return np.where(kind > WAIT_ARRIVAL, -1, codes)


def _call(trace: Trace, call: int, begin: float, with_steps: bool) -> list[Any]:
    get = trace.operations
    entry = round(float(get["begin"][call]) - begin)
    length = max(round(float(get["end"][call]) - begin) - entry, 0)
    first, count = int(get["first_step"][call]), int(get["step_count"][call])
    steps: list[int] = []
    if with_steps and count:
        ends = np.rint(trace.steps["end"][first : first + count] - begin).astype(np.int64) - entry
        durations = np.diff(ends, prepend=0)
        ranks = trace.programs[int(get["program"][call])].ranks
        codes = _codes(trace, first, count, ranks)
        steps = (
            np.stack([codes, trace.steps["segment"][first : first + count], durations], axis=1)
            .ravel()
            .tolist()
        )
    return [int(get["rank"][call]), entry, length, int(get["program"][call]), steps]


def _program(program: Program) -> dict[str, Any]:
    steps = []
    for step in program.steps or ():
        operands = [[o.space, o.member, o.block] for o in step.operands]
        arrivals = [list(pair) for pair in step.arrivals]
        back = [step.back_segments, step.back_rounds]
        steps.append([step.kind, step.transfer, step.peer, operands, arrivals, back])
    return {
        "member": program.member,
        "root": program.root,
        "carrier": program.carrier,
        "steps": steps,
    }


def _operations(trace: Trace, skip: int, start: float) -> list[dict[str, Any]]:
    get = trace.operations
    found: list[dict[str, Any]] = []
    left = MOST_STEPS
    for calls in trace.meetings[skip : skip + MOST_OPERATIONS]:
        count = int(get["step_count"][calls].sum())
        if count > left and found:
            break
        left -= count
        begin = float(get["begin"][calls].min())
        first = int(calls[0])
        found.append({
            "label": trace.label(first), "bytes": int(get["bytes"][first]), "epoch": int(get["epoch"][first]),
            "communicator": int(get["communicator"][first]), "segments": int(get["segments"][first]),
            "positions": int(get["positions"][first]), "begin": round(begin - start), "lane": bool(trace.in_lane[first]),
            "calls": [_call(trace, int(call), round(begin - start) + start, left >= 0) for call in calls],
        })  # fmt: skip
    return found


def _host_calls(trace: Trace, begin: float, end: float) -> list[list[Any]]:
    get = trace.operations
    chosen = np.flatnonzero(get["host"] & (get["end"] >= begin) & (get["begin"] <= end))[
        :MOST_OPERATIONS
    ]
    return [
        [int(get["rank"][i]), round(float(get["begin"][i]) - begin), round(float(get["end"][i] - get["begin"][i])),
         f"{trace.label(int(i))}: {trace.reasons[int(get['reason'][i])]}"]
        for i in chosen
    ]  # fmt: skip


def data(trace: Trace, skip: int = 0) -> dict[str, Any]:
    """The data in the page."""
    meetings = trace.meetings
    shown = meetings[skip:]
    # Where there are no operations, the calls that the host MPI served set the start.
    first = trace.operations["begin"][shown[0]] if shown else trace.operations["begin"]
    start = float(first.min()) if len(first) else 0.0
    operations = _operations(trace, skip, start)
    length = max((o["begin"] + c[1] + c[2] for o in operations for c in o["calls"]), default=0)
    if not operations and len(first):
        length = round(float(trace.operations["end"].max()) - start)
    used = sorted({call[3] for operation in operations for call in operation["calls"]})
    errors = [node.error for node in trace.nodes]
    return {
        "program": trace.program, "mpi": trace.mpi, "total": len(meetings), "skipped": min(skip, len(meetings)),
        "lost": sum(rank.lost for rank in trace.ranks), "clockError": max(errors), "length": length,
        "nodes": [{"host": trace.ranks[node.leader].host if node.leader < len(trace.ranks) else ""} for node in trace.nodes],
        "ranks": [{"node": rank.node, "numa": rank.numa, "cores": rank.cores} for rank in trace.ranks],
        "groups": list(GROUPS),
        "kinds": {str(k.number): {"name": k.name, "group": GROUPS.index(k.group), "meaning": k.meaning}
                  for k in trace.kinds.values()},
        "communicators": trace.communicators, "programs": {str(n): _program(trace.programs[n]) for n in used},
        "operations": operations, "hostCalls": _host_calls(trace, start, start + length),
    }  # fmt: skip


def page(trace: Trace, skip: int = 0) -> str:
    """The whole page, as text."""
    return single_file("tutti.tracing", SCRIPTS, data(trace, skip))
