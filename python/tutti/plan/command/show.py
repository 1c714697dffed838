"""`tutti plan show` and `tutti plan list`."""

import json
import os
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.errors import UserError
from tutti.places import core
from tutti.plan.command.files import (
    ALGORITHM_HELP,
    COLLECTIVES_HELP,
    MOST_RANKS,
    ROOT_HELP,
    check_text,
    entries_of,
    generate,
    is_directory,
    name_of,
    plan_json,
    plan_of,
    read,
    read_text,
    verdict,
)
from tutti.plan.command.machines import DEAL_HELP, SHAPES, levels_of
from tutti.tables import Table, new_console

CARRIER_TEXT = {
    "line": "short messages, in stamped lines",
    "slot": "longer messages, through rings of slots",
}
SUFFIXES = (".plan", ".tree")


def _carrier(plan: Any, wanted: str) -> str:
    if wanted not in ("auto", "line", "slot"):
        raise UserError(f"--carrier: '{wanted}' is unknown; known are auto, line, slot")
    if wanted == "auto":
        return "line" if core().lines_serve(plan) else "slot"
    return wanted


def _programs(plan: Any, carrier: str, ranks: list[int]) -> list[Any]:
    try:
        lowered: list[Any] = core().lower(plan, carrier, ranks)
    except core().Error as error:
        raise UserError(str(error)) from error
    return lowered


def _program_json(program: Any, carrier: str) -> dict[str, Any]:
    return {
        "rank": program.rank,
        "carrier": carrier,
        "stages": program.stages,
        "transfers": program.transfers,
        "lines": program.lines,
        "slot_blocks": program.slot_blocks,
        "min_positions": program.min_positions,
        "steps": program.steps,
    }


def _as_comment(text: str) -> str:
    """The text as comment lines, so that the whole output can be read as a plan."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


def _plan(
    what: str,
    algorithm: str | None,
    ranks: int | None,
    root: int | None,
    shape: str | None,
    deal: str,
) -> Any:
    is_file = what not in core().collectives() and (
        what == "-" or os.path.exists(what) or "/" in what or "." in what
    )
    if is_file:
        if not (algorithm is None and ranks is None and root is None and shape is None):
            left_out = "--algorithm, --ranks, --root and --shape"
            raise UserError(f"'{what}' is read as a file, which has its own; leave {left_out} out")
        return read(Path(what))
    if what not in core().collectives():
        known = ", ".join(core().collectives())
        raise UserError(f"'{what}' is neither a collective nor a file; collectives are {known}")
    for option, value in (("--algorithm", algorithm), ("--ranks", ranks)):
        if value is None:
            raise UserError(f"{what}: give {option} to select a plan")
    levels = (
        levels_of(shape, deal, ranks or 0) if ranks is not None and 1 <= ranks <= MOST_RANKS else ""
    )
    return generate(what, algorithm or "", ranks or 0, root or 0, levels)


def show(
    collective_or_file: Annotated[
        str,
        typer.Argument(help=f"{COLLECTIVES_HELP}; or the file of a plan or a tree; - reads stdin."),
    ],
    algorithm: Annotated[str | None, typer.Option(help=ALGORITHM_HELP)] = None,
    ranks: Annotated[int | None, typer.Option(help="Number of ranks.")] = None,
    root: Annotated[int | None, typer.Option(help=f"{ROOT_HELP} Default: 0.")] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            help=f"The machine whose cores the ranks are bound to: {SHAPES} (default: one level)."
        ),
    ] = None,
    deal: Annotated[str, typer.Option(help=DEAL_HELP)] = "block",
    rank: Annotated[int | None, typer.Option(help="Show only the program of this rank.")] = None,
    carrier: Annotated[
        str,
        typer.Option(
            help="Show programs for short messages (line) or longer ones (slot); auto: line if the "
            "plan can use lines."
        ),
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show a plan, the findings of the check, and each rank's program."""
    plan = _plan(collective_or_file, algorithm, ranks, root, shape, deal)
    is_file = collective_or_file not in core().collectives()
    found = verdict(plan, name_of(Path(collective_or_file)) if is_file else "")
    if rank is not None and not 0 <= rank < plan.ranks:
        raise UserError(f"--rank: {rank} is out of range; ranks are 0 to {plan.ranks - 1}")
    if rank is None and plan.ranks > MOST_RANKS:
        raise UserError(
            f"'{collective_or_file}' has {plan.ranks} ranks; give --rank to show one program"
        )
    word = _carrier(plan, carrier)
    lowered = _programs(plan, word, list(range(plan.ranks)) if rank is None else [rank])
    if as_json:
        document = plan_json(plan, found) | {
            "programs": [_program_json(program, word) for program in lowered]
        }
        print(json.dumps(document, indent=1))
        return
    print(plan.text)
    print(_as_comment(check_text(found, plan.collective)))
    print(_as_comment(f"\nprograms for {CARRIER_TEXT[word]}:"))
    for program in lowered:
        print(_as_comment(f"\n{program.text}"))


def list_plans(
    directory: Annotated[
        Path | None, typer.Argument(help="List the plans and trees in this directory instead.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """List the built-in algorithms, or the plans in a directory."""
    if directory is None:
        _list_algorithms(as_json)
    else:
        _list_directory(directory, as_json)


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table()
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    new_console(132).print(table)


def _list_algorithms(as_json: bool) -> None:
    algorithms = core().algorithms()
    if as_json:
        print(json.dumps({"format": "tutti-plan-list 1", "algorithms": algorithms}, indent=1))
        return
    # No table: names with all their parameters leave no room beside them.
    width = new_console(100).width
    for algorithm in algorithms:
        degree = f" (N = {algorithm['default_degree']})" if algorithm["takes_degree"] else ""
        print(algorithm["usage"] + degree)
        for text in (algorithm["summary"], f"for {', '.join(algorithm['collectives'])}"):
            print(textwrap.fill(text, width, initial_indent="    ", subsequent_indent="    "))


def _list_directory(directory: Path, as_json: bool) -> None:
    if not is_directory(directory):
        raise UserError(
            f"'{directory}' is not a directory; give one with .plan or .tree files, or nothing to "
            "list the built-in algorithms"
        )
    entries = []
    for file in (file for file in entries_of(directory) if file.suffix in SUFFIXES):
        plan = plan_of(read_text(file), str(file))
        entries.append(
            {
                "file": file.name,
                "collective": plan.collective,
                "algorithm": plan.algorithm,
                "ranks": plan.ranks,
                "root": plan.root,
                "shape": plan.shape,
                "transfers": plan.transfer_count,
            }
        )
    if as_json:
        print(json.dumps({"format": "tutti-plan-list 1", "plans": entries}, indent=1))
        return
    if not entries:
        print(f"{directory}: there are no .plan or .tree files")
        return
    columns = ("file", "collective", "algorithm", "ranks", "root", "shape", "transfers")
    _table(columns, [tuple(str(entry[column]) for column in columns) for entry in entries])
