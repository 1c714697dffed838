"""Makes stand-ins for the C library of an older system, to link against: old_glibc.py DIRECTORY

The stand-ins have the names of glibc's libraries and, of this machine's glibc, the symbols that
glibc 2.28 had already, each in the newest version of that time. A program that is linked against
them therefore runs with every glibc from 2.28 on. They hold no code: at run time the system's own
libraries take their place.

glibc keeps the old versions of its symbols for ever, and readelf lists them. One fact it does not
list: since 2.34 libc.so.6 holds what libpthread, libdl and librt held before, so their names stand
here (https://sourceware.org/glibc/wiki/Release/2.34). A linker of glibc before 2.30 finds a symbol
only in the library that the program names for it.

A symbol that has old versions alone is left out: it serves programs that were linked long ago, and
new ones get that function from glibc's archive (pthread_atfork).
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OLDEST = (2, 28)
MERGED = (2, 34)  # the version in which libc.so.6 took up the other libraries
FORMER_HOMES = [
    (re.compile(r"(__)?(pthread|sem)_|pthread"), "libpthread.so.0"),
    (re.compile(r"dl[a-z]"), "libdl.so.2"),
    (re.compile(r"(shm|mq|timer|aio|lio)_"), "librt.so.1"),
]
SYMBOL = re.compile(
    r"\s*\d+: (?P<value>[0-9a-f]+)\s+(?P<size>\w+) (?P<kind>FUNC|IFUNC|OBJECT) +(?:GLOBAL|WEAK) +"
    r"DEFAULT +\d+ (?P<name>\w+)@(?P<default>@?)GLIBC_(?P<version>[0-9.]+)$"
)


@dataclass(frozen=True)
class Symbol:
    name: str
    version: tuple[int, ...]
    default: bool  # new programs get this version
    kind: str
    value: str
    size: int


def symbols_of(table: str) -> list[Symbol]:
    """The symbols of a library that have a public version, from the output of readelf."""
    found = []
    for line in table.splitlines():
        if match := SYMBOL.match(line):
            version = tuple(int(part) for part in match["version"].split("."))
            size = int(match["size"], 0)
            default = match["default"] != ""
            found.append(
                Symbol(match["name"], version, default, match["kind"], match["value"], size)
            )
    return found


def old_symbols(symbols: Iterable[Symbol], soname: str) -> dict[str, list[Symbol]]:
    """The symbols of the time of OLDEST, by the library that held them then."""
    by_name = defaultdict(list)
    for symbol in symbols:
        by_name[symbol.name].append(symbol)
    homes = defaultdict(list)
    for name, versions in by_name.items():
        old = [symbol for symbol in versions if symbol.version <= OLDEST]
        if not old or not any(symbol.default for symbol in versions):
            continue
        home = soname
        if soname == "libc.so.6" and any(OLDEST < s.version <= MERGED for s in versions):
            former = (home for pattern, home in FORMER_HOMES if pattern.match(name))
            home = next(former, soname)
        homes[home].append(max(old, key=lambda symbol: symbol.version))
    return homes


def assembly(symbols: list[Symbol]) -> str:
    """Names of one object stay at one address: a program's copy of `environ` is also `__environ`."""
    lines = [".text"]
    objects = defaultdict(list)
    for symbol in symbols:
        if symbol.kind == "OBJECT":
            objects[symbol.value].append(symbol)
        else:
            lines += [f".globl {symbol.name}", f".type {symbol.name},%function", f"{symbol.name}:"]
    lines += [".space 16", ".bss"]
    for names in objects.values():
        lines.append(".balign 32")
        for symbol in names:
            lines += [f".globl {symbol.name}", f".type {symbol.name},%object"]
            lines += [f".size {symbol.name},{symbol.size}", f"{symbol.name}:"]
        lines.append(f".space {max(1, *(symbol.size for symbol in names))}")
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def version_script(symbols: list[Symbol]) -> str:
    by_version = defaultdict(list)
    for symbol in symbols:
        by_version[symbol.version].append(symbol.name)
    nodes = (
        f"GLIBC_{'.'.join(map(str, version))} {{ global: {'; '.join(sorted(names))}; }};"
        for version, names in sorted(by_version.items())
    )
    return "\n".join([*nodes, "GLIBC_PRIVATE { local: *; };", ""])


def output(*command: object) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def link(directory: Path, compiler: str, soname: str, symbols: list[Symbol]) -> Path:
    source = directory / f"{soname}.s"
    script = directory / f"{soname}.version"
    source.write_text(assembly(symbols), encoding="utf-8")
    script.write_text(version_script(symbols), encoding="utf-8")
    made = directory / soname
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={script}"]
    output(compiler, *options, source, "-o", made)
    return made


def main(directory: Path, compiler: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    homes: dict[str, list[Symbol]] = defaultdict(list)
    libc = Path(output(compiler, "-print-file-name=libc.so.6").strip()).resolve()
    (linker,) = {path.name: path for path in libc.parent.glob("ld-linux*.so.*")}.values()
    for library in (libc, libc.parent / "libm.so.6", linker):
        table = output("readelf", "--wide", "--dyn-syms", library)
        soname = "libc.so.6" if library == libc else library.name
        for home, symbols in old_symbols(symbols_of(table), soname).items():
            homes[home] += symbols
    made = {soname: link(directory, compiler, soname, found) for soname, found in homes.items()}
    # `-lc` finds this script. The compiler's archive has what programs link statically (atexit).
    first = made.pop("libc.so.6")
    archive = output(compiler, "-print-file-name=libc_nonshared.a").strip()
    others = " ".join(str(path) for name, path in made.items() if name != "libm.so.6")
    (directory / "libc.so").write_text(
        f"GROUP ( {first} {archive} AS_NEEDED ( {others} ) )\n", encoding="utf-8"
    )
    for soname in ("libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"):
        link_name = directory / soname[: soname.index(".so") + 3]
        link_name.unlink(missing_ok=True)
        link_name.symlink_to(soname)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else "cc")
