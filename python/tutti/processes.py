"""Starts jobs that end when this process ends, even if SIGKILL ends it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

# A watcher process reads from a pipe. Only this process holds the other end. If the pipe is closed
# before a line arrives, the watcher kills all processes of the job's session: first those in other
# process groups (launchers put ranks there), then its own group, including itself.
# The watcher starts before the job, so that no job runs without a watcher. The subshell that starts
# the watcher ends at once, so that the watcher is not a child of the job: launchers do not expect
# children that they did not start. ($$ is the process id of the first shell, which becomes the job
# and leads the session, also inside the subshell.)
WATCHED = r"""exec 3<&0 </dev/null
( {
  trap '' HUP INT TERM  # a job may send these to its group; processes in other groups remain
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
    """Starts a job in a session of its own. stdin is empty, stdout is a pipe.

    An exception inside the `with` block ends all processes of the job.
    """
    reading, writing = os.pipe()
    with (
        open(reading, "rb") as watched,
        open(writing, "wb", 0) as held,
        subprocess.Popen(
            ["/bin/sh", "-c", WATCHED, "tutti-job", *words],
            env=env,
            stdin=watched,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
            held.write(b"\n")
        finally:
            held.close()
            process.wait()
