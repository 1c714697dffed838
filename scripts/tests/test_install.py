"""The results of `cmake --install` and of the wheel.

C programs find and link the library by CMake and by pkg-config, sonames have a version, and only
symbols of Tutti and MPI are visible. All that is installed runs with glibc 2.28 and no library but
libc's own.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import make_dist  # noqa: E402
import man_page  # noqa: E402

import old_glibc  # noqa: E402

BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", ROOT / "build"))
ABIS = ["mpich", "openmpi", "mpiabi"]

CONSUMER = """
#include <tutti/tutti.h>
int main(void) { return sizeof(void *) == 0; }
"""


def run(*command: object, **options: object) -> str:
    result = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        **options,
    )
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout


def cmake() -> str:
    beside = Path(sys.executable).parent / "cmake"
    return str(beside) if beside.exists() else shutil.which("cmake") or "cmake"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prefix")
    run(cmake(), "--install", BUILD, "--prefix", path)
    return path


def library(prefix: Path, name: str) -> Path:
    found = sorted(prefix.rglob(name))
    assert found, f"{name} is not installed under {prefix}"
    return found[0]


def test_programs_and_files_are_installed(prefix: Path) -> None:
    for program in ("tutti-run", "tutti-server"):
        assert os.access(prefix / "bin" / program, os.X_OK)
    for name in [
        "tutti.h",
        "TuttiConfig.cmake",
        "TuttiConfigVersion.cmake",
        "tutti.pc",
        "LICENSE",
        "THIRD_PARTY.md",
    ]:
        library(prefix, name)
    # files that belong only into the wheel are not installed
    assert not list(prefix.rglob("_core*"))


def test_make_install_gives_the_commands(tmp_path: Path) -> None:
    """tutti comes from its own environment, which here finds what it needs in this one."""
    # The packages that the wheel needs stay away, because tests need no network.
    environment = {**os.environ, "PIP_NO_DEPS": "1", "PYTHON": sys.executable}
    environment.pop("DESTDIR", None)
    run(ROOT / "scripts" / "install.sh", tmp_path / "p", env=environment)
    (packages,) = (tmp_path / "p" / "lib" / "tutti" / "lib").glob("python3*/site-packages")
    (packages / "here.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    command = tmp_path / "p" / "bin" / "tutti"
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    assert run(command, "--version", cwd="/") == f"tutti {version}\n"
    words = ("plan", "show", "bcast", "--algorithm", "flat", "--ranks", "2")
    assert "# check: right" in run(command, *words, cwd="/")
    assert run(tmp_path / "p" / "bin" / "tutti-run", "--version", cwd="/").endswith(f"{version}\n")
    outside = [
        directory
        for directory in (tmp_path / "p").rglob("*/")
        if directory.is_dir() and not directory.is_relative_to(tmp_path / "p" / "lib" / "tutti")
    ]
    assert outside and all(any(directory.iterdir()) for directory in outside)


def test_what_a_distribution_packs_has_no_environment(tmp_path: Path) -> None:
    environment = {**os.environ, "DESTDIR": str(tmp_path)}
    said = run(ROOT / "scripts" / "install.sh", "/usr", env=environment)
    assert "the command tutti is left out" in said
    assert os.access(tmp_path / "usr" / "bin" / "tutti-run", os.X_OK)
    assert not list(tmp_path.rglob("pyvenv.cfg"))


def is_elf(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and make_dist.is_elf(path.read_bytes())


def test_installed_files_need_an_old_glibc_alone(prefix: Path) -> None:
    files = [path for path in prefix.rglob("*") if is_elf(path)]
    assert {"tutti-run", "tutti-server", "libtutti-heap.so"} <= {path.name for path in files}
    assert [
        (path.name, make_dist.newer_symbols(path), make_dist.needed(path)) for path in files
    ] == [(path.name, [], []) for path in files]
    # Names that no new program gets from libc.so.6 were in another library, or in none.
    libc = run("gcc", "-print-file-name=libc.so.6").strip()
    versions = old_glibc.symbols_of(run("readelf", "--wide", "--dyn-syms", libc))
    gone = {one.name for one in versions} - {one.name for one in versions if one.default}
    assert "pthread_atfork" in gone
    for path in files:
        asked = re.findall(r" UND (\w+)@", run("readelf", "--wide", "--dyn-syms", path))
        assert (path.name, sorted(gone.intersection(asked))) == (path.name, [])


def test_the_wheel_runs_on_other_machines(tmp_path: Path) -> None:
    (built,) = (BUILD / "wheel").glob("*.whl")
    made = make_dist.make_wheel(built, tmp_path)
    assert made.name.endswith(f"-cp310-abi3-{make_dist.TAG}.whl")
    run(sys.executable, "-m", "zipfile", "-e", made, tmp_path / "all")
    files = [path for path in (tmp_path / "all").rglob("*") if is_elf(path)]
    names = {path.name for path in files}
    assert {"tutti-run", "_core.abi3.so", "tutti-threads", "tutti-bench-mpich"} <= names
    assert {f"libtutti-{abi}.so" for abi in ABIS} <= names
    for path in files:
        assert (path.name, make_dist.newer_symbols(path), make_dist.needed(path)) == (
            path.name,
            [],
            [],
        )
    # pip checks each file against this list.
    with zipfile.ZipFile(made) as archive:
        (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        rows = [row.split(",") for row in archive.read(record).decode().splitlines()]
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
    # The program and others find the wheel's library, wherever it was unpacked.
    libraries = tmp_path / "all" / "tutti" / "lib"
    (tmp_path / "main.c").write_text(CONSUMER.replace("sizeof", "!tutti_version() + sizeof"))
    paths = [f"-I{libraries.parent / 'include'}", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    run("gcc", tmp_path / "main.c", "-o", tmp_path / "main", *paths, "-ltutti")
    run(tmp_path / "main")
    for program in libraries.parent.glob("bin/tutti-openmp"):
        program.chmod(0o755)
        assert f"=> {program.parent}/../lib/libtutti.so.0 " in run("ldd", program)


def test_a_file_of_this_machine_is_no_part_of_the_wheel(tmp_path: Path) -> None:
    """Neither a program that needs a newer glibc, if this machine has one, nor one that needs
    another library."""
    (tmp_path / "main.cpp").write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
    run("g++", tmp_path / "main.cpp", "-o", tmp_path / "main")
    data = (tmp_path / "main").read_bytes()
    assert not make_dist.portable("tutti/bin/tutti-app-of-the-test", data)
    with pytest.raises(SystemExit, match=r"tutti-test needs libstdc\+\+\.so"):
        make_dist.portable("tutti/bin/tutti-test", data)
    # libc starts programs by another function since 2.34.
    run("gcc", "-x", "c", "-", "-o", tmp_path / "newer", input="int main(void) { return 0; }")
    if os.confstr("CS_GNU_LIBC_VERSION") >= "glibc 2.34":
        with pytest.raises(SystemExit, match="tutti-test needs __libc_start_main@GLIBC_2.34"):
            make_dist.portable("tutti/bin/tutti-test", (tmp_path / "newer").read_bytes())


def test_the_man_page_has_every_option(prefix: Path) -> None:
    page = library(prefix, "tutti-run.1").read_text(encoding="utf-8").replace("\\-", "-")
    words = run(prefix / "bin" / "tutti-run", "--help")
    options = re.findall(r"^  (--[\w-]+)", words, re.MULTILINE)
    assert len(options) > 10
    assert [option for option in options if f"\\fB{option}" not in page] == []
    assert man_page.escaped("a-b") == "a\\-b"


def test_sites_get_a_module_file(prefix: Path) -> None:
    """The file finds the prefix four directories above; a bare machine loads it."""
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    file = prefix / "share" / "modulefiles" / "tutti" / version
    text = file.read_text(encoding="utf-8")
    assert text.startswith("#%Module\n") and "@" not in text
    assert file.parents[3] == prefix and text.count("[file dirname ") == 4
    for directory in re.findall(r"\$prefix/(\S+)$", text, re.MULTILINE):
        assert (prefix / directory).is_dir(), directory


def test_sonames_carry_the_major_version(prefix: Path) -> None:
    major = (ROOT / "VERSION").read_text(encoding="utf-8").split(".")[0]
    for name in ["tutti", *(f"tutti-{abi}" for abi in ABIS)]:
        dynamic = run("readelf", "-d", library(prefix, f"lib{name}.so"))
        assert f"[lib{name}.so.{major}]" in dynamic


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("libtutti.so", r"tutti_\w+"),
        *(
            (f"libtutti-{abi}.so", r"(tutti_|P?MPI_|P?MPIX_)\w+|dlopen|ucp_worker_\w+")
            for abi in ABIS
        ),
    ],
)
def test_only_the_interface_is_visible(prefix: Path, name: str, pattern: str) -> None:
    table = run("nm", "-D", "--defined-only", library(prefix, name))
    symbols = {line.split()[-1].split("@")[0] for line in table.splitlines()}
    strangers = sorted(
        symbol for symbol in symbols if not re.fullmatch(pattern, symbol, re.IGNORECASE)
    )
    assert symbols, f"{name} exports no symbol"
    assert not strangers, f"{name} exports {strangers[:10]}"


def test_cmake_users_find_it(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(CONSUMER, encoding="utf-8")
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(consumer C)\n"
        f"find_package(Tutti {version} REQUIRED)\n"
        "add_executable(consumer main.c)\ntarget_link_libraries(consumer PRIVATE Tutti::tutti)\n",
        encoding="utf-8",
    )
    run(cmake(), "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run(cmake(), "--build", tmp_path / "build")
    run(tmp_path / "build" / "consumer")


def test_pkg_config_users_find_it(prefix: Path, tmp_path: Path) -> None:
    # The directory is moved first, because the file finds its own place.
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    (tmp_path / "main.c").write_text(CONSUMER, encoding="utf-8")
    directory = library(moved, "tutti.pc").parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(directory)}
    flags = run("pkg-config", "--cflags", "--libs", "tutti", env=environment).split()
    run(
        "gcc",
        "-std=c99",
        "-pedantic-errors",
        "-Werror",
        tmp_path / "main.c",
        "-o",
        tmp_path / "consumer",
        *flags,
    )
    run(tmp_path / "consumer", env={**os.environ, "LD_LIBRARY_PATH": str(directory.parent)})


def test_it_configures_without_tests(tmp_path: Path) -> None:
    # pip does the same when it builds the wheel from a source package, without GoogleTest
    run(cmake(), "-S", ROOT, "-B", tmp_path, "-DTUTTI_TESTS=OFF")


def test_the_wheel_holds_libraries_and_launcher() -> None:
    package = Path(
        run(sys.executable, "-c", "import tutti; print(tutti.__path__[0])", cwd="/").strip()
    )
    for name in ["libtutti.so.0", *(f"libtutti-{abi}.so" for abi in ABIS)]:
        assert (package / "lib" / name).is_file()
    assert (package / "py.typed").is_file()
    assert os.access(package / "bin" / "tutti-server", os.X_OK)
    launcher = Path(sys.executable).parent / "tutti-run"
    assert launcher.read_bytes()[:4] == b"\x7fELF", (
        "tutti-run must be a native program: starting Python takes long"
    )
