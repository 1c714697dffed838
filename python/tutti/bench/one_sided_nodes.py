"""`tutti bench one-sided --hosts`: what one-sided transfers between two nodes take, without servers,
with servers that get what gains, and with servers that get everything, beside the host MPI's own
one-sided transfers and its messages.

One job measures all of them in turn. The host's transfer that others are compared with is that of
the job without servers, to a target that waits: no thread but the program's calls the host there,
and the target answers at once.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

from rich.console import Console

from tutti import __version__
from tutti.bench.asked import between_of, sizes_of
from tutti.bench.driver import scratch
from tutti.bench.hosts import Hosts, cores_text, have_own_cores
from tutti.bench.options import DEFAULT_DELAYS, Options
from tutti.bench.over_nodes import TWO, Between, run_pairs
from tutti.bench.overlap_nodes import milliseconds
from tutti.bench.present import WIDEST, Report
from tutti.bench.progress import with_progress
from tutti.bench.statistics import Ratio, centre, compare
from tutti.bench.texts import ratio_columns, size_text, time_text
from tutti.bench.variants import Variant
from tutti.rows import PrintedRow, rows_of
from tutti.tables import Column, number, table_of, words

SIZES, QUICK_SIZES = "8,1K,16K,256K,1M", "8,16K,1M"
WAITS, COMPUTES = "waits", "computes"
HANDED = "handed over"  # the form of jobs whose servers get every transfer
SERVERS = {(False, False): "0", (True, False): "1", (True, True): "1, all"}
COMPUTING = (
    "Without servers nobody answers for a target that computes, by Tutti or by the host MPI, so "
    "that was not measured. With servers the host's own transfers are answered only because "
    "Tutti's server calls the host."
)


@dataclass
class Times:
    """The times of one way of transfers, in microseconds, by repetition: each is the median of a job."""

    start: list[float] = field(default_factory=list)  # until the start returned
    whole: list[float] = field(default_factory=list)  # until the transfer was complete
    compute: list[float] = field(default_factory=list)  # the computation alone
    beside: list[float] = field(default_factory=list)  # start, computation, wait

    @property
    def of_computation(self) -> float:
        """Start, computation and wait, over the computation alone."""
        return centre(self.beside) / centre(self.compute)


@dataclass(frozen=True)
class Place:
    """A measured case, apart from the way."""

    mpi: str
    delay: str
    kind: str  # "put" or "get"
    bytes: int
    target: str
    servers: bool
    handed: bool = False  # servers get every transfer


Measured = dict[
    Place, dict[str, Times]
]  # indexed by way: "tutti", "host" and, if targets wait, "ping_pong"


def variants_of(plan: Between) -> list[Variant]:
    ways = ((False, ""), (True, ""), (True, HANDED))
    return [
        Variant(mpi, "default", True, servers=servers, form=form)
        for mpi in plan.mpis
        for servers, form in ways
    ]


def jobs(plan: Between, repetitions: int) -> int:
    return repetitions * len(plan.delays) * len(variants_of(plan))


def add_job(measured: Measured, variant: Variant, delay: str, rows: Sequence[PrintedRow]) -> None:
    """Adds the rows of the kind `between` of tutti-ranks."""
    for row in rows_of(rows, "between"):
        handed = variant.form == HANDED
        call = (row["call"], row["bytes"], row["target"])
        place = Place(variant.mpi.name, delay, *call, variant.servers, handed)
        times = measured.setdefault(place, {}).setdefault(row["way"], Times())
        for name, values in vars(times).items():
            time = row.get("ns" if name == "whole" else f"{name}_ns")
            if time is not None:
                values.append(time / 1000)


def measure(
    plan: Between,
    sizes: list[int],
    repetitions: int,
    seed: int | None,
    before_job: Callable[[str], None],
) -> Measured:
    """Each repetition runs every variant once at each delay, in shuffled order."""
    shuffle, measured = random.Random(seed), Measured()
    with scratch() as directory, Hosts(plan.hosts, TWO) as hosts:
        for repetition in range(repetitions):
            for delay in plan.delays:
                hosts.link(delay)
                variants = variants_of(plan)
                shuffle.shuffle(variants)
                for variant in variants:
                    before_job(f"{repetition + 1}/{repetitions}, delay {delay}, {variant.label}")
                    handed = variant.form == HANDED
                    both = variant.servers and not handed
                    targets = f"{WAITS},{COMPUTES}" if both else WAITS
                    words = [",".join(map(str, sizes)), str(plan.milliseconds), targets]
                    rows = run_pairs(
                        hosts,
                        plan.per_node,
                        variant,
                        "between",
                        words,
                        directory,
                        {"TUTTI_SERVE": "all"} if handed else None,
                    )
                    add_job(measured, variant, delay, rows)
    return measured


def alone(place: Place) -> Place:
    """The case without servers that a place is compared with."""
    return Place(place.mpi, place.delay, place.kind, place.bytes, WAITS, False)


def host_of(measured: Measured, place: Place) -> Times:
    """The host's transfer that a place is compared with."""
    return measured[alone(place)]["host"]


def of_own_start(measured: Measured, place: Place) -> float:
    """The client's time of a start over that of a start without servers."""
    own = measured[alone(place)]["tutti"].start
    return centre(measured[place]["tutti"].start) / centre(own)


def over_host(measured: Measured, place: Place) -> Ratio:
    return compare(host_of(measured, place).whole, measured[place]["tutti"].whole)


def _columns(measured: Measured) -> list[Column]:
    def of(way: str) -> list[Column]:
        host = "host: " if way == "host" else ""
        unit = "" if host else ", us"
        return [
            number(
                f"{host}start{unit}", lambda place: time_text(centre(measured[place][way].start))
            ),
            number(f"whole{unit}", lambda place: time_text(centre(measured[place][way].whole))),
            number("of computation", lambda place: f"{measured[place][way].of_computation:.2f}x"),
        ]

    def ping_pong(place: Place) -> str:
        least = measured[place].get("ping_pong")
        return "-" if least is None else time_text(centre(least.whole))

    return [
        words("kind", lambda place: place.kind),
        words("size", lambda place: size_text(place.bytes)),
        words("target", lambda place: place.target),
        words("servers", lambda place: SERVERS[place.servers, place.handed]),
        *of("tutti"),
        number("of own start", lambda place: f"{of_own_start(measured, place):.2f}x"),
        *of("host"),
        *ratio_columns(lambda place: over_host(measured, place), "faster"),
        number("ping-pong", ping_pong),
    ]


def _ordered(measured: Measured) -> list[Place]:
    def key(one: Place) -> tuple[Any, ...]:
        return (one.kind != "put", one.bytes, one.target != WAITS, one.servers, one.handed)

    return sorted(measured, key=key)


def show(plan: Between, measured: Measured, console: Console) -> None:
    for mpi in plan.mpis:
        for delay in plan.delays:
            some = [one for one in _ordered(measured) if (one.mpi, one.delay) == (mpi.name, delay)]
            pairs = f"{plan.per_node} pair{'s' if plan.per_node > 1 else ''} of ranks"
            title = f"{mpi.label}, {pairs}, delay {delay}"
            of_kind = attrgetter("kind", "bytes")
            console.print(table_of(title, _columns(measured), some, of_kind))
    for line in (
        "whole: start and wait (host: MPI_Win_flush); of computation: start, a computation of twice "
        "the host's time or the ping-pong's, and wait, over the computation alone; of own start: start, over that "
        "of a client without servers; 1, all: the server gets every transfer; faster: whole over the host's in "
        "the job without servers, to a target that waits; ping-pong: the same data one way by "
        "MPI_Send, and 8 bytes back.",
        COMPUTING,
        cores_text(TWO),
    ):
        console.print(line, highlight=False)


def document(plan: Between, measured: Measured) -> dict[str, Any]:
    cells = []
    for place in _ordered(measured):
        cell = asdict(place) | {"delay_ms": milliseconds(place.delay)}
        del cell["delay"]
        for way, times in measured[place].items():
            cell[way] = {f"{name}_us": values for name, values in vars(times).items() if values}
            if times.beside:
                cell[way]["of_computation"] = times.of_computation
        cell["tutti"]["of_own_start"] = of_own_start(measured, place)
        cells.append(cell | {"over_host": asdict(over_host(measured, place))})
    return {
        "tutti": __version__,
        "format": "tutti-one-sided-nodes 1",
        "pairs": plan.per_node,
        "delays": plan.delays,
        "own_cores": have_own_cores(TWO),
        "cells": cells,
    }


def run_over_nodes(options: Options) -> Report:
    plan = between_of(options, 1, DEFAULT_DELAYS, 20 if options.quick else 40)
    sizes = sizes_of(options, SIZES, QUICK_SIZES)
    measured = with_progress(
        jobs(plan, options.count),
        "the nodes",
        partial(measure, plan, sizes, options.count, options.seed),
    )
    return Report(partial(show, plan, measured), document(plan, measured), width=WIDEST)
