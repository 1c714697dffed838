"""Parses the values of `tutti bench`'s options. Each function raises UserError for a bad value."""

import difflib
import re
from math import isqrt

from tutti.bench.measurements import COLLECTIVES, FORMS, LENGTHS, ROOTED
from tutti.errors import UserError

MOST_RANKS = 1024
MOST_BYTES = 1 << 30
MOST_FACE = 256 << 10
PROGRAMS = "programs"


def parse_ranks(text: str) -> list[int]:
    result = []
    for word in text.split(","):
        if not re.fullmatch(r"[0-9]{1,9}", word) or not 1 <= int(word) <= MOST_RANKS:
            raise UserError(
                f"--ranks: '{word}' is not a rank count; give whole numbers from 1 to {MOST_RANKS}"
            )
        if int(word) not in result:
            result.append(int(word))
    return result


def _bytes(word: str) -> int:
    """The number of bytes; 0 if the word is not one."""
    match = re.fullmatch(r"([0-9]{1,10})([KkMm]?)", word)
    return int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2].upper()] if match else 0


def parse_sizes(text: str) -> list[int]:
    result = []
    for word in text.split(","):
        size = _bytes(word)
        if size == 0 or size % 8 or size > MOST_BYTES:
            raise UserError(
                f"--sizes: '{word}' is not a size; give multiples of 8 bytes up to 1024M, as in "
                "8,64,4K,1M"
            )
        if size not in result:
            result.append(size)
    return result


def parse_bytes(option: str, text: str) -> int:
    size = _bytes(text)
    if not 1 <= size <= MOST_BYTES:
        raise UserError(
            f"{option}: '{text}' is not accepted; give a number of bytes up to 1024M, as in 64K "
            "or 4M"
        )
    return size


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


def parse_collectives(text: str, known: tuple[str, ...] = COLLECTIVES) -> list[str]:
    """The collectives that `text` lists, each once and in this order; `all` lists every known one."""
    if text == "all":
        return list(known)
    result = []
    for word in text.split(","):
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError(
                f"--collectives: '{word}' is unknown; {hint}known are all, {', '.join(known)}"
            )
        if word not in result:
            result.append(word)
    return result


def parse_forms(text: str) -> tuple[str, ...]:
    """The forms that `text` lists, each once; `all` lists both."""
    words = FORMS if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for word in words:
        if word not in FORMS:
            raise UserError(
                f"--form: '{word}' is unknown; known are {', '.join(FORMS)} and all (the blocking "
                "form is always measured beside them)"
            )
    return words


def parse_lengths(text: str) -> tuple[str, ...]:
    """The lengths that `text` lists, each once; `all` lists every one."""
    words = LENGTHS if text == "all" else tuple(dict.fromkeys(text.split(",")))
    for word in words:
        if word not in LENGTHS:
            raise UserError(f"--lengths: '{word}' is unknown; known are all, {', '.join(LENGTHS)}")
    return words


def parse_faces(text: str) -> tuple[int, ...]:
    """Bytes of the faces of cubes of 4-byte cells."""
    result = []
    for word in text.split(","):
        size = _bytes(word)
        if size % 4 or not 0 < size <= MOST_FACE or isqrt(size // 4) ** 2 != size // 4:
            raise UserError(
                f"--faces: '{word}' is not the size of a face; a face is a square of 4-byte cells "
                "of up to 256K, as in 4,64,1K,64K"
            )
        if size not in result:
            result.append(size)
    return tuple(result)


def one_of(option: str, word: str, words: tuple[str, ...]) -> str:
    if word not in words:
        raise UserError(f"{option}: '{word}' is unknown; known are {', '.join(words)}")
    return word
