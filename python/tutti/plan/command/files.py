"""Plans as the commands get them: built-in ones, and files of each kind (plan, tree, map)."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from tutti.errors import RunError, UserError
from tutti.places import core

LARGEST_FILE = 1 << 28
# Beyond this nobody reads a plan, and all_read_all, whose size grows with the square, would fill the memory.
MOST_RANKS = 4096
# Of collectives whose plans all grow with the square, so that 4096 ranks would take gigabytes.
MOST_RANKS_OF_EXCHANGES = 1024
EXCHANGES = ("allgather", "alltoall", "reduce_scatter")
# Help texts are made before the compiled module is loaded.
COLLECTIVES_HELP = "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan or exscan"
ALGORITHM_HELP = "As `tutti plan list` names them, with words behind them: nary:4, direct:8, levels:binomial:flat."
ROOT_HELP = "Of bcast, reduce, gather and scatter; 0 unless said."
FINDINGS = (
    ("rank_order", "serves operations that do not commute"),
    ("uniform", "all ranks get the same bits"),
    ("in_place", "any rank may pass one buffer as in and out"),
    ("arrival", "reduces as data arrives: the bits may differ from run to run"),
)


def generate(collective: str, algorithm: str, ranks: int, root: int, levels: str = "") -> Any:
    most = MOST_RANKS_OF_EXCHANGES if collective in EXCHANGES else MOST_RANKS
    if not 1 <= ranks <= most:
        raise UserError(f"--ranks: {ranks} is out of range; 1 to {most} can be shown")
    if not 0 <= root < ranks:
        raise UserError(f"--root: {root} is out of range; ranks are 0 to {ranks - 1}")
    try:
        return core().generate(collective, algorithm, ranks, root, levels)
    except core().Error as error:
        raise UserError(str(error)) from error


def is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that is too long
        raise UserError(f"cannot read '{path}': {error.strerror}") from error


def entries_of(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError as error:
        raise UserError(f"cannot read '{directory}': {error.strerror}") from error


def read_text(file: Path) -> str:
    """The text of a file, or of stdin where it is `-`."""
    try:
        if str(file) == "-":
            text = sys.stdin.read(LARGEST_FILE + 1)
        elif file.is_dir():
            raise UserError(f"'{file}' is a directory; give one of the files in it")
        else:
            with file.open(encoding="utf-8") as stream:
                text = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UserError(f"cannot read '{file}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read '{name_of(file)}': it is not text in UTF-8") from error
    if len(text) > LARGEST_FILE:
        raise UserError(
            f"cannot read '{name_of(file)}': it is larger than {LARGEST_FILE >> 20} MiB"
        )
    return text


def name_of(file: Path) -> str:
    """What messages call it."""
    return "stdin" if str(file) == "-" else str(file)


def write(file: Path, text: str) -> None:
    """As a whole or not at all: a program that starts meanwhile never reads half a plan. What is no plain file, such as
    /dev/stdout, is written as it is."""
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        whole = file.resolve()
        partial = whole.with_name(f".{whole.name}.{os.getpid()}")
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(whole)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
    except OSError as error:
        raise UserError(f"cannot write '{file}': {error.strerror}") from error


def kind_of(text: str) -> str:
    """What a text says that it is: tutti-plan, tutti-tree or tutti-map; its first word decides, not the file's name."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            return words[0] if words[0] in ("tutti-tree", "tutti-map") else "tutti-plan"
    return "tutti-plan"


def plan_of(text: str, name: str) -> Any:
    try:
        if kind_of(text) == "tutti-map":
            raise UserError(
                f"'{name}' is a map, which names plans; give one of them, or take tutti plan check"
            )
        return (core().read_tree if kind_of(text) == "tutti-tree" else core().read_plan)(text, name)
    except core().Error as error:
        raise UserError(str(error)) from error


def read(file: Path) -> Any:
    """A plan from the file of a plan or a tree, or from stdin where it is `-`."""
    if file.suffix == ".py":
        raise UserError(
            f"'{file}' is code; `tutti plan compile {file} --ranks N -o OUT.plan` makes a plan of it"
        )
    return plan_of(read_text(file), name_of(file))


def verdict(plan: Any, name: str = "") -> Any:
    """What the check finds; RunError, which says the plan's file where that is known, where it refuses the plan."""
    try:
        return core().check(plan)
    except core().Error as error:
        raise RunError(f"{name}{': ' if name else ''}the plan is wrong: {error}") from error


def findings(found: Any) -> dict[str, bool]:
    return {name: getattr(found, name) for name, _ in FINDINGS}


def _tells(name: str, collective: str) -> bool:
    """Whether a finding says something of this collective: where ranks get different results, that they are alike does not,
    nor does the order of combining where nothing is combined."""
    one_result = not core().parted(collective) and collective not in ("scan", "exscan")
    return name == "in_place" or one_result or (name != "uniform" and core().combines(collective))


def check_text(found: Any, collective: str) -> str:
    """The findings for people; that a plan waits for nobody's arrival is the rule and needs no line."""
    lines = ["check: right"]
    for name, meaning in FINDINGS:
        holds = getattr(found, name)
        if _tells(name, collective) and (holds or name != "arrival"):
            lines.append(f"  {name.replace('_', ' '):<11} {'yes' if holds else 'no':<4} {meaning}")
    return "\n".join(lines)


def plan_json(plan: Any, found: Any) -> dict[str, Any]:
    return {
        "format": "tutti-plan 1",
        "collective": plan.collective,
        "algorithm": plan.algorithm,
        "ranks": plan.ranks,
        "root": plan.root,
        "commutative": plan.commutative,
        "blocks": plan.blocks,
        "shape": plan.shape,
        "transfers": plan.transfers,
        "check": findings(found),
    }


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
