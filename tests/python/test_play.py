"""`tutti plan play`: the page's data, its safety against texts in plans, its limits, and the page
in a browser.
"""

import base64
import hashlib
import json
import re

import pytest
from browser import PlayPage, complaints, reason_to_skip, wait_until
from tutti.drawing.graph import graph_of
from tutti.drawing.page import page, page_data, ranges
from tutti.drawing.single_file import embedded
from tutti.places import core
from tutti.plan.machine import Machine

pytestmark = pytest.mark.timeout(240)
# Text that could end a script element or an attribute, or open an HTML comment inside a script.
NASTY = (
    "</script><script>window.hacked=1</script><!--<script>\"'&<img src=x "
    "onerror=window.hacked=1>@DATA@"
)


def graph(collective: str, algorithm: str, ranks: int, shape: str = "", deal: str = "block"):
    placed = Machine.parse(shape or f"core:{ranks}").place(ranks, deal)
    return graph_of(core().generate(collective, algorithm, ranks, 0), placed)


def nasty_page() -> str:
    text = (
        core().generate("reduce", "flat", 3, 0).text.replace("algorithm flat", f"algorithm {NASTY}")
    )
    plan = core().read_plan(text, "nasty")
    assert plan.algorithm == NASTY
    return page(
        graph_of(plan, Machine.parse("core:3").place(3)), f"reduce {NASTY}", f"refused: {NASTY}"
    )


def data_of(text: str) -> dict:
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
    )


# --- The data.


EVERY_PLAN = [
    (collective, algorithm["name"])
    for algorithm in core().algorithms()
    for collective in algorithm["collectives"]
]


@pytest.mark.parametrize(("collective", "algorithm"), EVERY_PLAN)
@pytest.mark.parametrize("ranks", [1, 2, 9])
def test_replaying_the_data_gives_every_rank_its_result(collective, algorithm, ranks):
    plan = core().generate(
        collective, algorithm, ranks, ranks // 2 if core().rooted(collective) else 0
    )
    data = page_data(graph_of(plan, Machine.parse(f"core:{ranks}").place(ranks)), "title", "")
    held = {}
    for rank, buffer, number, item, step in data["start"]:
        held |= {
            (rank, buffer, block): (number, item + block * step)
            for block in range(data["blocks"][buffer][rank])
        }
    for transfer in data["transfers"]:
        for first, count, stride, number, item, step in transfer["writes"]:
            assert (
                first + (count - 1) * stride
                < data["blocks"][transfer["buffer"]][transfer["target"]]
            )
            for i in range(count):
                held[transfer["target"], transfer["buffer"], first + i * stride] = (
                    number,
                    item + i * step,
                )
    definition = plan.definition
    assert [len(goal) > 0 for goal in data["goal"]] == [
        definition.has_out(rank) for rank in range(ranks)
    ]
    for rank in filter(definition.has_out, range(ranks)):
        number, item, step = data["goal"][rank]
        assert data["blocks"][1][rank] == definition.out_blocks
        for block in range(definition.out_blocks):
            low, high = definition.sources(rank, block)
            wanted = data["alone"][block] if number < 0 else number
            assert (
                held[rank, 1, block]
                == (wanted, item + block * step)
                == (wanted, definition.item_out(rank, block))
            )
            assert (data["sizes"][wanted], data["sets"][wanted]) == (
                high - low,
                ranges((1 << high) - (1 << low)),
            )
    assert [transfer["step"] for transfer in data["transfers"]] == sorted(
        transfer["step"] for transfer in data["transfers"]
    )


def test_an_out_that_only_a_wrong_plan_names_gets_blocks():
    plan = core().read_plan("tutti-plan 1\ncollective gather\nranks 3\ncopy out[2].1 <- in[1]\n")
    data = page_data(graph_of(plan, Machine.parse("core:3").place(3)), "title", "refused")
    assert data["blocks"] == [[1, 1, 1], [3, 0, 2], [0, 0, 0]]
    assert [len(goal) for goal in data["goal"]] == [3, 0, 0]


def test_sets_of_ranks_are_written_as_ranges():
    assert [ranges(0), ranges(1), ranges(0b1111), ranges(0b10011101)] == [
        "",
        "0",
        "0-3",
        "0, 2-4, 7",
    ]


def test_the_page_is_one_file_and_loads_nothing():
    text = page(graph("allreduce", "binomial", 8, "node:2 core:4"), "allreduce binomial")
    assert not re.search(
        r"""(src|href|action)\s*=|@import|url\((?!#)""", re.sub(r"`url\(#.*?\)`", "", text)
    )
    assert set(re.findall(r"https?://[^\"'\s]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "innerHTML" not in text
    assert "default-src 'none'" in text


def test_the_policy_names_the_script_and_the_style_of_the_page():
    text = page(graph("reduce", "flat", 2), "reduce")
    for element, body in (
        ("script", re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]),
        ("style", re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]),
    ):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in text


def test_texts_of_a_plan_cannot_run_code_in_the_page():
    text = nasty_page()
    plain = page(graph("reduce", "flat", 3), "reduce")
    for mark in ("<script", "</script", "<img", "<!--", "<title"):
        assert text.count(mark) == plain.count(mark), mark
    # In the title, the heading and the data (twice), a mark of the template is only text.
    assert text.count("@DATA@") == 4
    assert data_of(text)["title"] == f"reduce {NASTY}"
    assert data_of(text)["refusal"] == f"refused: {NASTY}"


def test_embedded_json_has_no_character_of_markup():
    text = embedded({"a": NASTY, "b": "\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": NASTY, "b": "\u2028\u2029"}


# --- Limits and errors.


def test_a_plan_with_too_many_transfers_is_refused(tutti, tmp_path):
    said = tutti(
        "plan",
        "play",
        "allreduce",
        "--algorithm",
        "tiled",
        "--ranks",
        "160",
        "-o",
        str(tmp_path / "x.html"),
    )
    assert said.returncode == 2
    want = (
        r"tutti: the plan has \d+ transfers, but a page can play at most 20000; give fewer ranks\n"
    )
    assert re.fullmatch(want, said.stderr)
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("output", "ranks", "code", "words"),
    [
        ("x.htm", "4", 2, "-o: the name 'x.htm' does not end in .html"),
        ("/no/such/directory/x.html", "4", 2, "cannot write '/no/such/directory/x.html'"),
        ("x.html", "-1", 2, "--ranks: -1 is out of range"),
    ],
)
def test_errors_are_one_line(tutti, output, ranks, code, words):
    said = tutti("plan", "play", "bcast", "--algorithm", "flat", "--ranks", ranks, "-o", output)
    assert said.returncode == code
    assert said.stderr.startswith("tutti: ") and said.stderr.count("\n") == 1
    assert words in said.stderr


def test_the_command_writes_the_page(tutti, tmp_path):
    file = tmp_path / "play.html"
    plan = ("allreduce", "--algorithm", "binomial", "--ranks", "8")
    said = tutti("plan", "play", *plan, "--shape", "node:2 core:4", "-o", str(file))
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    data = data_of(file.read_text())
    assert data["ranks"] == 8
    assert [box["title"] for box in data["boxes"]] == ["node 0", "node 1"]


# --- In a browser.


@pytest.fixture
def binomial(driver, tmp_path) -> PlayPage:
    return PlayPage(
        driver,
        tmp_path / "page.html",
        page(graph("allreduce", "binomial", 8, "node:2 core:4"), "allreduce binomial"),
    )


browser = pytest.mark.browser


@browser
def test_page_starts_empty_and_silent(binomial):
    assert binomial.fresh == []
    assert binomial.status == "At the start: nothing has moved yet. 11 transfers in 6 steps."
    assert binomial.current == []
    assert len(binomial.all(".card")) == 8
    assert [text.text for text in binomial.all(".box-title")] == ["node 0", "node 1"]
    assert binomial.held(3) == ["rank 3 in: data of 3", "rank 3 out: nothing"]
    assert (
        binomial.driver.execute_script("return performance.getEntriesByType('resource').length")
        == 0
    )


@browser
def test_page_steps_forward_and_back(binomial):
    for _ in range(3):
        binomial.click("forward")
    assert binomial.status.startswith("Step 3 of 6; 1 transfer; ")
    assert binomial.current == ["reduce out[0] <- in[0], in[1], tmp[2], tmp[4]"]
    assert len(binomial.all(".arrow.level-node[d]")) - 1 == 2  # without the legend's
    assert len(binomial.all("g .arrow.level-cluster")) == 1
    assert binomial.held(0) == ["rank 0 in: data of 0", "rank 0 out: data of 0-7"]
    assert binomial.held(4)[-1] == "rank 4 tmp: data of 4-7"
    assert [card.get_attribute("data-rank") for card in binomial.all(".card.done")] == ["0"]
    binomial.click("back")
    assert binomial.held(0) == ["rank 0 in: data of 0", "rank 0 out: nothing"]
    assert binomial.current == ["reduce tmp[4] <- in[4], in[5], tmp[6]"]
    binomial.click("last")
    assert len(binomial.all(".card.done")) == 8
    assert not binomial.driver.find_element("id", "forward").is_enabled()
    binomial.click("first")
    assert len(binomial.all(".card.done")) == 0


@browser
def test_page_answers_the_keyboard(binomial):
    binomial.press("ARROW_RIGHT")
    assert binomial.current == ["reduce tmp[2] <- in[2], in[3]", "reduce tmp[6] <- in[6], in[7]"]
    binomial.press("ARROW_LEFT")
    assert binomial.current == []
    binomial.press("END")
    assert binomial.status.startswith("Step 6 of 6")
    binomial.press("HOME")
    binomial.press("SPACE")
    assert binomial.driver.find_element("id", "play").text == "Pause"
    binomial.press("SPACE")
    assert binomial.driver.find_element("id", "play").text == "Play"


@browser
def test_page_jumps_to_a_transfer_and_shows_single_ones(binomial):
    binomial.all("aside button")[5].click()
    assert binomial.status.startswith("Step 4 of 6; 3 transfers; ")
    binomial.click("single")
    binomial.all("aside button")[5].click()
    assert "transfer 6 of 11: copy out[2] <- out[0]" in binomial.status
    assert binomial.current == ["copy out[2] <- out[0]"]
    binomial.click("forward")
    assert binomial.current == ["copy out[1] <- out[0]"]
    position = binomial.driver.find_element("id", "position")
    assert position.get_attribute("aria-valuetext") == "7 of 11"
    binomial.driver.execute_script(
        "arguments[0].value = 2; arguments[0].dispatchEvent(new Event('input'))", position
    )
    assert binomial.current == ["reduce tmp[6] <- in[6], in[7]"]
    # Back to whole steps: a step that is half done is completed.
    binomial.click("back")
    binomial.click("single")
    assert len(binomial.current) == 2


@browser
def test_page_plays_to_its_end(binomial):
    binomial.driver.execute_script(
        "const speed = document.getElementById('speed'); speed.value = 120; "
        "speed.dispatchEvent(new Event('change'))"
    )
    binomial.click("play")
    wait_until(lambda: binomial.status.startswith("Step 6 of 6"), "the last step")
    wait_until(
        lambda: binomial.driver.find_element("id", "play").text == "Play", "the end of playing"
    )
    assert len(binomial.all(".card.done")) == 8


@browser
def test_page_has_a_name_for_every_control_and_follows_the_colour_scheme(binomial):
    for control in binomial.all("button, input, select, [role=button]"):
        assert control.accessible_name, control.get_attribute("outerHTML")
    colours = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        binomial.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        colours.append(
            binomial.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        )
    assert colours == ["rgb(255, 255, 255)", "rgb(20, 24, 28)"]


@browser
def test_page_shows_nasty_texts_as_text(driver, tmp_path):
    nasty = PlayPage(driver, tmp_path / "nasty.html", nasty_page())
    assert nasty.fresh == []
    assert driver.execute_script("return window.hacked") is None
    assert driver.title == f"reduce {NASTY}"
    assert nasty.all("h1")[0].text == f"reduce {NASTY}"
    assert nasty.all("#refusal")[0].text == f"The check refuses this plan: refused: {NASTY}"
    assert nasty.all("img") == []


@browser
def test_page_shows_the_source_and_destination_of_parts(driver, tmp_path):
    shown = PlayPage(
        driver, tmp_path / "parts.html", page(graph("alltoall", "direct", 3), "alltoall direct")
    )
    assert shown.fresh == []
    assert shown.held(1)[:3] == [
        f"rank 1 in, block {rank}: data of 1 for {rank}" for rank in range(3)
    ]
    assert shown.held(1)[3] == "rank 1 out, blocks 0 to 2: nothing"
    shown.click("last")
    assert shown.held(1)[3:6] == [
        f"rank 1 out, block {rank}: data of {rank} for 1" for rank in range(3)
    ]
    assert "1 \u2192 2" in [text.text for text in shown.all(".held")]
    assert len(shown.all(".card.done")) == 3
    shown.click("back")
    assert len(shown.all(".card.done")) == 0


@browser
@pytest.mark.parametrize(
    ("collective", "algorithm", "done"),
    [("gather", "binomial", ["0"]), ("scatter", "flat", list("01234")), ("scan", "chain", list("01234")),
     ("exscan", "all_read_all", list("1234")), ("reduce_scatter", "direct", list("01234")), ("allgather", "ring", list("01234"))],
)  # fmt: skip
def test_page_marks_ranks_that_have_their_result(driver, tmp_path, collective, algorithm, done):
    shown = PlayPage(
        driver, tmp_path / "done.html", page(graph(collective, algorithm, 5), collective)
    )
    assert shown.all(".card.done") == []
    shown.click("last")
    assert [card.get_attribute("data-rank") for card in shown.all(".card.done")] == done
    assert complaints(driver) == []


@browser
def test_page_does_not_take_a_swapped_part_for_the_result(driver, tmp_path):
    text = (
        core()
        .generate("allgather", "direct", 2, 0)
        .text.replace("out[1] <- tmp[0]", "out[1] <- in[1]")
    )
    wrong = graph_of(core().read_plan(text), Machine.parse("core:2").place(2))
    shown = PlayPage(driver, tmp_path / "swapped.html", page(wrong, "wrong", "refused"))
    shown.click("last")
    assert [card.get_attribute("data-rank") for card in shown.all(".card.done")] == ["0"]


@browser
def test_page_of_many_ranks_bounds_what_it_draws(driver, tmp_path):
    many = PlayPage(
        driver,
        tmp_path / "many.html",
        page(graph("allreduce", "tiled", 64, "node:8 core:8"), "tiled"),
    )
    many.click("forward")
    many.click("forward")
    assert "4032 messages; arrows for the first 300" in many.status
    assert len(many.all("g .arrow")) == 300
    assert len(many.all(".cell")) == 64 * 3 * 32
    many.click("last")
    assert len(many.all(".card.done")) == 64
    assert complaints(driver) == []


def test_the_reason_to_skip_names_what_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert reason_to_skip().startswith("no chromium here")
