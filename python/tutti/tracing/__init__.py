"""Traces: what `tutti-run --trace FILE` recorded, read, added up, and drawn. docs/tracing.md has the format.

A trace file is untrusted input: its sizes are bounded, nothing in it is executed, and whatever is wrong with it is one
`TraceError` that says where.
"""

from tutti.tracing.errors import TraceError
from tutti.tracing.file import read
from tutti.tracing.trace import Trace

__all__ = ["Trace", "TraceError", "read"]
