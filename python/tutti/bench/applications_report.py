"""Tables and plots of `tutti bench apps`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from tutti.bench.applications import (
    APPLICATIONS,
    KINDS,
    Applications,
    Place,
    built,
    most_nodes,
)
from tutti.bench.applications_results import (
    Run,
    Timed,
    differences,
    loaded,
    microseconds,
    runs_of,
    states_of,
    times_of,
)
from tutti.bench.hosts import cores_text
from tutti.bench.states import states_text
from tutti.bench.statistics import centre, compare, geometric_mean
from tutti.bench.texts import interval_text, ratio_text, time_text
from tutti.bench.variants import Variant
from tutti.figures import COLOURS
from tutti.tables import Table


def list_applications(console: Console) -> None:
    table = Table(title="Applications of `tutti bench apps`", title_justify="left")
    for column in ("name", "what it is", "built for"):
        table.add_column(column)
    for name, words in APPLICATIONS.items():
        table.add_row(name, words, ", ".join(built(name)) or "-")
    console.print(table)


def milliseconds_text(seconds: list[float]) -> str:
    return time_text(microseconds(seconds) / 1000) if seconds else "-"


def _row(
    table: Table, name: str, kind: str, timed: Timed, style: str = "", least: Timed | None = None
) -> None:
    ratio = timed.ratio
    shortest = [least.host, least.tutti] if least is not None else []
    table.add_row(
        name,
        kind,
        milliseconds_text(timed.host),
        milliseconds_text(timed.tutti),
        *(("-", "-") if ratio is None else (ratio_text(ratio), interval_text(ratio))),
        *map(milliseconds_text, shortest),
        style=style,
    )


def run_table(application: str, run: Run) -> Table:
    table = Table(
        title=f"{application}, {run.place.text}: {run.tutti.label}, ms, medians",
        title_justify="left",
    )
    for column in ("phase", "kind"):
        table.add_column(column)
    for column in (
        f"host, {run.host.form}" if run.host.form else "host",
        "Tutti",
        "ratio",
        "95%",
        "host, least",
        "Tutti, least",
    ):
        table.add_column(column, justify="right")
    for name, (kind, timed) in run.phases.items():
        _row(table, name, kind, timed, least=run.least[name])
    table.add_section()
    _row(table, "all communication", KINDS[0], run.communication, "bold")
    if run.best_peer != run.host:
        _row(table, f"beside {run.best_peer.label}", KINDS[0], run.over_best)
    _row(table, "whole", "", run.whole, "bold")
    return table


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
    table = Table(
        title=f"{measured.settings.application}, {place.text}, ms, medians", title_justify="left"
    )
    table.add_column("phase")
    for variant in variants:
        table.add_column(variant.label, justify="right")
    jobs = [measured.of(place, variant) for variant in variants]

    def row(name: str, **which: Any) -> None:
        table.add_row(name, *(milliseconds_text(times_of(one, **which)) for one in jobs))

    for name in jobs[0].outputs[0].phases:
        row(name, phase=name)
    row("all communication", communication=True)
    row("whole")
    return table


def forms_table(measured: Applications, place: Place) -> Table:
    """Every form of the program, beside the blocking one with the same host MPI."""
    table = Table(
        title=f"{measured.settings.application}, {place.text}: the forms of the program, ms, medians",
        title_justify="left",
    )
    table.add_column("who and how")
    for column in ("communication", "whole", "host's blocking whole over it", "95%"):
        table.add_column(column, justify="right")
    variants = measured.settings.variants(place.ranks)
    for variant in variants:
        host = next(one for one in variants if one.mpi == variant.mpi and not one.tutti)
        base, jobs = measured.of(place, host), measured.of(place, variant)
        ratio = compare(times_of(base), times_of(jobs))
        table.add_row(
            variant.label,
            milliseconds_text(times_of(jobs, communication=True)),
            milliseconds_text(times_of(jobs)),
            *(("", "") if variant == host else (ratio_text(ratio), interval_text(ratio))),
        )
    return table


def summary(runs: list[Run]) -> Table:
    """Geometric means over the MPIs, for each place and each way of Tutti."""
    table = Table(title="Geometric means over the MPIs of host over Tutti", title_justify="left")
    for column in ("where", "Tutti"):
        table.add_column(column)
    for column in ("communication", "95%", "over the best MPI", "95%", "whole", "95%"):
        table.add_column(column, justify="right")

    def kind_of(run: Run) -> tuple[Place, Variant]:
        return run.place, replace(run.tutti, mpi=runs[0].tutti.mpi)

    for kind in dict.fromkeys(map(kind_of, runs)):
        group = [run for run in runs if kind_of(run) == kind]
        place, variant = kind
        words = [
            {"default": "", "best": "best setting"}.get(variant.setting, variant.setting),
            "shared heap" if variant.heap else "",
            "servers" if variant.servers else "",
            variant.form,
        ]
        means = [
            geometric_mean([(timed.host, timed.tutti) for timed in times])
            for times in (
                [run.communication for run in group],
                [run.over_best for run in group],
                [run.whole for run in group],
            )
        ]
        table.add_row(
            place.text,
            ", ".join(word for word in words if word) or "default",
            *(text for mean in means for text in (ratio_text(mean), interval_text(mean))),
        )
    return table


def load_line(measured: Applications) -> str:
    marked = [
        f"{place.text}, {key} ({', '.join(str(k + 1) for k in loaded(jobs))})"
        for (place, key), jobs in measured.jobs.items()
        if loaded(jobs)
    ]
    if not marked:
        return ""
    if len(marked) == len(measured.jobs):
        marked = ["every variant"]
    return (
        f"load: other processes used the ranks' cores during {'; '.join(marked)} (repetitions in "
        "brackets); stop them and measure again"
    )


def show(measured: Applications, console: Console) -> None:
    settings, runs = measured.settings, runs_of(measured)
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
        cores_text(most_nodes(settings)) if settings.hosts else "",
        *(
            f"delay {delay}: a byte takes {time_text(centre(times))} us one way"
            for delay, times in measured.one_way_us.items()
        ),
        load_line(measured),
        f"seed {measured.seed}",
    ]
    for line in notes:
        if line:
            console.print(line, highlight=False, markup=False, soft_wrap=True)


MOST_NAMES = 4  # the most answers to name that are as precise; more are counted


def _names(answers: dict[str, Any]) -> str:
    by_tolerance: dict[float, list[str]] = {}
    for name, answer in answers.items():
        by_tolerance.setdefault(answer.tolerance, []).append(name)
    return "; ".join(
        (f"{len(names)} answers" if len(names) > MOST_NAMES else ", ".join(names))
        + (f" within {tolerance:g}" if tolerance else " to the last bit")
        for tolerance, names in by_tolerance.items()
    )


def draw(measured: Applications, stem: Path) -> list[Path]:
    """Draws the phases of each variant as bars, a panel for each place.

    Writes STEM.png and STEM.svg and returns their paths.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    settings = measured.settings
    places = settings.places
    most = max(len(settings.variants(place.ranks)) for place in places)
    figure, grid = pyplot.subplots(
        len(places), 1, figsize=(8.5, len(places) * (0.7 + 0.33 * most) + 0.9), squeeze=False
    )
    phases: dict[str, tuple[str, float]] = {}
    for jobs in measured.jobs.values():
        phases |= jobs.outputs[0].phases
    for axes, place in zip(grid[:, 0], places, strict=True):
        variants = settings.variants(place.ranks)
        lefts = [0.0] * len(variants)
        for number, (name, (kind, _)) in enumerate(phases.items()):
            times = [
                1000 * centre(times_of(measured.of(place, variant), phase=name) or [0.0])
                for variant in variants
            ]
            axes.barh(
                range(len(variants)),
                times,
                left=lefts,
                label=f"{name} ({kind})",
                color=COLOURS[number % len(COLOURS)],
                alpha=1.0 if kind == KINDS[0] else 0.35,
            )
            lefts = [left + time for left, time in zip(lefts, times, strict=True)]
        axes.set_yticks(range(len(variants)), [one.label for one in variants], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(f"{settings.application}, {place.text}", fontsize=10)
        axes.set_xlabel("ms", fontsize=8)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=min(4, len(labels)), fontsize=8)
    lines = (len(labels) + 3) // 4
    figure.tight_layout(rect=(0, 0.25 * lines / figure.get_figheight(), 1, 1))
    written = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    for file in written:
        figure.savefig(file, dpi=150)
    pyplot.close(figure)
    return written
