"""Traces: what `tutti-run --trace FILE` recorded, read, added up, and drawn. docs/tracing.md has the format.

A trace file is untrusted input: its sizes are bounded, nothing in it is executed, and whatever is wrong with it is one
`TraceError` that says where. The command line names its commands without loading what they work with: numpy comes with
the first use of `read` or `Trace`.
"""

from typing import TYPE_CHECKING, Any

from tutti.tracing.errors import TraceError

if TYPE_CHECKING:
    from tutti.tracing.file import read
    from tutti.tracing.trace import Trace

__all__ = ["Trace", "TraceError", "read"]


def __getattr__(name: str) -> Any:
    if name == "read":
        from tutti.tracing.file import read

        return read
    if name == "Trace":
        from tutti.tracing.trace import Trace

        return Trace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
