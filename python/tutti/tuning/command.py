"""The command `tutti tune` measures this machine and writes a table of rules.

Each rule names an algorithm that was faster than the default.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console

from tutti import probes
from tutti.bench.checks import choose_mpis, default_ranks, output_file, with_tutti
from tutti.bench.mpis import find_mpis
from tutti.bench.progress import with_progress
from tutti.bench.words import parse_ranks, parse_sizes
from tutti.choose.candidates import parse_collectives
from tutti.choose.found import place_for
from tutti.choose.links import links_of_this_machine
from tutti.choose.picking import LEAST_REPETITIONS, Pick, rules_of
from tutti.choose.placement import Placement, placement_here, placement_on
from tutti.doctor import GOOD, examine_heap
from tutti.errors import RunError, UserError, cannot_write
from tutti.model.measure import machine_here, measure_steps
from tutti.options import Bytes, Collectives, JsonFile, RankCounts, option, taking
from tutti.places import core
from tutti.plan.command.machines import SHAPES
from tutti.plan.command.machines import machine as placed_machine
from tutti.predict.machines import foreign, model_of, read_model
from tutti.rows import members
from tutti.tables import new_console
from tutti.tuning import jobs
from tutti.tuning.by_model import Outcome, choose
from tutti.tuning.jobs import TuneSettings
from tutti.tuning.measuring import Measuring, chosen_by, still_racing
from tutti.tuning.writing import Served, default_of, existing_table, show_summary, table_text

MEASUREMENTS_OF_STEPS = 5  # the model takes the medians of these
DEFAULT_SIZES = "8,64,512,4K,32K,256K,1M"


def _state_file(output: Path) -> Path:
    return output.with_name(output.name + ".state")


def _start(settings: TuneSettings, output: Path, resume: bool, console: Console) -> jobs.State:
    file = _state_file(output)
    if resume:
        return jobs.load(file, settings)
    if file.exists():
        raise UserError(
            f"'{file}' belongs to a tuning that was interrupted; add --resume to continue it, or "
            "remove the file"
        )
    links = links_of_this_machine()
    for one in links:
        console.print(one.text, highlight=False, soft_wrap=True)
    return jobs.State(jobs.settings_json(settings) | {"leaves": [one.leaves for one in links]})


def _measure(
    settings: TuneSettings, state: jobs.State, output: Path, seconds: float, console: Console
) -> tuple[list[Pick], list[Pick]]:
    """The picks of the race, and the picks that were confirmed."""
    file = _state_file(output)

    def measure(before_job: Callable[..., None]) -> tuple[list[Pick], list[Pick]]:
        measuring = Measuring(settings, state, before_job, lambda: jobs.save(state, file))
        return measuring.run(seconds)

    try:
        return with_progress(None, "candidates", measure)
    except KeyboardInterrupt:
        if state.done:
            again = (
                f"tutti tune: the results of {len(state.done)} jobs are in '{file}'; the same "
                "command with --resume continues"
            )
            console.print(again, highlight=False, soft_wrap=True)
        raise


def _placement(settings: TuneSettings, ranks: int) -> Placement:
    if settings.shape is not None:
        return placement_on(settings.shape, ranks, "slots")
    return placement_here(ranks, "slots")


def _served(one: Pick, settings: TuneSettings, table: str = "") -> Served:
    """Tells what serves a cell, by a table or else by default. The caller has cleared the
    environment."""
    cell, levels = one.cell, ""
    nodes: tuple[int, ...] = ()
    if settings.mpi is None:  # the ranks are bound, as the model has them
        placement = _placement(settings, cell.ranks)
        levels, nodes = placement.levels, placement.nodes
    many, heap = cell.ranks > settings.cores, settings.shared_heap
    return default_of(cell.collective, cell.bytes, cell.ranks, many, heap, levels, nodes, table)


def _defaults(picks: list[Pick], settings: TuneSettings) -> dict[Pick, str]:
    with chosen_by(None):
        return {one: _served(one, settings).label for one in picks if one.label is not None}


def _write(path: Path, text: str, console: Console) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise cannot_write(error, path) from error
    console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def report_older_rules(
    picks: list[Pick], settings: TuneSettings, table: Path, console: Console
) -> None:
    """Prints the older rules that decide cells for which the default was measured best."""
    with chosen_by(None):
        found = [_served(one, settings, str(table)).place for one in picks if one.label is None]
    places = [place for place in found if place.startswith(f"{table}:")]
    if places:
        lines = ", ".join(dict.fromkeys(places))
        console.print(
            f"Older rules of the table decide {len(places)} of these cells: {lines}. To use "
            "Tutti's choice there, remove the rules or add `reached no` to them.",
            highlight=False,
            soft_wrap=True,
        )


def _collectives(text: str, shared_heap: bool) -> list[str]:
    names = parse_collectives(text)
    if not shared_heap:
        return names
    if text != "all" and "barrier" in names:
        raise UserError(
            "--collectives: --shared-heap does not change a barrier, which moves no data; leave "
            "barrier or --shared-heap out"
        )
    reach = core().environment()["TUTTI_REACH"][0]
    if reach is not None and reach.lower() not in ("auto", "direct"):
        raise UserError(
            f"--shared-heap: TUTTI_REACH={reach} keeps ranks from reaching each other's memory; "
            "unset it"
        )
    heap = examine_heap()
    if heap.state != GOOD:
        raise UserError(f"--shared-heap: {heap.says}; {heap.remedy}")
    return [name for name in names if name != "barrier"]


def _reads_private_memory(shared_heap: bool) -> bool:
    """True if rules can make ranks read each other's private memory by the system's copies."""
    asked = core().environment()["TUTTI_REACH"][0]
    return not shared_heap and asked in (None, "", "auto") and probes.cma().works


@dataclass(frozen=True)
class Asked:
    """The options."""

    ranks: RankCounts = None
    collectives: Collectives = "all"
    bytes: Bytes = DEFAULT_SIZES
    mpi: Annotated[
        str | None,
        option(
            "The MPI to measure under (default: the first found); the table is valid for every MPI."
        ),
    ] = None
    shared_heap: Annotated[
        bool,
        option(
            "Measure under `tutti-run --shared-heap`, and put rules with `reached yes` before the "
            "rules that the table has.",
            "--shared-heap",
        ),
    ] = False
    output: Annotated[
        str | None,
        option("The table to write (default: tuned.map).", "-o", "--output", metavar="FILE"),
    ] = None
    install: Annotated[
        str | None,
        option(
            "Write the table where jobs on machines of this kind find it without an option: "
            "user: your jobs; site: everybody's. With --mpi, jobs of that MPI alone.",
            metavar="WHOSE",
        ),
    ] = None
    resume: Annotated[bool, option("Continue a tuning that was interrupted.", "--resume")] = False
    minutes: Annotated[
        float, option("Stop measuring after so many minutes; the results so far decide.")
    ] = 15
    repetitions: Annotated[int, option("How often everything is measured, at most.")] = 7
    budget_ms: Annotated[
        int, option("Milliseconds for each cell (collective and size) of each job.")
    ] = 20
    margin: Annotated[
        float, option("How much faster than the default a rule must be, beyond the noise.")
    ] = 0.02
    by_model: Annotated[
        bool,
        option(
            "Choose by predictions of the model, and measure only candidates that are near each "
            "other, among threads: seconds instead of minutes. --minutes, --budget-ms and --seed "
            "are for jobs, and have no effect then.",
            "--model",
        ),
    ] = False
    machine: Annotated[
        Path | None,
        option("With --model: the file with this machine's costs; else they are measured first."),
    ] = None
    shape: Annotated[
        str | None,
        option(
            f"With --model and --machine: choose by predictions alone for that machine, {SHAPES}."
        ),
    ] = None
    seed: Annotated[int, option("Seed of the order in which candidates run.")] = 1
    json_file: JsonFile = None


def _settings(asked: Asked) -> TuneSettings:
    by_model, shape = asked.by_model, asked.shape
    for option, value, least, most in (
        ("--repetitions", asked.repetitions, LEAST_REPETITIONS, 100),
        ("--budget-ms", asked.budget_ms, 1, 60000),
        ("--margin", asked.margin, 0, 1),
    ):
        if not least <= value <= most:
            raise UserError(
                f"{option}: '{value}' is not accepted; numbers from {least} to {most} are"
            )
    cores = len(os.sched_getaffinity(0))
    if shape is not None:
        if not by_model:
            raise UserError("--shape: it is for --model; add that, or leave --shape out")
        cores = placed_machine(shape).cores
    usual = [count for count in default_ranks(cores) if not by_model or count <= cores]
    rank_counts = sorted(parse_ranks(asked.ranks) if asked.ranks is not None else usual)
    if by_model and (not rank_counts or rank_counts[-1] > cores):
        whose = "this process may use" if shape is None else f"'{shape}' has"
        raise UserError(
            f"--model: {whose} {cores} cores, and the model knows no ranks that share a core; give "
            "--ranks from 2 to the number of cores, or leave --model out"
        )
    if rank_counts[0] < 2:
        raise UserError("--ranks: one rank needs no algorithm; give counts of 2 or more")
    chosen = None
    if not by_model:
        chosen = choose_mpis([asked.mpi] if asked.mpi else [], find_mpis())[0]
        with_tutti(True, [chosen])
    return TuneSettings(
        mpi=chosen,
        ranks=rank_counts,
        cores=cores,
        collectives=_collectives(asked.collectives, asked.shared_heap),
        sizes=sorted(parse_sizes(asked.bytes)),
        system_copies=_reads_private_memory(asked.shared_heap),
        **members(asked, "repetitions", "budget_ms", "margin", "seed", "shared_heap"),
        shape=shape,
    )


def model_of_this_machine(machine: Path | None) -> Any:
    """None, and why, if there is no model of it. Raises UserError if it cannot be measured."""
    if machine is None:
        steps = [measure_steps() for _ in range(MEASUREMENTS_OF_STEPS)]
        return model_of(json.dumps(machine_here(steps)), "tutti model measure"), ""
    try:
        model = read_model(machine)
    except UserError as error:
        return None, str(error)
    why_not = foreign(model)
    return (None, f"--machine: {why_not}") if why_not else (model, "")


def report_refused(outcome: Outcome, console: Console) -> None:
    """Prints why candidates have no prediction, each reason once."""
    reasons: dict[str, int] = {}
    for line in outcome.refused:
        reason = line.partition(": ")[2] or line
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        console.print(f"no prediction ({count} times): {reason}", highlight=False, soft_wrap=True)


def report_roots(outcome: Outcome, console: Console) -> None:
    """Prints which roots were tried, and how many cells have other answers for single roots."""
    for ranks, roots in outcome.roots.items():
        differing = [cell for cell in outcome.by_root if cell.ranks == ranks]
        words = (
            f"Calls with a root of {ranks} ranks: the means over roots "
            f"{', '.join(map(str, roots))} decide"
        )
        if differing:
            words += f"; in {len(differing)} cells a single root has another best candidate"
        console.print(words + ".", highlight=False, soft_wrap=True)


def _tune_by_model(
    settings: TuneSettings,
    table: Path,
    json_file: Path | None,
    machine: Path | None,
    console: Console,
) -> None:
    if settings.shape is not None:
        if machine is None:
            raise UserError("--shape: the costs of that machine are needed; give --machine")
        model, why_not = read_model(machine), ""
    else:
        model, why_not = model_of_this_machine(machine)
    if why_not:
        console.print(
            f"no model, so every candidate is measured: {why_not}", highlight=False, soft_wrap=True
        )
    outcome = with_progress(
        len(settings.ranks) * len(settings.collectives),
        "predicting",
        lambda say: choose(model, settings, say),
    )
    report_refused(outcome, console)
    if not outcome.picks:
        raise UserError("--machine: no candidate could be predicted; see the lines above")
    picks = outcome.picks
    defaults = _defaults(picks, settings)
    nodes = {ranks: _placement(settings, ranks).node_count for ranks in settings.ranks}
    rules = rules_of(picks, settings.cores, core().line_payload, settings.shared_heap, nodes)
    text = table_text(rules, settings, settings.repetitions, defaults, existing_table(table))
    core().read_map(text, str(table))
    show_summary(picks, defaults, 0, console)
    console.print(
        f"{outcome.predicted} cells were decided by prediction alone, "
        f"{len(picks) - outcome.predicted} by measurement.",
        highlight=False,
    )
    report_roots(outcome, console)
    _write(table, text, console)
    report_older_rules(picks, settings, table, console)
    if json_file is not None:
        document = {
            "format": "tutti-tune 1",
            "machine": json.loads(model.text) if model is not None else None,
            "no_model": why_not,
            "predicted": outcome.predicted,
            "roots": outcome.roots,
            "by_root": [asdict(cell) | {"best": best} for cell, best in outcome.by_root.items()],
            "picks": [asdict(one) for one in picks],
        }
        _write(json_file, json.dumps(document, indent=1) + "\n", console)


def _run(asked: Asked) -> None:
    """Measure which algorithms suit this machine, and write a table.

    `tutti-run --table` takes it, and with --install jobs find it by themselves.
    """
    console = new_console(132)
    minutes, install = asked.minutes, asked.install
    if not 0 < minutes <= 100000:
        raise UserError(f"--minutes: '{minutes:g}' is not accepted; numbers above 0 are")
    if install is not None and (asked.output is not None or asked.shape is not None):
        other = "--output" if asked.output is not None else "--shape"
        raise UserError(
            f"{other}: --install writes this machine's own file; leave one of the two out"
        )
    document_file = output_file("--json-file", asked.json_file)
    settings = _settings(asked)
    if install is None:
        table = output_file("--output", asked.output or "tuned.map")
    else:
        place = place_for(install, settings.mpi if asked.mpi is not None else None)
        table = output_file("--install", str(place))
    assert table is not None
    existing_table(table)  # fails now, not after the measurement, if the file is no table
    if asked.by_model:
        if asked.resume or asked.mpi is not None:
            raise UserError("--model: it needs neither --mpi nor --resume; leave them out")
        _tune_by_model(settings, table, document_file, asked.machine, console)
        return
    if asked.machine is not None:
        raise UserError("--machine: it is for --model; add that, or leave --machine out")
    state = _start(settings, table, asked.resume, console)
    settings = jobs.with_leaves(settings, state)
    raced, picks = _measure(settings, state, table, minutes * 60, console)
    repetitions_done = len(
        {job.repetition for job in state.done if job.repetition < settings.repetitions}
    )
    again = len({job.repetition for job in state.done}) - repetitions_done
    too_few = repetitions_done < LEAST_REPETITIONS and still_racing(settings, state)
    if too_few or (any(one.label for one in raced) and again < LEAST_REPETITIONS):
        raise RunError(
            f"{minutes:g} minutes were enough for {repetitions_done} repetitions and {again} that "
            f"confirm, but a choice needs {LEAST_REPETITIONS} of each; give more --minutes with "
            "--resume, or fewer --ranks, --collectives or --bytes"
        )
    defaults = _defaults(picks, settings)
    rules = rules_of(picks, settings.cores, core().line_payload, settings.shared_heap)
    text = table_text(rules, settings, again, defaults, existing_table(table))
    core().read_map(text, str(table))  # raises if the text is no table, before anything is written
    unconfirmed = sum(one.label is not None for one in raced) - sum(
        one.label is not None for one in picks
    )
    show_summary(picks, defaults, unconfirmed, console)
    _write(table, text, console)
    report_older_rules(picks, settings, table, console)
    if document_file is not None:
        document = state.as_json() | {
            "format": "tutti-tune 1",
            "picks": [asdict(one) for one in picks],
        }
        _write(document_file, json.dumps(document, indent=1) + "\n", console)
    _state_file(table).unlink(missing_ok=True)


tune = taking(Asked, _run)
