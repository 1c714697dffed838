"""Loads plan functions from Python files. No other module of Tutti runs users' plan files.

Such a file is code with all rights of the user who runs it. Only `tutti plan compile` runs it,
once, when the user names the file. Programs under tutti-run never run it; they read compiled
plans.
"""

import contextlib
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tutti.errors import UserError
from tutti.plan.fault import place_of
from tutti.plan.language import Collective


def is_python(target: str) -> bool:
    """True if a target is FILE.py, FILE.py:NAME, or a module of plans such as
    tutti.plan.lam:linear.
    """
    file, _, name = target.partition(":")
    return file.endswith(".py") or (
        bool(name) and not os.path.exists(target) and file.replace(".", "_").isidentifier()
    )


def load(target: str) -> Collective:
    """The plan function that a target names. The name may be omitted if the file has one function.

    Raises UserError.
    """
    file, _, name = target.partition(":")
    module = _file(Path(file)) if file.endswith(".py") else _module(file)
    functions = {key: value for key, value in vars(module).items() if isinstance(value, Collective)}
    own = {
        key: value for key, value in functions.items() if value.__module__ == module.__name__
    } or functions
    if name:
        if name not in functions:
            raise UserError(
                f"{file} has no collective '{name}'; it has {', '.join(functions) or 'none'}"
            )
        return functions[name]
    if len(own) != 1:
        has = (
            f"it has {', '.join(own)}; name one, {file}:NAME"
            if own
            else "write one with @tp.collective(...)"
        )
        raise UserError(f"{file} has {len(own)} collectives, not one; {has}")
    return next(iter(own.values()))


def _file(path: Path) -> ModuleType:
    if not os.path.isfile(path):
        raise UserError(f"cannot read '{path}': there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UserError(f"cannot read '{path}': Python cannot load it as a module; name it FILE.py")
    module = importlib.util.module_from_spec(spec)
    # The file can import others in its directory, as with `python FILE`. No bytecode is written
    # there.
    directory, sys.dont_write_bytecode = str(path.resolve().parent), True
    sys.path.insert(0, directory)
    sys.modules[path.stem] = module
    try:
        guarded(lambda: spec.loader.exec_module(module) if spec.loader else None, str(path))
    finally:
        sys.path.remove(directory)
    return module


def _module(name: str) -> ModuleType:
    try:
        found = importlib.util.find_spec(name)
    except ImportError:
        found = None
    if found is None:
        raise UserError(
            f"there is no module or file '{name}'; give FILE.py:NAME, or a module such as "
            "tutti.plan.lam:linear"
        )
    module: ModuleType = guarded(lambda: importlib.import_module(name), name)
    return module


def guarded(call: Any, what: str) -> Any:
    """Runs users' code. Raises UserError, one line that names the user's line, for any exception.

    The code's output goes to stderr, because plans go to stdout.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return call()
    except UserError as error:
        raise error
    except SyntaxError as error:
        raise UserError(f"{error.filename or what}:{error.lineno or 0}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        place = place_of(error.__traceback__) or what
        raise UserError(f"{place}: {type(error).__name__}: {error}") from error
