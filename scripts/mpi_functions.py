"""Makes the sources that list MPI's functions, from the one table of them.

Usage: mpi_functions.py DIRECTORY

The table is src/mpi/functions.table, which also explains its lines. The build calls the script; the
sources are then in DIRECTORY/mpi, by their rooms. A source that already has the text stays as it is.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mpi_table import (
    FORMS,
    HEAD,
    TABLE,
    Collective,
    Maker,
    Parameter,
    Table,
    TableError,
    all_forms,
    guarded,
    name_of,
    read,
)

ROOT = Path(__file__).resolve().parent.parent


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
NAMES = [
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
    "Count",
    "Aint",
    "Offset",
    "Status",
    "ErrorHandler",
    "CopyAttribute",
    "DeleteAttribute",
    "Types",
    "TypesOut",
    "Requests",
    "ConstRequests",
    "Statuses",
]


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
    """mpi/host/host_names.inc.h: a line for each of the host's functions. Whoever includes it
    defines the macros of the kinds that it needs, which end with the file."""
    kinds = ("TUTTI_INTERPOSED", "TUTTI_MAKER", "TUTTI_OF_HOST")
    lines = [f"#ifndef {kind}\n#define {kind}(name)\n#endif" for kind in kinds]
    lines += [f"TUTTI_INTERPOSED({name})" for name, _ in collective_functions(table)]
    lines += [f"TUTTI_INTERPOSED({one.name})" for one in [*table.functions, *table.arounds]]
    lines += [f"TUTTI_MAKER({one.name})" for one in table.makers]
    lines += [f"TUTTI_OF_HOST({one.name})" for one in table.host]
    lines += [f"#undef {kind}" for kind in kinds]
    return "\n".join([
        HEAD,
        "// The names of the host's functions. Who includes this file defines what is done with those",
        "// that Tutti interposes (the collectives first, in the order of Function), those that make or",
        "// free communicators, and those that only Tutti itself calls.",
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


PARTS = ["sendbuf", "sendcount", "sendtype", "recvbuf", "recvcount", "recvtype"]
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
        (True, "persistent"): "persistent_init",
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
        sides = f"{{{', '.join(given[:3])}}}, {{{', '.join(given[3:])}}}"
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


def c_entries_of(name: str, parameters: str, expression: str) -> list[str]:
    """The entry point MPI_NAME, which PMPI_NAME is, too."""
    return [
        *c_entry(f"MPI_{name}", parameters, expression),
        f"TUTTI_SECOND_NAME({name}, ({parameters}))",
        "",
    ]


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
    plain, large_ones, others = [], [], []
    for _, name, _, large, parameters in all_forms(table):
        arguments = ", ".join(one.name for one in parameters)
        target = large_ones if large else plain
        target += c_entries_of(name, types(parameters, large), f"mpi::entry::{name}({arguments})")
    for function in table.functions:
        arguments = ", ".join(map(name_of, function.parameters))
        declared = ", ".join(function.parameters)
        call = f"mpi::{function.function}({arguments})"
        if not function.function.startswith("entry::"):
            given = ", ".join([f"mpi::{function.function}", *map(name_of, function.parameters)])
            call = f"mpi::enter({given})"
        others += guarded(function.condition, c_entries_of(function.name, declared, call))
    for around in table.arounds:
        arguments = ", ".join(map(name_of, around.parameters))
        declared = ", ".join(around.parameters)
        call = f"host.{around.name}({arguments})"
        if around.is_large:
            call = f"host.{around.name} != nullptr ? {call} : MPI_ERR_OTHER"
        by_host = f"[=](const mpi::AbiHost& host = mpi::abi_host()) {{ return {call}; }}"
        given = ", ".join([*around.hook_arguments(), by_host])
        entries = c_entries_of(around.name, declared, f"mpi::{around.hook}({given})")
        if around.is_large:
            entries = guarded("TUTTI_LARGE_COUNTS", entries)
        others += guarded(around.condition, entries)
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
        "// Simulated ranks call SMPI's own functions by these names.",
        "#if defined(TUTTI_SIMULATED)",
        "#define TUTTI_SECOND_NAME(name, parameters)",
        "#else",
        "#define TUTTI_SECOND_NAME(name, parameters) \\",
        'TUTTI_ENTRY int PMPI_##name parameters __attribute__((alias("MPI_" #name)));',
        "#endif",
        "",
        "using namespace tutti;",
        "",
        *plain,
        "#ifdef TUTTI_LARGE_COUNTS",
        *large_ones,
        "#endif",
        "",
        *others,
        "#if !defined(TUTTI_SIMULATED)",
        *makers,
        "#endif",
        "",
    ])  # fmt: skip


GENERATED = {
    "mpi/host/host_functions.h": host_functions,
    "mpi/host/host_names.inc.h": host_names,
    "mpi/collectives/functions.h": functions_header,
    "mpi/collectives/host_calls.cpp": host_calls,
    "mpi/entry/calls.h": calls_header,
    "mpi/entry/c_entries.cpp": c_entries,
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
