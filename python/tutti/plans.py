"""`tutti plan`: shows, lists and checks plans. All of it is the C++ that also runs them, asked by tutti._core."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tutti.errors import UserError
from tutti.places import core

app = typer.Typer(help="Show, list and check plans.", no_args_is_help=True)

LARGEST_FILE = 1 << 28
# Beyond this nobody reads a plan, and all_read_all, whose size grows with the square, would fill the memory.
MOST_RANKS = 4096


def generate(collective: str, algorithm: str, ranks: int, root: int) -> Any:
    if not 1 <= ranks <= MOST_RANKS:
        raise UserError(f"--ranks: {ranks} is out of range; 1 to {MOST_RANKS} can be shown")
    if not 0 <= root < ranks:
        raise UserError(f"--root: {root} is out of range; ranks are 0 to {ranks - 1}")
    try:
        return core().generate(collective, algorithm, ranks, root)
    except core().Error as error:
        raise UserError(str(error)) from error


def read(file: Path) -> Any:
    """A plan from a file, or from stdin where it is `-`."""
    try:
        if str(file) == "-":
            text = sys.stdin.read(LARGEST_FILE + 1)
        else:
            with file.open(encoding="utf-8") as stream:
                text = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UserError(f"cannot read '{file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read '{file}': it is not text in UTF-8") from error
    if len(text) > LARGEST_FILE:
        raise UserError(f"cannot read '{file}': it is larger than {LARGEST_FILE >> 20} MiB")
    try:
        return core().read_plan(text, str(file))
    except core().Error as error:
        raise UserError(str(error)) from error


def verdict(plan: Any) -> Any:
    try:
        return core().check(plan)
    except core().Error as error:
        raise UserError(f"the plan is wrong: {error}") from error


def findings(found: Any) -> list[tuple[str, bool, str]]:
    """(name, whether it holds, what that means) for each finding of the check."""
    return [
        ("rank order", found.rank_order, "serves operations that do not commute"),
        ("uniform", found.uniform, "all ranks get the same bits"),
        ("in place", found.in_place, "any rank may pass one buffer as in and out"),
    ]


def carriers(plan: Any, wanted: str) -> list[str]:
    if wanted not in ("auto", "line", "slot"):
        raise UserError(f"--carrier: '{wanted}' is unknown; known are auto, line, slot")
    if wanted == "auto":
        return ["line"] if core().lines_serve(plan) else ["slot"]
    return [wanted]


def programs(plan: Any, carrier: str, ranks: list[int]) -> list[Any]:
    try:
        lowered: list[Any] = core().lower(plan, carrier, ranks)
    except core().Error as error:
        raise UserError(str(error)) from error
    return lowered


def _plan_json(plan: Any, found: Any) -> dict[str, Any]:
    return {
        "format": "tutti-plan 1",
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "ranks": plan.ranks,
        "root": plan.root,
        "commutative": plan.commutative,
        "blocks": plan.blocks,
        "transfers": plan.transfers,
        "check": {"rank_order": found.rank_order, "uniform": found.uniform, "in_place": found.in_place},
    }


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


def _check_text(found: Any) -> str:
    lines = [f"  {name:<11} {'yes' if holds else 'no':<4} {meaning}" for name, holds, meaning in findings(found)]
    return "\n".join(["check: right", *lines])


def _as_comment(text: str) -> str:
    """What is shown of a plan besides its text is a comment in it, so that the whole can be read as a plan again."""
    return "\n".join(f"# {line}".rstrip() for line in text.splitlines())


CARRIER_TEXT = {"line": "short messages, in stamped lines", "slot": "longer messages, through rings of slots"}


@app.command()
def show(
    collective: Annotated[str, typer.Argument(help="barrier, bcast, reduce or allreduce.")],
    algorithm: Annotated[str, typer.Option(help="As `tutti plan list` names them; nary takes a degree, nary:4.")],
    ranks: Annotated[int, typer.Option(help="How many ranks.")],
    root: Annotated[int, typer.Option(help="Of bcast and reduce.")] = 0,
    rank: Annotated[int | None, typer.Option(help="Only the program of this rank.")] = None,
    carrier: Annotated[
        str, typer.Option(help="Programs for short messages (line) or longer ones (slot); auto: line where possible.")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Show a plan as text, what its check finds, and what each rank executes."""
    plan = generate(collective, algorithm, ranks, root)
    found = verdict(plan)
    if rank is not None and not 0 <= rank < ranks:
        raise UserError(f"--rank: {rank} is out of range; ranks are 0 to {ranks - 1}")
    which = list(range(plan.ranks)) if rank is None else [rank]
    lowered = [(word, program) for word in carriers(plan, carrier) for program in programs(plan, word, which)]
    if as_json:
        document = _plan_json(plan, found) | {"programs": [_program_json(p, word) for word, p in lowered]}
        print(json.dumps(document, indent=1))
        return
    print(plan.text)
    print(_as_comment(_check_text(found)))
    print(_as_comment(f"\nprograms for {CARRIER_TEXT[lowered[0][0]]}:"))
    for _, program in lowered:
        print(_as_comment(f"\n{program.text}"))


@app.command("list")
def list_algorithms(as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False) -> None:
    """List the algorithms and the collectives that they serve."""
    algorithms = core().algorithms()
    if as_json:
        print(json.dumps({"format": "tutti-plan-list 1", "algorithms": algorithms}, indent=1))
        return
    table = Table()
    for column in ("algorithm", "collectives", "summary"):
        table.add_column(column)
    for algorithm in algorithms:
        name = algorithm["name"] + (f":N (N = {algorithm['default_degree']})" if algorithm["takes_degree"] else "")
        table.add_row(name, ", ".join(algorithm["collectives"]), algorithm["summary"])
    console = Console()
    (console if console.is_terminal else Console(width=132)).print(table)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A plan in its text form; - for stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check that a plan computes the collective that it claims."""
    plan = read(file)
    found = verdict(plan)
    if as_json:
        print(json.dumps(_plan_json(plan, found), indent=1))
        return
    print(f"{file}: {plan.collective}, {plan.ranks} ranks, {len(plan.transfers)} transfers")
    print(_check_text(found))
