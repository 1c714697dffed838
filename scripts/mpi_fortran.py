"""Makes the Fortran entry points from the table of MPI's functions, for mpi_functions.py."""

from __future__ import annotations

import re

from mpi_table import HEAD, Collective, Function, Parameter, Table, all_forms, guarded, name_of

# How a Fortran routine's argument is converted for the C function. `types` and `request` need more
# code, which fortran_collective() writes.
FROM_FORTRAN = {
    "in_buffer": "c_address({})",
    "out_buffer": "c_address({})",
    "inout_buffer": "c_address({})",
    "count": "*{}",
    "counts": "{}",
    "displacements": "{}",
    "byte_displacements": "{}",
    "type": "c_type(*{})",
    "types": "{}.data()",
    "op": "c_op(*{})",
    "root": "*{}",
    "comm": "c_communicator(*{})",
    "info": "c_info(*{})",
    "request": "{}",
}
BUFFERS = {"in_buffer", "out_buffer", "inout_buffer"}


def spellings(stem: str) -> list[str]:
    """The names that compilers give a routine, besides STEM_."""
    return [stem.upper(), stem, f"{stem}__"]


def aliases(stem: str, names: list[str], declared: str) -> list[str]:
    return [f'void {name}({declared}) TUTTI_SAME_AS("{stem}_");' for name in names]


def without_names(declared: list[str]) -> str:
    return ", ".join(re.sub(r"\s*\w+$", "", one) for one in declared)


def fortran_type(parameter: Parameter) -> str:
    if parameter.kind in BUFFERS:
        return "void"
    return "MPI_Aint" if parameter.kind == "byte_displacements" else "MPI_Fint"


def types_in_c(row: Collective, parameter: Parameter) -> str:
    """The expression that converts an array of types."""
    side = parameter.field(row.shape).split(".")[0]
    if row.on_neighbourhood:
        return f"c_types_{side}({parameter.name}, c_communicator(*comm))"
    buffer = next(
        one.name
        for one in row.parameters
        if one.kind in BUFFERS and one.field(row.shape).split(".")[0] == side
    )
    return f"c_types({parameter.name}, c_communicator(*comm), c_address({buffer}))"


def fortran_collective(
    row: Collective, name: str, parameters: list[Parameter]
) -> tuple[list[str], list[str], list[str]]:
    """Returns the entry points in every library, those in Open MPI alone, and the latter's other
    names."""
    stem = f"mpi_{name.lower()}"
    declared = [f"{fortran_type(one)}* {one.name}" for one in parameters]
    declared.append("MPI_Fint* error")
    arguments = ", ".join(FROM_FORTRAN[one.kind].format(one.name) for one in parameters)
    call = f"mpi::entry::{name}({arguments})"
    if any(one.kind == "types" for one in parameters):
        arguments = ", ".join(
            FROM_FORTRAN[one.kind].format(f"{one.name}_in_c" if one.kind == "types" else one.name)
            for one in parameters
        )
        vectors = [
            f"const auto {one.name}_in_c = {types_in_c(row, one)};"
            for one in parameters
            if one.kind == "types"
        ]
        body = ["return mpi::guarded(mpi::house<mpi::Comm>(c_communicator(*comm)), [&] {", *vectors,
                f"return mpi::entry::{name}({arguments});", "});"]  # fmt: skip
    else:
        body = [f"return {call};"]
    if any(one.kind == "request" for one in parameters):
        lines = ["make_request(request, error, [&](MPI_Request* request) {", *body, "});"]
    elif len(body) > 1:
        lines = [f"set(error, [&] {{ {' '.join(body)} }}());"]
    else:
        lines = [f"set(error, {call});"]

    def entry(routine: str) -> list[str]:
        return [f"TUTTI_ENTRY void {routine}({', '.join(declared)}) {{", *lines, "}", ""]

    has_buffer = any(one.kind in BUFFERS for one in parameters)
    everywhere = [] if has_buffer else entry(f"{stem}_f08_")
    others = [*spellings(stem), *([f"{stem}_f08_"] if has_buffer else [])]
    return everywhere, entry(f"{stem}_"), aliases(stem, others, without_names(declared))


def fortran_function(function: Function) -> tuple[list[str], list[str], list[str], list[str]]:
    """Returns the entry points in every library, those in all but Open MPI, those in Open MPI
    alone, and the latter's other names."""
    one = function.fortran
    assert one is not None
    stem = f"mpi_{function.name.lower()}"
    declared = [*one.parameters, "MPI_Fint* error", *one.by_value]

    def entry(suffix: str) -> list[str]:
        arguments = ", ".join([f'"{stem}{suffix}"', *map(name_of, declared)])
        return [
            f"TUTTI_ENTRY void {stem}{suffix}({', '.join(declared)}) {{",
            f"mpi::fortran::{one.function}({arguments});",
            "}",
            "",
        ]

    names = spellings(stem) + ([] if one.spelling == "f08" else [f"{stem}_f08_"])
    if one.cptr:
        names += [f"{stem}_cptr_", *spellings(f"{stem}_cptr")]
    other_names = aliases(stem, names, without_names(declared))
    everywhere = entry("_f08_") if one.spelling == "f08" else []
    elsewhere = entry("_f08_") if one.spelling == "f08_alias" else []
    guard = function.condition
    return (
        guarded(guard, everywhere) if everywhere else [],
        guarded(guard, elsewhere) if elsewhere else [],
        guarded(guard, entry("_")),
        guarded(guard, other_names),
    )


def fortran_entries(table: Table) -> str:
    """mpi/entry/fortran_entries.cpp: the entry points in Fortran."""
    everywhere, elsewhere, openmpi, names = [], [], [], []
    for row, name, _, large, parameters in all_forms(table):
        if large:
            continue
        first, second, third = fortran_collective(row, name, parameters)
        everywhere += first
        openmpi += second
        names += third
    for function in table.functions:
        if function.fortran is None:
            continue
        one, two, three, four = fortran_function(function)
        everywhere += one
        elsewhere += two
        openmpi += three
        names += four
    return "\n".join([
        HEAD,
        "// The Fortran entry points. They replace the routines of the host library that do not call",
        "// the C entry points.",
        "//",
        "// In MPICH and Intel MPI, mpif.h, `use mpi` and every mpi_f08 routine with a choice buffer",
        "// call MPI_* and so reach the C entry points. The mpi_f08 routines without a choice buffer",
        "// call PMPI_*. In Open MPI every routine calls PMPI_*. A routine that calls PMPI_* is",
        "// replaced here unless there is a C entry point of that name, too. In Open MPI it is replaced",
        "// under all names that compilers give it. Fortran's default integer is C's int, so arrays of",
        "// counts are passed as they are; handles are converted.",
        '#include "mpi/entry/calls.h"',
        '#include "mpi/entry/fortran.h"',
        "",
        "using namespace tutti;",
        "using namespace tutti::mpi::fortran;",
        "",
        *everywhere,
        "#if !defined(TUTTI_FORTRAN_CALLS_PMPI)",
        *elsewhere,
        "#else",
        "static_assert(sizeof(MPI_Fint) == sizeof(int));",
        "",
        *openmpi,
        "// The other names of the same routines.",
        'extern "C" {',
        *names,
        "}",
        "#endif",
        "",
    ])  # fmt: skip
