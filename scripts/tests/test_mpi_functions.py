"""The sources made from the table of MPI's functions: what is made of a row of each shape is as the
golden text says, and a table that cannot be read is refused with the line at fault.

After a change that is wanted, `python scripts/tests/test_mpi_functions.py` writes the golden text
anew, so that the change of what is made is read with the change of the script.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import mpi_functions  # noqa: E402

TABLE = (ROOT / mpi_functions.TABLE).read_text(encoding="utf-8")
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
GOLDEN = Path(__file__).with_name("mpi_functions.golden")
# Rows of each other kind, by their beginning.
OTHERS = (
    "function Abort(",
    "function Cancel(",
    "around Isend(",
    "around Put(",
    "around Wait(",
    "make made Comm_split(",
    "free comm Comm_free(",
    "host Comm_size(",
)


def one_row_of_each() -> str:
    """A part of the table: the parameters, the first row of each shape, and rows of other kinds. One
    row has all forms."""
    lines = [line for line in TABLE.splitlines() if line.startswith(("parameter", *OTHERS))]
    shapes = set()
    for line in TABLE.splitlines():
        if line.startswith("collective") and (shape := line.split()[1]) not in shapes:
            shapes.add(shape)
            forms = ") large nonblocking persistent" if shape == "reduction" else ")"
            lines.append(line.split(")")[0] + forms)
    return "\n".join(lines)


def made_of_golden_rows() -> str:
    table = mpi_functions.read(one_row_of_each())
    parts = []
    for file, make in mpi_functions.GENERATED.items():
        formatted = subprocess.run(
            [CLANG_FORMAT, f"--assume-filename={ROOT / 'src/x.cpp'}"],
            input=make(table),
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        parts.append(f"==== {file}\n{formatted.stdout}")
    return "\n".join(parts)


def test_a_row_of_each_shape():
    assert made_of_golden_rows() == GOLDEN.read_text(encoding="utf-8")


def test_a_changed_row_changes_every_source():
    """A new collective is one row: each source that lists collectives has it."""
    row = (
        "collective reduction allreduce Sumall(sendbuf, recvbuf, count, datatype, op, comm) large\n"
    )
    table = mpi_functions.read(TABLE + row)
    for file, make in mpi_functions.GENERATED.items():
        assert re.search(r"\bSumall\b|\bMPI_Sumall\b", make(table)), file


def test_every_collective_of_the_table_has_its_own_name():
    names = [name for _, name, _, _, _ in mpi_functions.all_forms(mpi_functions.read(TABLE))]
    assert len(names) == len(set(names)) > 60


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("collective parts gather Gather(sendbuf, nonsense) large", "nonsense"),
        ("collective parts gather Gather sendbuf", "not of its kind's form"),
        ("collective parts gather Gather(sendbuf) huge", "`nonblocking` and `persistent`"),
        ("collective parts gather Gather(sendcount:strange)", "'strange' is no kind"),
        ("parameter x strange in.data", "'strange' is no kind"),
        ("functoin Init() init", "'functoin' begins no kind of line"),
        ("around Cancel(MPI_Request* request) wait_for_all(flag)", "has no parameter flag"),
        ("make made", "not of its kind's form"),
    ],
)
def test_a_bad_line_is_named(line, fault):
    with pytest.raises(mpi_functions.TableError) as refused:
        mpi_functions.read(TABLE + line + "\n", "mine.table")
    assert fault in str(refused.value)
    assert str(refused.value).startswith(f"mine.table:{len(TABLE.splitlines()) + 1}: ")


if __name__ == "__main__":
    GOLDEN.write_text(made_of_golden_rows(), encoding="utf-8")
