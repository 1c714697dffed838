"""The variants to measure (an MPI, its setting, with or without Tutti) and how to start each."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti.bench.mpis import Mpi
from tutti.bench.peer_files import (
    PROGRESS,
    PeerChoice,
    Setting,
    has_component,
    peer_choice,
    serves,
    settings_of,
)

BINDINGS = ("auto", "core", "none", "default")


@dataclass(frozen=True)
class Variant:
    mpi: Mpi
    setting: str  # "default", "best" (for ranks that share cores), or another one of a peer's file
    tutti: bool
    heap: bool = False  # with Tutti's shared heap
    servers: bool = False  # with Tutti's servers
    form: str = ""  # the form of an application that has several (applications.FORMS)
    library: Path | None = None  # a peer in front of the MPI

    @property
    def key(self) -> str:
        """The name in files and tables, such as mpich, mpich+tutti+heap, mpich@best+tutti,
        mpich@mpir, mpich:overlapped.
        """
        setting = "" if self.setting == "default" else "@" + self.setting
        return (
            self.mpi.name
            + setting
            + ("+tutti" if self.tutti else "")
            + ("+heap" if self.heap else "")
            + ("+servers" if self.servers else "")
            + (":" + self.form if self.form else "")
        )

    @property
    def label(self) -> str:
        setting = {
            "default": "",
            "best": ", best setting",
            PROGRESS: ", progress thread",
        }.get(self.setting, ", " + self.setting)
        return (
            self.mpi.label
            + setting
            + (", Tutti" if self.tutti else "")
            + (", shared heap" if self.heap else "")
            + (", servers" if self.servers else "")
            + (", " + self.form if self.form else "")
        )


def settings_for(mpi: Mpi, chosen: str, oversubscribed: bool) -> list[str]:
    """The settings to measure, with Tutti too; `oversubscribed`: there are more ranks than cores."""
    if (
        "best" not in settings_of(mpi.family)
        or chosen == "default"
        or (chosen in ("auto", "all") and not oversubscribed)
    ):
        return ["default"]
    return ["best"] if chosen == "best" else ["default", "best"]


def other_variants(mpi: Mpi, choice: PeerChoice) -> list[Variant]:
    """Other settings of the MPI, and libraries in front of it, without Tutti only."""
    known = settings_of(mpi.family)
    names = [
        name
        for name, setting in known.items()
        if name in choice.names
        or (choice.word == "all" and name not in ("best", PROGRESS) and has_component(mpi, setting))
    ]
    return [Variant(mpi, name, False) for name in names] + [
        Variant(mpi, name, False, library=library)
        for name, library in choice.libraries.items()
        if serves(library, mpi)
    ]


def variants_for(
    mpis: list[Mpi], chosen: str, oversubscribed: bool, with_tutti: bool, with_heap: bool = False
) -> list[Variant]:
    """`chosen` is the value of --peer-settings."""
    choice = peer_choice(chosen)
    result = []
    for mpi in mpis:
        for setting in settings_for(mpi, choice.word, oversubscribed):
            result.append(Variant(mpi, setting, False))
            if with_tutti:
                result.append(Variant(mpi, setting, True))
            if with_tutti and with_heap:
                result.append(Variant(mpi, setting, True, True))
        result += other_variants(mpi, choice)
    return result


def host_of(variants: Sequence[Variant], variant: Variant) -> Variant | None:
    """The one without Tutti of the same MPI and setting; None if it was not measured."""
    return next(
        (
            one
            for one in variants
            if not one.tutti and (one.mpi, one.setting) == (variant.mpi, variant.setting)
        ),
        None,
    )


def in_detail(variants: list[Variant]) -> list[Variant]:
    """The variants with tables of their own: each MPI with its first setting.

    The table of means has all variants.
    """
    firsts = {
        (variant.mpi, variant.heap): variant for variant in reversed(variants) if variant.tutti
    }
    return [variant for variant in variants if variant in firsts.values()]


def binding_for(chosen: str, oversubscribed: bool) -> str:
    if chosen == "auto":
        return "none" if oversubscribed else "core"
    return chosen


def _binding_arguments(mpi: Mpi, binding: str) -> list[str]:
    if binding == "default" or mpi.family == "intel":
        return []
    return ["-bind-to" if mpi.family == "mpich" else "--bind-to", binding]


def _setting(variant: Variant) -> Setting:
    """Nothing for the default setting, and for libraries."""
    return settings_of(variant.mpi.family).get(variant.setting, Setting())


def command(
    variant: Variant, ranks: int, binding: str, program: list[str], launcher: Path | None
) -> list[str]:
    """The command of a job; `launcher` is tutti-run for variants with Tutti, else None."""
    mpi = variant.mpi
    words = [str(mpi.launcher), "-n", str(ranks), *_binding_arguments(mpi, binding)]
    if mpi.family == "openmpi":
        words.append("--oversubscribe")
    words += _setting(variant).arguments
    if variant.tutti:
        words += [str(launcher), *(["--shared-heap"] if variant.heap else [])]
    return words + program


def environment(variant: Variant, binding: str, aliases: Path) -> dict[str, str]:
    """The environment of a job.

    `aliases` is a directory for links to libraries whose file name is not the one that programs
    load.
    """
    mpi = variant.mpi
    result = dict(os.environ)
    result.pop("LD_PRELOAD", None)
    if mpi.library is not None:
        directories = [str(mpi.library.parent)]
        if mpi.library.name != mpi.soname:
            place = aliases / mpi.name
            place.mkdir(exist_ok=True)
            if not (place / mpi.soname).is_symlink():
                (place / mpi.soname).symlink_to(mpi.library)
            directories.insert(0, str(place))
        if inherited := result.get("LD_LIBRARY_PATH"):
            directories.append(inherited)
        result["LD_LIBRARY_PATH"] = os.pathsep.join(directories)
    if mpi.family == "openmpi":
        # Open MPI starts jobs of root only with these variables; for other users it ignores them.
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if mpi.family == "intel":
        result |= {"I_MPI_ROOT": str(mpi.prefix), "I_MPI_FABRICS": "shm"}
        if binding in ("core", "none"):
            result |= (
                {"I_MPI_PIN": "1", "I_MPI_PIN_ORDER": "range"}
                if binding == "core"
                else {"I_MPI_PIN": "0"}
            )
    if variant.servers:
        result["TUTTI_SERVERS"] = "1"
    result |= _setting(variant).environment
    if variant.library is not None:
        result["LD_PRELOAD"] = str(variant.library)
    return result
