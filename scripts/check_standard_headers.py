"""Checks that C++ sources include the headers of the standard library whose names they use.

Usage: check_standard_headers.py [DIRECTORY...]

The build precompiles the common headers of the standard library (tutti_precompile in
cmake/Tutti.cmake), so the compiler would not miss one. A source may rely on what the project's
headers that it includes include themselves. Names that the table below lacks are faults too: add
them to it.

Prints one line for each fault and exits 1.
"""

import re
import sys
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DIRECTORIES = ("src", "bench", "examples", "tests", "include")

# The headers that declare each name. A name may stand in several.
NAMES = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count
        count_if equal fill fill_n find find_if find_if_not is_sorted lower_bound max max_element
        min min_element minmax_element none_of nth_element partition partition_point pop_heap
        push_heap ranges remove replace replace_if reverse rotate set_difference shift_left
        shuffle sort stable_sort unique upper_bound""",
    "array": "array to_array",
    "atomic": """atomic atomic_ref atomic_signal_fence atomic_thread_fence memory_order_acq_rel
        memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst""",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countr_zero endian",
    "bitset": "bitset",
    "charconv": "from_chars",
    "chrono": "chrono",
    "cfenv": "fegetenv fegetround fenv_t fesetenv fesetround",
    "cmath": "abs fabs floor isinf isnan ldexp llround lround nan pow round signbit",
    "cctype": "isdigit",
    "complex": "complex",
    "condition_variable": "condition_variable",
    "csignal": "signal",
    "cstddef": "byte nullptr_t ptrdiff_t size_t",
    "cstdint": "int64_t uint32_t uint64_t",
    "cstdio": "FILE fclose fflush fopen fprintf fputs fwrite printf puts remove rename snprintf sscanf",
    "cstdlib": "_Exit abort abs aligned_alloc atexit atof atoi free getenv malloc strtol strtoull",
    "cstring": """memcmp memcpy memmove memset strchr strcmp strcpy strcspn strerror strlen strncmp
        strncpy""",
    "ctime": "clock time",
    "deque": "deque erase_if",
    "exception": "current_exception exception exception_ptr rethrow_exception",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream getline",
    "functional": "cref equal_to function greater invoke less multiplies not_equal_to",
    "initializer_list": "initializer_list",
    "iostream": "cin cout",
    "ios": "ios streamoff streamsize",
    "istream": "getline",
    "iterator": """back_inserter begin distance end istreambuf_iterator make_move_iterator next prev
        size""",
    "limits": "numeric_limits",
    "list": "list",
    "map": "erase_if map multimap",
    "memory": """allocator make_shared make_unique make_unique_for_overwrite shared_ptr
        uninitialized_copy_n uninitialized_value_construct_n unique_ptr weak_ptr""",
    "mutex": "call_once lock_guard mutex once_flag try_to_lock unique_lock",
    "new": "align_val_t bad_alloc nothrow nothrow_t",
    "numeric": "accumulate gcd iota lcm partial_sum",
    "optional": "nullopt optional",
    "ostream": "ostream",
    "queue": "priority_queue",
    "random": "minstd_rand mt19937 mt19937_64",
    "ratio": "milli nano",
    "set": "erase_if set",
    "span": "as_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "length_error logic_error out_of_range runtime_error",
    "string": "erase erase_if getline stoi stoull string to_string",
    "string_view": "string_view",
    "system_error": "errc error_code generic_category system_error",
    "thread": "this_thread thread",
    "tuple": "apply get tie tuple tuple_element_t tuple_size_v",
    "type_traits": """conditional_t is_base_of_v is_class_v is_convertible_v is_enum_v
        is_floating_point_v is_integral_v is_pointer_v is_same_v is_signed_v
        is_trivially_copyable_v is_void_v make_unsigned_t remove_cvref_t remove_pointer_t remove_reference_t
        underlying_type_t""",
    "unordered_map": "erase_if unordered_map",
    "utility": "exchange forward get in_place in_range index_sequence make_index_sequence make_pair move pair swap",
    "variant": "get get_if variant visit",
    "vector": "begin end erase erase_if size vector",
}
# A header that declares these is enough for them wherever it is included, by the standard.
BRINGS = {
    "array": "string iterator",
    "charconv": "system_error",
    "chrono": "ratio",
    "condition_variable": "mutex",
    "filesystem": "string system_error",
    "fstream": "istream ostream ios string",
    "sstream": "istream ostream ios string",
    "iostream": "istream ostream ios",
    "deque": "iterator initializer_list",
    "map": "utility iterator initializer_list",
    "memory": "new",
    "set": "iterator initializer_list",
    "span": "iterator",
    "string": "string_view iterator initializer_list",
    "tuple": "utility",
    "unordered_map": "utility iterator initializer_list",
    "utility": "initializer_list",
    "vector": "iterator initializer_list",
}
HEADERS_OF: dict[str, set[str]] = {}
for header, names in NAMES.items():
    for name in names.split():
        HEADERS_OF.setdefault(name, set()).add(header)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
USE = re.compile(r"\bstd::(\w+)")
INTEGER = re.compile(r"(?<![:\w])u?int(?:8|16|32|64)_t\b")


def file_of(name: str, file: Path) -> Path | None:
    places = (file.parent, *(REPOSITORY / place for place in ("src", "include", "bench")))
    return next((place / name for place in places if (place / name).is_file()), None)


@cache
def reached(file: Path) -> frozenset[str]:
    """The standard headers that a file includes, itself or by the project's headers."""
    found: set[str] = set()
    for quote, name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        inner = None if quote == "<" else file_of(name, file)
        found |= reached(inner.resolve()) if inner is not None else {name}
    return frozenset(found)


def check(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    code = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    known = set(reached(file.resolve()))
    for header in tuple(known):
        known |= set(BRINGS.get(header, "").split())
    complaints: dict[str, str] = {}

    def complain(name: str, place: int, why: str) -> None:
        line = code.count("\n", 0, place) + 1
        complaints.setdefault(name, f"{file}:{line}: uses {name}: {why}")

    for use in USE.finditer(code):
        headers = HEADERS_OF.get(use[1])
        if headers is None:
            complain(use[0], use.start(), f"add it to NAMES in {Path(__file__).name}")
        elif not headers & known:
            complain(use[0], use.start(), f"include <{min(headers)}>")
    if (use := INTEGER.search(code)) and not known & {"cstdint", "stdint.h"}:
        complain(use[0], use.start(), "include <cstdint>")
    return list(complaints.values())


def main() -> int:
    directories = [Path(word) for word in sys.argv[1:]] or [
        REPOSITORY / name for name in DIRECTORIES
    ]
    files = sorted(
        file
        for directory in directories
        for file in directory.rglob("*")
        if file.suffix in {".h", ".cpp"} and not file.name.endswith(".inc.h")
    )
    complaints = [complaint for file in files for complaint in check(file)]
    print("\n".join(complaints) or f"{len(files)} files include what they use of the library")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
