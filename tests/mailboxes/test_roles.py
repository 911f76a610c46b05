"""Folders that are left out of training because their names speak against the label: Trash, Drafts, Junk …"""

import unicodedata

import pytest
from helpers.mailboxes import maildir, put, written
from helpers.samples import ham, spam

from spamnb.mailboxes.roles import ARCHIVE, JUNK, SENT, TRASH, UNSENT, UNSURE, role_of

NAMES = {
    TRASH: (
        ".Trash", "Trash", "TRASH", "trash.mbox", "Trash.sbd", "Deleted Items", ".Deleted Messages", "Bin",
        ".INBOX.Trash", "INBOX.Trash", ".[Gmail].Papierkorb", ".Trash.2024", "Trash.gz",
        "Corbeille", ".Papelera",
        "Cestino", "Prullenbak", "Lixeira", "Kosz", "Корзина", "ごみ箱", "已删除邮件",
        "&MFQwf3ux-", "Deleted Messages.mbox",
    ),
    UNSENT: (
        ".Drafts", "Templates", "Outbox", "Unsent Messages", ".Entw&APw-rfe", "Entwürfe",
        unicodedata.normalize("NFD", "Entwürfe"), "Brouillons", "Borradores", "Bozze",
        "Concepten", "Rascunhos",
        "Wersje robocze", "Черновики", "下書き", "草稿箱", "&Tgtm+DBN-",
    ),
    JUNK: (
        ".Junk", "Junk E-mail", "Junk-E-Mail", "spam", "Spam.mbox.xz", "Bulk Mail",
        "Quarantine", "Indésirables",
        ".Ind&AOk-sirables", "Correo no deseado", "Спам", "迷惑メール", "垃圾邮件", ".Lists.Spam",
    ),
    UNSURE: (".Unsure", "unsure", ".INBOX.Unsure"),
    SENT: (".Sent", "Sent Items", "Gesendete Elemente", "Envoyés", "Отправленные"),
    ARCHIVE: (".Archive", "Archives", "Archiv"),
    "": (
        "Inbox", ".Lists", "spam-assassin", "Trashy", "not spam",
        "ham", "Lists.Trash.org",
        "&", "&-", "&AAA", "&AAA-", "&!!-", "a&b", "1700000000.M1P2.host:2,S", "", ".", "\udcff",
    ),
}  # fmt: skip


def test_the_role_of_a_name():
    for role, names in NAMES.items():
        assert {name: role_of(name) for name in names} == dict.fromkeys(names, role)


def folder(path, raw):
    put(maildir(path) / "cur" / "0.x:2,S", raw)
    return path


OTHERS = ".Drafts .Entw&APw-rfe .INBOX.Trash .Spam .Trash .Trash.2024 .Unsure Lists/Trash".split()


@pytest.fixture
def home(tmp_path):
    """A Maildir as it is found on a server: two messages of ham, two of spam, one in each other folder."""
    root = folder(tmp_path / "Maildir", ham(101))
    folder(root / ".Lists", ham(102))
    for n, name in enumerate(("", "Trash", "Drafts"), 101):
        folder(root / ".Junk" / name, spam(n))
    for n, name in enumerate(OTHERS, 200):
        folder(root / name, ham(n))
    return str(root)


def left_out(root, names):
    listed = ", ".join(f"{root}/{name}" for name in names)
    return f"skipped folders because of their names: {listed}; to read one"


@pytest.mark.parametrize("where", ["", "file://"])
def test_a_maildir(spamnb, own, home, where):
    """What README promises to be safe every night; at an address, too."""
    root = where + home
    done = spamnb("train", "--jobs", "1", "--model", own, root, f"{root}/.Junk").succeeds()
    assert done.lines[:3] == ["ham: 2 learned", "spam: 2 learned", "unreadable: 0"]
    assert done.lines[-1].startswith(left_out(root, (*OTHERS, ".Junk/Drafts")))


def test_what_is_named_is_taken(spamnb, own, home):
    train = ("train", "--jobs", "1", "--model", own)
    done = spamnb(*train, "--ham", f"{home}/.Trash", "--ham", f"{home}/.Unsure").succeeds()
    assert done.lines[0] == "ham: 2 learned"
    words = ("--ham", home, "--ham", f"{home}/../Maildir/.Spam", "--spam", f"{home}/.Junk")
    named = spamnb(*train, *words).succeeds()
    assert named.lines[0] == "ham: 3 learned"
    assert f"{home}/.Spam" not in named.out.decode()


def test_thunderbird(spamnb, own, tmp_path):
    folder = tmp_path / "Local Folders"
    boxes = ("Inbox", "Inbox.sbd/Lists", "Junk", "Junk.sbd/old", "Trash", "Inbox.sbd/Drafts")
    for n, name in enumerate(boxes, 100):
        put(folder / name, written([ham(n)]))
    put(folder / "templates", ham(300))  # a message, whatever it is called
    done = spamnb("train", "--jobs", "1", "--model", own, folder, folder / "Junk").succeeds()
    assert done.lines[:2] == ["ham: 3 learned", "spam: 1 learned"]
    assert done.lines[-1].startswith(left_out(folder, ("Inbox.sbd/Drafts", "Junk.sbd", "Trash")))


def test_evaluate_reads_what_train_reads(spamnb, mail, home):
    options = ("--json", "--jobs", "1", "--folds", "2", "--ham", home, "--ham", mail.ham, "--spam", mail.spam)
    done = spamnb("evaluate", *options)
    assert "skipped folders because of their names" in done.err.decode()
    assert f"{home}/.Trash" in [one["path"] for one in done.json["skipped"]]
