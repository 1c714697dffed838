"""The peers that Tutti is compared with: a file each in tutti/peers.

A file says how a peer that is installed is run: an MPI, by its settings, or a library in front of
an MPI. A setting has a sentence (`what`), and variables of the environment or words for the
launcher. A setting with a `component` needs one of Open MPI's, which `ompi_info` lists.
"""

import json
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tutti.bench.mpis import LIBRARIES, Mpi
from tutti.errors import UserError
from tutti.places import PACKAGE

# The words of --peer-settings; names of settings and libraries may stand beside one of them.
WORDS = ("auto", "default", "best", "both", "all")
# The setting in which a thread of the MPI polls while the program computes.
PROGRESS = "progress"


@dataclass(frozen=True)
class Setting:
    """How an MPI is run otherwise than it comes."""

    what: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    component: str = ""


@cache
def _files() -> dict[str, dict[str, Any]]:
    files = sorted((PACKAGE / "peers").glob("*.json"))
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def settings_of(family: str) -> dict[str, Setting]:
    """The settings of an MPI, by name."""
    settings = _files()[family]["settings"]
    return {name: Setting(**members) for name, members in settings.items()}


def _all_settings() -> set[str]:
    return {name for file in _files().values() for name in file.get("settings", ())} - {"best"}


def libraries() -> dict[str, str]:
    """The libraries that serve in front of an MPI: their files' names, by the peers' names."""
    return {name: file["library"] for name, file in _files().items() if "library" in file}


@cache
def _components(tool: Path) -> str:
    """The output of ompi_info; nothing if it does not run."""
    try:
        done = subprocess.run([tool], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def has_component(mpi: Mpi, setting: Setting) -> bool:
    return not setting.component or setting.component in _components(
        mpi.launcher.parent / "ompi_info"
    )


def serves(library: Path, mpi: Mpi) -> bool:
    """A library serves the MPI that it was linked with, whose name is in its file."""
    text = library.read_bytes()
    return any(name.encode() in text for name in LIBRARIES[mpi.abi])


@dataclass(frozen=True)
class PeerChoice:
    """A value of --peer-settings."""

    word: str  # one of WORDS
    names: frozenset[str]
    libraries: dict[str, Path]


def _library(name: str, place: str) -> Path:
    """The library of a peer; the user names the file, or the directory in which it lies."""
    path = Path(place) / libraries()[name] if Path(place).is_dir() else Path(place)
    if not place or not path.is_file():
        raise UserError(
            f"--peer-settings: there is no file '{path}'; give the place of "
            f"{libraries()[name]} as {name}=FILE"
        )
    return path.absolute()


@cache
def peer_choice(text: str) -> PeerChoice:
    """Reads a value of --peer-settings. Raises UserError."""
    given = dict(word.partition("=")[::2] for word in text.split(","))
    words = [word for word in given if word in WORDS]
    names = {word for word in given if word in _all_settings()}
    places = {word: place for word, place in given.items() if word in libraries()}
    for word in given:
        if word not in {*words[:1], *names, *places}:
            others = ", ".join(
                [*sorted(_all_settings()), *(f"{name}=FILE" for name in libraries())]
            )
            raise UserError(
                f"--peer-settings: '{word}' is not accepted; give one of {', '.join(WORDS)}, and "
                f"beside it some of {others}"
            )
    return PeerChoice(
        word=words[0] if words else "auto",
        names=frozenset(names),
        libraries={name: _library(name, place) for name, place in places.items()},
    )


def require_peers(choice: PeerChoice, mpis: list[Mpi]) -> None:
    """Raises UserError if none of the MPIs has a setting, or is served by a library, of the choice."""
    for name in sorted(choice.names):
        having = [mpi for mpi in mpis if name in settings_of(mpi.family)]
        if not any(has_component(mpi, settings_of(mpi.family)[name]) for mpi in having):
            why = (
                "ompi_info shows that the component is not built in" if having else "no MPI has it"
            )
            raise UserError(
                f"--peer-settings: {name}: {why}; leave it out, or name an MPI by --mpi"
            )
    for name, library in choice.libraries.items():
        if not any(serves(library, mpi) for mpi in mpis):
            raise UserError(
                f"--peer-settings: {name}: '{library}' was linked with none of "
                f"{', '.join(mpi.label for mpi in mpis)}; name its MPI by --mpi"
            )
