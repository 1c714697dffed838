"""`tutti plan`: lists, shows, checks, compiles, compares, draws and plays plans.

The commands live in `tutti.plan.command` and `tutti.drawing.commands`. They ask the C++ code that
also runs plans, through tutti._core. (`tutti.plan`, without s, is the language to write plans in.)
"""

import typer

from tutti.drawing import commands as drawing
from tutti.plan.command.checking import check
from tutti.plan.command.compiling import compile_plan
from tutti.plan.command.diff import diff
from tutti.plan.command.files import generate, read
from tutti.plan.command.show import list_plans, show

__all__ = ["app", "generate", "read"]

app = typer.Typer(help="List, show, check, compile, compare and draw plans.", no_args_is_help=True)
app.command("list")(list_plans)
app.command()(show)
app.command()(check)
app.command("compile")(compile_plan)
app.command()(diff)
app.command()(drawing.draw)
app.command()(drawing.play)
