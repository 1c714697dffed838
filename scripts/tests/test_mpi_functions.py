"""The sources made from the table of MPI's functions are those that the table gives, and a table that
cannot be read is refused with the line at fault."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import mpi_functions  # noqa: E402

TABLE = (ROOT / mpi_functions.TABLE).read_text(encoding="utf-8")


def test_sources_are_fresh():
    checked = subprocess.run(
        [sys.executable, "scripts/mpi_functions.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_changed_row_changes_every_source():
    """A new collective is one row: each source that lists collectives has it."""
    row = (
        "collective reduction allreduce Sumall(sendbuf, recvbuf, count, datatype, op, comm) large\n"
    )
    table = mpi_functions.read(TABLE + row)
    for file, make in mpi_functions.GENERATED.items():
        if file.endswith("fortran_entries.cpp"):
            assert "mpi_sumall_" in make(table) and "MPI_SUMALL" in make(table)
        else:
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
