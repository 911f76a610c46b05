"""What strangers and hostile mail cannot do to the review page."""

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
from email.message import Message
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import pytest
from helpers.pages import AS_TEXT
from helpers.programs import needs
from helpers.reviewing import Eyes, Forms, Page, remembered, served
from helpers.samples import ham, spam
from helpers.waiting import PATIENCE, until

from spamnb.store.stored_model import StoredModel

pytestmark = pytest.mark.slow


class Answer(NamedTuple):
    status: int
    headers: Message
    text: str


class Client:
    """A client of the page that sends what it likes."""

    def __init__(self, address):
        parts = urlsplit(address)
        self.token = parse_qs(parts.query)["token"][0]
        self.host = parts.netloc
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        self.cookie = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, path, fields=None, **headers):
        own = {"cookie": self.cookie, "origin": f"http://{self.host}"} | headers
        body = None if fields is None else urlencode(fields, doseq=True)
        self.connection.request("GET" if body is None else "POST", path, body, own)
        answer = self.connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read().decode())

    def enter(self):
        answer = self.ask(f"/?token={self.token}")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def secret(self):
        return self.ask("/").text.partition('name="secret" value="')[2].partition('"')[0]


@pytest.fixture
def client(shared, spamnb):
    shared.renew(spamnb.model)
    remembered(shared.history, shared.model, [spam(700), ham(700)])
    with Client(shared.page.address) as client:
        yield client


def test_who_may_enter(client):
    assert client.ask("/").status == 403
    assert client.ask("/?token=x").status == 403
    assert client.ask("/files/review.js").status == 403
    entered = client.enter()
    assert (entered.status, entered.headers["location"]) == (303, "/")
    flags = entered.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=strict" in flags
    assert client.ask("/").status == 200
    assert client.ask("/", cookie=client.cookie + "x").status == 403
    for name in ("evil.example", f"evil.example:{client.connection.port}", "127.0.0.1", ""):
        assert client.ask("/", host=name).status == 421
    assert client.ask("/", host=f"localhost:{client.connection.port}").status == 200


def test_no_page_redirects_but_for_the_token_and_a_form(client):
    assert client.ask(f"/course?token={client.token}&model=x").headers["location"] == "/course?model=x"
    assert client.ask(f"//evil.example/?token={client.token}").headers["location"] == "/"
    client.enter()
    for path in ("/course/", "//evil.example/course/", "//evil.example/", "/message/1/"):
        answer = client.ask(path)
        assert (answer.status, answer.headers["location"]) == (404, None)


SENT = {"cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "same-origin"}
POLICY = {"default-src 'none'", "style-src 'self'", "script-src 'self'", "frame-ancestors 'none'"}


def test_every_answer_says_what_a_browser_may_do(client):
    client.enter()
    for path in ("/", "/course", "/cutoff", "/message/1", "/message/9", "/nowhere"):
        headers = client.ask(path).headers
        assert SENT.items() <= dict(headers.items()).items()
        policy = headers["content-security-policy"].split("; ")
        assert set(policy) >= POLICY
        assert "server" not in headers
    framed = client.ask("/message/1/html").headers["content-security-policy"]
    assert framed.startswith("sandbox; default-src 'none';")


def test_what_others_cannot_send(client, shared):
    client.enter()
    before = StoredModel.open(shared.model).messages
    good = {"secret": client.secret(), "one": "1:ham"}
    for origin in (EVIL, "null"):
        assert client.ask("/correct", good, origin=origin).status == 403
    for bad in ({"secret": "x"}, {"one": "1:nolabel"}, {"one": "99:ham"}, {"one": "../:ham"}):
        assert client.ask("/correct", good | bad).status == 409
    assert client.ask("/correct", {"one": "1:ham"}).status == 409
    try:
        flood = {"secret": good["secret"], "all": "ham", "id": ["1"] * 300_000}
        assert client.ask("/correct", flood).status == 409
    except ConnectionError:  # it hangs up while all this is sent
        client.connection.close()
    assert client.ask("/cutoff", {"secret": good["secret"], "loss": "nan"}).status == 409
    assert client.ask("/correct?rows=1").status == 405
    assert StoredModel.open(shared.model).messages == before
    sent = client.ask("/correct", good | {"back": "//evil.example/"})
    assert (sent.status, sent.headers["location"]) == (303, "/#m1")
    assert StoredModel.open(shared.model).messages == [before[0] + 1, before[1]]


def test_at_a_unix_socket(spamnb, own, tmp_path):
    """Behind a proxy, which may have TLS."""
    path, history = tmp_path / "socket", remembered(tmp_path / "history", own, [spam(700)])
    with served(spamnb, "--model", own, "--history-folder", history, "--listen", f"unix:{path}") as page:
        assert page.address.startswith(f"unix:{path} /?token=")
        with Client("http://review.example" + page.address.partition(" ")[2]) as client:
            client.connection.sock = socket.socket(socket.AF_UNIX)
            client.connection.sock.connect(str(path))
            assert client.ask("/").status == 403
            assert client.enter().status == 303
            mark = {"secret": client.secret(), "one": "1:ham"}
            assert client.ask("/correct", mark, origin=EVIL).status == 403
            assert client.ask("/correct", mark, origin="https://review.example").status == 303
    assert not path.exists()


@pytest.fixture
def started(spamnb, own, tmp_path):
    """A page with a browser that only writes down what it is asked to open, and stays in the foreground."""
    temporary, asked, browser = tmp_path / "temporary", tmp_path / "asked", tmp_path / "browser"
    temporary.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$@" > {asked}.new; mv {asked}.new {asked}; exec sleep 600\n')
    browser.chmod(0o755)
    environment = {"BROWSER": f"{browser} %s", "DISPLAY": ":0", "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [spamnb.program, "review", "--model", own, "--history-folder", tmp_path / "history"],
        stdout=subprocess.PIPE,
        env=spamnb.environment | environment,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            page = Page(process)
            until(asked.exists)
            yield page, asked.read_text().strip(), temporary
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_the_token_is_on_no_command_line(started):
    page, asked, temporary = started
    file = Path(unquote(urlsplit(asked).path))
    assert asked.startswith("file:///")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    posted = file.read_text()
    assert f'action="{page.base}/enter"' in posted
    fields = {"token": posted.partition('name="token" value="')[2].partition('"')[0]}
    with Client(page.address) as client:
        assert client.ask("/enter", {"token": "x"}).status == 403
        assert client.ask("/enter", fields, host="evil.example").status == 421
        entered = client.ask("/enter", fields, origin="null")
        assert entered.status == 200
        client.cookie = entered.headers["set-cookie"].partition(";")[0]
        assert client.ask("/").status == 200
    page.process.terminate()
    assert page.process.wait(PATIENCE) == 0
    assert list(temporary.iterdir()) == []


def test_a_real_browser_posts_the_token(started, eyes: Eyes):
    page, asked, _ = started
    eyes.open(asked)
    eyes.wait(lambda: eyes.run("return location.href") == f"{page.base}/" and eyes.all("nav"))


EVIL = "http://evil.example"
ATTACKS = [
    *AS_TEXT[:-1],  # the last one hides what follows in HTML
    "</bdi></a></li></ol><iframe src=javascript:parent.document.title='taken'></iframe>",
    "\u202egnp.exe\u2066\u200b",
]
HTML = f"""<html><head><meta http-equiv=refresh content="0;url={EVIL}/refresh">
<link rel=stylesheet href="{EVIL}/sheet"><link rel=preconnect href="{EVIL}"><LINK
rel=dns-prefetch href="//evil.example"><base href="{EVIL}/"><style>@import "{EVIL}/import";
body {{ background: url({EVIL}/background) }} @font-face {{ font-family: x; src: url({EVIL}/font) }}
p {{ font-family: x }}
</style></head><body onload="parent.document.title='taken'"><p>viagra casino</p>
<script>parent.document.title='taken'; fetch('{EVIL}/fetch')</script>
<img src="{EVIL}/image" srcset="{EVIL}/set 2x">
<video poster="{EVIL}/poster" src="{EVIL}/video" autoplay></video>
<iframe src="{EVIL}/frame"></iframe><object data="{EVIL}/object"></object><embed src="{EVIL}/embed">
<a id=away href="{EVIL}/link" target=_top ping="{EVIL}/ping">away</a>
<a id=run href="javascript:parent.document.title='taken'">run</a>
<form id=form action="{EVIL}/form" method=post><input name=x><button id=send>send</button></form>
<p id=shown style="color: red">All of it is shown</p></body></html>"""


def hostile():
    """Every attack in every field that the page shows."""
    for number, attack in enumerate(ATTACKS):
        head = f"From: {attack} viagra <a{number}@b.example>\nSubject: viagra {attack} {number}\n"
        body = f"viagra casino bonus {attack}\n\n{HTML}"
        yield (head + "Content-Type: text/html; charset=utf-8\n\n" + body).encode()


@needs("chromedriver")
def test_hostile_mail(shared, spamnb, eyes: Eyes):
    shared.renew(spamnb.model)
    for raw in hostile():  # so that the attacks are evidence, and words that decided
        spamnb("train", "--model", shared.model, "--spam", "-", stdin=raw).succeeds()
    remembered(shared.history, shared.model, hostile())
    eyes.open(shared.page.address)
    base = shared.page.base
    assert len(eyes.all(".rows > li")) == len(ATTACKS)
    forms = Forms(shared.page)
    for number, attack in enumerate(ATTACKS, 1):
        for path, frames in (("/", 0), (f"/message/{number}", 1)):
            found = forms.read(path, text=attack)
            assert len(found.css("iframe")) == frames
            assert not found.css(
                "img, svg[onload], link:not([rel=stylesheet]), [onmouseover], script:not([src])"
            )
    for path in ("/course", "/cutoff"):
        eyes.open(base + path)
        assert eyes.driver.title != "taken"
        assert eyes.run("return document.querySelectorAll('iframe, img, body script').length") == 0
    for number in (1, 3, len(ATTACKS) - 1):
        eyes.open(f"{base}/message/{number}")
        assert eyes.driver.title != "taken"
        eyes.click(".frame summary")
        eyes.driver.switch_to.frame(eyes.find("iframe"))
        eyes.wait(lambda: "All of it is shown" in eyes.text())
        for control in ("#away", "#run", "#send"):
            if number == 1:
                eyes.find(control).click()
        eyes.driver.switch_to.default_content()
        assert eyes.driver.current_url == f"{base}/message/{number}"
        assert eyes.driver.title != "taken"
    assert eyes.driver.window_handles == [eyes.driver.current_window_handle]
    assert [address for address in requested(eyes) if not address.startswith((base, "data:", "about:"))] == []


def requested(eyes):
    """Addresses of everything that the browser has asked the network for since the test began."""
    events = [json.loads(line["message"])["message"] for line in eyes.driver.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    blocked = {
        event["params"]["requestId"]
        for event in events
        if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason") == "csp"
    }
    assert sent
    return [each["request"]["url"] for each in sent if each["requestId"] not in blocked]
