"""The command `tutti tune`: measures this machine and writes a table of what serves it better than the default."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tutti.bench.command import choose_mpis, default_ranks, output_file, with_tutti
from tutti.bench.mpis import find_mpis
from tutti.bench.words import parse_ranks, parse_sizes
from tutti.doctor import GOOD, examine_heap
from tutti.errors import RunError, UserError
from tutti.places import core
from tutti.tuning import state as states
from tutti.tuning.candidates import parse_collectives
from tutti.tuning.jobs import TuneSettings
from tutti.tuning.keeping import existing_table
from tutti.tuning.links import links_of_this_machine
from tutti.tuning.measuring import Measuring, chosen_by, still_racing
from tutti.tuning.picking import LEAST_REPETITIONS, Pick, rules_of
from tutti.tuning.writing import default_of, show_summary, table_text

DEFAULT_SIZES = "8,64,512,4K,32K,256K,1M"


def _state_file(output: Path) -> Path:
    return output.with_name(output.name + ".state")


def _start(settings: TuneSettings, output: Path, resume: bool, console: Console) -> states.State:
    file = _state_file(output)
    if resume:
        return states.load(file, settings)
    if file.exists():
        raise UserError(
            f"'{file}' is of a tuning that was interrupted; add --resume to go on with it, or remove it"
        )
    links = links_of_this_machine()
    for one in links:
        console.print(one.text, highlight=False, soft_wrap=True)
    return states.State(states.settings_json(settings) | {"leaves": [one.leaves for one in links]})


def _measure(
    settings: TuneSettings, state: states.State, output: Path, seconds: float, console: Console
) -> tuple[list[Pick], list[Pick]]:
    """What the race picked and what was confirmed.

    The progress bar is redrawn between jobs only: a thread that draws would disturb what is measured.
    """
    file = _state_file(output)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, auto_refresh=False, transient=True) as progress:
        task = progress.add_task("candidates", total=None)

        def before_job(line: str, ended: int, total: int) -> None:
            progress.update(task, completed=ended, total=total, description=line)
            progress.refresh()

        try:
            return Measuring(settings, state, before_job, lambda: states.save(state, file)).run(
                seconds
            )
        except KeyboardInterrupt:
            if state.done:
                again = f"tutti tune: {len(state.done)} jobs are kept in '{file}'; the same command with --resume goes on"
                progress.console.print(again, highlight=False, soft_wrap=True)
            raise


def _defaults(picks: list[Pick], settings: TuneSettings) -> dict[Pick, str]:
    with chosen_by(None):
        return {
            one: default_of(
                one.cell.collective,
                one.cell.bytes,
                one.cell.ranks,
                one.cell.ranks > settings.cores,
                settings.shared_heap,
            ).label
            for one in picks
            if one.label is not None
        }


def _write(path: Path, text: str, console: Console) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise RunError(f"cannot write '{error.filename}': {error.strerror}") from error
    console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def say_what_older_rules_decide(
    picks: list[Pick], settings: TuneSettings, table: Path, console: Console
) -> None:
    """Of the cells that keep the default by what was measured: the table may have had rules for them."""
    places = []
    with chosen_by(None):
        for one in picks:
            oversubscribed = one.cell.ranks > settings.cores
            found = core().explain(one.cell.collective, one.cell.bytes, one.cell.ranks, 0, oversubscribed, [], str(table),
                                   reached=settings.shared_heap)  # fmt: skip
            place = found["considered"][found["chosen"]]["place"]
            if one.label is None and place.startswith(f"{table}:"):
                places.append(place)
    if places:
        lines = ", ".join(dict.fromkeys(places))
        console.print(f"{len(places)} of these are decided by rules that the table had before: {lines}; remove them, or let "
                      "them say `reached no`, where Tutti's choice should stand.", highlight=False, soft_wrap=True)  # fmt: skip


def _collectives(text: str, shared_heap: bool) -> list[str]:
    names = parse_collectives(text)
    if not shared_heap:
        return names
    if text != "all" and "barrier" in names:
        raise UserError(
            "--collectives: a barrier moves no memory, which is all that --shared-heap changes; leave one of them out"
        )
    reach = core().environment()["TUTTI_REACH"][0]
    if reach is not None and reach.lower() not in ("auto", "direct"):
        raise UserError(
            f"--shared-heap: TUTTI_REACH={reach} keeps ranks from reaching each other's memory; unset it"
        )
    heap = examine_heap()
    if heap.state != GOOD:
        raise UserError(f"--shared-heap: {heap.says}; {heap.remedy}")
    return [name for name in names if name != "barrier"]


def _settings(
    ranks: str | None,
    collectives: str,
    sizes: str,
    mpi: str | None,
    repetitions: int,
    budget_ms: int,
    margin: float,
    seed: int,
    shared_heap: bool,
) -> TuneSettings:
    for option, value, least, most in (
        ("--repetitions", repetitions, LEAST_REPETITIONS, 100), ("--budget-ms", budget_ms, 1, 60000), ("--margin", margin, 0, 1)
    ):  # fmt: skip
        if not least <= value <= most:
            raise UserError(
                f"{option}: '{value}' is not accepted; numbers from {least} to {most} are"
            )
    cores = len(os.sched_getaffinity(0))
    rank_counts = sorted(parse_ranks(ranks) if ranks is not None else default_ranks(cores))
    if rank_counts[0] < 2:
        raise UserError("--ranks: a rank alone has nothing to choose; give counts from 2")
    chosen = choose_mpis([mpi] if mpi else [], find_mpis())[0]
    with_tutti(True, [chosen])
    return TuneSettings(
        mpi=chosen, ranks=rank_counts, cores=cores, collectives=_collectives(collectives, shared_heap),
        sizes=sorted(parse_sizes(sizes)), repetitions=repetitions, budget_ms=budget_ms, margin=margin, seed=seed,
        shared_heap=shared_heap,
    )  # fmt: skip


def tune(
    ranks: Annotated[
        str | None, typer.Option(help="Rank counts, as in 2,4,8 [2, the cores, twice the cores].")
    ] = None,
    collectives: Annotated[
        str, typer.Option(help="Which collectives: all, or names as `tutti explain` takes them.")
    ] = "all",
    sizes: Annotated[
        str, typer.Option(help="Bytes of one part, or of the vector where all ranks have it.")
    ] = DEFAULT_SIZES,
    mpi: Annotated[
        str | None, typer.Option(help="The MPI to run under; the choice is good for every one.")
    ] = None,
    shared_heap: Annotated[
        bool,
        typer.Option(
            "--shared-heap",
            help="Measure under `tutti-run --shared-heap`, and put rules with `reached yes` in front "
            "of what the table has.",
        ),
    ] = False,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The table to write.")
    ] = "tuned.map",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a tuning that was interrupted.")
    ] = False,
    minutes: Annotated[
        float, typer.Option(help="Stop measuring after so long; what is known then decides.")
    ] = 15,
    repetitions: Annotated[int, typer.Option(help="How often everything is measured at most.")] = 7,
    budget_ms: Annotated[int, typer.Option(help="Milliseconds for each cell of each job.")] = 20,
    margin: Annotated[
        float, typer.Option(help="By how much a candidate must be faster, besides the noise.")
    ] = 0.02,
    seed: Annotated[int, typer.Option(help="Of the order in which candidates run.")] = 1,
    json_name: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="Write all measurements here.")
    ] = None,
) -> None:
    """Measure which algorithms suit this machine, and write a table for `tutti-run --table`."""
    console = Console() if Console().is_terminal else Console(width=132)
    if not 0 < minutes <= 100000:
        raise UserError(f"--minutes: '{minutes:g}' is not accepted; numbers above 0 are")
    table, json_file = output_file("--output", output), output_file("--json", json_name)
    assert table is not None
    existing_table(table)  # would be lost at the end if it were none
    settings = _settings(
        ranks, collectives, sizes, mpi, repetitions, budget_ms, margin, seed, shared_heap
    )
    state = _start(settings, table, resume, console)
    settings = states.with_leaves(settings, state)
    raced, picks = _measure(settings, state, table, minutes * 60, console)
    repetitions_done = len(
        {job.repetition for job in state.done if job.repetition < settings.repetitions}
    )
    again = len({job.repetition for job in state.done}) - repetitions_done
    too_few = repetitions_done < LEAST_REPETITIONS and still_racing(settings, state)
    if too_few or (any(one.label for one in raced) and again < LEAST_REPETITIONS):
        raise RunError(
            f"{minutes:g} minutes were enough for {repetitions_done} repetitions and {again} that confirm, and a choice needs "
            f"{LEAST_REPETITIONS} of each; give more --minutes with --resume, or fewer --ranks, --collectives or --sizes"
        )
    defaults = _defaults(picks, settings)
    rules = rules_of(picks, settings.cores, core().line_payload, settings.shared_heap)
    text = table_text(rules, settings, again, defaults, existing_table(table))
    core().read_map(
        text, str(table)
    )  # what was written must be readable, or it is our error, before it is anybody's
    unconfirmed = sum(one.label is not None for one in raced) - sum(
        one.label is not None for one in picks
    )
    show_summary(picks, defaults, unconfirmed, console)
    _write(table, text, console)
    say_what_older_rules_decide(picks, settings, table, console)
    if json_file is not None:
        document = state.as_json() | {
            "format": "tutti-tune 1",
            "picks": [asdict(one) for one in picks],
        }
        _write(json_file, json.dumps(document, indent=1) + "\n", console)
    _state_file(table).unlink(missing_ok=True)
