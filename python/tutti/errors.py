"""Errors for the user: each message is one line that names the culprit and the remedy."""


class UserError(Exception):
    """Bad input. The command line prints it as one line and exits with code 2."""


class RunError(Exception):
    """A failure at run time. The command line prints it as one line and exits with code 1."""
