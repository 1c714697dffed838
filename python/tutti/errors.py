"""What a user did wrong, or what is missing: one line that names the culprit and the remedy."""


class UserError(Exception):
    """Bad input. The command line prints it as one line and exits with code 2."""


class RunError(Exception):
    """Something failed while it ran. The command line prints it as one line and exits with code 1."""
