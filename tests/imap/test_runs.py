"""Runs of `spamnb imap` on real servers: what is judged, moved, flagged and learned, and that it is once."""

import base64
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.forged_senders import SUBMITTED
from helpers.imap_accounts import folders, move, near, only, places, train
from helpers.imap_mailbox import digest
from helpers.letters import letters
from helpers.samples import ENOUGH, ham, spam, work

from spamnb.history.queries import History

MOVED, FLAGGED = "moved to {}", "flagged $Junk"
WHEN = 1_600_000_000


def test_files_of_another_version(dovecot, home):
    """No tables of another shape are used, nor is anything of them lost."""
    home.add(dovecot, history=True)
    home.run()
    with home.history(ham(0)):
        pass
    for path, command in ((home.state_path(), "imap run"), (home.history_path / "history.sqlite", "history")):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA user_version = 1")
        done = home.spamnb(*command.split(), env=home.environment)
        done.fails(65, f"{path}: made by another version of spamnb; remove it")
        path.unlink()
        home.spamnb(*command.split(), env=home.environment)
        assert path.exists()


def test_from_nothing_to_a_filtered_mailbox(server, home):
    junk, archive = server.name("Junk"), server.name("Archive")
    server.fill(archive, [ham(n) for n in range(ENOUGH)])
    server.fill(junk, [spam(n) for n in range(ENOUGH)])
    home.password_file.write_text(server.password + "\n")
    where = ["host=127.0.0.1", f"port={server.port}", "tls=none", f"user={server.user}"]
    home("setup", *where).fails(64, "password_file=PATH")
    home("setup", *where, f"password_file={home.password_file}").succeeds()
    before = server.contents()
    facts = only(home("check", "--json").succeeds().json_lines)
    roles = {folder["is"]: folder["folder"] for folder in facts["folders"]}
    assert (roles["junk"], facts["can"]["MOVE"]) == (junk, server.prefix == "")
    assert {"folder": archive, "is": "ham", "messages": ENOUGH} in facts["folders"]
    assert (server.contents(), [*home.path.glob(".local/state/**/*.sqlite")]) == (before, [])
    os.unlink(home.model)
    assert train(home) == {"ham": ENOUGH, "spam": ENOUGH}
    assert train(home) == {"ham": 0, "spam": 0}
    server.append("INBOX", spam(99))
    assert home.outcomes() == [("spam", f"would be moved to {junk}")]
    assert home.outcomes() == []


def test_an_account_that_was_never_trained_judges_nothing(dovecot, home):
    """Nor is it trained by its spam alone: all its mail would look like that."""
    junk, archive = dovecot.name("Junk"), dovecot.name("Archive")
    home.add(dovecot, ham=[archive], is_trained=False)
    dovecot.fill(junk, [near(n) for n in range(ENOUGH)])
    dovecot.append("INBOX", spam(99))
    before = dovecot.contents(), Path(home.model).read_bytes()
    home("run").fails(75, "home: not trained yet; run: spamnb imap train --account home")
    home("train").fails(65, f"found no ham in {archive}")
    assert (dovecot.contents(), Path(home.model).read_bytes()) == before
    dovecot.append(archive, ham(99))
    assert train(home) == {"ham": 1, "spam": ENOUGH}
    assert home.outcomes() == [("spam", MOVED.format(junk))]


def test_mail_is_judged_once_and_stays_as_it_was(server, home):
    junk = server.name("Junk")
    home.add(server)
    server.append("INBOX", ham(99), "", WHEN)
    server.append("INBOX", spam(99), r"\Flagged $Forwarded", WHEN + 1)
    server.append("INBOX", spam(98), r"\Seen", WHEN + 2)  # read before we first came
    before = server.contents()["INBOX"]
    assert home.outcomes() == [("ham", "stays"), ("spam", MOVED.format(junk))]
    after = folders(server)
    assert [message._replace(uid=0) for message in after[junk]] == [before[1]._replace(uid=0)]
    assert after["INBOX"] == [before[0], before[2]]
    assert home.outcomes() == []
    assert train(home)["spam"] == 0  # nobody said what it is
    server.append("INBOX", spam(97), r"\Seen")  # read elsewhere before we came again
    assert home.outcomes() == [("spam", MOVED.format(junk))]
    assert folders(server) | {junk: 0} == after | {junk: 0}


def test_actions(dovecot, home):
    """What was not done about mail that is still there is done by --again when the action changes."""
    junk = dovecot.name("Junk")
    dovecot.append("INBOX", spam(99))
    dovecot.append("INBOX", ham(99))
    would = {"nothing": f"would be moved to {junk}", "flag": FLAGGED, "move": MOVED.format(junk)}
    found = {"nothing": [set()], "flag": [{"$Junk"}], "move": []}
    for action, said in would.items():
        home.change(dovecot, action=action)
        assert home.outcomes("--again") == [("spam", said), ("ham", "stays")]
        assert home.outcomes() == []
        inbox = dovecot.contents()["INBOX"]
        assert [message.flags for message in inbox if message.digest == digest(spam(99))] == found[action]
    assert home.label_of(spam(99)) is None  # our own flag teaches nothing
    assert places(dovecot) == {digest(spam(99)): junk, digest(ham(99)): "INBOX"}


def test_what_the_user_moves_to_junk_is_spam(server, home):
    junk = server.name("Junk")
    home.add(server)
    server.append("INBOX", near(1))
    server.append("INBOX", near(2))
    assert [event["verdict"] for event in home.run()] == ["unsure", "unsure"]
    move(server, near(1), "INBOX", junk)
    assert home.outcomes() == [("spam", "moved here: learned")]
    assert home.label_of(near(1)) == "spam"
    assert home.outcomes() == []
    server.append("INBOX", near(3))
    assert home.outcomes() == [("spam", MOVED.format(junk))]
    assert home.label_of(near(3)) is None
    move(server, near(1), junk, "INBOX")  # a mistake
    assert home.outcomes() == [("ham", "moved back here: moved")]
    assert home.outcomes() == []
    move(server, near(1), "INBOX", junk)
    assert home.outcomes() == [("spam", "moved here: moved")]


def test_what_goes_to_trash_teaches_nothing(dovecot, home):
    junk, trash = dovecot.name("Junk"), dovecot.name("Trash")
    home.add(dovecot)
    for raw in (spam(99), ham(99)):
        dovecot.append("INBOX", raw)
    home.run()
    move(dovecot, spam(99), junk, trash)
    move(dovecot, ham(99), "INBOX", trash)
    assert home.outcomes() == []
    assert (home.label_of(spam(99)), home.label_of(ham(99))) == (None, None)


def test_people_one_wrote_to_stay(dovecot, home):
    home.add(dovecot)
    dovecot.append(dovecot.name("Sent"), b"From: bob@example.org\nTo: Win <WIN@casino.example>\n\nhello\n")
    dovecot.append("INBOX", SUBMITTED + spam(99))
    (event,) = home.run()
    assert event["what"] == "stays (known=win@casino.example)"
    assert only(dovecot.contents()["INBOX"]).flags == set()


@pytest.mark.parametrize(
    "head",
    [
        b"Authentication-Results: mx.example.org; dmarc = fail\n",
        b"Received: from x (y [198.51.100.7]) by mx.example.org with ESMTP\n",
    ],
)
def test_who_forges_a_known_sender_is_not_known(dovecot, home, head):
    home.add(dovecot)
    dovecot.append(dovecot.name("Sent"), b"From: bob@example.org\nTo: win@casino.example\n\nhello\n")
    dovecot.append("INBOX", head + b"From: win@casino.example\n" + spam(99).partition(b"\n")[2])
    assert home.outcomes() == [("spam", MOVED.format(dovecot.name("Junk")))]


def test_mail_is_sorted_as_you_sort_it(dovecot, home):
    """What it is sure of is filed, what you move is learned, all else stays."""
    archive, junk, jobs, bills = map(dovecot.name, ("Archive", "Junk", "Jobs", "Bills"))
    made = {archive: ham, junk: spam, jobs: work, bills: bill}
    for name, make in made.items():
        if name in (jobs, bills):
            dovecot.create(name)
        dovecot.fill(name, [make(n) for n in range(2 * ENOUGH)])
    home.add(dovecot, ham=[archive], history=True)
    with home.config.open("a") as file:
        file.write(f'[account.home.sort]\nWork = "{jobs}"\nBills = "{bills}"\n')
    os.unlink(home.model)
    assert train(home) == dict.fromkeys(("ham", "spam", "Work", "Bills"), 2 * ENOUGH)
    mail = [spam(99), ham(99), work(99), bill(99), near(1)]
    for raw in mail:
        dovecot.append("INBOX", raw)
    assert home.outcomes() == [
        ("spam", MOVED.format(junk)),
        ("ham", "stays"),
        ("Work", MOVED.format(jobs)),
        ("Bills", MOVED.format(bills)),
        ("ham", "stays"),
    ]
    assert home.outcomes() == []
    assert train(home) == dict.fromkeys(("ham", "spam", "Work", "Bills"), 0)  # nobody said what these are
    move(dovecot, work(99), jobs, bills)
    move(dovecot, bill(99), bills, "INBOX")
    home.mark(near(1), "Work")
    assert sorted(home.outcomes()) == [
        ("Bills", "moved here: learned"),
        ("Work", f"marked by you: moved to {jobs}"),
        ("ham", "moved back here: learned"),
    ]
    assert [home.label_of(raw) for raw in mail[1:]] == [None, "Bills", "ham", "Work"]
    assert home.outcomes() == []
    here = places(dovecot)
    assert [here[digest(raw)] for raw in mail] == [junk, "INBOX", bills, "INBOX", jobs]


def bill(n):
    return (
        b"From: shop%d@store.example\nSubject: your receipt %d\n\ninvoice total paid by card, receipt %d\n"
        % (n, n, n)
    )


def test_what_is_taken_back_on_the_page_moves_back(dovecot, home):
    junk = dovecot.name("Junk")
    home.add(dovecot, history=True)
    for raw in (spam(99), spam(98), near(1)):
        dovecot.append("INBOX", raw)
    home.run()
    for raw, label in ((spam(99), "ham"), (spam(98), "spam"), (near(1), "spam")):
        home.mark(raw, label)
    home.run()
    for raw in (spam(99), spam(98), near(1)):
        home.mark(raw, None)
    assert sorted(home.outcomes()) == [
        ("forgotten", "mark taken back by you"),
        ("forgotten", "mark taken back by you: moved to INBOX"),
        ("forgotten", f"mark taken back by you: moved to {junk}"),
    ]
    assert places(dovecot) == {digest(spam(99)): junk, digest(spam(98)): junk, digest(near(1)): "INBOX"}
    assert [home.label_of(raw) for raw in (spam(99), spam(98), near(1))] == [None, None, None]
    assert home.outcomes() == []


@pytest.mark.parametrize(("which", "kept"), [("state", 1), ("history", 0)])
def test_a_damaged_database_stops_no_judging(dovecot, home, which, kept):
    """It is set aside, once. What we put into Junk before is not learned as if its owner had."""
    home.add(dovecot, history=True)
    dovecot.append("INBOX", spam(98))
    home.run()
    path = home.state_path() if which == "state" else home.history_path / "history.sqlite"
    for one in (path, *path.parent.glob(path.name + "-*")):
        one.write_bytes(one.read_bytes()[: 4096 * kept] + b"x" * (one.stat().st_size - 4096 * kept))
    dovecot.append("INBOX", spam(99))
    done = home("run", "--json")
    assert (done.code, [event["what"] for event in done.json_lines]) == (0, [MOVED.format("Junk")])
    assert done.err.count(b"\n") == done.err.count(b"; renamed to ") == 1
    assert home.run() == []
    for one in path.parent.glob(path.name + ".damaged*"):
        one.unlink()  # nobody needs it
    assert (train(home)["spam"], home.run()) == (0, [])
    assert home.label_of(spam(98)) is None


def test_what_is_judged_is_in_the_history_at_once(dovecot, home):
    """Who looks at it next need not wait: what 5,000 new messages leave behind takes half a minute."""
    home.add(dovecot, history=True)
    dovecot.fill("INBOX", [ham(n) for n in range(60)])
    home.run("--again")
    with History.open(str(home.history_path)) as history:
        assert (history.bytes_left(), len(history.entries(limit=100))) == (0, 60)


def test_one_account_is_broken(dovecot, home):
    home.add(dovecot, "first", host="127.0.0.2", port=1)
    home.add(dovecot, "second")
    home.add(dovecot, "third", host="localhost", junk="Jnuk")
    dovecot.append("INBOX", spam(99))
    done = home("run")
    assert done.code == 75
    assert [line.split(": ")[1] for line in done.err.decode().splitlines()] == ["first", "third"]
    assert [line.partition("\t")[0] for line in done.lines] == ["spam", "second: 1 judged: 1 to Junk"]
    home("run", "--account", "second").succeeds()
    assert home("run", "--account", "secnod").code == 64


def large(text):
    """A message with an attachment of over a megabyte."""
    head, _, body = text.partition(b"\n\n")
    attached = base64.encodebytes(bytes(range(256)) * 6000)
    return (
        head + b'\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="xx"\n\n'
        b"--xx\nContent-Type: text/plain\n\n" + body + b"\n--xx\nContent-Type: application/octet-stream\n"
        b"Content-Transfer-Encoding: base64\n\n" + attached + b"--xx--\n"
    )


def test_large_messages_are_judged_by_their_text(dovecot, home):
    home.add(dovecot)
    plain = spam(97).partition(b"\n\n")
    whole = plain[0] + b"\n\n" + plain[2] * 20_000  # no parts: as much as there may be of it
    dovecot.fill("INBOX", [large(spam(99)), large(ham(99)), whole])
    assert [event["verdict"] for event in home.run("--again")] == ["spam", "ham", "spam"]
    assert {name: len(found) for name, found in folders(dovecot).items()} == {
        "INBOX": 1,
        dovecot.name("Junk"): 2,
    }


def test_hostile_messages(dovecot, home):
    home.add(dovecot)
    # A dovecot keeps no line that has no end, nor an empty message.
    odd = [raw for raw in dict.fromkeys(letters()) if raw.strip() and b"\0" not in raw]
    dovecot.fill("INBOX", [*odd, spam(99)])
    before = {message.digest for message in dovecot.contents()["INBOX"]}
    done = home("run", "--again", "--json")
    assert (done.code, done.err) == (0, b"")
    assert len(done.lines) == len(odd) + 1
    assert {message.digest for found in folders(dovecot).values() for message in found} == before
    assert dovecot.name("Junk") == places(dovecot)[digest(spam(99))]
    home("run", "--again").succeeds()
    assert {message.digest for found in folders(dovecot).values() for message in found} == before


def test_names_of_folders(dovecot, home):
    folder = dovecot.name('a "迷惑" & \\ one')
    dovecot.create(folder)
    home.add(dovecot, junk=folder)
    dovecot.append("INBOX", spam(99))
    assert home.outcomes() == [("spam", MOVED.format(folder))]
    assert places(dovecot) == {digest(spam(99)): folder}
    assert home.outcomes() == []


def test_servers_that_cannot_move(dovecot_with, home):
    """Nor expunge one message: it is left behind, flagged as deleted."""
    server = dovecot_with(without=("MOVE", "UIDPLUS"))
    home.add(server)
    server.append("INBOX", ham(98), r"\Deleted")  # by the user, who may think better of it
    for raw in (spam(99), ham(99)):
        server.append("INBOX", raw, "", WHEN)
    home.run()
    assert home.outcomes() == []
    flags = {message.digest: message.flags for message in server.contents()["INBOX"]}
    deleted = {digest(raw): {r"\Deleted"} for raw in (ham(98), spam(99))}
    assert flags == {digest(ham(99)): set()} | deleted
    assert [message.digest for message in server.contents()["Junk"]] == [digest(spam(99))]
    server.append("INBOX", spam(99))  # delivered once more, while the first is in Junk
    assert home.outcomes() == [("spam", MOVED.format("Junk"))]


@pytest.mark.parametrize("changed", ["INBOX", "Junk"])
def test_numbers_of_messages_are_changed(dovecot, home, changed):
    server, junk = dovecot, dovecot.name("Junk")
    home.add(server)
    for raw in (near(1), near(2), spam(99), ham(99)):
        server.append("INBOX", raw)
    home.run()
    move(server, near(1), "INBOX", junk)
    home.run()
    before = places(server)
    folder = server.name(changed) if changed == "Junk" else changed
    validity = server.validity(folder)
    server.change_uidvalidity(folder)
    assert server.validity(folder) != validity
    assert train(home)["spam"] == 0
    assert home.outcomes() == []
    assert places(server) == before
    assert home.label_of(spam(99)) is None
    move(server, spam(99), junk, "INBOX")
    move(server, ham(99), "INBOX", junk)
    assert [label for label, _ in home.outcomes()] == ["spam", "ham"]
    assert home.outcomes() == []


def test_read_only_folders(server, home):
    junk = server.name("Junk")
    home.add(server)
    server.append(junk, spam(98))
    server.append("INBOX", spam(99))
    server.read_only(junk)
    done = home("run")
    assert done.code == 75
    assert [line.split(": ")[0] for line in done.err.decode().splitlines()] == ["spamnb"]
    assert places(server)[digest(spam(99))] == "INBOX"
    server.append("INBOX", spam(97))
    assert home("run").code == 75
    server.writable(junk)
    said = home("run").succeeds().lines
    assert [line.split("\t")[3].partition(" on ")[0] for line in said[:2]] == [
        f"moved to {junk} now; it was judged"
    ] * 2
    assert said[2].startswith("home: nothing new; 2 moved now that could not be moved before, since ")
    assert places(server)[digest(spam(99))] == places(server)[digest(spam(97))] == junk
