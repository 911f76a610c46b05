"""Start the review page as a separate process, and open it in a real browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from selectolax.lexbor import LexborHTMLParser

from helpers.program import Spamnb
from helpers.waiting import PATIENCE
from spamnb.core.native import hash_of_message, read
from spamnb.history.log import HistoryLog
from spamnb.history.queries import History
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page:
    """A review page that a process serves."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.address = self.says()  # with the token
        self.base = self.address.partition("/?")[0]

    def says(self) -> str:
        """Return the next line that the process prints."""
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)


class Forms:
    """A review page without scripts: reads the page, and sends its forms."""

    def __init__(self, page: Page) -> None:
        self.base = page.base
        self.opener = build_opener(HTTPCookieProcessor())
        self.opener.open(page.address, timeout=PATIENCE)
        secret = self.read().css_first("input[name=secret]")
        assert secret
        self.secret = secret.attributes["value"] or ""

    def read(self, path: str = "/", **asked: str) -> LexborHTMLParser:
        with self.opener.open(f"{self.base}{path}?{urlencode(asked)}", timeout=PATIENCE) as answer:
            return LexborHTMLParser(answer.read())

    def mark(self, subject: str, label: str | None) -> bool:
        """Give a message a label, or undo that (None); return False if the message is not on the page."""
        page = self.read(text=subject, order="date")
        rows = [row for row in page.css(".rows > li") if subject in row.text()]
        if not rows:
            return False
        id_ = str(rows[0].id)[1:]
        self.send({"one": f"{id_}:{label}"} if label else {"undo": id_})
        return True

    def send(self, fields: dict[str, str]) -> int:
        """Send the form that corrects messages; return the HTTP status."""
        fields = {"secret": self.secret, "rows": "", **fields}
        request = Request(f"{self.base}/correct", urlencode(fields).encode(), {"Origin": self.base})
        with self.opener.open(request, timeout=PATIENCE) as answer:
            return int(answer.status)


@contextmanager
def served(spamnb: Spamnb, *arguments: str | Path, **environment: str) -> Iterator[Page]:
    """Run `spamnb review` until the end of the `with` block."""
    command = [spamnb.program, "review", "--no-browser", *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        env=spamnb.environment | environment,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield Page(process)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def remembered(folder: Path, model: str, mail: Iterable[bytes], source: str = "classify") -> Path:
    """Make a history in which the messages were judged one minute apart; return its folder."""
    start = time.time() - 86400
    log, judge = HistoryLog("36500", "1GB", str(folder)), Model.open(model)
    for number, raw in enumerate(mail):
        log.append(raw, judge.classify(raw), model, source, now=start + 60 * number)
    with History.open(str(folder)) as history:
        history.gather()
    return folder


def label_in(model: str, raw: bytes | None) -> str | None:
    """Return the label under which a model has learned a message."""
    assert raw
    return StoredModel.open(model).label_of(hash_of_message(read(raw)))


class Eyes:
    """A browser, with the few things that a person does in it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        self.driver.get(address)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def text(self, selector: str = "body") -> str:
        """Return the visible text of an element, on one line."""
        found = self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)
        return " ".join(str(found).split())

    def each(self, selector: str, name: str = "innerText") -> list[str]:
        """Return the text, or another property, of all elements at once: each request takes 6 ms of CPU."""
        script = "return [...document.querySelectorAll(arguments[0])].map(each => each[arguments[1]].trim())"
        return list(self.run(script, selector, name))

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def command(self, name: str, **values: object) -> Any:
        return self.driver.execute_cdp_cmd(name, values)

    def wait(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds on a page that is fully loaded, so that its script has run."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.ui import WebDriverWait

        is_whole = "return document.readyState === 'complete'"
        wait = WebDriverWait(self.driver, PATIENCE, 0.05, [WebDriverException])  # raised as one page goes
        wait.until(lambda _: self.run(is_whole) and condition())

    def corrected(self) -> list[str]:
        """Return the ids of the rows that are shown as learned."""
        return [row[1:] for row in self.each("li.corrected", "id")]


def new_browser() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)), BROWSERS[0])
    for option in (
        "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars "
        "--window-size=1200,1000"
    ).split():
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    return webdriver.Chrome(options, Service(shutil.which("chromedriver")))


@cache
def shared_browser() -> Any:
    """Return the browser that all tests of this process share; helpers/programs.py ends it after them."""
    return new_browser()
