"""A headless Chromium for the tests of pages, driven by Selenium. `make test` installs both."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SECONDS = 30


def _chromium() -> str | None:
    return next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )


def reason_to_skip() -> str:
    """The reason why there is no browser here; empty if there is one."""
    if _chromium() is None:
        return "no chromium here; Debian's packages are chromium and chromium-driver"
    if shutil.which("chromedriver") is None:
        return "no chromedriver here; Debian's package is chromium-driver"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed; it is in pyproject.toml's development list"
    return ""


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A driver of a browser that ends with the block."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _chromium() or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,900",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    driver.set_page_load_timeout(SECONDS)
    driver.set_script_timeout(SECONDS)
    try:
        yield driver
    finally:
        driver.quit()


def cleaned(driver: Any) -> Any:
    """Resets the browser: no page, an empty log, pointer in the corner, no preferred colours."""
    from selenium.webdriver import ActionChains

    ActionChains(driver).reset_actions()
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    driver.get("about:blank")
    complaints(driver)
    return driver


def wait_until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {SECONDS} s"
        time.sleep(0.02)


def complaints(driver: Any) -> list[str]:
    """The page's messages on the console: script errors and refusals of its content policy."""
    return [
        entry["message"]
        for entry in driver.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]


class PlayPage:
    """A page of `tutti plan play` in a browser."""

    def __init__(self, driver: Any, file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        self.driver = driver
        driver.get(file.as_uri())
        self.fresh = complaints(driver)

    def click(self, name: str) -> None:
        self.driver.find_element("id", name).click()

    def press(self, key: str) -> None:
        from selenium.webdriver.common.keys import Keys

        self.driver.find_element("tag name", "body").send_keys(getattr(Keys, key))

    def all(self, selector: str) -> list[Any]:
        found: list[Any] = self.driver.find_elements("css selector", selector)
        return found

    @property
    def status(self) -> str:
        return str(self.driver.find_element("id", "status").text)

    @property
    def current(self) -> list[str]:
        return [button.text for button in self.all("aside [aria-current=step]")]

    def held(self, rank: int) -> list[str]:
        """The contents of a rank's blocks, as the page's details show them."""
        from selenium.webdriver.common.keys import Keys

        self.all(f"[data-rank='{rank}']")[0].send_keys(Keys.ENTER)
        return [line.text for line in self.all("#detail p")]
