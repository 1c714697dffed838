"""Parses the values of `tutti bench`'s options. Each function raises UserError for a bad value."""

import difflib
import re
from collections.abc import Sequence
from math import isqrt

from tutti.bench.measurements import COLLECTIVES, FORMS, LENGTHS, ROOTED
from tutti.errors import UserError

MOST_RANKS = 1024
MOST_NODES = 32
MOST_BYTES = 1 << 30
MOST_FACE = 256 << 10
PROGRAMS = "programs"


def whole_numbers(option: str, text: str, least: int, most: int, what: str) -> list[int]:
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,9}", word) or not least <= int(word) <= most:
            raise UserError(
                f"{option}: '{word}' is not {what}; give whole numbers from {least} to {most}"
            )
    return list(dict.fromkeys(map(int, text.split(","))))


def parse_ranks(text: str) -> list[int]:
    return whole_numbers("--ranks", text, 1, MOST_RANKS, "a rank count")


def parse_calls(text: str) -> list[int]:
    return whole_numbers("--calls", text, 0, 1_000_000, "a number of calls")


def parse_nodes(text: str) -> list[int]:
    return whole_numbers("--nodes", text, 2, MOST_NODES, "a number of nodes")


def parse_servers(text: str) -> list[int]:
    return whole_numbers("--servers", text, 1, 64, "a number of servers")


def require_per_node(count: int) -> int:
    return whole_numbers("--per-node", str(count), 1, MOST_NODES, "accepted")[0]


def parse_delays(text: str) -> list[str]:
    for word in text.split(","):
        if not re.fullmatch(r"0|[0-9]+(\.[0-9]+)?(ns|us|ms|s)", word):
            raise UserError(f"--delay: '{word}' is not a delay; write 0, 50us, 1ms or 0.5s")
    return list(dict.fromkeys(text.split(",")))


def _bytes(word: str) -> int:
    """The number of bytes; 0 if the word is not one."""
    match = re.fullmatch(r"([0-9]{1,10})([KkMm]?)", word)
    return int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2].upper()] if match else 0


def parse_sizes(text: str) -> list[int]:
    for word in text.split(","):
        size = _bytes(word)
        if size == 0 or size % 8 or size > MOST_BYTES:
            raise UserError(
                f"--bytes: '{word}' is not a size; give multiples of 8 bytes up to 1024M, as in "
                "8,64,4K,1M"
            )
    return list(dict.fromkeys(map(_bytes, text.split(","))))


def parse_faces(text: str) -> tuple[int, ...]:
    """Bytes of the faces of cubes of 4-byte cells."""
    for word in text.split(","):
        size = _bytes(word)
        if size % 4 or not 0 < size <= MOST_FACE or isqrt(size // 4) ** 2 != size // 4:
            raise UserError(
                f"--faces: '{word}' is not the size of a face; a face is a square of 4-byte cells "
                "of up to 256K, as in 4,64,1K,64K"
            )
    return tuple(dict.fromkeys(map(_bytes, text.split(","))))


def parse_bytes(option: str, text: str) -> int:
    size = _bytes(text)
    if not 1 <= size <= MOST_BYTES:
        raise UserError(
            f"{option}: '{text}' is not accepted; give a number of bytes up to 1024M, as in 64K "
            "or 4M"
        )
    return size


def parse_microseconds(text: str | None) -> float | None:
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,4})?", text) or not 0 < float(text) <= 1e6:
        raise UserError(
            f"--compute: '{text}' is not a duration; give microseconds up to 1000000, as in 2.5"
        )
    return float(text)


def parse_kinds(text: str) -> str:
    """Checks the kinds of calls and returns the text, which tutti-bench takes as it is."""
    if text == PROGRAMS:
        return text
    for word in text.split(","):
        collective, *details = word.split(":")
        sized = details[:1] if collective != "barrier" else []
        elements = 4 if "uint32" in details else 8
        good = collective in COLLECTIVES and (len(sized) == 1 or collective == "barrier")
        good = good and all(
            re.fullmatch(r"[0-9]{1,10}[KM]?", size) and parse_bytes("--kinds", size) % elements == 0
            for size in sized
        )
        roots = [
            detail
            for detail in details[len(sized) :]
            if detail not in ("double", "uint32", "world", "dup")
        ]
        if not good or any(
            not re.fullmatch("[0-9]{1,9}", root) or collective not in ROOTED for root in roots
        ):
            raise UserError(
                f"--kinds: '{word}' is not a kind of call; give {PROGRAMS}, which stands for 18 "
                "kinds, or COLLECTIVE:BYTES[:ROOT][:uint32][:dup], as in bcast:4K:1 or "
                "allreduce:4:uint32:dup"
            )
    return text


def near_text(word: str, known: Sequence[str]) -> str:
    """A hint at the known word that is most like this one; empty if there is none."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}? " if near else ""


def some_of(option: str, text: str, known: Sequence[str], more: str = "") -> list[str]:
    """The words that `text` lists, each once and in this order; `all` lists every known one."""
    words = known if text == "all" else text.split(",")
    for word in words:
        if word not in known:
            raise UserError(
                f"{option}: '{word}' is unknown; {near_text(word, known)}known are all, "
                f"{', '.join(known)}{more}"
            )
    return list(dict.fromkeys(words))


def parse_collectives(text: str, known: tuple[str, ...] = COLLECTIVES) -> list[str]:
    return some_of("--collectives", text, known)


def parse_forms(text: str) -> tuple[str, ...]:
    beside = " (the blocking form is always measured beside them)"
    return tuple(some_of("--form", text, FORMS, beside))


def parse_lengths(text: str) -> tuple[str, ...]:
    return tuple(some_of("--lengths", text, LENGTHS))


def one_of(option: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise UserError(f"{option}: '{word}' is unknown; known are {', '.join(words)}")
    return word
