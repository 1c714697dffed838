"""Former words of command lines still work, and one line names the new ones."""

import pytest
from tutti.former import translated


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("bench", "bench calls"),
        (
            "bench --ranks 2 --sizes 8,4K --json x",
            "bench calls --ranks 2 --bytes 8,4K --json-file x",
        ),
        ("bench --sizes=8 --json=x", "bench calls --bytes=8 --json-file=x"),
        ("bench --kinds bcast:8 --cold 4M", "bench calls --kinds bcast:8 --cold 4M"),
        ("bench --mixed --cold 4M", "bench mixed --cold 4M"),
        ("bench --form all --mixed", "bench forms --form all --mixed"),
        ("bench --overlap --form all", "bench overlap --form all"),
        ("bench --halo --ranks 4", "bench halo --ranks 4"),
        ("bench --overlap --halo --hosts d", "bench overlap --halo --hosts d"),
        ("bench --hosts d --delay 1ms", "bench nodes --hosts d --delay 1ms"),
        ("bench --hosts d --worth", "bench worth --hosts d"),
        ("bench --one-sided", "bench one-sided"),
        ("bench --one-sided --hosts d", "bench one-sided --hosts d"),
        ("bench --one-sided --alltoall --ranks 16", "bench alltoall --ranks 16"),
        ("bench --saturation --plot x", "bench saturation --plot x"),
        ("bench --array", "bench array"),
        ("bench --openmp --ranks 2", "bench openmp --ranks 2"),
        ("bench --app list", "bench apps"),
        ("bench --app fft --ranks 2 -- --sizes 3", "bench apps fft --ranks 2 -- --sizes 3"),
        ("bench --quick --app=fft", "bench apps fft --quick"),
        ("tune --sizes 8 --json x", "tune --bytes 8 --json-file x"),
        ("sim bcast --json -", "sim bcast --json"),
        ("sim bcast --json x", "sim bcast --json-file x"),
        ("model check --shuffled --sizes 8", "model check --mixed --bytes 8"),
    ],
)
def test_former_words_have_new_ones(former, now):
    words, line = translated(former.split())
    assert words == now.split()
    assert line == f"the next version takes only: tutti {now}"
    assert translated(words) == (words, "")


@pytest.mark.parametrize(
    "words",
    [
        "bench --help",
        "bench calls --json",
        "bench view --json f",
        "doctor --json",
        "plan show --json",
    ],
)
def test_words_of_today_stay(words):
    assert translated(words.split()) == (words.split(), "")


def test_one_line_names_the_new_words(tutti):
    done = tutti("bench", "--app", "list")
    assert done.returncode == 0 and "matvec" in done.stdout
    assert done.stderr == "tutti: the next version takes only: tutti bench apps\n"
