"""Machines that the model reads: files that `docs/model.md` describes.

A file may be like a machine that comes with Tutti; it is made whole here, before the core reads it.
"""

import json
import os
from pathlib import Path
from typing import Any

from tutti.errors import UserError
from tutti.places import PACKAGE, core
from tutti.plan.machine import Machine

FILES = PACKAGE / "machines"


def known_files() -> dict[str, Path]:
    """The machines that come with Tutti, by name."""
    return {file.stem: file for file in sorted(FILES.glob("*.json"))}


def known_costs(name: str) -> Any:
    """The costs in the file of a machine that comes with Tutti, with those of the machine it is like."""
    return json.loads(_whole(known_files()[name].read_text(encoding="utf-8"), name))


def _merged(base: Any, own: Any) -> Any:
    """Members of objects are merged; anything else is replaced."""
    if not isinstance(base, dict) or not isinstance(own, dict):
        return own
    return base | {key: _merged(base.get(key), value) for key, value in own.items()}


def _whole(text: str, file: str) -> str:
    """A machine's text, with what it lacks from the machine that it is "like", if it names one."""
    try:
        costs = json.loads(text)
    except ValueError:  # the core says where it is wrong
        return text
    if not isinstance(costs, dict) or "like" not in costs:
        return text
    like = costs.pop("like")
    if not isinstance(like, str) or like not in known_files():
        raise UserError(
            f"{file}: like: there is no machine {json.dumps(like)}; known are "
            f"{', '.join(known_files())}"
        )
    base = known_costs(like)
    whole = _merged(base, costs)
    if isinstance(costs.get("source"), str):
        whole["source"] = f"{costs['source']} Else as {like}: {base['source']}"
    return json.dumps(whole)


def read_model(file: Path) -> Any:
    """The model of the machine in a file, or of a machine that comes with Tutti, by its name.

    A file wins over a name.
    """
    if not os.path.exists(file):  # unlike Path.exists, for names of any length
        file = known_files().get(str(file), file)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(
            f"--machine: cannot read '{file}': {reason}; give a file, or a machine that "
            "`tutti model machines` lists"
        ) from error
    return model_of(text, str(file))


def model_of(text: str, file: str) -> Any:
    """The model of a machine's text; `file` names it in errors."""
    try:
        return core().Model(_whole(text, file), file)
    except core().Error as error:
        raise UserError(str(error)) from error


def foreign(model: Any) -> str:
    """Why a model's machine is not this one; "" if nothing tells.

    Both must have the same sockets, NUMA regions, caches and cores in a node, if the file has a
    shape.
    """
    costs = json.loads(model.text)
    if not costs.get("shape"):
        return ""
    theirs, here = Machine.parse(costs["shape"]).node, Machine.this().node
    if theirs.shape == here.shape:
        return ""
    return (
        f"'{costs['name']}' is a machine of '{costs['shape']}', which has {theirs.cores} cores a "
        f"node in other groups than the {here.cores} cores of this machine"
    )
