"""Reads and writes plans for the commands: built-in ones, and files of plans, trees and maps."""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from tutti.errors import RunError, UserError
from tutti.places import core

LARGEST_FILE = 1 << 28
# A larger plan is unreadable, and the size of all_read_all, which grows with the square of the
# ranks, would fill the memory.
MOST_RANKS = 4096
# The limit for collectives all of whose plans grow with the square: 4096 ranks would take
# gigabytes.
MOST_RANKS_OF_EXCHANGES = 1024
EXCHANGES = ("allgather", "alltoall", "reduce_scatter")
# A constant, because help texts are made before the compiled module is loaded.
COLLECTIVES_HELP = (
    "barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter, scan "
    "or exscan"
)
ALGORITHM_HELP = (
    "An algorithm that `tutti plan list` names, with its parameters: nary:4, direct:8, "
    "levels:binomial:flat."
)
ROOT_HELP = "The root of a bcast, reduce, gather or scatter."
FINDINGS = (
    ("rank_order", "correct for operations that do not commute"),
    ("uniform", "all ranks get the same bits"),
    ("in_place", "any rank may pass one buffer as in and out"),
    ("arrival", "combines data in the order of arrival: the bits may differ from run to run"),
)


def generate(collective: str, algorithm: str, ranks: int, root: int, levels: str = "") -> Any:
    most = MOST_RANKS_OF_EXCHANGES if collective in EXCHANGES else MOST_RANKS
    if not 1 <= ranks <= most:
        raise UserError(f"--ranks: {ranks} is out of range; give 1 to {most}")
    if not 0 <= root < ranks:
        raise UserError(f"--root: {root} is out of range; ranks are 0 to {ranks - 1}")
    try:
        return core().generate(collective, algorithm, ranks, root, levels)
    except core().Error as error:
        raise UserError(str(error)) from error


def is_directory(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # for example, the name is too long
        raise UserError(f"cannot read '{path}': {error.strerror}") from error


def entries_of(directory: Path) -> list[Path]:
    try:
        return sorted(directory.iterdir())
    except OSError as error:
        raise UserError(f"cannot read '{directory}': {error.strerror}") from error


def read_text(file: Path) -> str:
    """The text of a file, or of stdin if the file is `-`. Raises UserError."""
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
    """The name of a file in messages."""
    return "stdin" if str(file) == "-" else str(file)


def write(file: Path, text: str) -> None:
    """Writes the whole file or nothing, so that no program reads half a plan. Raises UserError.

    A file that is not a regular file, such as /dev/stdout, is written directly.
    """
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
    """The kind of a text by its first word: tutti-plan, tutti-tree or tutti-map."""
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words:
            return words[0] if words[0] in ("tutti-tree", "tutti-map") else "tutti-plan"
    return "tutti-plan"


def plan_of(text: str, name: str) -> Any:
    try:
        if kind_of(text) == "tutti-map":
            raise UserError(
                f"'{name}' is a map, not a plan; give one of the plans that it names, or run tutti "
                "plan check"
            )
        return (core().read_tree if kind_of(text) == "tutti-tree" else core().read_plan)(text, name)
    except core().Error as error:
        raise UserError(str(error)) from error


def read(file: Path) -> Any:
    """The plan in the file of a plan or a tree, or in stdin if it is `-`. Raises UserError."""
    if file.suffix == ".py":
        raise UserError(
            f"'{file}' is code; run `tutti plan compile {file} --ranks N -o OUT.plan` to make a "
            "plan"
        )
    return plan_of(read_text(file), name_of(file))


def verdict(plan: Any, name: str = "") -> Any:
    """The findings of the check.

    Raises RunError if the check refuses the plan; `name`, the plan's file if known, begins its
    message.
    """
    try:
        return core().check(plan)
    except core().Error as error:
        raise RunError(f"{name}{': ' if name else ''}the plan is wrong: {error}") from error


def findings(found: Any) -> dict[str, bool]:
    return {name: getattr(found, name) for name, _ in FINDINGS}


def _tells(name: str, collective: str) -> bool:
    """True if a finding is meaningful for this collective.

    `uniform` is not if ranks get different results, and the order of combining is not if nothing is
    combined.
    """
    one_result = not core().parted(collective) and collective not in ("scan", "exscan")
    return name == "in_place" or one_result or (name != "uniform" and core().combines(collective))


def check_text(found: Any, collective: str) -> str:
    """The findings as text. `arrival` is shown only if it holds, because it is rare."""
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
