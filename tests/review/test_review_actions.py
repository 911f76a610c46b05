"""What a person does on the review page, by mouse, by keys and without script, in a real browser."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from helpers.programs import needs
from helpers.reviewing import label_in, remembered, served
from helpers.samples import ham, spam, work
from helpers.tiers import only_long

from spamnb.history.queries import History
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel

pytestmark = needs("chromedriver")
PHONE = {"width": 390, "height": 780, "deviceScaleFactor": 1, "mobile": True}
CONTROL, ENTER, ESCAPE, RIGHT = "\ue009", "\ue007", "\ue00c", "\ue014"


def doubtful(number):
    """A message between ham and spam, that no other is like."""
    head, body = spam(number).partition(b"\n\n")[0], ham(number).partition(b"\n\n")[2]
    return head + b"\n\n" + body + b"word%d\n" % number


MAIL = [*map(doubtful, range(200, 206)), *map(spam, range(200, 203)), *map(ham, range(200, 203))]


def counts(model):
    """All that is learned, to be compared."""
    stored = StoredModel.open(model)
    return stored.messages, stored.vocabulary, stored.pair_vocabulary, stored.occurrences


def click_in_row(eyes, raw, selector):
    """Click on something in the row of a message: the first with its subject."""
    subject = raw.partition(b"Subject: ")[2].partition(b"\n")[0].decode()
    at = eyes.each(".rows .subject").index(subject)
    eyes.click(f".rows > li:nth-child({at + 1}) {selector}")


@pytest.fixture
def own(shared, spamnb):
    """The model of the page, as it was before any test."""
    return shared.renew(spamnb.model)


@pytest.fixture
def open_page(shared, own, eyes):
    """Open the page with a history of some mail."""

    def opened(mail):
        remembered(shared.history, own, mail)
        eyes.open(shared.page.address)
        eyes.wait(lambda: eyes.run("return document.activeElement.className") == "subject")
        return shared.page

    return opened


@pytest.fixture
def page(open_page):
    return open_page(MAIL)


@pytest.mark.usefixtures("page")
def test_by_mouse(eyes, own, spamnb):
    assert "token" not in eyes.driver.current_url
    assert eyes.each(".verdict") == ["unsure"] * 6 + ["spam"] * 3 + ["ham"] * 3
    before = counts(own)
    click_in_row(eyes, MAIL[0], "button.spam")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    assert label_in(own, MAIL[0]) == "spam"
    assert "learned as spam" in eyes.text("li.corrected")
    click_in_row(eyes, MAIL[0], "button[name=undo]")
    eyes.wait(lambda: not eyes.corrected())
    assert counts(own) == before
    # What had another label before has it again after undo.
    spamnb("train", "--model", own, "--ham", "-", stdin=MAIL[0]).succeeds()
    before = counts(own)
    click_in_row(eyes, MAIL[0], "button.spam")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    assert label_in(own, MAIL[0]) == "spam"
    eyes.press("u")
    eyes.wait(lambda: not eyes.corrected())
    assert label_in(own, MAIL[0]) == "ham"
    assert counts(own) == before
    # Many at once: the buttons for them are there as soon as something is selected.
    assert not eyes.find(".bar-below button").is_displayed()
    for raw in MAIL[1:4]:
        click_in_row(eyes, raw, "input")
    eyes.click(".bar-below button.ham")
    eyes.wait(lambda: len(eyes.corrected()) == 3)
    assert [label_in(own, raw) for raw in MAIL[1:4]] == ["ham"] * 3
    # Search, and why.
    eyes.find("#search").send_keys("pills 201", ENTER)
    eyes.wait(lambda: len(eyes.all(".rows > li")) == 2)
    eyes.click(".rows .subject")
    eyes.wait(lambda: "What was ignored" in eyes.text())
    eyes.click(".actions button")
    eyes.wait(lambda: "learned as" in eyes.text(".actions"))
    eyes.click(".actions button")
    eyes.wait(lambda: "learned as" not in eyes.text(".actions"))
    eyes.click("#back")
    eyes.wait(lambda: "To review" in eyes.text("h1"))


@pytest.mark.usefixtures("page")
def test_by_keys(eyes, own):
    before = counts(own)
    eyes.run("window.setTimeout = () => 0")  # what the page says stays
    first, second = eyes.each(".rows > li", "id")[:2]
    current = "return document.activeElement.closest('li')?.id"
    assert eyes.run(current) == first
    eyes.press("j")
    assert eyes.run(current) == second
    eyes.press("k", "s")
    eyes.wait(lambda: eyes.corrected() == [first[1:]])
    assert eyes.run(current) == second  # on to the next
    assert eyes.text("#status") == "learned as spam undo"
    eyes.press("h")
    eyes.wait(lambda: len(eyes.corrected()) == 2)
    eyes.press("u", "u")
    eyes.wait(lambda: not eyes.corrected())
    assert counts(own) == before
    eyes.press("x", "x", "x", "s")
    eyes.wait(lambda: len(eyes.corrected()) == 3)
    eyes.press("u")
    eyes.wait(lambda: not eyes.corrected())
    assert counts(own) == before
    eyes.press(ENTER)
    eyes.wait(lambda: "From prior to verdict" in eyes.text())
    eyes.press("h")
    eyes.wait(lambda: "learned as ham" in eyes.text(".actions"))
    eyes.press("u")
    eyes.wait(lambda: eyes.text(".actions") and "learned as" not in eyes.text(".actions"))
    assert counts(own) == before
    eyes.press(ESCAPE)
    eyes.wait(lambda: eyes.all(".rows > li"))
    eyes.press("/")
    eyes.press("notes", ENTER)
    eyes.wait(lambda: len(eyes.all(".rows > li")) == 3)
    assert "text=notes" in eyes.driver.current_url


@pytest.mark.usefixtures("page")
def test_the_list(eyes, shared, own):
    remembered(shared.history, own, map(ham, range(210, 216)), "imap home/INBOX")
    size = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    eyes.command("Emulation.setDeviceMetricsOverride", **size)
    eyes.driver.refresh()
    assert eyes.text("#doubts") == "6 unsure · 12 sure"
    assert (
        eyes.run("return document.querySelectorAll('.rows > li')[11].getBoundingClientRect().bottom") <= 800
    )
    eyes.command("Emulation.clearDeviceMetricsOverride")
    colours = "return arguments[0].map(row => getComputedStyle(row).borderBottomColor)"
    drawn = eyes.run(colours, eyes.all(".rows > li"))
    assert [at for at, line in enumerate(drawn) if line != drawn[0]] == [5]
    # A mark is undone where it is confirmed, and counted.
    eyes.run("window.setTimeout = () => 0")  # what the page says stays
    eyes.press("s")
    eyes.wait(lambda: eyes.text("#doubts") == "5 unsure · 13 sure")
    eyes.click("#status button")
    eyes.wait(lambda: eyes.text("#doubts") == "6 unsure · 12 sure")
    assert not eyes.corrected()
    # Senders by name; words by what they speak for, with a way to each.
    sender = eyes.find(".rows .sender")
    assert (
        sender.get_attribute("title") == f"{sender.text} <{sender.get_attribute('title').partition('<')[2]}"
    )
    for verdict in ("spam", "ham"):
        assert set(eyes.each(f".rows > li:has(.verdict.{verdict}) .words a", "className")) == {verdict}
    # The keys, once asked for.
    eyes.press("?")
    assert "next, previous" in eyes.text("#keys:popover-open")
    eyes.press(ESCAPE)
    eyes.wait(lambda: not eyes.all("#keys:popover-open"))
    # Filters act at once, and stay when one comes back.
    choose(eyes, "[name=source]", "imap home/INBOX")
    eyes.wait(lambda: len(eyes.all(".rows > li")) == 6)
    assert eyes.text(".source") == "imap home/INBOX"
    word = eyes.find(".rows .words a")
    asked = word.text
    word.click()
    eyes.wait(lambda: eyes.all("[name=word]"))
    assert eyes.find("[name=word]").get_attribute("value") == asked
    for there, back in (("nav a[href^='/words']", "nav a"), (".rows .subject", "#back")):
        eyes.click(there)
        eyes.wait(lambda: not eyes.all("[name=source]"))
        eyes.click(back)
        eyes.wait(lambda: eyes.all("[name=source]"))
        assert len(eyes.all(".rows > li")) == 6


@pytest.mark.usefixtures("page")
def test_a_message_and_its_neighbours(eyes):
    ids = [row[1:] for row in eyes.each(".rows > li", "id")]
    eyes.press(ENTER)
    for key, at in (("j", 1), ("j", 2), ("k", 1)):
        eyes.wait(lambda: eyes.all(".actions"))
        eyes.press(key)
        eyes.wait(lambda at=at: eyes.driver.current_url.endswith(f"/message/{ids[at]}"))
    # The message is first, and its labels are in reach from its end, too.
    eyes.wait(lambda: eyes.all("h2"))
    assert eyes.each("h2")[0] == "The message"
    eyes.run("window.scrollTo(0, document.body.scrollHeight)")
    eyes.click(".actions button.spam")
    eyes.wait(lambda: "learned as spam" in eyes.text(".actions"))
    assert re.search(r"Scored (\S+) on arrival; today it would score (?!\1)\S+\.", eyes.text(".title"))
    eyes.click("[data-key=j]")
    eyes.wait(lambda: eyes.driver.current_url.endswith(f"/message/{ids[2]}"))
    eyes.click("[data-key=k]")  # what is corrected is not to be reviewed any more
    eyes.wait(lambda: eyes.driver.current_url.endswith(f"/message/{ids[0]}"))
    assert not eyes.all("[data-key=k]")


def test_nothing_is_there_yet(shared, own, eyes):
    eyes.open(shared.page.address)
    for line in ("history = true", "| spamnb classify -p --history", "spamnb serve --history"):
        assert line in eyes.each(".ways-in code")
    assert eyes.find(".ways-in code").value_of_css_property("user-select") == "all"  # to be copied
    remembered(shared.history, own, MAIL)
    for path in ("/?text=nobody", "/nowhere", "/message/99"):
        eyes.open(shared.page.base + path)
        eyes.click(".note a")
        eyes.wait(lambda: len(eyes.all(".rows > li")) == len(MAIL))


def choose(eyes, selector, value):
    """Choose one of a list, as a person does."""
    eyes.run(
        "const choice = document.querySelector(arguments[0]); choice.value = arguments[1]; "
        "choice.dispatchEvent(new Event('change', {bubbles: true}))",
        selector,
        value,
    )


def test_more_comes_by_scrolling(open_page, eyes):
    open_page(map(doubtful, range(300, 360)))
    eyes.run("window.scrollTo(0, document.body.scrollHeight)")
    eyes.wait(lambda: len(eyes.all(".rows > li")) == 60)


def test_without_script(page, eyes, own):
    eyes.command("Emulation.setScriptExecutionDisabled", value=True)
    eyes.open(page.base + "/?verdict=unsure")
    eyes.click(".rows > li button.ham")
    eyes.wait(lambda: eyes.all("li.corrected"))
    assert "verdict=unsure" in eyes.driver.current_url
    for box in eyes.all(".rows > li:not(.corrected) input")[:2]:
        box.click()
    eyes.click(".bar-below button.spam")
    eyes.wait(lambda: len(eyes.all("li.corrected")) == 3)
    assert sorted(filter(None, (label_in(own, raw) for raw in MAIL))) == ["ham", "spam", "spam"]
    eyes.click("button[name=undo]")
    eyes.wait(lambda: len(eyes.all("li.corrected")) == 2)
    eyes.open(page.base + "/cutoff")
    eyes.all(".cutoff input[type=radio]")[0].click()
    eyes.click(".cutoff button")
    eyes.wait(lambda: StoredModel.open(own).head["ham_loss"] == 1e-5)


@only_long
def test_a_hundred_corrections_in_a_hundred_key_presses(open_page, own, eyes):
    mail = [doubtful(number) for number in range(300, 420)]
    open_page(mail)
    eyes.press(*["s"] * 100)
    eyes.wait(lambda: len(eyes.corrected()) == 100)
    assert [label_in(own, raw) for raw in mail].count("spam") == 100
    assert len(eyes.all(".rows > li")) == 120
    assert eyes.all(".failed") == []


@pytest.mark.usefixtures("page")
def test_words_course_and_cutoff(eyes, own):
    eyes.click("nav a[href^='/words']")
    eyes.wait(lambda: "/words" in eyes.driver.current_url)
    assert "casino" in eyes.text(".telling")
    eyes.command("Emulation.setDeviceMetricsOverride", **PHONE)
    wide = "return [...document.querySelectorAll('.scroll')].map(box => box.scrollWidth - box.clientWidth)"
    assert set(eyes.run(wide)) == {0}
    eyes.find("#search").send_keys("viagra", ENTER)
    eyes.wait(lambda: "In 3 of the newest 12 messages: 3 spam." in eyes.text())
    eyes.click(".rows button.ham")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    eyes.click("button[name=undo]")
    eyes.wait(lambda: not eyes.corrected())
    eyes.click("nav a[href^='/course']")
    eyes.wait(lambda: "Week by week" in eyes.text())
    assert "Learning curve" in eyes.text()
    eyes.wait(lambda: eyes.all(".scroll.wide"))  # the table of weeks, on a phone
    eyes.command("Emulation.clearDeviceMetricsOverride")
    eyes.wait(lambda: not eyes.all(".scroll.wide"))
    assert len({plot.size["width"] for plot in eyes.all("figure > svg")}) == 1
    eyes.click("nav a[href^='/cutoff']")
    eyes.wait(lambda: eyes.find("#slider").is_displayed())
    x = "return document.querySelectorAll('.cutoff svg line.cutoff')[1].getAttribute('x1')"
    before, shown = eyes.run(x), eyes.text(".slider output")
    assert not eyes.find(".save button").is_enabled()
    loss = StoredModel.open(own).head["ham_loss"]
    eyes.find("#slider").send_keys("\ue012", "\ue012")  # to the left: less ham may be lost
    assert eyes.text(".slider output") != shown
    assert float(eyes.run(x)) >= float(before)
    chosen = eyes.run("return document.querySelector('input[name=loss]:checked').value")
    eyes.click(".cutoff button")
    eyes.wait(lambda: StoredModel.open(own).head["ham_loss"] == float(chosen))
    eyes.wait(lambda: "as now" in eyes.text(".slider output"))
    eyes.click(".saved button")
    eyes.wait(lambda: StoredModel.open(own).head["ham_loss"] == loss)


def test_several_labels_and_models(open_page, shared, own, three, tmp_path, eyes):
    other = shutil.copy(three, str(tmp_path / "three.msgpack"))
    open_page(MAIL[:2])
    remembered(shared.history, other, [work(200), work(201)])
    eyes.driver.refresh()
    assert len(eyes.all(".rows > li")) == 2
    choose(eyes, ".model select", other)
    eyes.wait(lambda: "deadline 200" in eyes.text())
    labels = list(Model.open(other).labels)
    assert eyes.each(".rows > li:first-child button") == labels
    eyes.press(str(1 + labels.index("work")))
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    assert "work" in (label_in(other, work(200)), label_in(other, work(201)))
    assert label_in(own, work(200)) is None
    eyes.click("nav a[href^='/cutoff']")  # about the same model
    eyes.wait(lambda: "Lost is not spam taken for spam" in eyes.text())
    assert "2 messages of the last 30 days" in eyes.text()
    assert eyes.text("#counts").endswith(" not spam")
    eyes.command("Emulation.setDeviceMetricsOverride", **PHONE)
    table = "const box = document.querySelector('.cutoff .scroll'); return box.scrollWidth - box.clientWidth"
    assert eyes.run(table) == 0
    eyes.command("Emulation.clearDeviceMetricsOverride")
    eyes.click("nav a[href^='/course']")
    eyes.wait(lambda: "Not spam lost" in eyes.text())
    assert "14 ham, 14 spam and" in eyes.text()
    assert "work 2 0 0.0 %" in " ".join(eyes.text().split())  # filed, and corrected


def test_two_tabs(page, shared, eyes, own):
    first = eyes.driver.current_window_handle
    eyes.driver.switch_to.new_window("tab")
    eyes.open(page.base + "/")
    eyes.press("s")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    [id_] = eyes.corrected()
    eyes.driver.switch_to.window(first)
    eyes.find(f"#m{id_} button.ham").click()  # which still offers it
    eyes.wait(lambda: eyes.corrected() == [id_])
    assert "learned as ham" in eyes.text(f"#m{id_}")
    eyes.find(f"#m{id_} button[name=undo]").click()
    eyes.wait(lambda: not eyes.corrected())
    with History.open(str(shared.history)) as history:
        assert label_in(own, history.message(int(id_))) is None


@pytest.mark.usefixtures("page")
def test_a_model_that_others_change(eyes, own, spamnb, tmp_path):
    before = StoredModel.open(own).messages
    (tmp_path / "more").mkdir()
    for number in range(500, 520):
        (tmp_path / "more" / str(number)).write_bytes(spam(number))
    spamnb("train", "--model", own, "--jobs", "1", "--spam", tmp_path / "more").succeeds()
    eyes.press("s")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    after = StoredModel.open(own).messages
    assert sum(after) == sum(before) + 21
    shutil.move(own, own + ".away")
    eyes.press("s")
    eyes.wait(lambda: eyes.all(".failed"))
    assert "no model yet" in eyes.text(".failed")
    assert len(eyes.corrected()) == 1


# The program, which says so and goes no further when it comes to the twentieth message that it is to learn.
HELD = """\
#!{python}
import itertools, signal, sys
from spamnb.review import corrections
from spamnb.start import main

learn, calls = corrections.learn, itertools.count(1)

def learn_nineteen(*arguments, **options):
    if next(calls) == 20:
        print("held", flush=True)
        signal.pause()
    return learn(*arguments, **options)

corrections.learn = learn_nineteen
sys.exit(main())
"""


def test_killed_in_the_middle(spamnb, own, tmp_path, eyes):
    own = shutil.copy(own, str(tmp_path / "model.msgpack"))
    mail = [doubtful(number) for number in range(600, 640)]
    folder = remembered(tmp_path / "history", own, mail)
    program = tmp_path / "held"
    program.write_text(HELD.format(python=sys.executable))
    program.chmod(0o755)
    held = replace(spamnb, program=str(program))
    with served(held, "--model", own, "--history-folder", folder) as page:
        eyes.open(page.address)
        eyes.wait(lambda: eyes.run("return document.activeElement.className") == "subject")
        eyes.press(*["s"] * 8)
        eyes.wait(lambda: len(eyes.corrected()) == 8)
        eyes.press(*["x"] * 20, "s")  # in one request, which is held
        assert page.says() == "held"
        eyes.press(*["s"] * 12)
        page.kill()
    eyes.wait(lambda: len(eyes.all(".failed")) == 32)
    shown = {int(id_) for id_ in eyes.corrected()}
    with History.open(str(folder)) as history:
        entries = list(history.entries(limit=100))
        learned = {entry.id for entry in entries if label_in(own, history.message(entry.id))}
        noted = {entry.id for entry in entries if entry.correction == "spam"}
    assert shown == noted <= learned
    assert (len(shown), len(learned)) == (8, 19)
    subprocess.run([spamnb.program, "check", own], check=True, capture_output=True)
