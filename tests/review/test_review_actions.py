"""What a person does on the review page, by mouse, by keys and without script, in a real browser."""

import shutil

import pytest
from helpers.programs import needs
from helpers.reviewing import label_in, remembered, served
from helpers.samples import ham, spam, work

from spamnb.model import Model
from spamnb.store.stored_model import StoredModel

pytestmark = needs("chromedriver")
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"


def doubtful(number):
    """A message between ham and spam, that no other is like."""
    head, body = spam(number).partition(b"\n\n")[0], ham(number).partition(b"\n\n")[2]
    return head + b"\n\n" + body + b"cheap bonus word%d\n" % number


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
    assert eyes.each(".verdict") == ["unsure"] * 6 + ["spam"] * 3 + ["not spam"] * 3
    before = counts(own)
    click_in_row(eyes, MAIL[0], "button.spam")
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    assert label_in(own, MAIL[0]) == "spam"
    assert "learned as spam" in eyes.text("li.corrected")
    assert eyes.text("li.corrected .verdict") == "spam"
    assert eyes.text("li.corrected .reason").startswith("was unsure: ")
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
    assert eyes.text("#selected") == "3 selected"
    eyes.click("[data-select=all]")
    assert eyes.text("#selected") == "12 selected"
    eyes.click("[data-select=none]")
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
    eyes.wait(lambda: "Strongest reasons" in eyes.text())
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
    eyes.wait(lambda: "Strongest reasons" in eyes.text())
    eyes.press("h")
    eyes.wait(lambda: "learned as not spam" in eyes.text(".actions"))
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
def test_the_list(eyes):
    assert eyes.text("#doubts") == "6 unsure · 6 sure"
    # The keys, once asked for.
    eyes.press("?")
    assert "next, previous" in eyes.text("#keys:popover-open")
    eyes.press(ESCAPE)
    eyes.wait(lambda: not eyes.all("#keys:popover-open"))
    # Filters act at once, and stay when one comes back.
    choose(eyes, "[name=verdict]", "spam")
    eyes.wait(lambda: len(eyes.all(".rows > li")) == 3)
    for there, back in (("nav a[href='/course']", "nav a"), (".rows .subject", "#back")):
        eyes.click(there)
        eyes.wait(lambda: not eyes.all("[name=verdict]"))
        eyes.click(back)
        eyes.wait(lambda: eyes.all("[name=verdict]"))
        assert len(eyes.all(".rows > li")) == 3


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
    shutil.rmtree(shared.history)
    eyes.open(shared.page.base)
    assert "the history was removed" in eyes.text()
    assert not shared.history.exists()  # it is not made again


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


def test_one_comes_back_to_the_row_that_one_left(open_page, eyes):
    open_page(map(doubtful, range(300, 420)))
    eyes.press(*"j" * 30)
    eyes.wait(lambda: len(eyes.all(".rows > li")) > 60)
    eyes.press(*"j" * 40)
    left, following = eyes.each(".rows > li", "id")[70:72]
    current = "return document.activeElement.closest('li')?.id"
    for back in (lambda: eyes.press(ESCAPE), eyes.driver.back):
        assert eyes.run(current) == left
        eyes.press(ENTER)
        eyes.wait(lambda: eyes.all(".sentence"))
        if not eyes.all(".actions button[name=undo]"):  # learned there, it is at its place all the same
            eyes.press("s")
            eyes.wait(lambda: eyes.all(".actions button[name=undo]"))
            eyes.press(ESCAPE)
            eyes.wait(lambda: eyes.run(current) == left)
            eyes.press(ENTER)
            eyes.wait(lambda: eyes.all(".sentence"))
        back()
        eyes.wait(lambda: eyes.run(current) == left)
    assert eyes.corrected() == [left[1:]]
    eyes.press("j")
    assert eyes.run(current) == following
    eyes.open(eyes.driver.current_url.replace("at=", "at=99999"))
    eyes.wait(lambda: eyes.text("main"))  # a row that is gone


def test_a_phone_shows_eight_messages(shared, three, spamnb, eyes):
    for model in (spamnb.model, three):
        remembered(shared.history, shared.renew(model), MAIL)
        eyes.command("Emulation.setDeviceMetricsOverride", **PHONE)
        eyes.open(shared.page.address)
        eyes.wait(lambda: eyes.all(".rows > li"))
        bottoms = eyes.run(
            "return [...document.querySelectorAll('.rows > li')].map(r => r.getBoundingClientRect().bottom)"
        )
        assert sum(bottom <= PHONE["height"] for bottom in bottoms) >= 8
        assert eyes.run("return document.documentElement.scrollWidth") == PHONE["width"]
        cut = "each => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight"
        assert eyes.run(f"return [...document.querySelectorAll('.reason')].filter({cut}).length") == 0
        assert all(len(reason) > 0 and "·" not in reason for reason in eyes.each(".reason"))
        heights = "return [...document.querySelectorAll('button, select, summary')].map(e => e.offsetHeight)"
        assert {height for height in eyes.run(heights) if 0 < height < 44} == set()
    eyes.click(".rows .subject")
    eyes.wait(lambda: eyes.all(".sentence"))
    assert eyes.each("main h2")[:2] == ["Strongest reasons", "The message"]
    assert {height for height in eyes.run(heights) if 0 < height < 44} == set()
    eyes.command("Emulation.clearDeviceMetricsOverride")


def test_old_mail_in_a_file(spamnb, own, eyes, tmp_path):
    """What is named on the command line is judged now, and shown whatever its age."""
    old = [raw.replace(b"2026", b"1999") for raw in MAIL]
    (tmp_path / "old.mbox").write_bytes(
        b"".join(b"From x Mon Jan  1 00:00:00 1999\n" + raw + b"\n" for raw in old)
    )
    with served(spamnb, "--model", own, tmp_path / "old.mbox") as page:
        eyes.open(page.address)
        eyes.wait(lambda: len(eyes.all(".rows > li")) == len(MAIL))
        eyes.press("s")
        eyes.wait(eyes.corrected)
    assert sum(label_in(own, raw) == "spam" for raw in old) == 1


def test_spam_and_which_folder_are_two_lists(shared, three, eyes):
    model = shared.renew(three)
    torn = work(200).partition(b"\n\n")[0] + b"\n\n" + ham(200).partition(b"\n\n")[2]
    remembered(shared.history, model, [*MAIL, torn])
    eyes.open(shared.page.address)
    eyes.wait(lambda: len(eyes.all(".rows > li")) == len(MAIL))
    assert eyes.text(".lists [aria-current]") == "Spam?"
    eyes.click(".lists a:last-child")
    eyes.wait(lambda: eyes.each(".rows .subject") == ["deadline 200"])
    assert eyes.text(".reason") == "work or mail you keep?"
    eyes.press("/")
    eyes.press("dead", ENTER)
    eyes.wait(lambda: "text=dead" in eyes.driver.current_url)
    assert eyes.text(".lists [aria-current]") == "Which folder?"
    eyes.press(str(1 + list(Model.open(model).labels).index("work")))
    eyes.wait(lambda: label_in(model, torn) == "work")


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


@pytest.mark.usefixtures("page")
def test_course_and_cutoff(eyes, own):
    eyes.click("nav a[href='/course']")
    eyes.wait(lambda: "Week by week" in eyes.text())
    eyes.command("Emulation.setDeviceMetricsOverride", **PHONE)
    eyes.wait(lambda: eyes.all(".scroll.wide"))  # the table of weeks, on a phone
    eyes.command("Emulation.clearDeviceMetricsOverride")
    eyes.wait(lambda: not eyes.all(".scroll.wide"))
    eyes.click("nav a[href='/cutoff']")
    eyes.wait(lambda: eyes.all("input[name=loss]:checked"))
    x = "return document.querySelectorAll('.cutoff svg line.cutoff')[1].getAttribute('x1')"
    before = eyes.run(x)
    assert not eyes.find(".save button").is_enabled()
    loss = StoredModel.open(own).head["ham_loss"]
    first = eyes.all("input[name=loss]")[0]  # less ham may be lost
    first.click()
    chosen = float(first.get_attribute("value"))
    assert chosen < loss
    assert float(eyes.run(x)) >= float(before)
    eyes.click(".save button")
    eyes.wait(lambda: StoredModel.open(own).head["ham_loss"] == chosen)
    eyes.wait(lambda: "Saved" in eyes.text())
    eyes.click(".saved button")
    eyes.wait(lambda: StoredModel.open(own).head["ham_loss"] == loss)


def test_several_labels(shared, three, eyes):
    model = shared.renew(three)
    remembered(shared.history, model, [work(200), work(201)])
    eyes.open(shared.page.address)
    eyes.wait(lambda: "deadline 200" in eyes.text())
    labels = list(Model.open(model).labels)
    assert eyes.each(".rows > li:first-child .marks > *") == ["spam", "File under …"]
    eyes.click(".rows > li:first-child summary")
    assert eyes.each(".rows > li:first-child .menu button") == ["not spam", "work"]
    eyes.press(ESCAPE)
    assert not eyes.all(".menu[open]")
    eyes.press(ENTER)  # the keys go on where the menu was
    eyes.wait(lambda: eyes.all(".menu[open]"))
    eyes.press(TAB, TAB, ENTER)
    eyes.wait(lambda: eyes.text("li.corrected .marks").startswith("learned as work"))
    eyes.press("u")
    eyes.wait(lambda: not eyes.corrected())
    eyes.press(str(1 + labels.index("work")))
    eyes.wait(lambda: len(eyes.corrected()) == 1)
    assert "work" in (label_in(model, work(200)), label_in(model, work(201)))
    eyes.click("nav a[href='/cutoff']")
    eyes.wait(lambda: "Lost is mail you keep that would be taken for spam" in eyes.text())
    assert "2 messages of the last 30 days" in eyes.text()
    eyes.click("nav a[href='/course']")
    eyes.wait(lambda: "2 messages judged, 0 of them spam" in eyes.text())  # no chart of a single point
    assert not eyes.all("#shares")
    assert "work 2 0 0.0 %" in " ".join(eyes.text().split())  # filed, and corrected
