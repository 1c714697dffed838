"""Makes what is handed out of a built tree, in dist/: make_dist.py

The wheel is build/wheel's for every x86-64 Linux with glibc 2.28 or newer: without the programs that
need libraries of this machine (a BLAS, FFTW, SimGrid), with the tag of that promise, and refused if
a file breaks it. The source archive is what git tracks. scripts/debian_package.sh makes the package
for Debian.
"""

import base64
import csv
import hashlib
import io
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (2, 28)
TAG = f"manylinux_{OLDEST[0]}_{OLDEST[1]}_{platform.machine()}"
MOST_BYTES = 15_000_000
LIBC = re.compile(r"(libc|libm|libdl|libpthread|librt)\.so\.\d|ld-linux.*\.so\.\d")
# The MPI under which a program is started, and the library that lies beside the wheel's programs.
AT_HAND = re.compile(r"libmpi\.so\.(12|40)|libtutti\.so\.\d")


def fail(message: str) -> None:
    sys.exit(f"make_dist: {message}")


def needed(file: Path) -> list[str]:
    """The libraries that a file needs beside libc's own, an MPI's and Tutti's."""
    table = readelf("--dynamic", file)
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", table)
    return [name for name in names if not LIBC.fullmatch(name) and not AT_HAND.fullmatch(name)]


def newer_symbols(file: Path) -> list[str]:
    """The symbols of glibc that a file needs in a version newer than OLDEST's."""
    found = re.findall(r" UND (\S+)@GLIBC_([0-9.]+)", readelf("--dyn-syms", file))
    return [
        f"{name}@GLIBC_{version}"
        for name, version in found
        if tuple(map(int, version.split("."))) > OLDEST
    ]


def readelf(what: str, file: Path) -> str:
    command = ["readelf", "--wide", what, str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def is_elf(data: bytes) -> bool:
    return data.startswith(b"\x7fELF")


def portable(name: str, data: bytes) -> bool:
    """False for a program that needs a library of this machine; fails if the file is too new."""
    if not is_elf(data):
        return True
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "file"
        file.write_bytes(data)
        if libraries := needed(file):
            if "/bin/tutti-app-" not in name and "/lib/tutti-sim" not in name:
                fail(f"{name} needs {', '.join(libraries)}; link them statically (tutti_portable)")
            print(f"left out: {name} needs {', '.join(libraries)}")
            return False
        if symbols := newer_symbols(file):
            fail(f"{name} needs {', '.join(symbols[:5])}; add it to src/old_glibc/functions.c")
    return True


def record_of(files: dict[str, bytes], name: str) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for member, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow([member, f"sha256={digest}", len(data)])
    rows.writerow([name, "", ""])
    return text.getvalue().encode()


def make_wheel(built: Path, directory: Path) -> Path:
    with zipfile.ZipFile(built) as archive:
        members = {info.filename: (info, archive.read(info)) for info in archive.infolist()}
    files: dict[str, bytes] = {}
    record = ""
    for name, (_, data) in members.items():
        if name.endswith(".dist-info/RECORD"):
            record = name
        elif name.endswith(".dist-info/WHEEL"):
            files[name] = re.sub(rb"(?m)^(Tag: \w+-\w+)-\w+$", rb"\1-" + TAG.encode(), data)
        elif portable(name, data):
            files[name] = data
    files[record] = record_of(files, record)
    made = directory / re.sub(r"-linux_\w+\.whl$", f"-{TAG}.whl", built.name)
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(members[name][0], data, zipfile.ZIP_DEFLATED, 9)
    if made.stat().st_size > MOST_BYTES:
        fail(f"{made.name} has {made.stat().st_size} bytes, more than {MOST_BYTES}")
    return made


def main() -> None:
    wheels = list((ROOT / "build/wheel").glob("*.whl"))
    if len(wheels) != 1:
        fail("build/wheel does not hold one wheel; run scripts/build.sh")
    directory = ROOT / "dist"
    directory.mkdir(exist_ok=True)
    for old in directory.glob("tutti_mpi-*"):
        old.unlink()
    print(f"made {make_wheel(wheels[0], directory).relative_to(ROOT)}")
    from scikit_build_core.build import build_sdist

    print(f"made dist/{build_sdist(str(directory))}")


if __name__ == "__main__":
    main()
