"""Measurements that need no collectives of an MPI: one-sided transfers (`tutti bench one-sided`, `alltoall`),
ranks as threads beside OpenMP (`openmp`), and the reduction of a shared array (`array`).

Every document has times by repetition. Its views say which way is compared with which.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from operator import itemgetter
from typing import Any

from rich.console import Console

from tutti.bench.asked import check_hosts, one_count, sizes_of
from tutti.bench.checks import choose_mpis, default_ranks, with_tutti
from tutti.bench.cores import require_two, two_cores
from tutti.bench.driver import execute, execute_own, execute_rows, scratch, started_as
from tutti.bench.mpis import Mpi, find_mpis
from tutti.bench.one_sided_nodes import run_over_nodes
from tutti.bench.options import FILES, NODES, Kind, Options
from tutti.bench.present import Report
from tutti.bench.progress import one_job, with_progress
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import interval_text, ratio_columns, ratio_text, size_text, time_text
from tutti.bench.variants import Variant
from tutti.bench.words import parse_ranks, parse_sizes
from tutti.errors import RunError, UserError
from tutti.places import find_program, program
from tutti.rows import PrintedRow, grouped, job_of, microseconds, read_rows, rows_of, times_by
from tutti.tables import Column, Table, number, table_of, words

OPENMP_SIZES = "64,512,4K,16K,64K,256K,1M,4M"
SECONDS = 600
ALLTOALL_SECONDS = 1800
# Indexed by way: the times, one for each repetition.
Times = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Way:
    """A row of a view: a way that is measured, and the way that it is compared with, if any."""

    name: str
    text: str
    base: str = ""
    base_text: str = ""
    times: int = 1  # how often the other way goes into this one

    def of(self, measured: Times) -> list[float]:
        return list(measured[self.name])

    def of_base(self, measured: Times) -> list[float]:
        return [self.times * time for time in measured[self.base]]

    def ratio(self, measured: Times) -> Ratio | None:
        """How many times as long this way takes as the other one."""
        return compare(self.of(measured), self.of_base(measured)) if self.base else None


# One-sided transfers, in nanoseconds.
BY_CALLER = (
    Way("put", "put of 8 B by the caller", "store", "a store to the line"),
    Way("get", "get of 8 B by the caller", "load", "a load of the line"),
    Way("served_put", "put of 8 B by a server", "line", "4 ways of a line", 4),
    Way("served_get", "get of 8 B by a server", "line", "4 ways of a line", 4),
)
THREADS = (*BY_CALLER, Way("queue", "a request through a queue", "ring", "through a bare ring"))
PROCESSES = (
    *BY_CALLER,
    Way("asleep_put", "put of 8 B by a sleeping server", "wake", "waking a process"),
    Way("asleep_get", "get of 8 B by a sleeping server", "wake", "waking a process"),
    Way("asleep_wait", "the same, by tutti_wait", "wake", "waking a process"),
)


def document_of_transfers(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """The cores, and for each repetition the nanoseconds of all ways."""
    times = times_by(rows_of(rows, "transfer"), "repetition", "call")
    return job_of(rows) | {"repetitions": list(times.values())}


def by_way(document: dict[str, Any]) -> Times:
    """The times of each way of transfers."""
    repetitions = document["repetitions"]
    return {way: [one[way] for one in repetitions] for way in repetitions[0]}


@contextmanager
def _only_on(cores: Sequence[int]) -> Iterator[None]:
    """While it lasts, this process and those that it starts run on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def ratios(ways: Sequence[Way], document: dict[str, Any]) -> list[dict[str, Any]]:
    measured = by_way(document)
    return [
        {"what": way.name, "beside": way.base, "times": way.times} | asdict(ratio)
        for way in ways
        if (ratio := way.ratio(measured)) is not None
    ]


def measure_processes(mpi: Mpi, repetitions: int) -> dict[str, Any]:
    """Two ranks of a job of this MPI under tutti-run, bound to two cores, which alone it has."""
    variant = Variant(mpi, "default", tutti=True)
    bench = [str(program(f"tutti-ranks-{mpi.abi}")), "transfers", str(repetitions)]
    with (
        scratch() as directory,
        _only_on(two_cores("one-sided")),
    ):
        started = started_as(variant, 2, "core", bench, directory)
        rows = execute_rows(f"{variant.label}, 2 ranks", *started, SECONDS)
    document = {"mpi": mpi.name, "label": mpi.label} | document_of_transfers(rows)
    return document | {"ratios": ratios(PROCESSES, document)}


def measure_one_sided(
    repetitions: int, mpis: Sequence[Mpi], before_job: Callable[[str], None]
) -> dict[str, Any]:
    before_job("threads")
    options = {"cores": two_cores("one-sided"), "repetitions": repetitions}
    rows = execute_own("transfers", options, SECONDS)
    document = {"format": "tutti-transfers 1"} | document_of_transfers(rows)
    document |= {"ratios": ratios(THREADS, document), "processes": []}
    for mpi in mpis:
        before_job(f"processes, {mpi.label}")
        document["processes"].append(measure_processes(mpi, repetitions))
    return document


def _on(job: dict[str, Any]) -> str:
    return f"on cores {' and '.join(map(str, job['cores']))}"


def _transfers_table(title: str, ways: Sequence[Way], job: dict[str, Any]) -> Table:
    measured = by_way(job)
    columns = [
        words("what", lambda way: way.text, no_wrap=True),
        number("ns", lambda way: f"{centre(way.of(measured)):.1f}"),
        words("beside it", lambda way: way.base_text),
        number("ns", lambda way: f"{centre(way.of_base(measured)):.1f}"),
        *ratio_columns(lambda way: way.ratio(measured)),
    ]
    return table_of(title, columns, ways, title_justify="center")


def show_one_sided(document: dict[str, Any], console: Console) -> None:
    title = f"one-sided transfers {_on(document)}, {len(document['repetitions'])} repetitions"
    console.print(_transfers_table(title, THREADS, document))
    for job in document["processes"]:
        title = f"between processes {_on(job)}, {job['label']}"
        console.print(_transfers_table(title, PROCESSES, job))
    if not document["processes"]:
        console.print("No MPI was found, so no transfers between processes were measured.")


def run_one_sided(options: Options) -> Report:
    """Measure one-sided transfers.

    They are between threads and between processes, by their callers and through a server, beside
    the machine's stores, loads and lines. With --hosts they are between two nodes, with and without
    servers, beside MPI_Put and MPI_Get.
    """
    check_hosts(options, ("--nodes", "--per-node", "--delay", "--bytes", "--budget-ms"))
    if options.hosts is not None:
        return run_over_nodes(options)
    found = find_mpis()
    mpis = choose_mpis(options.mpi or [], found) if options.mpi or found else []
    with_tutti(True, mpis)
    document = with_progress(
        1 + len(mpis), "threads", partial(measure_one_sided, options.count, mpis)
    )
    return Report(partial(show_one_sided, document), document)


ONE_SIDED = Kind(
    run_one_sided, (*NODES, "bytes", "mpi", "repetitions", "quick", "budget_ms", "seed", *FILES)
)


# The reduction of a shared array among two threads, beside what programs do without it (NUMACol,
# section 4.2.2: doubles, 2,048 and 131,072 of each rank), in nanoseconds.
ARRAY = (
    Way("array", "tutti_reduce_array"),
    Way("plain", "a loop, tutti_reduce of one element", "array"),
    Way("vectors", "tutti_reduce of vectors, a loop", "array"),
    Way("fold", "alone: tutti_fold of a part"),
    Way("loop", "alone: a loop over a part", "fold"),
    Way("one_element", "alone: tutti_reduce of one element"),
)


def document_of_array(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """For each repetition and length the nanoseconds of all ways."""
    times = times_by(rows_of(rows, "array"), "repetition", "elements", "call")
    repetitions = [
        [{"elements": elements} | by_call for elements, by_call in one.items()]
        for one in times.values()
    ]
    return {"format": "tutti-array 1"} | job_of(rows) | {"repetitions": repetitions}


def measure_array(repetitions: int) -> dict[str, Any]:
    options = {"cores": two_cores("array"), "repetitions": repetitions}
    return document_of_array(execute_own("array", options, SECONDS))


def times_by_length(document: dict[str, Any]) -> dict[int, dict[str, list[float]]]:
    """The times of each way, by the elements of a rank."""
    cells = itertools.chain.from_iterable(document["repetitions"])
    return {
        length: {way: [one[way] for one in mine] for way in mine[0].keys() - {"elements"}}
        for length, mine in grouped(cells, itemgetter("elements")).items()
    }


def show_array(document: dict[str, Any], console: Console) -> None:
    for length, measured in times_by_length(document).items():
        columns = [
            words("what", lambda way: way.text),
            number("us", lambda way, of=measured: f"{centre(way.of(of)) / 1000:.2f}"),
            *ratio_columns(lambda way, of=measured: way.ratio(of), "times as long", unknown=""),
        ]
        title = (
            f"a sum of {length:,} doubles of each rank, {_on(document)}, "
            f"{len(document['repetitions'])} repetitions"
        )
        console.print(table_of(title, columns, ARRAY, title_justify="center"))


def run_array(options: Options) -> Report:
    """Measure the reduction of a shared array.

    Threads reduce it to one element, beside a loop and a reduction, without MPI.
    """
    document = one_job("array", lambda: measure_array(options.count))
    return Report(partial(show_array, document), document)


ARRAYS = Kind(run_array, ("repetitions", "quick", *FILES))


# An all-to-all of gets between thread ranks ("Exploiting Communication Concurrency", section 5.2),
# in microseconds. All ways are compared with the first.
ALLTOALL = {
    "own": "by the ranks",
    "served": "by servers",
    "selective": "what gains by servers",
    "collective": "tutti_alltoall",
}
ALLTOALL_RANKS = 16
ALLTOALL_SIZES = [8 << i for i in range(0, 14, 2)]  # to 32 KiB


def document_of_alltoall(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    """For each size the microseconds of all ways, by repetition."""
    document: dict[str, Any] = {"format": "tutti-alltoall 1"} | job_of(rows)
    document["saturation_map"] = document["saturation_map"] or None
    times = times_by(rows_of(rows, "alltoall"), "bytes", "call", "repetition")
    document["cells"] = [
        {"bytes": size}
        | {way: [microseconds(one) for one in by_way[way].values()] for way in ALLTOALL}
        for size, by_way in times.items()
    ]
    return document


def with_ratios(document: dict[str, Any]) -> dict[str, Any]:
    for cell in document["cells"]:
        cell["ratios"] = {
            way: asdict(compare(cell["own"], cell[way])) for way in ALLTOALL if way != "own"
        }
    return document


def measure_alltoall(ranks: int, sizes: list[int], repetitions: int) -> dict[str, Any]:
    """A quarter of the cores, at least one, is the servers'."""
    cores = require_two("alltoall")
    options = {
        "cores": cores,
        "ranks": ranks,
        "servers": max(1, len(cores) // 4),
        "bytes": sizes,
        "repetitions": repetitions,
    }
    rows = execute_own("alltoall", options, ALLTOALL_SECONDS)
    return with_ratios(document_of_alltoall(rows))


def show_alltoall(document: dict[str, Any], console: Console) -> None:
    columns = [words("bytes", lambda cell: size_text(cell["bytes"]))]
    for way, text in ALLTOALL.items():
        columns.append(number(f"{text}, us", lambda cell, way=way: time_text(centre(cell[way]))))
        if way != "own":
            columns += ratio_columns(lambda cell, way=way: Ratio(**cell["ratios"][way]), "faster")
    of_ranks = len(set(document["cores_of_ranks"]))
    title = (
        f"an all-to-all of gets, {document['ranks']} ranks on {of_ranks} core(s), "
        f"{document['servers']} server(s), at most 128 gets of a rank outstanding"
    )
    console.print(table_of(title, columns, document["cells"], title_justify="center"))
    rules = document["saturation_map"] or "their length alone (TUTTI_SATURATION names no map)"
    console.print(f"What gains is decided by {rules}.", highlight=False)


def run_alltoall(options: Options) -> Report:
    """Measure an all-to-all of gets between threads.

    It is executed by the ranks, and handed to servers.
    """
    ranks = one_count(options, ALLTOALL_RANKS)
    sizes = ALLTOALL_SIZES if options.bytes is None else parse_sizes(options.bytes)
    document = one_job("alltoall", lambda: measure_alltoall(ranks, sizes, options.count))
    return Report(partial(show_alltoall, document), document)


ALLTOALLS = Kind(run_alltoall, ("ranks", "bytes", "repetitions", "quick", *FILES))


# Ranks as threads beside OpenMP's array reductions (HMPI, section 3.5), in microseconds. OpenMP
# leaves one result that all threads share, so both reduce and allreduce are compared with it.
OPENMP = ("openmp_c", "openmp_fortran")
TUTTI = ("tutti_reduce", "tutti_allreduce")


def document_of_openmp(rows: Sequence[PrintedRow]) -> dict[str, Any]:
    cells = [
        {
            "variant": row["call"],
            "bytes": row["bytes"],
            "repetition": row["repetition"],
            "median_us": microseconds(row["ns"]),
        }
        for row in rows_of(rows, "openmp")
    ]
    return {"format": "tutti-openmp-1"} | job_of(rows) | {"cells": cells}


def openmp_times(document: dict[str, Any]) -> dict[int, dict[str, list[float]]]:
    """The times of each variant, by bytes."""
    found: dict[int, dict[str, list[float]]] = {}
    for (size, way), cells in grouped(document["cells"], itemgetter("bytes", "variant")).items():
        found.setdefault(size, {})[way] = [cell["median_us"] for cell in cells]
    return found


def measure_openmp(
    threads: int, sizes: Sequence[int], repetitions: int, budget_ms: int
) -> dict[str, Any]:
    bench = find_program("tutti-openmp")
    if bench is None:
        raise UserError(
            "the program tutti-openmp is missing; build Tutti with a C compiler that has OpenMP"
        )
    started = [str(bench), str(threads), str(repetitions), str(budget_ms), *map(str, sizes)]
    # Each thread's stack holds a private copy of the vector. Waiting threads keep their cores.
    environ = dict(os.environ) | {
        "OMP_STACKSIZE": f"{max(sizes) // 1024 + 8192}K",
        "OMP_DYNAMIC": "false",
    }
    if threads <= len(os.sched_getaffinity(0)):
        environ |= {"OMP_PROC_BIND": "true", "OMP_WAIT_POLICY": "active"}
    limited = ["sh", "-c", 'ulimit -s unlimited 2>/dev/null; exec "$@"', "sh", *started]
    code, out, err = execute(limited, environ)
    if code != 0:
        raise RunError(f"tutti-openmp: exit code {code}: {err.strip()}")
    return document_of_openmp(read_rows(out.splitlines()))


def _over(base: str, other: str) -> Column:
    def text(entry: Any) -> str:
        ratio = compare(entry[1][base], entry[1][other])
        return f"{ratio_text(ratio)} {interval_text(ratio)}"

    return number(f"{other.removeprefix('tutti_')} / {base.removeprefix('openmp_')}", text)


def show_openmp(documents: Sequence[dict[str, Any]], console: Console) -> None:
    for document in documents:
        console.print(_openmp_table(document))


def _openmp_table(document: dict[str, Any]) -> Table:
    cells = openmp_times(document)
    names = [name for name in (*OPENMP, *TUTTI) if name in next(iter(cells.values()))]
    columns = [
        number("bytes", lambda entry: size_text(entry[0])),
        *(
            number(
                name.replace("_", " "), lambda entry, name=name: time_text(centre(entry[1][name]))
            )
            for name in names
        ),
        *(_over(base, other) for base in OPENMP if base in names for other in TUTTI),
    ]
    title = (
        f"{document['threads']} ranks as threads: microseconds, and how many times faster than "
        "OpenMP"
    )
    return table_of(title, columns, cells.items(), title_justify="center")


def run_openmp(options: Options) -> Report:
    """Compare ranks as threads with OpenMP.

    Its array reductions are measured, without MPI.
    """
    ranks = default_ranks(options.cores) if options.ranks is None else parse_ranks(options.ranks)
    sizes = sizes_of(options, OPENMP_SIZES)
    documents = [
        one_job(
            f"{count} threads",
            partial(measure_openmp, count, sizes, options.count, options.milliseconds),
        )
        for count in ranks
    ]
    return Report(partial(show_openmp, documents), documents)


OPENMPS = Kind(run_openmp, ("ranks", "bytes", "repetitions", "quick", "budget_ms", *FILES))
