"""Tables and plots of `tutti bench apps`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.applications import (
    APPLICATIONS,
    Applications,
    Place,
    built,
    most_nodes,
)
from tutti.bench.applications_results import (
    Run,
    Timed,
    differences,
    host_at,
    microseconds,
    runs_of,
    states_of,
    times_of,
)
from tutti.bench.core_ways_report import draw_ways, show_ways
from tutti.bench.hosts import cores_text
from tutti.bench.load import marked
from tutti.bench.reading import COMMUNICATION, KINDS, WHOLE
from tutti.bench.remarks import show_lines
from tutti.bench.states import states_text
from tutti.bench.statistics import Ratio, centre, compare, geometric_mean
from tutti.bench.texts import ratio_columns, time_text
from tutti.bench.variants import Variant
from tutti.figures import colour_of, legend_below, legend_of, new_figure, save
from tutti.rows import grouped
from tutti.tables import Table, number, table_of, words


def list_applications(console: Console) -> None:
    columns = [
        words("name", str),
        words("what it is", lambda name: APPLICATIONS[name]),
        words("built for", lambda name: ", ".join(built(name)) or "-"),
    ]
    console.print(table_of("Programs of `tutti bench apps`", columns, APPLICATIONS))


def milliseconds_text(seconds: list[float]) -> str:
    return time_text(microseconds(seconds) / 1000) if seconds else "-"


@dataclass(frozen=True)
class Line:
    """A row of a run's table."""

    name: str
    kind: str
    timed: Timed
    least: Timed | None = None


def _least(get: Callable[[Timed], list[float]]) -> Callable[[Line], str]:
    return lambda line: "" if line.least is None else milliseconds_text(get(line.least))


def run_table(application: str, run: Run) -> Table:
    columns = [
        words("phase", lambda line: line.name),
        words("kind", lambda line: line.kind),
        number(
            f"host, {run.host.form}" if run.host.form else "host",
            lambda line: milliseconds_text(line.timed.host),
        ),
        number("Tutti", lambda line: milliseconds_text(line.timed.tutti)),
        *ratio_columns(lambda line: line.timed.ratio),
        number("host, least", _least(lambda timed: timed.host)),
        number("Tutti, least", _least(lambda timed: timed.tutti)),
    ]
    least = run.least
    lines = [Line(name, kind, timed, least[name]) for name, (kind, timed) in run.phases.items()]
    lines.append(Line(COMMUNICATION, KINDS[0], run.communication))
    if run.best_peer != run.host:
        lines.append(Line(f"beside {run.best_peer.label}", KINDS[0], run.over_best))
    lines.append(Line(WHOLE, "", run.whole))
    title = f"{application}, {run.place.text}: {run.tutti.label}, ms, medians"
    return table_of(title, columns, lines, lambda line: line.least is None)


def share_line(run: Run) -> str:
    """One line: the share of each collective in the whole, from Tutti's report."""
    words = [
        f"{share.collective} {100 * share.share:.1f}% ({share.calls} calls"
        + (f", {share.host_calls} by the host)" if share.host_calls else ")")
        for share in run.shares
        if share.calls
    ]
    return f"share of the whole with Tutti: {', '.join(words)}" if words else ""


def host_table(measured: Applications, place: Place) -> Table:
    """The table without Tutti: a column for each variant."""
    variants = measured.settings.variants(place.ranks)
    jobs = [measured.of(place, variant) for variant in variants]
    columns = [words("phase", str)]
    for variant, one in zip(variants, jobs, strict=True):
        columns.append(
            number(variant.label, lambda name, one=one: milliseconds_text(times_of(one, name)))
        )
    title = f"{measured.settings.application}, {place.text}, ms, medians"
    return table_of(title, columns, [*jobs[0].outputs[0].phases, COMMUNICATION, WHOLE])


def forms_table(measured: Applications, place: Place) -> Table:
    """Every form of the program, beside the blocking one with the same host MPI."""
    variants = measured.settings.variants(place.ranks)

    def over_blocking(variant: Variant) -> Ratio | None:
        host = host_at(measured, place, variant)
        base, jobs = measured.of(place, host), measured.of(place, variant)
        return None if variant == host else compare(times_of(base, WHOLE), times_of(jobs, WHOLE))

    def times(name: str) -> Callable[[Variant], str]:
        return lambda variant: milliseconds_text(times_of(measured.of(place, variant), name))

    columns = [
        words("who and how", lambda variant: variant.label),
        number("communication", times(COMMUNICATION)),
        number("whole", times(WHOLE)),
        *ratio_columns(over_blocking, "host's blocking whole over it", unknown=""),
    ]
    title = f"{measured.settings.application}, {place.text}: the forms of the program, ms, medians"
    return table_of(title, columns, variants)


def _way_text(variant: Variant) -> str:
    """How Tutti ran, apart from the MPI."""
    parts = [
        {"default": "", "best": "best setting"}.get(variant.setting, variant.setting),
        "shared heap" if variant.heap else "",
        "servers" if variant.servers else "",
        variant.form,
    ]
    return ", ".join(filter(None, parts)) or "default"


def summary(runs: list[Run]) -> Table:
    """Geometric means over the MPIs, for each place and each way of Tutti."""
    groups = grouped(runs, lambda run: (run.place, replace(run.tutti, mpi=runs[0].tutti.mpi)))

    def mean(get: Callable[[Run], Timed]) -> Callable[[Any], Ratio]:
        return lambda entry: geometric_mean(
            [(timed.host, timed.tutti) for timed in map(get, entry[1])]
        )

    columns = [
        words("where", lambda entry: entry[0][0].text),
        words("Tutti", lambda entry: _way_text(entry[0][1])),
        *ratio_columns(mean(lambda run: run.communication), "communication"),
        *ratio_columns(mean(lambda run: run.over_best), "over the best MPI"),
        *ratio_columns(mean(lambda run: run.whole), "whole"),
    ]
    title = "Geometric means over the MPIs of host over Tutti"
    return table_of(title, columns, groups.items())


def load_line(measured: Applications) -> str:
    jobs_under_load = [
        f"{place.text}, {key} ({', '.join(str(k + 1) for k in found)})"
        for (place, key), jobs in measured.jobs.items()
        if (found := marked(jobs.shares_of_others))
    ]
    if not jobs_under_load:
        return ""
    if len(jobs_under_load) == len(measured.jobs):
        jobs_under_load = ["every variant"]
    return (
        f"load: other processes used the ranks' cores during {'; '.join(jobs_under_load)} "
        "(repetitions in brackets); stop them and measure again"
    )


def show(measured: Applications, console: Console) -> None:
    settings, runs = measured.settings, runs_of(measured)
    if settings.core_ways is not None:
        show_ways(measured, console)
        runs = []
    for run in runs:
        console.print(run_table(settings.application, run))
        if line := share_line(run):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    for place in settings.places:
        if settings.servers:
            console.print(forms_table(measured, place))
        elif not settings.tutti:
            console.print(host_table(measured, place))
    if runs:
        console.print(summary(runs))
    different = differences(measured)
    answers = next(iter(measured.jobs.values())).outputs[0].answers
    notes = [
        "answers: " + ("; ".join(different) if different else f"all the same ({_names(answers)})"),
        "a phase's time is the largest over the ranks, and in a collective includes the time for "
        "which a rank waits for the others; least: the smallest over the ranks; all communication: "
        "of the rank that communicates for the longest time",
        states_text(states_of(measured), 0).replace("0 ranks: ", "machine: "),
        cores_text(most_nodes(settings), settings.cores_of_node) if settings.hosts else "",
        *(
            f"delay {delay}: a byte takes {time_text(centre(times))} us one way"
            for delay, times in measured.one_way_us.items()
        ),
        load_line(measured),
        f"seed {measured.seed}",
    ]
    show_lines(console, notes)


MOST_NAMES = 4  # the most answers to name that are as precise; more are counted


def _names(answers: dict[str, Any]) -> str:
    by_tolerance = grouped(answers, lambda name: answers[name].tolerance)
    return "; ".join(
        (f"{len(names)} answers" if len(names) > MOST_NAMES else ", ".join(names))
        + (f" within {tolerance:g}" if tolerance else " to the last bit")
        for tolerance, names in by_tolerance.items()
    )


def draw(measured: Applications, stem: Path) -> list[Path]:
    """Draws the phases of each variant as bars, a panel for each place.

    Writes STEM.png and STEM.svg and returns their paths.
    """
    settings = measured.settings
    if settings.core_ways is not None:
        return draw_ways(measured, stem)
    places = settings.places
    most = max(len(settings.variants(place.ranks)) for place in places)
    figure, grid = new_figure(len(places), 1, (8.5, len(places) * (0.7 + 0.33 * most) + 0.9))
    phases: dict[str, tuple[str, float]] = {}
    for jobs in measured.jobs.values():
        phases |= jobs.outputs[0].phases
    for axes, place in zip(grid[:, 0], places, strict=True):
        variants = settings.variants(place.ranks)
        lefts = [0.0] * len(variants)
        for number_of_phase, (name, (kind, _)) in enumerate(phases.items()):
            times = [
                1000 * centre(times_of(measured.of(place, variant), name) or [0.0])
                for variant in variants
            ]
            axes.barh(
                range(len(variants)),
                times,
                left=lefts,
                label=f"{name} ({kind})",
                color=colour_of(number_of_phase),
                alpha=1.0 if kind == KINDS[0] else 0.35,
            )
            lefts = [left + time for left, time in zip(lefts, times, strict=True)]
        axes.set_yticks(range(len(variants)), [one.label for one in variants], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(f"{settings.application}, {place.text}", fontsize=10)
        axes.set_xlabel("ms", fontsize=8)
    legend_below(figure, *legend_of(grid[:1, 0]), columns=4, more_lines=0)
    return save(figure, stem)
