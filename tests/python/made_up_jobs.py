"""Made-up jobs of every kind of measurement, always with the same times: what the tests of reports
read in place of real jobs.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tutti.bench.mpis import Mpi

MPICH = Mpi(
    "mpich", "mpich", "5.0.2", Path("/opt/mpich/bin/mpiexec"), Path("/opt/mpich/lib/libmpi.so.12")
)
OPENMPI = Mpi(
    "openmpi",
    "openmpi",
    "5.0.11",
    Path("/opt/ompi/bin/mpiexec"),
    Path("/opt/ompi/lib/libmpi.so.40"),
)
# How long a variant takes, by what its name has.
FACTORS = {"mpich": 2.0, "openmpi": 3.0, "+tutti": 0.4, "+heap": 0.9, "+servers": 1.2, "@best": 0.7}
LIMITS = {
    "line_half_round_trip_ns": 50.0,
    "flag_exchange_ns": 100.0,
    "flag_exchange_loop_ns": 110.0,
    "yield_hand_over_ns": 400.0,
    "futex_hand_over_ns": 2000.0,
    "futex_hand_over_two_cores_ns": None,
    "copy_one_core_gb_per_s": {"4096": 20.0, "1048576": 10.0},
    "copy_two_cores_gb_per_s": {"4096": 40.0},
    "copy_rewritten_us": {"8": 0.05, "65536": 8.0, "1048576": 150.0},
    "add_rewritten_us": {"8": 0.06, "65536": 9.0, "1048576": 160.0},
    "copy_own_rewritten_us": {"8": 0.01, "65536": 6.0, "1048576": 140.0},
    "cma_rewritten_us": {"65536": 12.0},
}


def noise(*words: object) -> float:
    """A factor of 0.9 to 1.1 that follows from the words."""
    return random.Random(repr(words)).uniform(0.9, 1.1)


def microseconds(key: str, size: int, *words: object) -> float:
    factor = 1.0
    for name, more in FACTORS.items():
        factor *= more if name in key else 1.0
    return factor * (1 + size / 4096) * noise(key, size, *words)


def entry(time: float, **words: Any) -> dict[str, Any]:
    return words | {
        "median_us": time,
        "mean_us": 1.2 * time,
        "min_us": 0.8 * time,
        "p95_us": 1.9 * time,
    }


def cell_of(time: float, mean: float | None = None, **words: Any) -> dict[str, Any]:
    """A cell whose operations all took the same time; the mean may differ."""
    times = dict.fromkeys(("median_us", "mean_us", "min_us", "p95_us"), time)
    return words | times | ({} if mean is None else {"mean_us": mean})


def cells_of_kinds(
    settings: Any, ranks: int, key: str, repetition: int
) -> Iterator[dict[str, Any]]:
    """Two kinds of calls under every condition; Open MPI has two modes in one of them."""
    kinds = (
        {"collective": "allreduce", "bytes": 4, "element": "uint32", "communicator": "dup"},
        {"collective": "bcast", "bytes": 4096, "root": 1},
    )
    for condition in settings.conditions:
        for kind in kinds:
            time = microseconds(key, kind["bytes"], ranks, condition, repetition)
            time *= {"plain": 1.0, "mixed": 1.3, "cold": 2.0, "mixed+cold": 3.5}[condition]
            modes = key == "openmpi" and kind["bytes"] == 4 and repetition % 2
            yield entry(time * (6 if modes else 1), condition=condition, **kind)


def cells_of_calls(
    settings: Any, ranks: int, key: str, repetition: int
) -> Iterator[dict[str, Any]]:
    """Each collective in each size; beside computations and in other forms if they are wanted."""
    forms = [
        form
        for form in ("blocking", *settings.forms)
        if not (form == "persistent" and key == "openmpi")
    ]
    for name in settings.collectives:
        for size in settings.sizes if name != "barrier" else [0]:
            for root in range(settings.roots(name, ranks)):
                words = {"collective": name, "bytes": size, "root": root}
                for form in forms:
                    time = microseconds(key, size, ranks, name, root, form, repetition)
                    # One cell is slower with Tutti.
                    time *= 4 if (key, name, size) == ("openmpi+tutti", "allreduce", 8) else 1
                    start = {} if form == "blocking" else {"start_us": time / 4}
                    of_form = {"form": form} if settings.forms else {}
                    yield entry(time * (1 + 0.2 * root), **words, **of_form, **start)
                for work in ("arithmetic", "memory") if settings.overlap else ():
                    beside = words | {"work": work, "work_us": 4.0}
                    parts = {"others_us": 0.3, "wait_us": 0.7}
                    alone = 4 * noise(key, work, repetition)
                    yield entry(alone, form="none", **beside, **parts)
                    for form in forms:
                        time = microseconds(key, size, ranks, name, work, form, repetition)
                        start = {} if form == "blocking" else {"start_us": time / 4}
                        yield entry(alone + 0.8 * time, form=form, **beside, **start, **parts)


def cells_of_faces(
    settings: Any, ranks: int, key: str, repetition: int
) -> Iterator[dict[str, Any]]:
    ways = (
        "neighbor_alltoallw",
        "ineighbor_alltoallw",
        "neighbor_alltoallw_init",
        "isend_irecv",
        "packed_neighbor_alltoall",
        "packed_neighbor_alltoallv",
    )
    for face in settings.faces:
        for way in ways:
            if way == "neighbor_alltoallw_init" and key == "openmpi":
                continue
            time = microseconds(key, face, ranks, way, repetition)
            start = {"start_us": time / 4} if way in ways[1:4] else {}
            words = {"collective": "halo", "bytes": face, "form": way}
            in_order = {"in_order": True} if key.startswith("openmpi") and way == ways[1] else {}
            yield entry(time, **words, **in_order, **start)
        for work in ("arithmetic", "memory") if settings.overlap else ():
            beside = {"collective": "halo", "bytes": face, "work": work, "work_us": 4.0}
            parts = {"others_us": 0.3, "wait_us": 0.7}
            alone = 4 * noise(key, work, repetition)
            yield entry(alone, form="none", **beside, **parts)
            for way in ways[:3]:
                time = microseconds(key, face, ranks, work, way, repetition)
                start = {"start_us": time / 4} if way in ways[1:3] else {}
                yield entry(alone + 0.8 * time, form=way, **beside, **start, **parts)


def job(settings: Any, ranks: int, key: str, repetition: int) -> dict[str, Any]:
    """What tutti-bench writes, and the share of the cores that other processes used."""
    make = cells_of_calls
    if settings.kinds:
        make = cells_of_kinds
    if settings.faces:
        make = cells_of_faces
    cells = list(make(settings, ranks, key, repetition))
    hand_over = (50.0 if repetition % 2 else 190.0) + ranks
    result: dict[str, Any] = {
        "library": f"the library of {key.split('+')[0]}",
        "interposed": "+tutti" in key,
        "cells": cells,
        "share_of_others": 0.3 if (key, repetition) == ("mpich+tutti", 1) else 0.01,
        "hand_overs": [
            {"condition": condition, "ns": [hand_over, hand_over + 2]}
            for condition in settings.conditions
            if settings.kinds
        ],
        "left_out": [{"collective": "bcast", "bytes": 1 << 30}] if ranks == 4 else [],
    }
    if ranks <= settings.cores:
        result["flag_exchange_us"] = 0.1 * noise("flag", key, repetition)
    if "persistent" in settings.forms and key == "openmpi":
        result["form_left_out"] = "persistent"
    if settings.faces and key == "openmpi":
        result["form_left_out"] = "persistent"
    return result


def limits(repetition: int) -> dict[str, Any]:
    return LIMITS | {"flag_exchange_ns": 100.0 * noise("limits", repetition)}


def output(key: str, form: str, ranks: int, repetition: int) -> str:
    """What an application prints."""
    send = microseconds(key, 0, form, ranks, repetition)
    exchange = f"phase exchange communication {send / 2}\n" if form != "overlapped" else ""
    return (
        f"phase send communication {send}\nleast send {send / 3}\n{exchange}"
        f"phase work computation 2\ntolerance sum 1e-9\nanswer sum 1.5\n"
        f"answer words {'abd' if (key, repetition) == ('openmpi+tutti', 2) else 'abc'}\n"
        f"# a note\ncommunication {send * 1.5}\nwhole {3 + send * 1.5}\n"
    )


def report(key: str) -> dict[str, Any]:
    row = {"calls": 6, "mean_us": 5e5 * noise(key), "host_calls": 2, "host_mean_us": 25e4}
    other = {"calls": 9, "mean_us": 1e5, "host_calls": 0, "host_mean_us": 0.0}
    return {"collectives": [{"collective": "bcast"} | row, {"collective": "reduce"} | other]}


def transfers(names: list[str], repetitions: int) -> list[dict[str, float]]:
    """Nanoseconds of each way of one-sided transfers, by repetition."""
    return [
        {name: 100 * (1 + place) * noise(name, k) for place, name in enumerate(names)}
        for k in range(repetitions)
    ]


def between(servers: bool, repetition: int) -> list[dict[str, Any]]:
    """The rows of the kind `between` of tutti-ranks."""
    rows = []
    for kind in ("put", "get"):
        for size in (8, 16384):
            for target in ("waits", "computes") if servers else ("waits",):
                for way in ("tutti", "host", *(("ping_pong",) if target == "waits" else ())):
                    words = kind, size, target, way
                    time = 50e3 * (1 + size / 8192) * noise(*words, servers, repetition)
                    times = {
                        "start_ns": time / 5,
                        "compute_ns": 2 * time,
                        "beside_ns": 2.3 * time,
                    }
                    row = dict(zip(("call", "bytes", "target", "way"), words, strict=True))
                    row |= {"what": "between", "ns": time}
                    rows.append(row | (times if way != "ping_pong" else {}))
    return rows


def alltoall() -> dict[str, Any]:
    """What tutti-alltoall writes."""
    ways = ("own", "served", "selective", "collective")
    return {
        "format": "tutti-alltoall 1",
        "ranks": 4,
        "servers": 1,
        "cores_of_ranks": [0, 1, 0, 1],
        "saturation_map": None,
        "cells": [
            {"bytes": size}
            | {
                way: [(10 + place + size / 512) * noise(way, size, k) for k in range(3)]
                for place, way in enumerate(ways)
            }
            for size in (8, 512)
        ],
    }


def array() -> dict[str, Any]:
    """What tutti-array writes."""
    names = ("array", "plain", "vectors", "fold", "loop", "one_element")
    return {
        "format": "tutti-array 1",
        "cores": [0, 1],
        "repetitions": [
            [
                {"elements": length}
                | {
                    name: length * (1 + place / 3) * noise(name, length, k)
                    for place, name in enumerate(names)
                }
                for length in (2048, 131072)
            ]
            for k in range(3)
        ],
    }


def openmp() -> dict[str, Any]:
    """What tutti-openmp writes."""
    names = ("openmp_c", "openmp_fortran", "tutti_reduce", "tutti_allreduce")
    return {
        "threads": 2,
        "cells": [
            {"bytes": size, "variant": name, "median_us": (4 - place) * noise(name, size, k)}
            for k in range(3)
            for size in (64, 4096)
            for place, name in enumerate(names)
        ],
    }


def saturation_map(**more: Any) -> dict[str, Any]:
    """What tutti-saturation writes."""
    cores, messages, sizes = [1, 2], [1, 4], [8, 4096]
    rates = {
        kind: [
            [[core * (1 + size / 64) * noise(kind, core, many, size) for size in sizes]
             for many in messages]
            for core in cores
        ]
        for kind in ("puts", "gets")
    }  # fmt: skip
    return (
        {
            "format": "tutti-saturation 1",
            "where": "a processor",
            "cores": cores,
            "messages": messages,
            "bytes": sizes,
            "hand_over": {"client": 50.0, "server": [60.0, 90.0], "latency": 300.0},
            "under_way": 65536,
        }
        | rates
        | more
    )
