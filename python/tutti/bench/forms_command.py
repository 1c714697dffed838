"""The options of `tutti bench` for calls that outlive their start, and for ghost cells."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tutti.bench.words import parse_faces, parse_forms
from tutti.errors import UserError

DEFAULT_FACES = "4,64,1K,4K,16K,64K"
QUICK_FACES = "4,1K,16K"
# For each option, why others cannot be combined with it, and which can.
BESIDE = {
    "--halo": ("which exchanges ghost cells", ("--overlap", "--hosts")),
    "--overlap": (
        "which measures each call beside computations",
        ("--form", "--collectives", "--sizes", "--kinds", "--hosts", "--halo"),
    ),
    "--form": (
        "which measures MPI's calls on one node and from one root",
        ("--overlap", "--collectives", "--sizes", "--kinds", "--mixed", "--cold"),
    ),
}


@dataclass(frozen=True)
class Modes:
    forms: tuple[str, ...]  # beside the blocking form
    computing: float | None  # microseconds; None: as long as the best peer's blocking call
    faces: tuple[int, ...]  # bytes; empty: no exchange of ghost cells


def _refuse(given: Mapping[str, bool]) -> None:
    for option, (why, allowed) in BESIDE.items():
        if not given[option]:
            continue
        for other, is_given in given.items():
            if is_given and other != option and other not in allowed:
                raise UserError(
                    f"{other}: it cannot be combined with {option}, {why}; leave one of them out"
                )


def _microseconds(text: str | None, overlap: bool) -> float | None:
    if text is None:
        return None
    if not overlap:
        raise UserError("--compute: it needs --overlap, which measures calls beside computations")
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,4})?", text) or not 0 < float(text) <= 1e6:
        raise UserError(
            f"--compute: '{text}' is not a duration; give microseconds up to 1000000, as in 2.5"
        )
    return float(text)


def parse_modes(
    form: str | None,
    compute: str | None,
    faces: str | None,
    *,
    overlap: bool,
    halo: bool,
    quick: bool,
    given: Mapping[str, bool],
) -> Modes:
    """Reads the forms from the options together; `given` tells which of the others were given.

    Raises UserError.
    """
    _refuse({**given, "--halo": halo})
    if halo and overlap != given["--hosts"]:
        raise UserError(
            "--halo: over nodes (--hosts) ghost cells are exchanged beside computations "
            "(--overlap), and on one node alone; give both options or none of them"
        )
    if faces is not None and not halo:
        raise UserError("--faces: it needs --halo, which exchanges faces of ghost cells")
    forms = parse_forms(form) if form is not None else ()
    if overlap and not forms and not halo:
        forms = ("nonblocking",)
    faces = faces or (QUICK_FACES if quick else DEFAULT_FACES)
    return Modes(
        forms,
        _microseconds(compute, overlap),
        parse_faces(faces) if halo else (),
    )
