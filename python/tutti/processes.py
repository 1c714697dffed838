"""Jobs that end with this process, however it ends: SIGKILL leaves it no time to end them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

# A watcher reads from a pipe whose other end this process alone holds. Where that is closed without a word the watcher ends
# the job's session: first what is in process groups of its own there, as launchers put ranks, then its own group, itself as
# well. It is started before the job, so that there is never one without the other, and from a shell that has ended, so that
# launchers have no child that they do not know. ($$ stays the first shell's, which becomes the job and leads its session.)
WATCHED = r"""exec 3<&0 </dev/null
( {
  trap '' HUP INT TERM  # a job that ends its group so may have more to end
  read said && exit
  for stat in /proc/[0-9]*/stat; do
    read -r words <"$stat" || continue
    process=${stat#/proc/}
    set -- ${words##*) }
    [ "$4" = $$ ] && [ "$3" != $$ ] && kill -KILL "${process%/stat}"
  done
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
exec 3<&-
exec "$@"
"""


@contextmanager
def started(
    words: list[str], env: dict[str, str], stderr: int | IO[str]
) -> Iterator["subprocess.Popen[str]"]:
    """A job in a session of its own, without input, its output in a pipe. What is raised within ends all of it."""
    reading, writing = os.pipe()
    with (
        open(reading, "rb") as watched,
        open(writing, "wb", 0) as held,
        subprocess.Popen(
            ["/bin/sh", "-c", WATCHED, "tutti-job", *words], env=env, stdin=watched, stdout=subprocess.PIPE, stderr=stderr,
            text=True, errors="replace", start_new_session=True,
        ) as process,
    ):  # fmt: skip
        try:
            yield process
            held.write(b"\n")
        finally:
            held.close()
            process.wait()
