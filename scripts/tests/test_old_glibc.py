"""The stand-ins for an older glibc hold its symbols, in the libraries that held them then."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import old_glibc

TABLE = """
Symbol table '.dynsym' contains 9 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __tls_get_addr@GLIBC_2.3 (41)
   290: 00000000001db320     8 OBJECT  WEAK   DEFAULT   34 environ@@GLIBC_2.2.5
   293: 00000000001db320     8 OBJECT  GLOBAL DEFAULT   34 __environ@@GLIBC_2.2.5
   466: 000000000014fed0    13 FUNC    GLOBAL DEFAULT   16 _dl_find_object@@GLIBC_2.35
   700: 000000000002f270   321 FUNC    GLOBAL DEFAULT   16 memcpy@@GLIBC_2.14
   701: 000000000002f280   321 FUNC    GLOBAL DEFAULT   16 memcpy@GLIBC_2.2.5
  1432: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@GLIBC_2.2.5
  1434: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@@GLIBC_2.34
  1440: 0000000000089c20    12 FUNC    GLOBAL DEFAULT   16 pthread_atfork@GLIBC_2.2.5
  1500: 0000000000091b60   157 IFUNC   GLOBAL DEFAULT   16 time@@GLIBC_2.2.5
  1758: 0000000000027280   321 FUNC    GLOBAL DEFAULT   16 __libc_start_main@@GLIBC_2.34
  1760: 0000000000027280   321 FUNC    GLOBAL DEFAULT   16 __libc_start_main@GLIBC_2.2.5
  2074: 00000000000855b0   185 FUNC    GLOBAL DEFAULT   16 dlsym@@GLIBC_2.34
  2075: 00000000000855b0   185 FUNC    GLOBAL DEFAULT   16 dlsym@GLIBC_2.2.5
"""


def test_each_symbol_has_the_newest_version_of_that_time() -> None:
    homes = old_glibc.old_symbols(old_glibc.symbols_of(TABLE), "libc.so.6")
    found = {
        home: {symbol.name: symbol.version for symbol in symbols} for home, symbols in homes.items()
    }
    assert found == {
        "libc.so.6": {
            "environ": (2, 2, 5),
            "__environ": (2, 2, 5),
            "memcpy": (2, 14),
            "time": (2, 2, 5),
            "__libc_start_main": (2, 2, 5),
        },
        "libpthread.so.0": {"pthread_create": (2, 2, 5)},
        "libdl.so.2": {"dlsym": (2, 2, 5)},
    }


def test_two_names_of_one_variable_stay_one(tmp_path: Path) -> None:
    """A program's copy of `environ` must be the variable that libc calls `__environ`."""
    symbols = old_glibc.symbols_of(TABLE)
    made = old_glibc.link(tmp_path, "gcc", "libc.so.6", symbols[:2])
    command = ["nm", "--dynamic", "--defined-only", str(made)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    places = {line.split()[2].split("@")[0]: line.split()[0] for line in listed.splitlines()}
    assert places["environ"] == places["__environ"]
