"""Reading traces: the reader returns their contents, or reports a file's defect in one error."""

import io
import json
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_files import (
    START,
    TraceFile,
    one_arrival,
    one_persistent,
    one_pipeline,
    record,
    two_broadcasts,
)
from tutti.tracing import Trace, TraceError, perfetto, read
from tutti.tracing.flows import flows
from tutti.tracing.page import data, page
from tutti.tracing.summary import summary


def reading(contents: bytes, directory: Path) -> Trace:
    file = directory / "a.trace"
    file.write_bytes(contents)
    return read(file)


def refused(contents: bytes, directory: Path) -> str:
    with pytest.raises(TraceError) as caught:
        reading(contents, directory)
    message = str(caught.value)
    assert "\n" not in message and "a.trace" in message
    return message


def everything(trace: Trace) -> None:
    """Calls everything that uses a trace."""
    json.dumps(summary(trace))
    perfetto.write(trace, io.StringIO())
    page(trace)
    page(trace, skip=1)


def test_tables(tmp_path):
    trace = reading(two_broadcasts().contents(), tmp_path)
    get, steps = trace.operations, trace.steps
    assert get["rank"].tolist() == [0, 0, 0, 1, 1, 1]
    assert get["host"].tolist() == [True, False, False] * 2
    assert get["begin"].tolist() == [0, 1000, 2000, 0, 200, 2500]
    assert get["end"].tolist() == [50, 1100, 2100, 60, 1200, 2600]
    assert get["epoch"].tolist() == [0, 0, 1, 0, 0, 1]
    assert [trace.label(i) for i in (0, 1)] == [
        "bcast of 8 bytes by the host MPI",
        "bcast of 8 bytes by flat",
    ]
    assert [trace.kinds[k].name for k in steps["kind"]] == ["copy", "stamp"] * 2 + [
        "wait_line",
        "copy",
    ] * 2
    assert (steps["end"] - steps["begin"]).tolist() == [40, 40, 30, 30, 900, 50, 10, 30]
    assert steps["operation"].tolist() == [1, 1, 2, 2, 4, 4, 5, 5]
    assert trace.step_peer.tolist() == [-1] * 4 + [0, -1, 0, -1]
    assert [sorted(meeting.tolist()) for meeting in trace.meetings] == [[1, 4], [2, 5]]


def test_waits_are_matched_with_the_steps_that_ended_them(tmp_path):
    trace = reading(two_broadcasts().contents(), tmp_path)
    told, waited = flows(trace)
    assert list(zip(told.tolist(), waited.tolist(), strict=True)) == [(1, 4), (3, 6)]


def waits_of_a_pipeline(trace: Trace) -> list[tuple[str, int, str, int]]:
    """(kind, segment) of each wait and of the publication that ended it."""
    steps = trace.steps
    return sorted(
        (
            trace.kinds[int(steps["kind"][waited])].name,
            int(steps["segment"][waited]),
            trace.kinds[int(steps["kind"][told])].name,
            int(steps["segment"][told]),
        )
        for told, waited in zip(*flows(trace), strict=True)
    )


@pytest.mark.parametrize("version", [1, 2])
def test_waits_for_earlier_segments(tmp_path, version):
    trace = reading(one_pipeline().contents(version), tmp_path)
    assert waits_of_a_pipeline(trace) == [
        ("wait_before", 1, "publish", 0),
        ("wait_before", 2, "publish", 1),
        ("wait_before", 3, "publish", 2),
        ("wait_reuse", 2, "publish", 0),
        ("wait_reuse", 3, "publish", 1),
        *(("wait_word", segment, "publish", segment) for segment in range(4)),
    ]
    everything(trace)


def test_the_file_says_which_segment_a_wait_is_for(tmp_path):
    """A reader knows no rule of its own: whatever the kind's name, the two numbers of the step count."""
    made = one_pipeline()
    step = made.header["ranks"][0]["programs"][0]["steps"][1]
    assert step[8:10] == [1, 0]
    step[8:10] = [1, 1]
    found = waits_of_a_pipeline(reading(made.contents(), tmp_path))
    assert [row for row in found if row[0] == "wait_before"] == [("wait_before", 3, "publish", 0)]
    program = data(reading(made.contents(), tmp_path))["programs"]["0"]
    assert [step[5] for step in program["steps"]] == [[0, 1], [1, 1], [0, 0], [0, 0]]


def test_a_wait_for_any_source(tmp_path):
    trace = reading(one_arrival().contents(), tmp_path)
    told, waited = flows(trace)
    assert list(zip(told.tolist(), waited.tolist(), strict=True)) == [(3, 0)]
    assert summary(trace)["waits"] == [
        {"rank": 0, "waited_for": 1, "waits": 1, "total_ms": 0.001, "mean_us": 0.5}
    ]
    call = data(trace)["operations"][0]["calls"][0]
    assert call[4] == [-2 - 1, 0, 500, 0, 0, 40]
    everything(trace)


def test_summary(tmp_path):
    found = summary(reading(two_broadcasts().contents(), tmp_path))
    rows = {(row["collective"], row["by"]): row for row in found["collectives"]}
    assert rows["bcast", "flat"]["operations"] == 2 and rows["bcast", "flat"]["calls"] == 4
    assert rows["bcast", "flat"]["max_us"] == 1.0
    assert rows["bcast", "host MPI"]["reason"] == "first calls"
    assert found["groups"] == {
        "waiting_ms": 0.001,
        "moving_ms": 0.0,
        "reducing_ms": 0.0,
        "telling_ms": 0.0,
    }
    assert found["waits"] == [
        {"rank": 1, "waited_for": 0, "waits": 2, "total_ms": 0.001, "mean_us": 0.455}
    ]
    skew = found["arrival_skew"]
    assert (skew["operations"], skew["min_us"], skew["max_us"]) == (2, 0.5, 0.8)
    assert {entry["rank"]: entry["operations"] for entry in skew["last"]} == {0: 1, 1: 1}
    shares = [row["share"] for row in found["step_kinds"]]
    assert sum(shares) == pytest.approx(1, abs=0.001)


def test_time_between_start_and_completion_belongs_to_no_call(tmp_path):
    trace = reading(one_persistent().contents(), tmp_path)
    assert [sorted(meeting.tolist()) for meeting in trace.meetings] == [[1, 3], [0, 2]]
    assert trace.elsewhere.tolist() == [0, 5000, 0, 3000]
    found = summary(trace)
    rows = {row["by"]: row for row in found["collectives"]}
    assert rows["flat"]["between_us"] is None
    row = rows["records"]
    assert (row["collective"], row["operations"], row["calls"], row["between_us"]) == (
        "allreduce",
        1,
        2,
        4.0,
    )
    assert (row["mean_us"], row["max_us"]) == (0.135, 0.16)  # 160 and 110 ns in calls
    assert "elsewhere" not in {kind["kind"] for kind in found["step_kinds"]}
    assert sum(kind["share"] for kind in found["step_kinds"]) == pytest.approx(1, abs=0.001)
    assert {
        (wait["rank"], wait["waited_for"]): wait["total_ms"] for wait in found["waits"]
    }.keys() == {(0, 1), (1, 0)}
    told, waited = flows(trace)
    by_records = [
        (int(t), int(w))
        for t, w in zip(told, waited, strict=True)
        if trace.operations["program"][trace.steps["operation"][w]] in (1, 3)
    ]
    steps = trace.steps
    assert [
        (trace.kinds[int(steps["kind"][t])].name, trace.kinds[int(steps["kind"][w])].name)
        for t, w in by_records
    ] == [("publish", "wait_word")] * 2
    everything(trace)


def test_times_of_another_node(tmp_path):
    """The other node's counter runs at half the rate and has another origin."""
    made = two_broadcasts()
    made.header["node_of"] = [0, 1]
    anchors = [
        {"ticks": START, "nanoseconds": 300.0, "error": 80.0},
        {"ticks": START + 10**6, "nanoseconds": 2_000_300.0, "error": 90.0},
    ]
    made.header["nodes"].append({"leader": 1, "anchors": anchors})
    trace = reading(made.contents(), tmp_path)
    assert trace.operations["begin"].tolist() == [0, 1000, 2000, 300, 700, 5300]
    assert summary(trace)["clocks"][1]["error_ns"] == 90.0
    everything(trace)


def test_a_ring_that_lost_its_beginning(tmp_path):
    made = two_broadcasts()
    whole = [len(records) for records in made.records]
    for lost in range(1, whole[1]):
        cut = two_broadcasts()
        cut.records[1] = cut.records[1][lost:]
        cut.header["ranks"][1]["rings"][0]["lost"] = lost
        trace = reading(cut.contents(), tmp_path)
        assert summary(trace)["lost_records"] == lost
        mine = trace.operations["rank"] == 1
        assert mine.sum() == (whole[1] - lost) // 4 + (1 if (whole[1] - lost) % 4 >= 2 else 0)
        assert (~trace.operations["whole"]).sum() <= 1
        everything(trace)


def test_a_call_that_failed_half_way_leaves_steps_behind(tmp_path):
    made = two_broadcasts()
    made.records[0].append(record(START + 3000, START + 3010, 3, 0, 0, -1, 8))
    made.call(0, 2, [4000, 4030, 4060, 4100])
    trace = reading(made.contents(), tmp_path)
    assert len(trace.steps["kind"]) == 10 and trace.operations["whole"].all()
    everything(trace)


def test_no_operations(tmp_path):
    everything(reading(TraceFile().contents(), tmp_path))


def test_host_calls_alone(tmp_path):
    made = TraceFile()
    for rank in (0, 1):
        made.header["ranks"][rank] |= {"programs": [], "communicators": []}
        made.host_call(rank, 100, 250)
    trace = reading(made.contents(), tmp_path)
    assert summary(trace)["collectives"][0]["calls"] == 2
    everything(trace)
    found = data(trace)
    assert found["operations"] == [] and found["length"] == 150 and len(found["hostCalls"]) == 2


def test_programs_whose_steps_were_left_out(tmp_path):
    made = two_broadcasts()
    made.header["ranks"][1]["programs"][0]["steps"] = None
    everything(reading(made.contents(), tmp_path))


def test_every_truncation_is_refused(tmp_path):
    contents = two_broadcasts().contents()
    for length in (*range(0, 64), *range(64, len(contents), 37)):
        assert "cut short" in refused(contents[:length], tmp_path)
    assert "bytes where its first line says" in refused(contents + b"x", tmp_path)


def test_front(tmp_path):
    contents = two_broadcasts().contents()
    assert "does not begin as traces do" in refused(b"\x7fELF" + contents[4:], tmp_path)
    later = refused(contents[:8] + struct.pack("<I", 3) + contents[12:], tmp_path)
    assert "version 3" in later and "reads versions 1 to 2" in later
    assert "bytes; 32 are right" in refused(
        contents[:12] + struct.pack("<I", 24) + contents[16:], tmp_path
    )
    assert "at most" in refused(
        contents[:16] + struct.pack("<Q", 1 << 40) + contents[24:], tmp_path
    )
    assert "cut short" in refused(
        contents[:24] + struct.pack("<Q", 1 << 63) + contents[32:], tmp_path
    )


@pytest.mark.parametrize("name", ["nothing", ".", "pipe"])
def test_names_that_are_no_regular_file(tmp_path, name):
    import os

    os.mkfifo(tmp_path / "pipe")
    if name == "pipe":
        os.open(tmp_path / "pipe", os.O_RDWR)  # so that opening it for reading does not block
    with pytest.raises(TraceError):
        read(tmp_path / name)


HEADERS = [
    (lambda h: h.pop("nodes"), "has no 'nodes'"),
    (lambda h: h.update(nodes=[]), "names no nodes"),
    (lambda h: h.update(format="tutti-trace 3"), "format"),
    (lambda h: h.update(node_of=[0, 1]), "out of range"),
    (lambda h: h.update(node_of=[0]), "different lengths"),
    (lambda h: h["nodes"][0]["anchors"].reverse(), "run forward"),
    (lambda h: h["nodes"][0]["anchors"][1].update(nanoseconds=1e17), "a tick of"),
    (lambda h: h["step_kinds"][0].update(group="resting"), "resting"),
    (lambda h: h["step_kinds"].pop(7), "no kind 7"),
    (lambda h: h["ranks"][0].update(rank=1), "not that of rank 0"),
    (lambda h: h["ranks"][0]["communicators"][0].update(ranks=None), "no rank says"),
    (lambda h: h["ranks"][0]["communicators"][0].update(ranks=[0, 2]), "out of range"),
    (lambda h: h["ranks"][0]["communicators"][0].update(ranks=[0]), "different numbers of ranks"),
    (lambda h: h["ranks"][1]["communicators"].clear(), "no communicator of this number"),
    (lambda h: h["ranks"][1]["programs"].clear(), "no program"),
    (lambda h: h["ranks"][1]["programs"][0].update(ranks=True), "no whole number"),
    (lambda h: h["ranks"][1]["programs"][0].update(collective="dance"), "unknown collective"),
    (lambda h: h["ranks"][1]["programs"][0]["steps"].pop(), "does not have"),
    (lambda h: h["ranks"][1]["programs"][0]["steps"].reverse(), "of another kind"),
    (lambda h: h["ranks"][1]["programs"][0]["steps"][0].pop(), "parts"),
    (lambda h: h["ranks"][1]["programs"][0]["steps"][1][10].pop(), "cut short"),
    (lambda h: h["ranks"][1].update(host="x" * 5000), "at most"),
    (lambda h: h.update(reasons=["none"]), "unknown reason"),
    (lambda h: h.update(written=1e300), "no whole number"),
]


@pytest.mark.parametrize(("change", "said"), HEADERS)
def test_a_header_that_is_wrong(tmp_path, change, said):
    made = two_broadcasts()
    change(made.header)
    assert said in refused(made.contents(), tmp_path)


def test_records_of_no_ring(tmp_path):
    made = two_broadcasts()
    contents = made.contents()
    one_less = contents.replace(b'"records": 10', b'"records":  9', 1)
    assert one_less != contents
    assert "tells of" in refused(one_less, tmp_path)


@pytest.mark.parametrize(
    "text", [b"[" * 100_000, b'{"format": NaN}', b"\xff\xfe", b"1" * 10_000, b"[]", b'{"a"']
)
def test_a_header_that_is_no_header(tmp_path, text):
    contents = struct.pack("<8sIIQQ", b"tutti-tr", 2, 32, len(text), 0) + text
    refused(contents, tmp_path)


RECORDS = [
    (lambda r: r[0].pop(), "without its details"),
    (lambda r: r[0].insert(0, r[0][-1]), "without an operation"),
    (lambda r: r[0].pop(2), "lacks some of its steps"),
    (
        lambda r: r[1].__setitem__(2, record(START + 200, START + 1100, 200, 0, 0, 0)),
        "unknown kind",
    ),
    (lambda r: r[1].__setitem__(2, record(START + 200, START + 1100, 1, 5, 0, 0)), "does not have"),
    (lambda r: r[1].__setitem__(2, record(START + 200, START + 1100, 1, 0, 0, 2)), "a peer"),
    (lambda r: r[1].__setitem__(2, record(START + 100, START + 1100, 1, 0, 0, 0)), "not inside"),
    (
        lambda r: r[1].__setitem__(4, record(START + 200, START + 100, 0xFE, 0, 2, 0, 8)),
        "ends before it begins",
    ),
    (
        lambda r: r[1].__setitem__(4, record(START + 200, START + 1200, 0xFE, 1, 2, 0, 8)),
        "no program",
    ),
    (
        lambda r: r[1].__setitem__(4, record(START + 200, START + 1200, 0xFE, 0, 2, -1, 8)),
        "no communicator",
    ),
    (lambda r: r[1].__setitem__(4, record(1, 1 << 63, 0xFE, 0, 2, 0, 8)), "days away"),
]


@pytest.mark.parametrize(("change", "said"), RECORDS)
def test_records_that_are_wrong(tmp_path, change, said):
    made = two_broadcasts()
    change(made.records)
    message = refused(made.contents(), tmp_path)
    assert said in message and "rank " in message


CONTENTS = two_broadcasts().contents()


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.integers(0, 8 * len(CONTENTS) - 1)), min_size=1, max_size=6),
    st.integers(0, len(CONTENTS)),
)
def test_flipped_bits_and_cuts_are_an_error_or_a_trace(tmp_path, flips, length):
    """Every trace that is read can be used by all commands."""
    damaged = bytearray(CONTENTS)
    for (bit,) in flips:
        damaged[bit // 8] ^= 1 << bit % 8
    if length % 3 == 0:
        damaged = damaged[:length]
    try:
        trace = reading(bytes(damaged), tmp_path)
    except TraceError as error:
        assert "\n" not in str(error)
        return
    everything(trace)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from([two_broadcasts, one_arrival, one_persistent, one_pipeline]),
    st.integers(0, 11),
    st.integers(0, 255),
    st.integers(0, 1),
)
def test_flipped_bits_of_records(tmp_path, made_by, place, bit, rank):
    made = made_by()
    records = made.records[rank]
    damaged = bytearray(records[place % len(records)])
    damaged[bit // 8] ^= 1 << bit % 8
    records[place % len(records)] = bytes(damaged)
    try:
        trace = reading(made.contents(), tmp_path)
    except TraceError:
        return
    everything(trace)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value, path=()):
    """The paths to every part of a header."""
    yield path
    items = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


PLACES = [path for path in places(two_broadcasts().header) if path]


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(PLACES), JSON_VALUES)
def test_any_value_anywhere_in_the_header(tmp_path, path, value):
    made = two_broadcasts()
    contents = made.contents()
    header = made.header
    inner = header
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    text = json.dumps(header).encode()
    body = contents[32 + struct.unpack("<Q", contents[16:24])[0] :]
    changed = contents[:16] + struct.pack("<QQ", len(text), len(body) // 32) + text + body
    try:
        trace = reading(changed, tmp_path)
    except TraceError as error:
        assert "\n" not in str(error)
        return
    everything(trace)
