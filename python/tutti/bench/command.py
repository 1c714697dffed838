"""The command `tutti bench`: its subcommands, one for each kind of measurement. All options are
checked before anything runs.
"""

from collections.abc import Callable

import typer

from tutti.bench import (
    apps,
    calls,
    lives,
    nodes_report,
    saturation,
    threads,
    waits,
    whole,
    worth,
)
from tutti.bench.options import Kind, Options
from tutti.bench.present import Output
from tutti.bench.view import view
from tutti.options import taking

KINDS = {
    "calls": calls.CALLS,
    "mixed": calls.MIXED,
    "forms": calls.FORMS,
    "overlap": calls.OVERLAP,
    "halo": calls.HALOS,
    "nodes": nodes_report.KIND,
    "worth": worth.KIND,
    "one-sided": threads.ONE_SIDED,
    "lives": lives.KIND,
    "waits": waits.KIND,
    "whole": whole.KIND,
    "alltoall": threads.ALLTOALLS,
    "saturation": saturation.KIND,
    "array": threads.ARRAYS,
    "openmp": threads.OPENMPS,
    "apps": apps.KIND,
}


def command(kind: Kind) -> Callable[..., None]:
    def run(options: Options) -> None:
        output = Output(options.as_json, options.json_file, options.plot)
        output.present(kind.run(options))

    run.__doc__ = kind.run.__doc__
    return taking(kind.options, run, kind.fields)


app = typer.Typer(
    help="Measure the installed MPIs with and without Tutti, interleaved.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for name, kind in KINDS.items():
    app.command(name)(command(kind))
app.command("view")(view)
