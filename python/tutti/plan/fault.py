"""Errors of the plan language: one line that begins with the user's file and line at fault."""

from __future__ import annotations

import os
import sys
from types import CodeType, TracebackType

import tutti
from tutti.errors import UserError

_PACKAGE = os.path.dirname(os.path.abspath(tutti.__file__))
# Errors name lines in the package's own plans as in users' plans.
_PLAN_FILES = {os.path.join(_PACKAGE, "plan", "lam.py")}
_names: dict[CodeType, str | None] = {}


class PlanError(UserError):
    """A plan cannot be made or is wrong: `my_plan.py:14: what is wrong; what would be right`."""


class WrongPlan(PlanError):
    """A plan that is well formed, but does not compute its collective."""


def _shown(code: CodeType) -> str | None:
    """The name of the file of this code in messages; None for Tutti's own code."""
    file = code.co_filename
    path = os.path.abspath(file)
    if path.startswith(_PACKAGE + os.sep):
        return os.path.relpath(path, os.path.dirname(_PACKAGE)) if path in _PLAN_FILES else None
    if file.startswith("<"):
        return None if file.startswith("<frozen ") else file
    here = os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path


def _name(code: CodeType) -> str | None:
    try:
        return _names[code]
    except KeyError:
        return _names.setdefault(code, _shown(code))


def user_place() -> tuple[str, int]:
    """(file, line) of the innermost call outside the package."""
    frame = sys._getframe(1)
    while frame is not None:
        name = _name(frame.f_code)
        if name is not None:
            return name, frame.f_lineno
        if frame.f_back is None:
            break
        frame = frame.f_back
    return "plan", 0


def place_of(traceback: TracebackType | None) -> str | None:
    """`file:line` of a traceback's innermost line outside the package; None if there is none."""
    place = None
    while traceback is not None:
        name = _name(traceback.tb_frame.f_code)
        if name is not None:
            place = f"{name}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def fault(message: str) -> PlanError:
    """The error to raise if the user's current line is at fault."""
    file, line = user_place()
    return PlanError(f"{file}:{line}: {message}")
