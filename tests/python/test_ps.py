"""`tutti ps` without jobs: names of sockets, and wrong arguments."""

import json

from tutti.roll.sockets import jobs_in

LINES = """\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 22001 @tutti-roll/prterun-a-7@1/1/4
0000000000000000: 00000002 00000000 00010000 0001 01 22002 @tutti-roll/prterun-a-7@1/0/4
0000000000000000: 00000003 00000000 00000000 0001 03 22003 @tutti-roll/prterun-a-7@1/0/4
0000000000000000: 00000002 00000000 00010000 0001 01 22004 @tutti-roll/12-4026531836/0/2
0000000000000000: 00000002 00000000 00010000 0001 01 22005 @tutti-roll/broken/0
0000000000000000: 00000002 00000000 00010000 0001 01 22006 /run/other
0000000000000000: 00000002 00000000 00010000 0001 01 22007
"""


def test_names_of_sockets():
    found = [(job.name, job.ranks, job.here) for job in jobs_in(LINES.splitlines())]
    assert found == [("12-4026531836", 2, [0]), ("prterun-a-7@1", 4, [0, 1])]


def test_a_job_that_is_not_there(tutti):
    result = tutti("ps", "no-such-job")
    assert result.returncode == 2
    assert "no job 'no-such-job'" in result.stderr


def test_jobs_as_json(tutti):
    result = tutti("ps", "--json")
    assert result.returncode == 0
    for job in json.loads(result.stdout):
        assert set(job) == {"name", "ranks", "here", "process", "user"}
