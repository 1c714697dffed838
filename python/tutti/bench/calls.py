"""The kinds of measurements of collectives on this machine: repeated calls (`tutti bench calls`),
calls in a shuffled order (`mixed`), in other forms (`forms`), exchanges of ghost cells (`halo`), and
calls beside computations (`overlap`).

In the last one each kind is measured beside two loops, one bound by arithmetic and one bound by
memory: the computation alone; the blocking call, then the computation; and the start, the
computation and the wait. All numbers are whole times. A percentage of overlap would look the better
the slower the call is. All variants compute for the same time, which is given or is that of the
best peer's blocking call in a job before the others.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from rich.console import Console

from tutti.bench import overlap_nodes
from tutti.bench.asked import OF_HOSTS, check_hosts, plan_of, settings_of
from tutti.bench.document import as_json
from tutti.bench.driver import run, run_job, scratch
from tutti.bench.measurements import HALO, Measurements, Settings
from tutti.bench.options import (
    DEFAULT_FACES,
    FILES,
    HERE,
    JOBS,
    NODES,
    PLOT,
    QUICK_FACES,
    WHICH,
    Kind,
    Options,
)
from tutti.bench.present import WIDE, WIDEST, WIDTH, Report
from tutti.bench.progress import with_progress
from tutti.bench.remarks import show_lines
from tutti.bench.report import draw, show
from tutti.bench.variants import Variant
from tutti.bench.words import PROGRAMS, parse_faces, parse_forms, parse_microseconds
from tutti.errors import UserError
from tutti.probes import sessions_are_groups


def peers(settings: Settings, ranks: int) -> list[Variant]:
    return [variant for variant in settings.variants(ranks) if not variant.tutti]


def jobs_beside(settings: Settings) -> int:
    """The number of jobs, with those that find the durations."""
    return settings.jobs + sum(len(peers(settings, ranks)) for ranks in settings.ranks)


def find_durations(settings: Settings, before_job: Callable[[str], None]) -> dict[int, list[float]]:
    """For each rank count and kind, the microseconds of the best peer's blocking call."""
    alone = replace(settings, overlap=False, forms=())
    result = {}
    with scratch() as directory:
        for ranks in settings.ranks:
            times = []
            for variant in peers(settings, ranks):
                before_job(f"how long to compute, {ranks} ranks, {variant.label}")
                cells = run_job(alone, ranks, variant, directory)["cells"]
                times.append([cell["median_us"] for cell in cells])
            result[ranks] = [min(of_kind) for of_kind in zip(*times, strict=True)]
    return result


def measure_beside(
    settings: Settings, microseconds: float | None, before_job: Callable[[str], None]
) -> Measurements:
    """Runs all jobs_beside; the computations take so many microseconds, or as long as a call."""
    if microseconds is not None:
        durations = {ranks: [microseconds] for ranks in settings.ranks}
    else:
        durations = find_durations(settings, before_job)
    return run(replace(settings, durations=durations), before_job)


def measured(
    settings: Settings,
    width: int,
    jobs: int,
    measure: Callable[[Callable[[str], None]], Measurements],
) -> Report:
    found = with_progress(jobs, "the machine's limits", measure)

    def show_with_note(console: Console) -> None:
        show(found, console)
        show_lines(console, [note_on_sessions(settings)])

    return Report(show_with_note, as_json(found), partial(draw, found), width)


def note_on_sessions(settings: Settings) -> str:
    of_mpich = any(one.family == "mpich" for one in settings.mpis)
    if max(settings.ranks) <= settings.cores or not of_mpich or not sessions_are_groups():
        return ""
    return (
        "note: MPICH's launcher starts each rank in a session of its own, and this kernel "
        "schedules each session as a group, so ranks that share a core cannot yield to each "
        "other. To change this: sysctl kernel.sched_autogroup_enabled=0"
    )


def run_calls(options: Options, width: int, **changes: Any) -> Report:
    settings = settings_of(options, **changes)
    if settings.kinds and options.every_root:
        raise UserError("--every-root: each of --kinds has its root; leave one of them out")
    if options.plot is not None and (settings.kinds or settings.mixed or settings.cold):
        raise UserError(
            "--plot: kinds of calls under several conditions have no plot; leave it out"
        )
    return measured(settings, width, settings.jobs, partial(run, settings))


def calls(options: Options) -> Report:
    """Measure single calls that are repeated.

    The host MPI is measured with and without Tutti, beside other MPIs.
    """
    return run_calls(options, WIDE if options.kinds or options.cold else WIDTH)


def _mixed(options: Options) -> dict[str, Any]:
    """The changes of the settings for calls in a shuffled order. Raises UserError."""
    if not options.dirty:
        raise UserError(
            "--no-dirty: calls in a shuffled order share buffers, so each rank must rewrite its "
            "buffer; leave --no-dirty out, or measure without a shuffled order"
        )
    usual = {} if options.kinds or options.given("--collectives", "--bytes") else PROGRAMS
    return {"mixed": True} | ({"kinds": usual} if usual else {})


def mixed(options: Options) -> Report:
    """Measure kinds of calls in a shuffled order, too.

    Programs alternate calls, so a repeated call looks too fast.
    """
    return run_calls(options, WIDE, **_mixed(options))


def forms(options: Options) -> Report:
    """Measure non-blocking and persistent calls.

    They are waited for at once. The tables show the start alone, and start and wait beside the
    blocking call, the host MPI and the best peer.
    """
    changes = _mixed(options) if options.mixed else {}
    return run_calls(options, WIDE, forms=parse_forms(options.form or "all"), **changes)


def halo(options: Options) -> Report:
    """Measure exchanges of ghost cells.

    They are in three dimensions: neighbourhood collectives beside MPI_Isend and MPI_Irecv.
    """
    return run_calls(options, WIDE, collectives=[HALO], faces=_faces(options))


def _faces(options: Options) -> tuple[int, ...]:
    return parse_faces(options.faces or (QUICK_FACES if options.quick else DEFAULT_FACES))


def overlap(options: Options) -> Report:
    """Measure calls beside computations.

    Computations are bound by arithmetic and by memory. All are whole times: start, compute, wait;
    and call, then compute. With --hosts ranks are on several nodes.
    """
    check_hosts(
        options,
        (*OF_HOSTS, "--halo"),
        ("--ranks", "--bind", "--peer-settings", "--shared-heap", "--load"),
    )
    if options.faces is not None and not options.halo:
        raise UserError("--faces: it needs --halo, which exchanges faces of ghost cells")
    computing = parse_microseconds(options.compute)
    changes: dict[str, Any] = {"forms": parse_forms(options.form or "nonblocking")}
    if options.halo:
        if wrong := options.given("--collectives", "--bytes", "--kinds", "--form"):
            raise UserError(f"{wrong[0]}: --halo exchanges ghost cells; leave one of them out")
        changes = {"collectives": [HALO], "faces": _faces(options)}
    settings = settings_of(options, overlap=True, **changes)
    if options.hosts is not None:
        return overlap_nodes.run(plan_of(options, settings), computing)
    count = jobs_beside(settings) if computing is None else settings.jobs
    return measured(settings, WIDEST, count, partial(measure_beside, settings, computing))


CALLS = Kind(calls, (*WHICH, *HERE, "every_root", "kinds", "cold", "load", *JOBS, *PLOT))
MIXED = Kind(mixed, (*WHICH, *HERE, "kinds", "cold", "load", *JOBS, *FILES))
FORMS = Kind(forms, (*WHICH, *HERE, "form", "kinds", "mixed", "cold", "load", *JOBS, *PLOT))
OVERLAP = Kind(
    overlap,
    (*WHICH, *HERE, "form", "kinds", "compute", "load", *NODES, "halo", "faces", *JOBS, *PLOT),
)
HALOS = Kind(halo, (*HERE, "faces", "load", *JOBS, *PLOT))
