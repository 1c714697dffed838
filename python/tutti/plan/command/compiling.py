"""`tutti plan compile` makes plan files from plan functions and trees. It checks plans before it
writes.
"""

import ast
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.errors import RunError, UserError
from tutti.places import core
from tutti.plan.command.files import (
    MOST_RANKS,
    ROOT_HELP,
    check_text,
    counted,
    kind_of,
    name_of,
    plan_of,
    read_text,
    verdict,
    write,
)
from tutti.plan.command.machines import DEAL_HELP, SHAPES, deal_of, machine
from tutti.plan.command.python_files import guarded, is_python, load
from tutti.plan.fault import WrongPlan
from tutti.plan.language import Collective
from tutti.plan.machine import Deal, Machine

Target = Annotated[
    str,
    typer.Argument(
        help="A plan function, as FILE.py, FILE.py:NAME or MODULE:NAME; or the file of a tree."
    ),
]
RankCounts = Annotated[
    str | None, typer.Option("--ranks", help="Number of ranks, or several numbers, as in 4,8,16.")
]
Shape = Annotated[str, typer.Option(help=f"The machine: {SHAPES}.")]
DealOption = Annotated[str, typer.Option(help=DEAL_HELP)]
Root = Annotated[int, typer.Option(help=ROOT_HELP)]
Setting = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the function; may be repeated."
    ),
]


@dataclass
class Job:
    """One plan to make."""

    ranks: int
    root: int

    def file(self, name: str, rooted: bool) -> str:
        return f"{name}-{self.ranks}" + (f"-root{self.root}" if rooted else "") + ".plan"


def rank_counts(text: str | None) -> list[int]:
    if text is None:
        raise UserError("--ranks is missing; give --ranks 8 or --ranks 4,8,16")
    counts = []
    for word in text.split(","):
        if not word.isascii() or not word.isdigit() or not 1 <= int(word[:9]) <= MOST_RANKS:
            raise UserError(f"--ranks: '{word}' is not a number of ranks from 1 to {MOST_RANKS}")
        if int(word) not in counts:
            counts.append(int(word))
    return counts


def settings(function: Collective, words: list[str] | None) -> dict[str, Any]:
    """The function's parameters from --set. A value that is not a Python literal is a string."""
    values: dict[str, Any] = {}
    for word in words or []:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise UserError(f"--set: '{word}' is not NAME=VALUE")
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            values[name] = value
    try:
        function.signature.bind(None, **values)
    except TypeError as error:
        known = ", ".join(function.parameters) or "none"
        raise UserError(f"--set: {function.name}: {error}; its parameters are: {known}") from None
    return values


def build(
    function: Collective, job: Job, on: Machine, deal: Deal, parameters: dict[str, Any]
) -> Any:
    placed = on.place(job.ranks, deal)
    try:
        return guarded(lambda: function.build(placed, root=job.root, **parameters), function.name)
    except WrongPlan as error:
        raise RunError(f"the plan of {counted(job.ranks, 'rank')} is wrong: {error}") from error


def compile_plan(
    target: Target,
    ranks: RankCounts = None,
    shape: Shape = "this",
    deal: DealOption = "block",
    root: Root = 0,
    all_roots: Annotated[
        bool,
        typer.Option("--all-roots", help="Make a plan for each root, and a map that names them."),
    ] = False,
    set_: Setting = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, FILE.plan; for several plans, a directory for them and a map.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list of the plans made.")
    ] = False,
) -> None:
    """Run a plan function, check its plan, and write the plan as text.

    No other command runs Python plan files.
    """
    if not is_python(target):
        if ranks is not None or all_roots or root != 0 or set_:
            raise UserError(
                f"'{target}' is not Python, and has its own ranks and root; leave --ranks, --root, "
                "--all-roots and --set out"
            )
        _compile_tree(target, output, as_json)
        return
    function = load(target)
    rooted: bool = core().rooted(function.collective)
    if all_roots and not rooted:
        raise UserError(f"--all-roots: {function.collective} has no root; leave it out")
    if all_roots and root != 0:
        raise UserError("--root and --all-roots exclude each other; leave one of them out")
    counts = rank_counts(ranks)
    if root != 0 and not rooted:
        raise UserError(f"--root: {function.collective} has no root; leave it out")
    if not 0 <= root < min(counts):
        raise UserError(f"--root: {root} is out of range; ranks are 0 to {min(counts) - 1}")
    jobs = [Job(count, at) for count in counts for at in (range(count) if all_roots else [root])]
    on, dealt, parameters = machine(shape), deal_of(deal), settings(function, set_)
    plans = [build(function, job, on, dealt, parameters) for job in jobs]
    if len(counts) > 1 or all_roots:
        _write_all(function, jobs, plans, rooted, output, as_json)
    else:
        _write_one(plans[0], output, as_json)


def _compile_tree(target: str, output: Path | None, as_json: bool) -> None:
    text = read_text(Path(target))
    if kind_of(text) == "tutti-map":
        raise UserError(
            f"'{target}' is a map, which is not compiled; to check it, run tutti plan check"
        )
    plan = plan_of(text, name_of(Path(target)))
    verdict(plan, name_of(Path(target)))
    _write_one(plan, output, as_json)


def _entry(plan: Any, file: str | None) -> dict[str, Any]:
    return {
        "file": file,
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "ranks": plan.ranks,
        "root": plan.root,
        "shape": plan.shape,
        "transfers": plan.transfer_count,
    }


def _write_one(plan: Any, output: Path | None, as_json: bool) -> None:
    if output is None or str(output) == "-":
        print(_document([(plan, None)]) if as_json else plan.text.rstrip("\n"))
        return
    if os.path.isdir(output):
        raise UserError(
            f"-o: '{output}' is a directory; give a file for the one plan, such as {output}/my.plan"
        )
    write(output, plan.text)
    if as_json:
        print(_document([(plan, str(output))]))
        return
    print(
        f"{output}: {plan.collective}, {counted(plan.ranks, 'rank')}, "
        f"{counted(plan.transfer_count, 'transfer')}"
    )
    print(check_text(verdict(plan), plan.collective))


def _document(plans: list[tuple[Any, str | None]]) -> str:
    return json.dumps(
        {"format": "tutti-plan-list 1", "plans": [_entry(plan, file) for plan, file in plans]},
        indent=1,
    )


def rule(plan: Any, rooted: bool, file: str) -> str:
    """The map's rule that makes this plan serve its calls."""
    words = [plan.collective, f"ranks {plan.ranks}"]
    if rooted:
        words.append(f"root {plan.root}")
    if plan.shape:
        words.append(f"shape {plan.shape}")
    return " ".join(words) + f" -> {file}"


def _write_all(
    function: Collective,
    jobs: list[Job],
    plans: list[Any],
    rooted: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    if output is None or str(output) == "-":
        raise UserError(f"there is no directory for the {len(plans)} plans; give -o DIRECTORY")
    if os.path.exists(output) and not os.path.isdir(output):
        raise UserError(f"-o: '{output}' is a file; give a directory for the {len(plans)} plans")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write '{output}': {error.strerror}") from error
    files = [job.file(function.name, rooted) for job in jobs]
    for file, plan in zip(files, plans, strict=True):
        write(output / file, plan.text)
    rules = [rule(plan, rooted, file) for plan, file in zip(plans, files, strict=True)]
    write(output / f"{function.name}.map", "\n".join(["tutti-map 1", *rules]) + "\n")
    if as_json:
        print(_document(list(zip(plans, files, strict=True))))
    else:
        print(f"{output}: {counted(len(plans), 'plan')}, right, and {function.name}.map")
