"""The table of MPI's functions (src/mpi/functions.table), read into rows.

The table's own comments say what its lines mean. mpi_functions.py makes sources from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

TABLE = "src/mpi/functions.table"

# C types by kind of parameter, in the plain and in the large-count form.
PLAIN = {
    "in_buffer": "const void* {}",
    "out_buffer": "void* {}",
    "inout_buffer": "void* {}",
    "count": "int {}",
    "counts": "const int {}[]",
    "displacements": "const int {}[]",
    "byte_displacements": "const MPI_Aint {}[]",
    "type": "MPI_Datatype {}",
    "types": "const MPI_Datatype {}[]",
    "op": "MPI_Op {}",
    "root": "int {}",
    "comm": "MPI_Comm {}",
    "info": "MPI_Info {}",
    "request": "MPI_Request* {}",
}
LARGE = PLAIN | {
    "count": "MPI_Count {}",
    "counts": "const MPI_Count {}[]",
    "displacements": "const MPI_Aint {}[]",
}


class TableError(Exception):
    """A line of the table that cannot be read; the message names the line."""


@dataclass
class Parameter:
    """An argument of a collective: its name, its kind, and its field of Call by shape."""

    name: str
    kind: str
    fields: dict[str, str]  # "" is for all other shapes

    def field(self, shape: str) -> str:
        return self.fields.get(shape, self.fields[""])

    def declared(self, large: bool) -> str:
        return (LARGE if large else PLAIN)[self.kind].format(self.name)


@dataclass
class Collective:
    """A row of the table: one collective function in all its forms."""

    shape: str
    word: str
    name: str
    parameters: list[Parameter]
    forms: set[str]

    @property
    def on_neighbourhood(self) -> bool:
        return self.shape in ("neighbours", "v_neighbours")

    def form_names(self, form: str) -> Iterator[tuple[str, bool]]:
        """The names of the form ("" is the blocking one), each with whether its counts are large."""
        stem = self.name
        if form == "nonblocking":
            stem = f"I{self.name.lower()}"
        elif form == "persistent":
            stem = f"{self.name}_init"
        yield stem, False
        if "large" in self.forms:
            yield stem + "_c", True


@dataclass
class Function:
    """A function that Tutti interposes and that is not a collective."""

    name: str
    parameters: list[str]
    function: str
    condition: str = ""


@dataclass
class Around:
    """A function whose entry points call a hook with the host's function."""

    name: str
    parameters: list[str]
    hook: str
    arguments: list[str]
    condition: str = ""
    is_large: bool = False  # the form with large counts, which a host may lack

    def large(self) -> Around:
        parameters = [re.sub(r"^int (\w*count)$", r"MPI_Count \1", one) for one in self.parameters]
        return replace(self, name=f"{self.name}_c", parameters=parameters, is_large=True)

    def hook_arguments(self) -> list[str]:
        """The hook's arguments before the callable."""
        return [self.requests() if one == "requests" else one for one in self.arguments]

    def requests(self) -> str:
        declared = next(one for one in self.parameters if "MPI_Request" in one)
        name, count = name_of(declared), "1"
        if "[]" in declared:
            count = name_of(self.parameters[0])
        elif "*" not in declared:
            name = f"&{name}"
        return f"mpi::entry::Requests{{{count}, {name}}}"


@dataclass
class Maker:
    """A function that makes or frees the communicator that an argument points to."""

    action: str
    communicator: str
    name: str
    parameters: list[str]
    by: str = "parent"
    recent: bool = False
    absent: str = ""
    instead: str = ""


@dataclass
class HostFunction:
    """A function of the host that only Tutti calls."""

    name: str
    parameters: list[str]


@dataclass
class Table:
    parameters: dict[str, Parameter] = field(default_factory=dict)
    collectives: list[Collective] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    arounds: list[Around] = field(default_factory=list)
    makers: list[Maker] = field(default_factory=list)
    host: list[HostFunction] = field(default_factory=list)


def split(declarations: str) -> list[str]:
    return [one.strip() for one in declarations.split(",") if one.strip()]


def name_of(declaration: str) -> str:
    """The name that a C declaration declares."""
    return re.sub(r"\[\]$", "", declaration).split()[-1].lstrip("*")


def take(pattern: str, line: str, where: str) -> re.Match[str]:
    found = re.fullmatch(pattern, line)
    if found is None:
        raise TableError(f"{where}: this line is not of its kind's form: {line}")
    return found


def parameter_of(table: Table, word: str, where: str) -> Parameter:
    """The parameter that a collective's row names: NAME, or NAME:KIND."""
    name, _, kind = word.partition(":")
    if name not in table.parameters:
        raise TableError(f"{where}: no `parameter` line has {name}")
    if kind and kind not in PLAIN:
        raise TableError(f"{where}: '{kind}' is no kind; known: {', '.join(PLAIN)}")
    return replace(table.parameters[name], kind=kind or table.parameters[name].kind)


def read_line(table: Table, line: str, where: str) -> None:
    kind = line.split()[0]
    if kind == "parameter":
        _, name, of_kind, usual, *others = line.split()
        if of_kind not in PLAIN:
            raise TableError(f"{where}: '{of_kind}' is no kind; known: {', '.join(PLAIN)}")
        pairs = [other.split(":") for other in others]
        table.parameters[name] = Parameter(name, of_kind, {"": usual} | {a: b for a, b in pairs})
    elif kind == "collective":
        got = take(r"collective\s+(\w+)\s+(\w+)\s+(\w+)\((.*)\)\s*(.*)", line, where)
        parameters = [parameter_of(table, one, where) for one in split(got[4])]
        forms = set(got[5].split())
        if not forms <= {"large", "nonblocking", "persistent"}:
            raise TableError(
                f"{where}: forms are `large`, `nonblocking` and `persistent`, not {got[5]}"
            )
        table.collectives.append(Collective(got[1], got[2], got[3], parameters, forms))
    elif kind == "function":
        got = take(r"function\s+(\w+)\((.*)\)\s+([\w:]+)(?:\s+if\s+(\w+))?", line, where)
        table.functions.append(Function(got[1], split(got[2]), got[3], got[4] or ""))
    elif kind == "around":
        got = take(
            r"around\s+(\w+)\((.*)\)\s+([\w:]+)\((.*)\)(\s+large)?(?:\s+if\s+(\w+))?", line, where
        )
        around = Around(got[1], split(got[2]), got[3], split(got[4]), got[6] or "")
        names = [*map(name_of, around.parameters), "requests", "true", "false"]
        unknown = [one for one in around.arguments if one not in names]
        if unknown:
            raise TableError(f"{where}: {around.name} has no parameter {', '.join(unknown)}")
        table.arounds += [around, around.large()] if got[5] else [around]
    elif kind in ("make", "free"):
        got = take(
            r"(make|free)\s+(\w+)\s+(\w+)\(([^()]*)\)(?:\s+(request|group|session))?(\s+recent)?"
            r"(?:\s+absent\((.*)\))?(?:\s+instead\((\w+)\))?",
            line,
            where,
        )
        by, recent, absent, instead = got[5] or "parent", bool(got[6]), got[7] or "", got[8] or ""
        table.makers.append(
            Maker(got[1], got[2], got[3], split(got[4]), by, recent, absent, instead)
        )
    elif kind == "host":
        got = take(r"host\s+(\w+)\((.*)\)", line, where)
        table.host.append(HostFunction(got[1], split(got[2])))
    else:
        raise TableError(f"{where}: '{kind}' begins no kind of line")


def read(text: str, file: str = TABLE) -> Table:
    table = Table()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            read_line(table, line.strip(), f"{file}:{number}")
    return table


# A source that is made from the table begins so.
HEAD = f"// Made by scripts/mpi_functions.py from {TABLE}.\n"
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


def guarded(condition: str, lines: list[str]) -> list[str]:
    return [f"#ifdef {condition}", *lines, "#endif"] if condition else lines
