"""Makes the sources that list MPI's functions, from the one table of them.

Usage: mpi_functions.py DIRECTORY

The table is src/mpi/functions.table, which also explains its lines. The build calls the script; the
sources are then in DIRECTORY/mpi, by their rooms. A source that already has the text stays as it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mpi_table import (
    TABLE,
    Collective,
    Function,
    Maker,
    Parameter,
    Table,
    TableError,
    name_of,
    read,
)

ROOT = Path(__file__).resolve().parent.parent
HEAD = f"// Made by scripts/mpi_functions.py from {TABLE}.\n"

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


def guarded(condition: str, lines: list[str]) -> list[str]:
    return [f"#ifdef {condition}", *lines, "#endif"] if condition else lines


FORMS = ("", "nonblocking", "persistent")  # "" is the blocking one
# The parameters that a form adds to those of the blocking one.
ADDED = {"": [], "nonblocking": ["request"], "persistent": ["info", "request"]}


def all_forms(table: Table) -> Iterator[tuple[Collective, str, str, bool, list[Parameter]]]:
    """For every form of every row: the row, the name, the form, whether its counts are large, and
    the parameters."""
    for form in FORMS:
        for row in table.collectives:
            if form and form not in row.forms:
                continue
            parameters = [*row.parameters, *(table.parameters[name] for name in ADDED[form])]
            for name, large in row.form_names(form):
                yield row, name, form, large, parameters


def types(parameters: list[Parameter], large: bool) -> str:
    return ", ".join(one.declared(large) for one in parameters)


def in_table(declaration: str) -> str:
    """A declaration of C with the types of a function table (HouseTypes in host/handles.h)."""
    for array, name in ARRAYS.items():
        declaration = re.sub(rf"^{array} (\w+)\[\]$", rf"{name} \1", declaration)
    for callback, name in CALLBACKS.items():
        declaration = declaration.replace(callback, name)
    return re.sub(r"MPI_(\w+)", r"\1", declaration)


# Arrays whose elements differ in size among the MPIs, and callbacks, with their names in HouseTypes.
ARRAYS = {
    "const MPI_Datatype": "Types",
    "MPI_Datatype": "TypesOut",
    "const MPI_Request": "ConstRequests",
    "MPI_Request": "Requests",
    "MPI_Status": "Statuses",
}
CALLBACKS = {
    "MPI_Comm_errhandler_function": "ErrorHandler",
    "MPI_Comm_copy_attr_function": "CopyAttribute",
    "MPI_Comm_delete_attr_function": "DeleteAttribute",
}
NAMES = (
    "Comm Datatype Errhandler Group Info Message Op Request Session Win Count Aint Status ErrorHandler "
    "CopyAttribute DeleteAttribute Types TypesOut Requests ConstRequests Statuses"
).split()


def struct(name: str, functions: list[tuple[str, list[str]]], comment: list[str]) -> list[str]:
    """A table of pointers to functions, each given by its name and its parameters in C."""
    members = []
    used = set()
    for function, parameters in functions:
        declared = ", ".join(map(in_table, parameters))
        used |= set(re.findall(r"\w+", declared))
        members.append(f"int (*{function})({declared});")
    return [
        *comment,
        "template <class AbiTypes>",
        f"struct {name} {{",
        *(f"using {one} = typename AbiTypes::{one};" for one in NAMES if one in used),
        "",
        *members,
        "};",
        "",
    ]


def collective_functions(table: Table) -> list[tuple[str, list[str]]]:
    return [
        (name, [one.declared(large) for one in parameters])
        for _, name, _, large, parameters in all_forms(table)
    ]


def host_functions(table: Table) -> str:
    """mpi/host/host_functions.h: tables of pointers to the host's functions."""
    makers = [(one.name, one.parameters) for one in table.makers]
    others = [(one.name, one.parameters) for one in [*table.functions, *table.arounds, *table.host]]
    return "\n".join([
        HEAD,
        "// The host MPI's functions by name, with the types of mpi.h or with those of the house",
        "// (host.h says who owns such tables and when the functions are found). A pointer is null if",
        "// the MPI lacks the function.",
        "#pragma once",
        "",
        "namespace tutti::mpi {",
        "",
        *struct(
            "CommunicatorFunctions",
            makers,
            ["// The functions that make and free communicators of this process's job."],
        ),
        *struct(
            "HostFunctions",
            [*collective_functions(table), *others],
            [
                "// The collectives: blocking, non-blocking (I...), persistent (_init), each also with",
                "// large counts (_c). Then the other functions that Tutti interposes, and those that",
                "// only Tutti itself calls.",
            ],
        ),
        "}  // namespace tutti::mpi",
        "",
    ])  # fmt: skip


def host_names(table: Table) -> str:
    """mpi/abi/host_names.inc.h: a line for each of the host's functions."""
    lines = [f"TUTTI_INTERPOSED({name})" for name, _ in collective_functions(table)]
    for one in table.functions:
        lines.append(f"TUTTI_{'INTERPOSED_TWICE' if one.pmpi else 'INTERPOSED'}({one.name})")
    lines += [f"TUTTI_INTERPOSED_TWICE({one.name})" for one in table.arounds]
    lines += [f"TUTTI_MAKER({one.name})" for one in table.makers]
    lines += [f"TUTTI_OF_HOST({one.name})" for one in table.host]
    return "\n".join([
        HEAD,
        "// The names of the host's functions. Who includes this file defines what is done with those",
        "// that Tutti interposes, those that it interposes under both names (MPI_* and PMPI_*), those",
        "// that make or free communicators, and those that only Tutti itself calls.",
        *lines,
        "",
    ])  # fmt: skip


def functions_header(table: Table) -> str:
    """mpi/collectives/functions.h: an enumeration of the functions."""
    return "\n".join([
        HEAD,
        "// MPI's collective functions: one value for each form (blocking, non-blocking, persistent,",
        "// each also with large counts).",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "namespace tutti::mpi {",
        "",
        "enum class Function : uint8_t {",
        *(f"{name}," for _, name, _, _, _ in all_forms(table)),
        "};",
        "",
        "}  // namespace tutti::mpi",
        "",
    ])  # fmt: skip


def from_call(row: Collective, parameter: Parameter, large: bool) -> str:
    """The argument that the host's function gets, read from a Call."""
    where = parameter.field(row.shape)
    if parameter.kind in ("comm", "info", "request"):
        return where
    if parameter.kind == "count":
        return f"call.{where}" if large else f"static_cast<int>(call.{where})"
    if parameter.kind in ("counts", "displacements"):
        return f"call.{where}.{'large' if large else 'plain'}()"
    if parameter.kind == "byte_displacements":
        return f"call.{where}.large()"
    if parameter.kind == "types":
        return f"call.{where}.of_host()"
    return f"call.{where}"


def host_call(
    row: Collective, name: str, form: str, large: bool, parameters: list[Parameter]
) -> list[str]:
    """A case of the switch: the host's function with the program's arguments."""

    def by(function: str, in_large: bool) -> str:
        arguments = ", ".join(from_call(row, one, in_large) for one in parameters)
        return f"return host().{function}({arguments});"

    lines = [f"case Function::{name}:"]
    if not large and form != "persistent":
        return [*lines, by(name, False)]
    if not large:
        return [*lines, f"if (host().{name} != nullptr) {by(name, False)}", "break;"]
    lines.append(f"if (host().{name} != nullptr) {by(name, True)}")
    if form != "persistent" and not any(one.kind == "counts" for one in parameters):
        lines.append(f"if (fits_int(call)) {by(name.removesuffix('_c'), False)}")
        lines.append("return raise(comm, abi.err_count);")
    else:
        lines.append("break;")
    return lines


def host_calls(table: Table) -> str:
    """mpi/collectives/host_calls.cpp: calls that the host's functions make."""
    cases: dict[str, list[str]] = {form: [] for form in FORMS}
    for row, name, form, large, parameters in all_forms(table):
        cases[form] += host_call(row, name, form, large, parameters)

    def switch(form: str, declared: str) -> list[str]:
        return [
            f"int call_host({declared}) {{",
            "switch (call.function) {",
            *cases[form],
            "default: break;",
            "}",
            "return raise(comm, abi.err_other);",
            "}",
            "",
        ]

    return "\n".join([
        HEAD,
        "// Calls of the host's functions with the arguments that the program gave. If the host lacks",
        "// a large-count function, the plain one makes the call, provided that it is not persistent,",
        "// has no arrays of counts, and its counts fit an int. Any other call that the host cannot",
        "// make is an error.",
        '#include <climits>',
        "",
        '#include "mpi/host/host.h"',
        '#include "mpi/collectives/call.h"',
        '#include "mpi/job/thrown.h"',
        "",
        "namespace tutti::mpi {",
        "namespace {",
        "",
        "bool fits_int(const Call& call) {",
        "return call.in.count <= INT_MAX && call.out.count <= INT_MAX;",
        "}",
        "",
        "}  // namespace",
        "",
        *switch("", "const Call& call, Comm comm"),
        *switch("nonblocking", "const Call& call, Comm comm, Request* request"),
        *switch("persistent", "const Call& call, Comm comm, Info info, Request* request"),
        "}  // namespace tutti::mpi",
        "",
    ])  # fmt: skip


PARTS = "sendbuf sendcount sendtype recvbuf recvcount recvtype".split()
HANDLES = {"type": "Datatype", "op": "Op", "comm": "Comm", "info": "Info"}


def in_house(parameter: Parameter, large: bool = False) -> str:
    """A parameter of a program's call, in the form of the house."""
    if parameter.kind in HANDLES:
        return f"house<{HANDLES[parameter.kind]}>({parameter.name})"
    if parameter.kind == "in_buffer":
        return f"const_cast<void*>({parameter.name})"
    if parameter.kind == "counts" and large:
        return f"reinterpret_cast<const Count*>({parameter.name})"
    return parameter.name


def side(row: Collective, which: str, large: bool) -> str:
    """The initializer of a Call's side from the parameters. Both sides of a call of one vector, or
    of a reduction, have the same count and type."""
    fields = {}
    for one in row.parameters:
        where = one.field(row.shape)
        owner, _, member = where.partition(".")
        alike = row.shape in ("vector", "reduction", "v_reduction")
        if owner == which or (
            alike and owner == "in" and (member != "data" or row.shape == "vector")
        ):
            fields[member] = in_house(one, large)
    order = ["data", "count", "counts", "displacements", "type", "types"]
    return "{" + ", ".join(f".{one} = {fields[one]}" for one in order if one in fields) + "}"


def call_of(row: Collective, name: str) -> str:
    names = {one.name: one for one in row.parameters}
    large = name.endswith("_c")
    shape = "v_parts" if row.shape == "v_scatter" else row.shape
    parts = [
        f".function = Function::{name}",
        f".shape = Shape::{shape}",
        f".collective = Collective::{row.word}",
    ]
    if row.shape != "barrier":
        parts += [f".in = {side(row, 'in', large)}", f".out = {side(row, 'out', large)}"]
    parts += [f".{one} = {in_house(names[one])}" for one in ("root", "op") if one in names]
    return "Call{" + ", ".join(parts) + "}"


def served_later(row: Collective, name: str, form: str) -> str:
    """The expression that serves a non-blocking or a persistent call."""
    starts = {
        (False, "nonblocking"): "start_nonblocking",
        (False, "persistent"): "persistent_init",
        (True, "nonblocking"): "start_neighbours",
        (True, "persistent"): "neighbours_init",
    }
    info = "house<Info>(info), " if form == "persistent" else ""
    start = starts[row.on_neighbourhood, form]
    place = "RequestPlace" if start == "start_nonblocking" else "place_for<Request>"
    return f"{start}({call_of(row, name)}, house<Comm>(comm), {info}{place}(request))"


def served(row: Collective, name: str, form: str) -> str:
    """The expression that serves a call."""
    if form:
        return served_later(row, name, form)
    if row.on_neighbourhood:
        return f"serve_neighbours({call_of(row, name)}, house<Comm>(comm))"
    if row.shape.startswith("v_"):
        return f"serve_any({call_of(row, name)}, house<Comm>(comm))"
    template = f"serve_{row.shape}<Collective::{row.word}, Function::{name}>"
    by_name = {one.name: one for one in row.parameters}
    root = "root" if "root" in by_name else "0"
    comm = "house<Comm>(comm)"
    if row.shape == "barrier":
        return f"serve_barrier<Function::{name}>({comm})"
    if row.shape == "vector":
        return f"{template}(buffer, count, house<Datatype>(datatype), root, {comm})"
    if row.shape == "parts":
        given = [in_house(by_name[one]) for one in PARTS]
        sides = "{%s, %s, %s}, {%s, %s, %s}" % tuple(given)
        return f"{template}({sides}, {root}, {comm})"
    count = next(one.name for one in row.parameters if one.kind == "count")
    given = f"sendbuf, recvbuf, {count}, house<Datatype>(datatype), house<Op>(op), {root}, {comm}"
    return f"{template}({given})"


def calls_header(table: Table) -> str:
    """mpi/entry/calls.h: one inline function for each form of each collective."""
    lines = [
        HEAD,
        "// MPI's collectives as Tutti serves them: a function for each form of each collective. The",
        "// entry points of all languages call them, on any thread (known_calls.h).",
        "#pragma once",
        "",
        '#include "mpi/abi/convert.h"',
        '#include "mpi/entry/known_calls.h"',
        '#include "mpi/requests/neighbours.h"',
        '#include "mpi/requests/nonblocking.h"',
        '#include "mpi/requests/persistent.h"',
        "",
        "namespace tutti::mpi::entry {",
        "",
        "using plan::Collective;",
        "",
    ]
    for row, name, form, large, parameters in all_forms(table):
        lines += [
            f"[[gnu::always_inline]] inline int {name}({types(parameters, large)}) {{",
            f"return {served(row, name, form)};",
            "}",
            "",
        ]
    return "\n".join([*lines, "}  // namespace tutti::mpi::entry", ""])


def c_entry(name: str, parameters: str, expression: str) -> list[str]:
    return [f"TUTTI_ENTRY int {name}({parameters}) {{", f"return {expression};", "}", ""]


def second_name(name: str, parameters: str) -> list[str]:
    """PMPI_NAME, which is the entry point MPI_NAME."""
    return [f'TUTTI_ENTRY int PMPI_{name}({parameters}) __attribute__((alias("MPI_{name}")));', ""]


def as_house(declaration: str) -> str:
    """An argument that a C declaration declares, in the form of the house."""
    handle = re.match(r"MPI_(\w+) \w+$", declaration)
    name = name_of(declaration)
    return f"mpi::house<mpi::{handle[1]}>({name})" if handle else name


def action(maker: Maker) -> str:
    """The function that makes or frees a communicator, with its first argument."""
    if maker.action == "free":
        return "freed("
    count = {"parent": 1, "request": 1, "group": 3, "session": 0}[maker.by]
    arguments = ", ".join(map(as_house, maker.parameters[:count]))
    return f"made(mpi::Making::by_{maker.by}({arguments}), "


def c_entries(table: Table) -> str:
    """mpi/entry/c_entries.cpp: the entry points in C."""
    plain, large_ones, others, both = [], [], [], []
    for _, name, _, large, parameters in all_forms(table):
        arguments = ", ".join(one.name for one in parameters)
        target = large_ones if large else plain
        target += c_entry(
            f"MPI_{name}", types(parameters, large), f"mpi::entry::{name}({arguments})"
        )
    for function in table.functions:
        arguments = ", ".join(map(name_of, function.parameters))
        declared = ", ".join(function.parameters)
        call = f"mpi::{function.function}({arguments})"
        if not function.function.startswith("entry::"):
            given = ", ".join([f"mpi::{function.function}", *map(name_of, function.parameters)])
            call = f"mpi::enter({given})"
        others += guarded(function.condition, c_entry(f"MPI_{function.name}", declared, call))
        if function.pmpi:
            both += guarded(function.condition, second_name(function.name, declared))
    for around in table.arounds:
        arguments = ", ".join(map(name_of, around.parameters))
        declared = ", ".join(around.parameters)
        others += c_entry(
            f"MPI_{around.name}",
            declared,
            f"mpi::{around.hook}({around.hook_arguments()}, "
            f"[&] {{ return mpi::abi_host().{around.name}({arguments}); }})",
        )
        both += second_name(around.name, declared)
    makers = []
    for maker in table.makers:
        arguments = ", ".join(map(name_of, maker.parameters))
        for prefix, host in (("MPI_", ".makers"), ("PMPI_", "")):
            its = f"mpi::abi_host(){host}.{maker.name}"
            begin = "[&] {"
            absent = f", [&] {{ return {maker.absent}; }}" if maker.absent else ""
            call = f"{its}({arguments})"
            if maker.instead:
                functions = "mpi::CommunicatorFunctions<mpi::HouseTypes>"
                table = f"static_cast<const {functions}*>(&mpi::host(){host})"
                call = f"mpi::enter(mpi::{maker.instead}, {table}, {arguments})"
            if maker.recent:
                begin = f"[&]() -> int {{ if ({its} == nullptr) return MPI_ERR_OTHER;"
            makers += c_entry(
                f"{prefix}{maker.name}",
                ", ".join(maker.parameters),
                f"mpi::{action(maker)}{maker.communicator}, {begin} return {call}; }}{absent})",
            )
    return "\n".join([
        HEAD,
        "// The C entry points: a program calls them instead of the host's functions of these names.",
        '#include "mpi/entry/dist_graph.h"',
        '#include "mpi/entry/makers.h"',
        '#include "mpi/entry/calls.h"',
        '#include "mpi/entry/life.h"',
        '#include "mpi/entry/memory.h"',
        '#include "mpi/host/held.h"',
        '#include "mpi/job/poll.h"',
        '#include "mpi/entry/windows.h"',
        '#include "mpi/entry/spawn.h"',
        '#include "mpi/entry/requests.h"',
        "",
        '#define TUTTI_ENTRY extern "C" __attribute__((visibility("default")))',
        "",
        "using namespace tutti;",
        "",
        *plain,
        "#ifdef TUTTI_LARGE_COUNTS",
        *large_ones,
        "#endif",
        "",
        *others,
        "// Simulated ranks call SMPI's own functions.",
        "#if !defined(TUTTI_ABI_SMPI)",
        *both,
        *makers,
        "#endif",
        "",
    ])  # fmt: skip


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
        "#if !defined(TUTTI_ABI_OPENMPI)",
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


GENERATED = {
    "mpi/host/host_functions.h": host_functions,
    "mpi/abi/host_names.inc.h": host_names,
    "mpi/collectives/functions.h": functions_header,
    "mpi/collectives/host_calls.cpp": host_calls,
    "mpi/entry/calls.h": calls_header,
    "mpi/entry/c_entries.cpp": c_entries,
    "mpi/entry/fortran_entries.cpp": fortran_entries,
}


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table = read((ROOT / TABLE).read_text(encoding="utf-8"))
    except TableError as error:
        print(f"mpi_functions.py: {error}", file=sys.stderr)
        return 1
    for file, make in GENERATED.items():
        path, text = Path(sys.argv[1]) / file, make(table)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
