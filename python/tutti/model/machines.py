"""Machines that the model reads: files that `docs/model.md` describes."""

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
            f"--machine: cannot read '{file}': {reason}; give a file, or one of "
            f"{', '.join(known_files())}"
        ) from error
    return model_of(text, str(file))


def model_of(text: str, file: str) -> Any:
    """The model of a machine's text; `file` names it in errors."""
    try:
        return core().Model(text, file)
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
