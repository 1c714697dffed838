"""`tutti trace`: tables, JSON, Chrome events, and the page in a browser."""

import json

import numpy as np
import pytest
from browser import complaints, wait_until
from trace_files import one_alltoall, one_persistent, two_broadcasts
from tutti.tracing.plot import Window


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "by hand.trace"
    made.write_bytes(two_broadcasts().contents())
    return made


def test_tables(tutti, file):
    done = tutti("trace", str(file))
    assert done.returncode == 0, done.stderr
    for said in (
        "2 ranks on 1 node",
        "bcast",
        "flat",
        "host MPI:",
        "first calls",
        "wait_line",
        "who waited for whom",
        "arrival",
    ):
        assert said in done.stdout, done.stdout
    assert "lost" not in done.stdout


def test_collectives_with_parts_are_shown_with_the_bytes_of_a_part(tutti, tmp_path):
    file, written, events = (
        tmp_path / "parts.trace",
        tmp_path / "page.html",
        tmp_path / "events.json",
    )
    file.write_bytes(one_alltoall().contents())
    done = tutti("trace", str(file), "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)["collectives"][0]
    assert (row["collective"], row["size"], row["by"], row["calls"]) == (
        "alltoall",
        "<= 8 B",
        "direct",
        2,
    )
    assert "alltoall" in tutti("trace", str(file)).stdout
    assert tutti("trace", str(file), "--html", str(written)).returncode == 0
    assert '"alltoall of 8 bytes a part by direct"' in written.read_text()
    assert tutti("trace", str(file), "--perfetto", str(events)).returncode == 0
    flows = [
        event["ph"]
        for event in json.loads(events.read_text())["traceEvents"]
        if event["ph"] in "sf"
    ]
    assert sorted(flows) == ["f", "f", "s", "s"]


def test_the_reader_knows_the_collectives_with_parts():
    from tutti.places import core
    from tutti.tracing.trace import PARTED

    assert tuple(name for name in core().collectives() if core().parted(name)) == PARTED


def test_lost_records_are_reported(tutti, tmp_path):
    made = two_broadcasts()
    made.records[1] = made.records[1][3:]
    made.header["ranks"][1]["rings"][0]["lost"] = 3
    (tmp_path / "a.trace").write_bytes(made.contents())
    done = tutti("trace", str(tmp_path / "a.trace"))
    assert "lost: the 3 oldest records" in done.stdout and "TUTTI_TRACE_BYTES" in done.stdout


def test_a_filter_is_printed(tutti, tmp_path):
    made = two_broadcasts()
    made.header["filter"] = "steps=waiting"
    (tmp_path / "a.trace").write_bytes(made.contents())
    done = tutti("trace", str(tmp_path / "a.trace"))
    assert "filter: steps=waiting; what it leaves out is not here" in done.stdout


def test_json(tutti, file):
    done = tutti("trace", str(file), "--json")
    found = json.loads(done.stdout)
    assert found["format"] == "tutti-trace-summary 1" and found["ranks"] == 2


def test_chrome_events(tutti, file, tmp_path):
    written = tmp_path / "events.json"
    done = tutti("trace", str(file), "--perfetto", str(written))
    assert done.stdout == f"wrote {written}\n", done.stderr
    events = json.loads(written.read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == 6 + 8
    assert {(event["pid"], event["tid"]) for event in slices} == {(0, 0), (0, 1)}
    wait = next(event for event in slices if event["name"].startswith("wait_line"))
    assert wait["name"] == "wait_line for rank 0" and (wait["ts"], wait["dur"]) == (0.2, 0.9)
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 2
    for number, start in starts.items():
        assert start["tid"] == 0 and ends[number]["tid"] == 1 and start["ts"] <= ends[number]["ts"]


def test_persistent_collectives(tutti, tmp_path):
    """Tables show the time between their calls; Chrome events have a separate track for them.

    The track is separate, because other calls of the rank may end after a persistent operation.
    """
    file, written = tmp_path / "persistent.trace", tmp_path / "events.json"
    file.write_bytes(one_persistent().contents())
    said = tutti("trace", str(file)).stdout
    assert "between us" in said and "records" in said and "elsewhere" not in said
    assert tutti("trace", str(file), "--perfetto", str(written)).returncode == 0
    events = json.loads(written.read_text())["traceEvents"]
    pairs = [
        (event["ph"], event["tid"], event["ts"])
        for event in events
        if event.get("cat") == "persistent"
    ]
    assert pairs == [("b", 0, 1.0), ("e", 0, 6.16), ("b", 1, 1.4), ("e", 1, 4.51)]
    slices = {
        event["name"]: (event["ts"], event["dur"])
        for event in events
        if event["ph"] == "X" and event["tid"] == 0
    }
    assert slices["start of allreduce of 8 bytes by records"] == (1.0, 0.04)
    assert slices["completion of allreduce of 8 bytes by records"] == (6.04, 0.12)
    assert "elsewhere" not in slices


def test_page_is_one_file(tutti, file, tmp_path):
    written = tmp_path / "page.html"
    assert tutti("trace", str(file), "--html", str(written)).returncode == 0
    text = written.read_text()
    assert "src=" not in text and "href=" not in text and "innerHTML" not in text
    assert "by <hand>" not in text and r"by \u003chand\u003e" in text
    assert "default-src 'none'" in text and "unsafe-inline" not in text


def test_plot(tutti, file, tmp_path):
    """Each rank's calls have bars of the collective's colour; the window cuts them."""
    for words in ((), ("--from", "0.0005"), ("--until", "0.001")):
        done = tutti("trace", str(file), "--plot", str(tmp_path / "drawn"), *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            f"wrote {tmp_path / 'drawn'}.png",
            f"wrote {tmp_path / 'drawn'}.svg",
        ]
        assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    whole = Window().cut(np.array([0.0, 5.0]), np.array([2.0, 6.0]))
    assert [part.tolist() for part in whole] == [[True, True], [0, 5], [2, 1]]
    part = Window(1, 4).cut(np.array([0.0, 5.0, 3.0]), np.array([2.0, 6.0, 9.0]))
    assert [part.tolist() for part in part] == [[True, False, True], [1, 3], [1, 1]]


def test_bad_windows(tutti, file, tmp_path):
    stem = str(tmp_path / "drawn")
    for words, said in (
        (["--from", "1"], "--from, --until: they need --plot"),
        (["--plot", stem, "--from", "2", "--until", "2"], "--until: 2 is not later than --from"),
        (["--plot", stem, "--from", "1000"], "no call of the trace lies between them"),
        (["--plot", "/nonexistent/drawn"], "cannot write '/nonexistent/drawn.png'"),
    ):
        done = tutti("trace", str(file), *words)
        assert done.returncode == 2 and done.stdout == "", words
        assert len(done.stderr.splitlines()) == 1 and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/nonexistent/a.trace"], "/nonexistent/a.trace"),
        (["/"], "directory"),
        (["README.md"], "does not begin as traces do"),
        ([], "file"),
    ],
)
def test_bad_input(tutti, arguments, said):
    done = tutti("trace", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and said.lower() in done.stderr.lower(), done.stderr


def test_unwritable(tutti, file):
    for option in ("--html", "--perfetto"):
        done = tutti("trace", str(file), option, "/nonexistent/page")
        assert done.returncode == 2 and "cannot write '/nonexistent/page'" in done.stderr


@pytest.mark.browser
def test_the_page_in_a_browser(driver, tutti, file, tmp_path):
    written = tmp_path / "page.html"
    assert tutti("trace", str(file), "--html", str(written)).returncode == 0
    driver.get(written.as_uri())

    def texts(selector):
        return [found.text for found in driver.find_elements("css selector", selector)]

    def lit():
        return len(driver.find_elements("css selector", "#timeline rect.lit"))

    wait_until(lambda: lit() == 0 and texts("#timeline text"), "the timeline")
    assert texts("h1") == ["by <hand>: 2 ranks over mpich"]
    assert len(texts("#picker tbody tr")) == 2
    driver.find_element("id", "previous").click()
    wait_until(lambda: "operation 0" in texts("#details")[0], "the first operation")
    assert len(driver.find_elements("css selector", "#plan .rank")) == 2
    assert len(driver.find_elements("css selector", "#plan path.edge")) == 1

    # Pointing at a step in the list highlights it in the timeline, and its arrow in the plan.
    driver.execute_script("chooseRank(1)")
    wait_until(lambda: len(texts("#steps tbody tr")) == 2, "the steps of rank 1")
    row = driver.find_elements("css selector", "#steps tbody tr")[0]
    assert "wait_line" in row.text and "rank 0, transfer 1" in row.text and "900 ns" in row.text
    from selenium.webdriver import ActionChains

    ActionChains(driver).move_to_element(row).perform()
    wait_until(lambda: lit() == 1, "the step's light in the timeline")
    assert len(driver.find_elements("css selector", "#plan path.edge.lit")) == 1
    assert len(driver.find_elements("css selector", "#timeline line.flow")) == 1

    # Pointing at a step in the timeline highlights it in the list.
    step = driver.execute_script(
        "return timeline.drawn.find(([step]) => kindOf(step).name === 'stamp' && step.call.rank "
        "=== 0)[1]"
    )
    ActionChains(driver).move_to_element(step).perform()
    wait_until(
        lambda: (
            "lit-row"
            in (
                driver.find_elements("css selector", "#steps tbody tr")[1].get_attribute("class")
                or ""
            )
        ),
        "the row's light",
    )
    driver.find_element("id", "step-on").click()
    driver.find_element("id", "fit-all").click()
    wait_until(
        lambda: "2.40 us" in texts("#scale")[0] or "2.50 us" in texts("#scale")[0],
        "everything in view",
    )
    assert complaints(driver) == []


@pytest.mark.browser
def test_the_page_draws_the_time_between_start_and_completion_as_a_thin_bar(
    driver, tutti, tmp_path
):
    (tmp_path / "a.trace").write_bytes(one_persistent().contents())
    assert (
        tutti("trace", str(tmp_path / "a.trace"), "--html", str(tmp_path / "page.html")).returncode
        == 0
    )
    driver.get((tmp_path / "page.html").as_uri())
    driver.execute_script("choose(trace.operations.find((o) => o.label.includes('records')))")
    wait_until(
        lambda: "persistent collective 2" in driver.find_element("id", "details").text,
        "the persistent one",
    )
    assert "round 5 of persistent" in driver.find_element("id", "details").text
    heights = driver.execute_script(
        "return timeline.drawn.filter(([step]) => step.call.rank === 0).map(([step, drawn]) => "
        "[kindOf(step).name, Number(drawn.getAttribute('height'))])"
    )
    thin = [name for name, height in heights if height < 5]
    assert thin == ["elsewhere"] and len(heights) == 7  # with two steps of the broadcast in between
    assert driver.execute_script(
        "return state.operation.calls.map((call) => sums(call)[ELSEWHERE])"
    ) == [5000, 3000]
    assert complaints(driver) == []


@pytest.mark.browser
def test_the_page_draws_nodes_around_their_numa_regions(driver, tutti, tmp_path):
    made = two_broadcasts()
    made.header["ranks"][1]["numa"] = 1
    (tmp_path / "a.trace").write_bytes(made.contents())
    assert (
        tutti("trace", str(tmp_path / "a.trace"), "--html", str(tmp_path / "page.html")).returncode
        == 0
    )
    driver.get((tmp_path / "page.html").as_uri())

    def places(selector):
        names = ("x", "y", "width", "height")
        return [
            [float(box.get_attribute(name)) for name in names]
            for box in driver.find_elements("css selector", selector)
        ]

    assert [title.text for title in driver.find_elements("css selector", "#plan .box-title")] == [
        "node 0 (here)",
        "numa 0",
        "numa 1",
    ]
    ((left, top, width, height),) = places("#plan .box.node")
    regions = places("#plan .box.numa")
    for x, y, across, down in regions:
        assert left < x and x + across < left + width and top < y and y + down < top + height
    assert regions[0][0] + regions[0][2] < regions[1][0]
    ranks = driver.find_elements("css selector", "#plan .rank circle")
    for (x, y, across, down), rank in zip(regions, ranks, strict=True):
        assert (
            x < float(rank.get_attribute("cx")) < x + across
            and y < float(rank.get_attribute("cy")) < y + down
        )
    assert complaints(driver) == []


@pytest.mark.browser
def test_the_page_cuts_no_time_off_and_no_number_lies_on_another(driver, tutti, file, tmp_path):
    """At many ends of the view, and with an arrow from each of five ranks to each."""
    written = tmp_path / "page.html"
    assert tutti("trace", str(file), "--html", str(written)).returncode == 0
    driver.get(written.as_uri())
    cut = driver.execute_script("""
      const found = [];
      for (let end = 1500; end < 2500; end += 10) {
        show(0, end);
        drawTimeline();
        const right = timeline.box.getBoundingClientRect().right;
        for (const text of timeline.svg.querySelectorAll(".axis"))
          if (text.getBoundingClientRect().right > right) found.push(`${text.textContent} of ${end}`);
        if (!timeline.svg.querySelector(".axis")) found.push(`no time of ${end}`);
      }
      return found;""")
    assert cut == []
    numbers = driver.execute_script("""
      trace.ranks.push(trace.ranks[0], trace.ranks[0], trace.ranks[0]);
      const members = [0, 1, 2, 3, 4], edges = [];
      for (const from of members)
        for (const to of members)
          if (from !== to) edges.push({ from, to, kind: "data", transfers: new Set([to, to + 10]) });
      state.operation = { members, edges, calls: [] };
      drawPlan();
      return [...document.querySelectorAll("#plan .number")].map((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return [left, right, top, bottom];
      });""")
    assert len(numbers) == 20
    for i, (left, right, top, bottom) in enumerate(numbers):
        for other_left, other_right, other_top, other_bottom in numbers[:i]:
            assert (
                right <= other_left
                or other_right <= left
                or (
                    # The height of a text has room for letters above and below digits.
                    bottom <= other_top + 3 or other_bottom <= top + 3
                )
            )
    assert complaints(driver) == []
