"""The command `tutti ps`."""

from typing import Annotated

import typer

from tutti.errors import RunError, UserError
from tutti.roll.sockets import Job, ask, is_own, jobs


def _listed(own: list[Job]) -> str:
    if not own:
        return "no job of yours runs under tutti-run on this machine"
    width = max(len("job"), *(len(job.name) for job in own))
    rows = [f"{'job':<{width}}  ranks here  ranks"]
    rows += [f"{job.name:<{width}}  {len(job.here):>10}  {job.ranks:>5}" for job in own]
    return "\n".join(rows)


def _named(name: str) -> Job:
    """The job whose name begins so, and no other one's does."""
    found = [job for job in jobs() if job.name.startswith(name)]
    exact = [job for job in found if job.name == name]
    if len(exact or found) == 1:
        [job] = exact or found
        return job
    if found:
        names = ", ".join(job.name for job in found)
        raise UserError(f"several jobs begin with '{name}': {names}; give more of the name")
    raise UserError(f"no job '{name}' on this machine; `tutti ps` lists your jobs")


def ps(
    job: Annotated[
        str, typer.Argument(help="The job, or the begin of its name. Without it, jobs are listed.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print the job's table as JSON.")] = False,
) -> None:
    """Where the ranks of a running job are, by function and source line."""
    if not job:
        if json:
            raise UserError("--json needs a job; `tutti ps` lists your jobs")
        print(_listed([one for one in jobs() if is_own(one)]))
        return
    named = _named(job)
    if not is_own(named):
        raise UserError(f"job '{named.name}' is another user's")
    answer = ask(named, "json asked" if json else "table asked")
    if not answer:
        raise RunError(f"no rank of job '{named.name}' answers: all are stopped, or have ended")
    print(answer, end="")
