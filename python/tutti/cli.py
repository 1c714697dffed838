"""The command `tutti`.

Each error is one line on stderr. The exit code is 2 for bad input, 1 for a failure at run time, and
3 if other load left no time to measure in.
"""

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from tutti.errors import RunError, UserError
from tutti.former import translated

# The module of each command, and its name there. Only the command that is run is imported, because
# all of them take several times as long as most commands run. A name `app` is a group of commands.
COMMANDS = {
    "bench": ("tutti.bench.command", "app"),
    "doctor": ("tutti.doctor", "doctor"),
    "explain": ("tutti.tuning.explain", "explain"),
    "model": ("tutti.model.command", "app"),
    "papers": ("tutti.papers.command", "papers"),
    "plan": ("tutti.plans", "app"),
    "ps": ("tutti.roll.command", "ps"),
    "sim": ("tutti.simulation.command", "sim"),
    "trace": ("tutti.tracing.command", "trace"),
    "tune": ("tutti.tuning.command", "tune"),
}

# Help texts are plain: Rich would take words in square brackets for markup and cut names of
# options that are wider than its columns.
app = typer.Typer(
    help="Tutti: the collectives of any MPI program, fast on many-core machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from tutti import __version__

        print(f"tutti {__version__}")
        raise typer.Exit


@app.callback()
def tutti(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Tutti: the collectives of any MPI program, fast on many-core machines."""


_added: set[str] = set()


def add_commands(arguments: list[str]) -> None:
    """Adds the command that the arguments begin with to `app`, or all if they name none."""
    named = arguments[0] if arguments and arguments[0] in COMMANDS else None
    for name in [named] if named else list(COMMANDS):
        if name in _added:
            continue
        _added.add(name)
        module, member = COMMANDS[name]
        command = getattr(import_module(module), member)
        if member == "app":
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)


def whole_app() -> typer.Typer:
    """The app with all commands."""
    add_commands([])
    return app


def _complain(message: str) -> None:
    print("tutti: " + " ".join(message.split()), file=sys.stderr)


def _forget_output() -> None:
    """Drops the output that stdout cannot take, so that the flush at exit does not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def run(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code."""
    arguments, former = translated(arguments)
    if former:
        _complain(former)
    try:
        add_commands(arguments)
        code = app(arguments, prog_name="tutti", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UserError as error:
        _complain(str(error))
        return 2
    except RunError as error:
        _complain(str(error))
        return error.code
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it. (While a command runs, the parser catches this
        # error and exits with 1 too.)
        _forget_output()
        return 1
    except OSError as error:
        # Output to a full disk, most likely; commands report what they know more of.
        _forget_output()
        _complain(f"cannot write {error.filename or 'the output'}: {error.strerror or error}")
        return 1
    except Exception as error:
        # A file or name that the compiled module refuses; the module is loaded then.
        if type(error).__module__ == "tutti._core":
            _complain(str(error))
            return 2
        # The parser raises its own exceptions, for example for unknown options. The module of their
        # classes depends on its version, so a method identifies them. Without arguments the parser
        # has printed the help, and the message is empty.
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        if message := say():
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "tutti"
            _complain(f"{message.rstrip('.')}; see {path} --help")
        return 2


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
