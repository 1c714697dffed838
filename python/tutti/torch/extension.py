"""Compiles the extension, once for each torch, Python, compiler and source.

Ranks that come at the same time wait for the one that compiles. The lock is the system's, so it goes
with a process that is killed, and a file is complete before it gets its name.
"""

import fcntl
import functools
import hashlib
import importlib.util
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.utils import cpp_extension

PACKAGE = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).resolve().parent / "backend.cpp"
NAME = "tutti_torch"


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "c++"))


def _command(target: Path) -> list[str]:
    includes = [str(PACKAGE / "include"), *cpp_extension.include_paths()]
    includes.append(sysconfig.get_paths()["include"])
    libraries = [*cpp_extension.library_paths(), str(PACKAGE / "lib")]
    return [
        *_compiler(),
        *("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"),
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        *(f"-DTORCH_EXTENSION_NAME={NAME}", "-DTORCH_API_INCLUDE_EXTENSION_H"),
        *(f"-I{directory}" for directory in includes),
        *("-o", str(target), str(SOURCE)),
        *(f"-L{directory}" for directory in libraries),
        *(f"-Wl,-rpath,{directory}" for directory in libraries),
        *("-ltutti", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"),
    ]


def _version_of_compiler() -> str:
    try:
        told = subprocess.run(
            [*_compiler(), "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(
            f"tutti.torch compiles an extension at its first use, but {_compiler()[0]} does not "
            f"run ({error}); install a C++ compiler, or name one by CXX"
        ) from None
    return told.stdout


def _place() -> Path:
    parts = [
        torch.__version__,
        sys.version,
        _version_of_compiler(),
        str(PACKAGE),
        *(source.read_text() for source in sorted(SOURCE.parent.glob("*.[ch]*"))),
        (PACKAGE / "include" / "tutti" / "tutti.h").read_text(),
    ]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tutti" / "torch" / key / f"{NAME}.so"


def _compile(place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent) as directory:
        made = Path(directory) / place.name
        done = subprocess.run(_command(made), capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(
                f"tutti.torch cannot compile its extension against torch {torch.__version__}:\n"
                + done.stderr[-4000:]
            )
        made.replace(place)


def _built() -> Path:
    place = _place()
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _compile(place)
    return place


@functools.cache
def load() -> Any:
    """The extension's module; compiles it first if that has not been done."""
    place = _built()
    spec = importlib.util.spec_from_file_location(NAME, place)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{place} is no extension of Python; remove it")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
