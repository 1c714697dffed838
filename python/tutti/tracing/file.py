"""Reading a trace file: its front, its header, its records."""

import os
import struct
from pathlib import Path

import numpy as np

from tutti.tracing import header as headers
from tutti.tracing.errors import TraceError
from tutti.tracing.records import RECORD, add_track, finish
from tutti.tracing.trace import Trace

MAGIC = b"tutti-tr"
VERSIONS = (1, 2)
FRONT = struct.Struct("<8sIIQQ")
LARGEST_HEADER = 1 << 28
LARGEST_FILE = 1 << 36


def read(file: Path) -> Trace:
    """The trace in a file. Raises TraceError, one line that begins with the file's name."""
    try:
        with file.open("rb") as stream:
            if not file.is_file():
                raise TraceError("it is no plain file")
            return _read(stream.fileno(), os.fstat(stream.fileno()).st_size)
    except OSError as error:
        raise TraceError(f"cannot read '{file}': {error.strerror or error}") from error
    except TraceError as error:
        raise TraceError(f"'{file}' is no trace that can be read: {error}") from None


def _take(descriptor: int, count: int, at: int, what: str) -> bytes:
    parts = []
    while count > 0:
        part = os.pread(descriptor, min(count, 1 << 26), at)
        if not part:
            raise TraceError(f"it ends inside {what}; it was cut short, or is still being copied")
        parts.append(part)
        count -= len(part)
        at += len(part)
    return b"".join(parts)


def _read(descriptor: int, size: int) -> Trace:
    if size > LARGEST_FILE:
        raise TraceError(f"it is larger than {LARGEST_FILE >> 30} GiB")
    magic, version, record_bytes, header_bytes, records = FRONT.unpack(
        _take(descriptor, FRONT.size, 0, "its first line")
    )
    if magic != MAGIC:
        raise TraceError("it does not begin as traces do; give a file that tutti-run --trace wrote")
    if version not in VERSIONS:
        raise TraceError(
            f"it has version {version} of the format; this Tutti reads versions {VERSIONS[0]} to {VERSIONS[-1]}"
        )
    if record_bytes != RECORD.itemsize:
        raise TraceError(f"its records have {record_bytes} bytes; {RECORD.itemsize} are right")
    if header_bytes > LARGEST_HEADER:
        raise TraceError(f"its header has {header_bytes} bytes; at most {LARGEST_HEADER} are read")
    expected = FRONT.size + header_bytes + records * RECORD.itemsize
    if size != expected:
        raise TraceError(
            f"it has {size} bytes where its first line says {expected}; it was cut short or changed"
        )
    header = headers.parse(_take(descriptor, header_bytes, FRONT.size, "its header"), version)
    told = sum(ring.records for ring in header.rings)
    if told != records:
        raise TraceError(f"its header tells of {told} records, its first line of {records}")
    trace = Trace(
        header.program, header.mpi, header.filter, header.written, header.collectives, header.reasons, header.kinds, header.nodes,
        header.ranks, header.programs, header.communicators,
    )  # fmt: skip
    at = FRONT.size + header_bytes
    tracks = []
    for number, ring in enumerate(header.rings):
        raw = _take(
            descriptor, ring.records * RECORD.itemsize, at, f"the records of rank {ring.rank}"
        )
        at += len(raw)
        tracks.append(
            add_track(
                trace, header.tables[ring.rank], number, ring, np.frombuffer(raw, dtype=RECORD)
            )
        )
    finish(trace, tracks)
    return trace
