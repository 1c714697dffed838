"""Programs that pass pointers to a GPU's memory.

The GPU is programs/fake_cuda.c: memory without permissions, which only its functions can read.
"""

import os
import subprocess

import pytest
import support

SLOW_PATH = "this program passes memory of a GPU to collectives"


@pytest.mark.parametrize(
    ("ranks", "library"), [(2, "libcuda.so.1"), (3, "libcuda.so.1"), (4, "libamdhip64.so.6")]
)
def test_collectives_on_memory_of_a_gpu(host, compiled, tmp_path, ranks, library):
    source = support.PROGRAMS / "fake_cuda.c"
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", f"-Wl,-soname,{library}"]
    subprocess.run([*command, source, "-o", tmp_path / library], check=True, timeout=120)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("LD_LIBRARY_PATH")]))
    program = compiled(host, "gpu")
    variables = {"LD_LIBRARY_PATH": path}
    result = support.job(host, ranks, program, library, variables=variables)
    support.expect_ok(result)
    assert result.stderr.count(SLOW_PATH) == ranks // 2, result.stderr


PLUGIN = """
#include <dlfcn.h>
int open_other(void) { return dlopen("libother.so", RTLD_NOW) != 0; }
"""
OPENER = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* plugin = dlopen(argv[1], RTLD_NOW);
  int (*open_other)(void) = plugin ? (int (*)(void))dlsym(plugin, "open_other") : 0;
  if (open_other && open_other()) puts("ok");
  if (!open_other) puts(dlerror());
  MPI_Finalize();
}
"""


def test_libraries_are_searched_by_their_callers_runpath(host, tmp_path):
    """The loader looks at the address to which dlopen returns, which Tutti must not change."""
    (tmp_path / "plugin.c").write_text(PLUGIN)
    (tmp_path / "other.c").write_text("int other;")
    (tmp_path / "opener.c").write_text(OPENER)
    (tmp_path / "parts").mkdir()

    def build(compiler, source, to, *options):
        command = [compiler, tmp_path / source, "-o", tmp_path / to, *options]
        subprocess.run(command, check=True, timeout=120)

    shared = ["-shared", "-fPIC"]
    build("cc", "other.c", "parts/libother.so", *shared)
    runpath = "-Wl,--enable-new-dtags,-rpath,$ORIGIN/parts"
    build("cc", "plugin.c", "libplugin.so", *shared, runpath, "-ldl")
    build(host.compiler, "opener.c", "opener", "-ldl")
    support.expect_ok(support.job(host, 1, tmp_path / "opener", tmp_path / "libplugin.so"))
