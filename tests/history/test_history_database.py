"""The database of the history: gathered once, listed in order of doubt or time, searched, put right."""

import os
import stat
import time

import pytest

from spamnb.bayes.verdict import Cutoffs, Verdict
from spamnb.databases import DAMAGED
from spamnb.history.log import DAY, HistoryLog, file_names, hash_of_raw, prune_files
from spamnb.history.queries import History, Week
from spamnb.history.schema import NAME
from spamnb.model import Model

NOW = 1_794_790_000.0  # a Monday, at two


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "history")


def append(folder, *verdicts, model="/nosuch", raw=None, start=NOW, source="classify", size="200MB"):
    """Verdicts by label and score, a second apart."""
    log = HistoryLog(size=size, folder=folder)
    for number, (label, score) in enumerate(verdicts):
        message = raw or b"From: Ann <ann@example.org>\nSubject: %s %d\n\n" % (label.encode(), number)
        verdict = Verdict(label, score, 0.5, {}, (), Cutoffs(-1.0, 1.0))
        log.append(message, verdict, model, source, "joe", now=start + number)


@pytest.fixture
def history(folder):
    """Nine verdicts: three spam, three ham, three unsure."""
    scores = (("spam", 9), ("ham", -9), ("unsure", 0), ("spam", 2), ("ham", -2))
    more = (("unsure", 0.5), ("spam", 5), ("ham", -5), ("unsure", -0.5))
    append(folder, *scores, *more)
    with History.open(folder) as opened:
        assert opened.gather() == 9
        yield opened


def test_what_an_entry_has(folder, spamnb, mail):
    raw = mail.messages["spam"]
    verdict = Model.open(spamnb.model).classify(raw)
    HistoryLog(folder=folder).append(raw, verdict, spamnb.model, "serve", "ann", now=NOW)
    with History.open(folder) as history:
        history.gather()
        [entry] = history.entries()
        assert (entry.time, entry.verdict, entry.score) == (NOW, verdict.label, verdict.score)
        assert (entry.probability, entry.size) == (verdict.probability, len(raw))
        assert verdict.cutoffs
        assert (entry.ham_cutoff, entry.spam_cutoff) == (verdict.cutoffs.ham, verdict.cutoffs.spam)
        assert (entry.source, entry.user, entry.model) == ("serve", "ann", spamnb.model)
        assert entry.digest == hash_of_raw(raw)
        assert entry.date == 1_794_742_740.0  # as its Date says
        assert entry.reasons == "says “example”, “viagra” · many of its phrases are known from spam"
        assert history.message(entry.id) == raw
        assert history.entry(entry.id) == entry
        assert history.entry(99) is history.message(99) is None
    for name in os.listdir(folder):
        assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


def scores(entries):
    return [entry.score for entry in entries]


def test_order_of_doubt(history):
    """What is unsure, the latest first, then spam and ham by the distance from the cutoff."""
    in_doubt = history.entries()
    assert scores(in_doubt) == [-0.5, 0.5, 0, 2, 5, 9, -2, -5, -9]
    history.correct([in_doubt[0].id, in_doubt[3].id], "ham", now=NOW)
    assert scores(history.entries()) == [0.5, 0, 5, 9, -2, -5, -9, -0.5, 2]
    assert (history.entries()[-1].correction, history.entries()[-1].corrected) == ("ham", NOW)
    history.correct([in_doubt[0].id, in_doubt[3].id], None)
    assert [one._replace(corrected=None) for one in history.entries()] == in_doubt  # when it was taken back


@pytest.mark.parametrize("order", ["doubt", "time"])
def test_pages_join_without_a_gap(history, order):
    everything = history.entries(order)
    history.correct([everything[2].id], "spam")
    everything = history.entries(order)
    found: list = []
    while page := history.entries(order, limit=2, after=found[-1].cursor if found else None):
        found += page
    assert found == everything


def test_time_and_filters(history):
    assert scores(history.entries("time", limit=3)) == [-0.5, -5, 5]
    assert scores(history.entries(verdict="spam")) == [2, 5, 9]
    assert scores(history.entries("time", verdict="unsure", since=NOW + 5)) == [-0.5, 0.5]
    assert history.entries(verdict="work") == []
    assert sorted(history.scores("/nosuch", 1)) == [(-5.0, "ham", None), (-0.5, "unsure", None)]
    middle = history.entries()[4]
    before, after = history.neighbours(middle.id, "doubt")
    assert (before.score, middle.score, after.score) == (2, 5, 9)
    assert [one and one.score for one in history.neighbours(history.entries("time")[0].id, "time")] == [
        None,
        -5,
    ]


FOUND = {"ham": 3, "ANN": 9, "example.org": 9, "unsu 8": 1, "joe": 9}
FOUND |= dict.fromkeys(["nosuch", '"', "nosuch " * 10**4, "%", "_", "\0", "\udcff"], 0)


@pytest.mark.parametrize("text", FOUND)
def test_search(history, text):
    assert len(history.entries(text=text)) == len(history.entries("time", text=text)) == FOUND[text]


@pytest.mark.parametrize("text", ["信用卡", "ÄRGER", "gerlich", "20%的", "ｓｐａｍ", "СПАМ", "strasse"])
def test_search_finds_parts_of_words_in_every_script(folder, text):
    subject = "還在用20%的信用卡循環嗎 Ärgerlich Spam спам Straße".encode()
    append(folder, ("spam", 1), raw=b"Subject: %s\n\n" % subject)
    append(folder, ("spam", 1), raw=b"Subject: other\n\n")
    with History.open(folder) as history:
        history.gather()
        assert [entry.subject for entry in history.entries(text=text)] == [subject.decode()]


@pytest.mark.parametrize(
    ("head", "date"),
    [
        (b"Date: Mon, 16 Nov 2026 01:02:03 +0100\n", 1_794_787_323),
        (b"Date: Mon, 16 Nov 2099 01:02:03 +0100\n", NOW),  # it was not sent after it was judged
        (b"Date: soon\nReceived: by mx; Sun, 15 Nov 2026 01:02:03 +0000\n", 1_794_704_523),
        (b"Date: Thu, 01 Jan 1970 00:00:00 +0000\n", NOW),
        (b"", NOW),
    ],
)
def test_dates_are_those_of_the_mail(folder, head, date):
    append(folder, ("ham", -9), raw=head + b"\n")
    with History.open(folder) as history:
        history.gather()
        [entry] = history.entries("date")
        assert (entry.date, entry.time) == (date, NOW)


def test_weeks(folder, history):
    append(folder, ("ham", -3), start=NOW - DAY)  # Sunday
    history.gather()
    [missed, *_] = history.entries(verdict="ham", since=NOW)
    history.correct([missed.id], "spam")
    monday = NOW - NOW % DAY
    assert history.weeks("/nosuch") == [
        Week(monday - 7 * DAY, 1, {"ham": 1}, {}),
        Week(monday, 9, {"ham": 3, "spam": 3, "unsure": 3}, {("ham", "spam"): 1}),
    ]
    assert history.weeks("/other") == []


HOSTILE = b"\x00\x1b[2J\r\x07\xff\xfe'\"<script>\xe2\x80\xae;DROP TABLE entries;--" + bytes(range(256))
LINE = HOSTILE.replace(b"\n", b"")
FIELDS = [
    b"From: %s\nSubject: %s\nMessage-ID: %s\n\nx" % (LINE, LINE, LINE),
    b"Subject: =?utf-8?q?=00=1B=ED=A0=80?= =?utf-16?b?2AA=?=\nFrom: " + b"a" * 10**6 + b"\n\nx",
    HOSTILE,
    b"",
]


@pytest.mark.parametrize("raw", FIELDS, ids=range(len(FIELDS)))
def test_hostile_mail(folder, spamnb, raw):
    verdict = Verdict("spam", 1.0, 0.5, {}, (), None)
    HistoryLog(folder=folder).append(raw, verdict, spamnb.model, "imap \x1b/\udcff", "\udcff\0" * 10**5)
    with History.open(folder) as history:
        assert history.gather() == 1
        [entry] = history.entries("time")
        texts = (entry.verdict, entry.sender, entry.subject, entry.message_id, entry.source, entry.user)
        assert all(text.isprintable() and len(text) <= 300 for text in (*texts, entry.reasons))
        assert history.message(entry.id) == raw[: 1 << 20]


def test_what_is_gathered_outlives_a_loss_of_power(folder, monkeypatch):
    """The file is then as it was when it was last synced."""
    synced: dict[int, int] = {}
    sync = os.fsync

    def noted(handle):
        synced[os.fstat(handle).st_ino] = os.fstat(handle).st_size
        sync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    for verdicts in ([("spam", 9)], [("ham", -9), ("ham", -8)]):
        append(folder, *verdicts)
        with History.open(folder) as history:
            history.gather()
        path = os.path.join(folder, *file_names(folder))
        os.truncate(path, synced.get(os.stat(path).st_ino, 0))
    with History.open(folder) as history:
        history.gather()
        assert sorted(scores(history.entries())) == [-9, -8, 9]


def days_with_mail(folder):
    """Three of them tell what time it is, so that a clock that is wrong for a day forgets nothing."""
    for days in range(3):
        path = os.path.join(folder, f"2026-01-{9 - days:02}-000000.verdicts")
        with open(path, "wb"):
            pass
        os.utime(path, (time.time() - days * DAY,) * 2)


def test_messages_go_and_what_was_said_of_them_stays(folder, history):
    [first, *_] = history.entries("time")
    [name] = file_names(folder)
    os.utime(os.path.join(folder, name), (time.time() - 9 * DAY,) * 2)
    days_with_mail(folder)
    for days in (14, 2):
        prune_files(folder, days, 10**8)
        assert (name in file_names(folder)) == (days == 14)
    assert history.entries("time")[0] == first
    assert history.message(first.id) is None
    append(folder, ("ham", -4))  # another file in the place of the first
    assert history.gather() == 1
    assert history.message(history.entries("time", text="ham 0")[0].id).startswith(b"From: Ann")


def test_entries_are_kept_for_a_year_or_while_there_is_room(folder, history):
    days_with_mail(folder)
    append(folder, ("ham", -4), start=time.time() - 400 * DAY)
    history.gather()
    assert len(history.entries()) == 9
    append(folder, *[("ham", -4)] * 600, start=time.time(), size="1MB")  # room for 500
    history.gather()
    assert len(history.entries(limit=1000)) == 500
    assert history.entries(text="unsure") == []


def test_a_message_is_never_another_one(folder, history):
    """Who removes files by hand must not have the wrong message learned."""
    entries = history.entries()
    os.unlink(os.path.join(folder, file_names(folder)[0]))
    append(folder, ("spam", 9), ("ham", -9), start=NOW + 60)
    assert [history.message(entry.id) for entry in entries] == [None] * 9
    assert history.gather() == 2


def spoil(path, first):
    """Write over a database from a byte on."""
    with open(path, "r+b") as file:
        file.seek(first)
        file.write(b"x" * (os.path.getsize(path) - first))


def test_a_damaged_database_is_set_aside_and_gathered_again(spamnb, history, folder):
    history.database.close()
    spoil(os.path.join(folder, NAME), 0)
    done = spamnb("history", "--history-folder", folder)
    assert (done.code, len(done.lines)) == (0, 9)
    assert "damaged (file is not a database); renamed" in done.err.decode()
    assert NAME + DAMAGED in os.listdir(folder)
    assert spamnb("history", "--history-folder", folder).succeeds().err == b""


def test_summary(spamnb, history, folder):
    """The nine are joe's; one verdict on spam, one on ham and one of the unsure are put right."""
    by_score = {entry.score: entry.id for entry in history.entries()}
    history.correct([by_score[2.0]], "ham")
    history.correct([by_score[-2.0], by_score[0.0]], "spam")
    history.correct([by_score[9.0]], "spam")  # as it was judged
    asked = ["history", "--summary", "--history-folder", folder, "--since", "2000-01-01"]
    figures = spamnb(*asked, "joe", "--json").succeeds().json
    assert figures.pop("since") < NOW
    assert figures == {
        "judged": 9,
        "spam_caught": 2,
        "unsure": 3,
        "corrected": 3,
        "ham_lost": 1,
        "spam_missed": 1,
    }
    assert "corrected by a person: 3, 33.3 % of all mail" in spamnb(*asked).succeeds().lines
    assert "messages judged: 0" in spamnb(*asked, "jack").succeeds().lines
    spamnb(*asked, "--top", "3").fails(64, "--top has no effect")


def test_a_clock_that_is_wrong_for_a_day_forgets_nothing(folder, monkeypatch):
    right = time.time()
    for days in range(5):
        append(folder, ("ham", -4), start=right - days * DAY)
    monkeypatch.setattr(time, "time", lambda: right + 500 * DAY)
    append(folder, ("ham", -4), start=right + 500 * DAY)
    with History.open(folder) as history:
        assert history.gather() == len(history.entries()) == 6
        monkeypatch.undo()
        history.gather()
        assert all(history.message(entry.id) for entry in history.entries())
