"""An ABI needs one file of its own: the compiler accepts every source that is compiled for each ABI
also for an MPI that nobody has.
"""

import json
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import support

pytestmark = [pytest.mark.mpi, pytest.mark.slow]

# The file that describes it, as src/mpi/abi has one for each MPI.
DESCRIPTION = """
#pragma once
#include <mpi.h>
namespace tutti::mpi::own {
constexpr std::string_view name = "toy";
constexpr bool is_open_mpi = false;
inline bool is_abi_of(const HostLibrary& library) { return library.file.starts_with("libtoympi"); }
inline bool is_op_of_host(Op op) { return static_cast<uint64_t>(op) < 100; }
inline size_t bytes_in_handle(Datatype) { return 0; }
inline const int* unweighted() { return MPI_UNWEIGHTED; }
inline const int* weights_empty() { return MPI_WEIGHTS_EMPTY; }
}  // namespace tutti::mpi::own
"""


MPICH = support.ROOT / ".mpi/mpich/include"


def header_of_the_toy():
    """MPICH's header with handles that are addresses, other constants, and a status of its own."""
    text = (MPICH / "mpi.h").read_text(encoding="utf-8")
    text, handles = re.subn(
        r"typedef int (MPI_(?!Fint)[A-Z]\w+);", r"typedef struct toy_\1 *\1;", text
    )
    assert handles >= 8
    text = re.sub(r"#define MPI_IN_PLACE .*", "#define MPI_IN_PLACE ((void*)-77)", text)
    text = re.sub(r"#define MPI_ERR_OTHER .*", "#define MPI_ERR_OTHER 3", text)
    text, fields = re.subn(r"int MPI_SOURCE;\s*int MPI_TAG;", "int MPI_TAG; int MPI_SOURCE;", text)
    assert fields == 1
    return text


def commands(toy):
    """The compiler's command for each source that the interposer of MPICH's ABI has of its own."""
    for entry in json.loads((support.BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        if "/tutti-mpich.dir/" not in entry["output"]:
            continue
        words = shlex.split(entry["command"])
        words = words[[word.rsplit("/", 1)[-1].split("-")[0] for word in words].index("c++") :]
        words = [str(toy) if word == str(MPICH) else word for word in words]
        words = [
            f'-DTUTTI_ABI="{toy}/toy.h"' if word.startswith("-DTUTTI_ABI") else word
            for word in words
        ]
        yield entry["file"], [*words[: words.index("-o")], "-fsyntax-only", entry["file"]]


def test_an_abi_is_one_file(tmp_path):
    shutil.copytree(MPICH, tmp_path, dirs_exist_ok=True)
    (tmp_path / "mpi.h").write_text(header_of_the_toy(), encoding="utf-8")
    (tmp_path / "toy.h").write_text(DESCRIPTION, encoding="utf-8")
    named = dict(commands(tmp_path))
    assert {"abi.cpp", "host.cpp", "types.cpp", "requests.cpp", "c_entries.cpp"} <= {
        file.rsplit("/", 1)[-1] for file in named
    }

    def compiled(command):
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    with ThreadPoolExecutor(2) as threads:
        for file, result in zip(named, threads.map(compiled, named.values()), strict=True):
            assert result.returncode == 0, f"{file}:\n{result.stderr[:3000]}"
