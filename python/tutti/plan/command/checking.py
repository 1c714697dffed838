"""`tutti plan check` checks plans, trees, and maps with all plans that they name."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti.errors import RunError, UserError
from tutti.places import core
from tutti.plan.command.files import (
    check_text,
    counted,
    entries_of,
    findings,
    is_directory,
    kind_of,
    name_of,
    plan_json,
    plan_of,
    read,
    read_text,
    verdict,
)
from tutti.plan.command.python_files import is_python


def check(
    file: Annotated[
        str,
        typer.Argument(
            help="The file of a plan, a tree or a map, or a directory with a map; - reads stdin."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
) -> None:
    """Check that a plan computes its collective.

    The exit code is 1 if it does not.
    """
    if is_python(file):
        raise UserError(
            f"'{file}' is code, which check does not run; run `tutti plan compile {file} --ranks "
            "N -o OUT.plan`, which also checks the plan"
        )
    path = Path(file)
    if is_directory(path):
        maps = [
            entry for entry in entries_of(path) if entry.name == "map" or entry.suffix == ".map"
        ]
        if not maps:
            raise UserError(
                f"the directory '{file}' has no map; write a file {path / 'map'} that says which "
                "plan serves which calls, or give the file of one plan"
            )
        for entry in maps:
            _read_named(read_text(entry), str(entry))
        _check_directory(path, as_json)
        return
    text = read_text(path)
    if kind_of(text) == "tutti-map":
        _check_map(text, file, as_json)
    else:
        _say(plan_of(text, name_of(path)), name_of(path), as_json)


def _say(plan: Any, name: str, as_json: bool) -> None:
    found = verdict(plan, name)
    if as_json:
        print(json.dumps(plan_json(plan, found), indent=1))
        return
    shape = f", for {plan.shape}" if plan.shape else ""
    print(
        f"{name}: {plan.collective}, {counted(plan.ranks, 'rank')}, "
        f"{counted(plan.transfer_count, 'transfer')}{shape}"
    )
    print(check_text(found, plan.collective))


def _check_map(text: str, name: str, as_json: bool) -> None:
    _read_named(text, name)
    _check_directory(Path(name).parent, as_json, name)


def _read_named(text: str, name: str) -> None:
    """Reads all files that the map names, so that a file without a plan counts as bad input."""
    try:
        named = core().read_map(text, name)["rules"]
    except core().Error as error:
        raise UserError(str(error)) from error
    directory = Path(name).parent
    for rule in named:
        if not rule["builtin"]:
            read(directory / rule["target"])


def _check_directory(directory: Path, as_json: bool, only: str | None = None) -> None:
    """Checks what a program under `tutti-run --plans DIRECTORY` loads, or only the rules of one
    map.
    """
    try:
        rules = core().load_library(str(directory))
    except core().Error as error:
        raise RunError(str(error)) from error
    if only is not None:
        of_map = str(directory) + "/" + Path(only).name + ":"
        rules = [rule for rule in rules if rule["place"].startswith(of_map)]
    if as_json:
        entries = [rule | {"check": rule["check"] and findings(rule["check"])} for rule in rules]
        print(json.dumps({"format": "tutti-map 1", "rules": entries}, indent=1))
        return
    print(f"{only or directory}: {counted(len(rules), 'rule')}, right")
    for rule in rules:
        print(f"  {rule['text']}")
