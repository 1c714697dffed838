"""Errors for the user: each message is one line that names the culprit and the remedy."""


class UserError(Exception):
    """Bad input. The command line prints it as one line and exits with code 2."""


class RunError(Exception):
    """A failure at run time. The command line prints it as one line and exits with its code."""

    code = 1


class BusyError(RunError):
    """Other load has left no time to measure in. Nothing is wrong with what was to be measured."""

    code = 3


def cannot_write(error: OSError, name: object) -> RunError:
    """The system names the file only where it could not be opened, and not where the disk is full."""
    return RunError(f"cannot write '{error.filename or name}': {error.strerror or error}")
