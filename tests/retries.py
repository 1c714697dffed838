"""Notes the jobs that a test has tried again, so that `scripts/test.sh` can say how many there were."""

import os


def note_retry(why: str) -> None:
    """To be called when a job has failed in a way that a busy machine explains, and is tried again."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
    if file := os.environ.get("TEST_TUTTI_RETRIES"):
        with open(file, "a", encoding="utf-8") as notes:
            notes.write(f"{test}: {' '.join(why.split())}\n")
