"""Words of command lines that have other names now. For one more version the former ones work, too,
and a line on stderr names the new ones.
"""

import shlex

# The subcommands of `tutti bench`, each with the option that chose it before. The first one counts.
MODES = {
    "--app": "apps",
    "--alltoall": "alltoall",
    "--one-sided": "one-sided",
    "--saturation": "saturation",
    "--array": "array",
    "--openmp": "openmp",
    "--worth": "worth",
    "--overlap": "overlap",
    "--halo": "halo",
    "--hosts": "nodes",
    "--form": "forms",
    "--mixed": "mixed",
}
# The options that chose a subcommand and are still options of these.
KEPT = {
    "--halo": ("overlap",),
    "--hosts": ("apps", "one-sided", "saturation", "worth", "overlap", "nodes"),
    "--form": ("overlap", "forms"),
    "--mixed": ("forms",),
}
# For each command: former options and their names now.
OPTIONS = {
    "bench": {"--sizes": "--bytes"},
    "model": {"--sizes": "--bytes", "--shuffled": "--mixed"},
    "sim": {"--sizes": "--bytes"},
    "tune": {"--sizes": "--bytes"},
}
# In these commands --json had the name of a file, or - for stdout.
JSON_FILES = ("bench", "sim", "tune")


def _name(word: str) -> str:
    """The option of a word such as --bytes=8."""
    return word.split("=", 1)[0]


def _renamed(command: str, words: list[str]) -> list[str]:
    names = OPTIONS.get(command, {})
    result = [names.get(_name(word), _name(word)) + word[len(_name(word)) :] for word in words]
    if command not in JSON_FILES or words[:1] == ["view"]:
        return result
    for place, word in enumerate(result):
        has_file = place + 1 < len(result) and not result[place + 1].startswith("--")
        if result[place : place + 2] == ["--json", "-"]:
            del result[place + 1]
        elif word.startswith("--json=") or (word == "--json" and has_file):
            result[place] = word.replace("--json", "--json-file", 1)
    return result


def _with_subcommand(words: list[str]) -> list[str]:
    """The words of `tutti bench` with a subcommand first."""
    if words and (words[0] == "--help" or not words[0].startswith("-")):
        return words
    given = list(map(_name, words))
    chosen = next((option for option in MODES if option in given), None)
    subcommand = "calls" if chosen is None else MODES[chosen]
    rest: list[str] = []
    take = iter(words)
    for word in take:
        if _name(word) == "--app":
            application = word.split("=", 1)[1] if "=" in word else next(take, "list")
            rest[:0] = [] if application == "list" else [application]
        elif _name(word) not in MODES or subcommand in KEPT.get(_name(word), ()):
            rest.append(word)
    return [subcommand, *rest]


def translated(arguments: list[str]) -> tuple[list[str], str]:
    """The command line in today's words, and a line for the user if it had others."""
    if not arguments:
        return arguments, ""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    command, words = arguments[0], arguments[1:end]
    now = _renamed(command, words)
    if command == "bench":
        now = _with_subcommand(now)
    if now == words:
        return arguments, ""
    now = [command, *now, *arguments[end:]]
    return now, f"the next version takes only: tutti {shlex.join(now)}"
