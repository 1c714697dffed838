"""Traces: reads the files that `tutti-run --trace FILE` writes, adds them up, and draws them. docs/tracing.md has the format.

A trace file is untrusted input: its sizes are bounded, nothing in it is executed, and a wrong file raises one `TraceError`
that says what is wrong, and where. The command line imports this package to name its commands; numpy is loaded at the first
use of `read` or `Trace`.
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
