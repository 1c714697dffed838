"""The command `tutti`.

Each error is one line on stderr. The exit code is 2 for bad input and 1 for a failure at run time.
"""

import os
import sys
from typing import Annotated

import typer

from tutti import __version__, plans
from tutti.errors import RunError, UserError

app = typer.Typer(
    help="Tutti: the collectives of any MPI program, fast on many-core machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(plans.app, name="plan")


def _show_version(wanted: bool) -> None:
    if wanted:
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


def _add_commands() -> None:
    from tutti.bench.command import bench
    from tutti.doctor import doctor
    from tutti.model.command import app as model
    from tutti.simulation.command import sim
    from tutti.tracing.command import trace
    from tutti.tuning.command import tune
    from tutti.tuning.explain import explain

    app.command()(bench)
    app.command()(doctor)
    app.command()(explain)
    app.command()(sim)
    app.command()(trace)
    app.command()(tune)
    app.add_typer(model, name="model")


_add_commands()


def _complain(message: str) -> None:
    print("tutti: " + " ".join(message.split()), file=sys.stderr)


def run(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code."""
    try:
        code = app(arguments, prog_name="tutti", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except UserError as error:
        _complain(str(error))
        return 2
    except RunError as error:
        _complain(str(error))
        return 1
    except (KeyboardInterrupt, typer.Abort):
        _complain("interrupted")
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it. stdout becomes /dev/null, so that the flush at
        # exit does not fail. (While a command runs, the parser catches this error and exits with 1
        # too.)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        # The parser raises its own exceptions, for example for unknown options. The module of their
        # classes depends on its version, so a method identifies them. Without arguments the parser
        # has printed the help, and the message is empty.
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        if message := say():
            _complain(f"{message.rstrip('.')}; see tutti --help")
        return 2


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
