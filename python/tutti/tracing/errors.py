"""The error that a wrong trace file raises."""

from tutti.errors import UserError


class TraceError(UserError):
    """One line: the file, the place in it, and what is wrong there."""
