"""The sums of a trace: by collective, by kind of step, who waited for whom, and how far apart ranks arrived."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tutti.tracing.flows import wait_times
from tutti.tracing.trace import ELSEWHERE, GROUPS, Array, Trace

# The largest size of each row but the last, which has no bound; the report has the same rows.
SIZE_LIMITS = (0, 8, 64, 512, 4096, 32768, 262144, 2097152)


def size_range(place: int) -> str:
    names = ("0 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB")
    if place == 0:
        return "0 B"
    return f"<= {names[place]}" if place < len(names) else f"> {names[-1]}"


def _statistics(nanoseconds: Array) -> dict[str, float]:
    chosen: dict[str, Callable[[Array], Any]] = {
        "mean_us": np.mean, "median_us": np.median, "p90_us": lambda a: np.quantile(a, 0.9), "max_us": np.max,
    }  # fmt: skip
    return {
        name: round(float(function(nanoseconds)) / 1000, 3) for name, function in chosen.items()
    }


def _mean_microseconds(nanoseconds: Array) -> float | None:
    return round(float(np.mean(nanoseconds)) / 1000, 3) if len(nanoseconds) else None


def collectives(trace: Trace) -> list[dict[str, Any]]:
    """A row for each collective, size range, and who served it. The time of a persistent collective is that of its start plus
    that of its completion, without the time in between; in a lane it is the time from the beginning to the end there."""
    get = trace.operations
    served = np.where(get["host"], -1 - get["reason"], get["program"])
    names = [p.algorithm or "a plan without a name" for p in trace.programs]
    by_name = np.array(
        [names.index(name) for name in names] + [0]
    )  # ranks have programs of their own
    served = np.where(served >= 0, by_name[np.maximum(served, 0)], served)
    size = np.searchsorted(np.array(SIZE_LIMITS), get["bytes"])
    keys = np.stack([get["collective"], size, served, trace.in_lane])
    spent = get["end"] - get["begin"] - trace.elsewhere
    persistent = np.bincount(trace.steps["operation"], weights=trace.group_of[trace.steps["kind"]] == ELSEWHERE,
                             minlength=len(spent)) > 0  # fmt: skip
    rows = []
    for collective, place, who, lane in np.unique(keys, axis=1).T:
        mine = (keys == np.array([[collective], [place], [who], [lane]])).all(axis=0)
        meetings = np.unique(
            np.stack([get["communicator"][mine], get["epoch"][mine]]), axis=1
        ).shape[1]
        rows.append({
            "collective": trace.collectives[collective], "size": size_range(int(place)),
            "by": names[who] + ", in a lane" * lane if who >= 0 else "host MPI", "reason": trace.reasons[-1 - who] if who < 0 else None,
            "operations": None if who < 0 else int(meetings), "calls": int(mine.sum()),
            **_statistics(spent[mine]), "between_us": _mean_microseconds(trace.elsewhere[mine & persistent]),
        })  # fmt: skip
    return rows


def step_kinds(trace: Trace) -> list[dict[str, Any]]:
    """A row for each kind of step in calls, and one for the time of operations outside their steps."""
    spent = trace.steps["end"] - trace.steps["begin"]
    inside = (trace.group_of[trace.steps["kind"]] != ELSEWHERE) & ~trace.step_in_lane
    whole = trace.operations["whole"] & ~trace.operations["host"] & ~trace.in_lane
    total = float(
        (trace.operations["end"] - trace.operations["begin"] - trace.elsewhere)[whole].sum()
    )
    rows = []
    for kind in sorted(
        trace.kinds.values(), key=lambda kind: (GROUPS.index(kind.group), kind.number)
    ):
        mine = (trace.steps["kind"] == kind.number) & inside
        if mine.any():
            time = float(spent[mine].sum())
            rows.append(_kind_row(kind.name, kind.group, int(mine.sum()), time, total))
    rest = total - float(spent[inside].sum())
    rows.append(_kind_row("(outside steps)", "other", int(whole.sum()), rest, total))
    return rows


def _kind_row(name: str, group: str, count: int, time: float, total: float) -> dict[str, Any]:
    return {
        "kind": name, "group": group, "count": count, "total_ms": round(time / 1e6, 3),
        "mean_us": round(time / 1000 / max(count, 1), 3), "share": round(time / total, 4) if total > 0 else 0.0,
    }  # fmt: skip


def groups(trace: Trace) -> dict[str, float]:
    """Milliseconds of all ranks together in calls, by group of step kinds."""
    spent = trace.steps["end"] - trace.steps["begin"]
    of = trace.group_of[trace.steps["kind"]]
    return {
        f"{group}_ms": round(float(spent[(of == place) & ~trace.step_in_lane].sum()) / 1e6, 3)
        for place, group in enumerate(GROUPS[:ELSEWHERE])
    }


def waits(trace: Trace) -> list[dict[str, Any]]:
    """The waits of ranks for each other, longest first."""
    waiter, peer, spent = wait_times(trace)
    if len(waiter) == 0:
        return []
    pairs, place, counts = np.unique(
        np.stack([waiter, peer]), axis=1, return_inverse=True, return_counts=True
    )
    totals = np.bincount(place.ravel(), weights=spent)
    return [
        {"rank": int(pairs[0, i]), "waited_for": int(pairs[1, i]), "waits": int(counts[i]),
         "total_ms": round(float(totals[i]) / 1e6, 3), "mean_us": round(float(totals[i]) / 1000 / int(counts[i]), 3)}
        for i in np.argsort(-totals, kind="stable")
    ]  # fmt: skip


def arrivals(trace: Trace) -> dict[str, Any]:
    """How far apart the first and the last rank entered an operation, where the entries of all ranks are known."""
    skews, last = [], []
    get = trace.operations
    for entries in trace.meetings:
        if (
            len(entries) != len(trace.communicators[int(get["communicator"][entries[0]])])
            or len(entries) < 2
        ):
            continue
        begin = get["begin"][entries]
        skews.append(float(begin.max() - begin.min()))
        last.append(int(get["rank"][entries[int(np.argmax(begin))]]))
    if not skews:
        return {"operations": 0}
    ranks, counts = np.unique(np.array(last), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    values = np.array(skews)
    return {
        "operations": len(skews), "min_us": round(float(values.min()) / 1000, 3),
        "p10_us": round(float(np.quantile(values, 0.1)) / 1000, 3), **_statistics(values),
        "last": [{"rank": int(ranks[i]), "operations": int(counts[i])} for i in order],
    }  # fmt: skip


def summary(trace: Trace) -> dict[str, Any]:
    """All sums, ready for JSON."""
    return {
        "format": "tutti-trace-summary 1", "program": trace.program, "mpi": trace.mpi, "filter": trace.filter, "ranks": len(trace.ranks),
        "lost_records": sum(rank.lost for rank in trace.ranks),
        "operations_cut": int((~trace.operations["whole"]).sum()),
        "clocks": [
            {"node": place, "host": trace.ranks[node.leader].host if node.leader < len(trace.ranks) else "",
             "clock": trace.ranks[node.leader].clock if node.leader < len(trace.ranks) else "",
             "nanoseconds_per_tick": node.nanoseconds_per_tick, "error_ns": node.error}
            for place, node in enumerate(trace.nodes)
        ],
        "collectives": collectives(trace), "groups": groups(trace), "step_kinds": step_kinds(trace),
        "waits": waits(trace), "arrival_skew": arrivals(trace),
    }  # fmt: skip
