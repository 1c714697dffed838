"""The command `tutti ps`."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from tutti.errors import RunError, UserError
from tutti.roll.sockets import Job, Owner, ask, jobs, own_jobs


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


def _as_json(own: list[tuple[Job, Owner]]) -> str:
    return json.dumps([asdict(job) | asdict(owner) for job, owner in own], indent=1)


def ps(
    job: Annotated[
        str, typer.Argument(help="The job, or the begin of its name. Without it, jobs are listed.")
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list, or the job's table, as JSON.")
    ] = False,
) -> None:
    """Where the ranks of a running job are, by function and source line."""
    own = own_jobs()
    if not job:
        print(_as_json(own) if as_json else _listed([one for one, _ in own]))
        return
    named = _named(job)
    if named not in [one for one, _ in own]:
        raise UserError(f"job '{named.name}' is another user's, or has ended")
    answer = ask(named, "json asked" if as_json else "table asked")
    if not answer:
        raise RunError(f"no rank of job '{named.name}' answers: all are stopped, or have ended")
    print(answer, end="")
