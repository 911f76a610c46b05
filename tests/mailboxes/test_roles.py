"""Folders that are left out of training because their names speak against the label: Trash, Drafts, Junk …"""

import base64
import gzip
import os
import unicodedata

import pytest
from helpers.mailboxes import maildir, put, written
from helpers.samples import ham, spam

from spamnb.mailboxes import roles, sources
from spamnb.mailboxes.roles import ARCHIVE, JUNK, SENT, TRASH, UNSENT, UNSURE, role_of, roles_to_leave_out

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


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, names in NAMES.items() for name in names])
def test_the_role_of_a_name(role, name):
    assert role_of(name) == role


def test_every_name_is_written_as_it_is_looked_up():
    for role, names in roles._NAMES.items():
        for name in names.split():
            assert role_of(name) == role
            encoded = base64.b64encode(name.encode("utf-16-be"), b"+,").decode().rstrip("=")
            assert role_of(f".INBOX.&{encoded}-") == role


def test_what_is_left_out_of_a_label():
    assert roles_to_leave_out("ham") == roles_to_leave_out("work") == {TRASH, UNSENT, JUNK, UNSURE}
    assert roles_to_leave_out("spam") == {UNSENT, UNSURE}
    assert roles_to_leave_out("Drafts") == {TRASH, JUNK, UNSURE}


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
    return f"spamnb: left out because of their names: {', '.join(f'{root}/{name}' for name in names)}"


def test_a_maildir(spamnb, own, home):
    """What README promises to be safe every night."""
    train = ("train", "--jobs", "1", "--model", own, home, f"{home}/.Junk")
    done = spamnb(*train)
    assert done.code == 0
    assert done.lines[:3] == ["ham: 2 learned", "spam: 2 learned", "unreadable: 0"]
    told = left_out(home, (*OTHERS, ".Junk/Drafts")) + "; --all-folders reads them, too\n"
    assert done.err.decode() == told
    report = spamnb(*train, "--json").json
    assert report["known"] == {"ham": 2, "spam": 2}
    whys = {one["path"]: one["why"] for one in report["passed_over"]}
    assert whys[f"{home}/.Unsure"] == "unsure, by its name"


def test_all_folders(spamnb, own, home):
    done = spamnb("train", "--jobs", "1", "--model", own, "--all-folders", home, f"{home}/.Junk").succeeds()
    assert done.lines[:2] == [f"ham: {2 + len(OTHERS)} learned", "spam: 3 learned"]


def test_quiet_is_for_cron(spamnb, own, home):
    train = ("train", "--jobs", "1", "--model", own)
    assert spamnb(*train, "--quiet", home, f"{home}/.Junk").succeeds().out == b""
    assert spamnb(*train, home, f"{home}/.Junk").lines[0] == "ham: 2 already known"
    assert spamnb(*train, "-q", "--spam", "-", stdin=spam(300)).succeeds().out == b""
    spam_folder = f"{home}/.Junk"
    with open(f"{spam_folder}/cur/9", "wb") as file:
        file.write(gzip.compress(spam(9))[:20])
    spamnb(*train, "-q", "--spam", spam_folder).fails(65, f"{spam_folder}/cur/9", "damaged compression")
    assert spamnb(*train, "-q", "--json", "--spam", spam_folder).json["learned"] == {"spam": 0}


def test_what_is_named_is_taken(spamnb, own, home):
    train = ("train", "--jobs", "1", "--model", own)
    done = spamnb(*train, "--ham", f"{home}/.Trash", "--ham", f"{home}/.Unsure").succeeds()
    assert done.lines[0] == "ham: 2 learned"
    words = ("--ham", home, "--ham", f"{home}/../Maildir/.Spam", "--spam", f"{home}/.Junk")
    named = spamnb(*train, "--yes", *words)
    assert named.lines[0] == "ham: 3 learned"
    assert f"{home}/.Spam" not in named.err.decode()


def test_thunderbird(spamnb, own, tmp_path):
    folder = tmp_path / "Local Folders"
    boxes = ("Inbox", "Inbox.sbd/Lists", "Junk", "Junk.sbd/old", "Trash", "Inbox.sbd/Drafts")
    for n, name in enumerate(boxes, 100):
        put(folder / name, written([ham(n)]))
    put(folder / "templates", ham(300))  # a message, whatever it is called
    done = spamnb("train", "--jobs", "1", "--model", own, folder, folder / "Junk")
    assert done.lines[:2] == ["ham: 3 learned", "spam: 1 learned"]
    assert done.err.decode().startswith(left_out(folder, ("Inbox.sbd/Drafts", "Junk.sbd", "Trash")) + ";")


def test_only_what_is_learned_is_left_out(spamnb, home):
    """`classify` judges all mail."""
    every = 5 + len(OTHERS)
    assert len(spamnb("classify", "--jobs", "1", home).succeeds().lines) == every
    assert len(list(sources.messages([home]))) == every


def test_evaluate_and_tune_read_what_train_reads(spamnb, mail, home, tmp_path):
    options = ("--jobs", "1", "--folds", "2", "--ham", home, "--ham", mail.ham, "--spam", mail.spam)
    told = left_out(home, (".Drafts", ".Entw&APw-rfe"))
    scores = tmp_path / "scores"
    done = spamnb("evaluate", "--scores", scores, *options)
    assert done.err.decode().startswith(told)
    assert f"{home}/.Lists/cur" in scores.read_text()
    assert f"{home}/.Trash" not in scores.read_text()
    assert spamnb("evaluate", "--settings", "default", *options).err.decode().startswith(told)
    spamnb("evaluate", "--scores", scores, "--all-folders", *options).succeeds()
    assert f"{home}/.Trash" in scores.read_text()


def test_elsewhere(spamnb, own, home):
    url = f"file://{home}"
    named = ("--ham", url, "--ham", f"{url}/.Spam", "--spam", f"{url}/.Junk")
    done = spamnb("train", "--jobs", "1", "--yes", "--model", own, *named)
    assert done.lines[:2] == ["ham: 3 learned", "spam: 2 learned"]
    names = [name for name in OTHERS if name != ".Spam"]
    assert done.err.decode().startswith(left_out(url, (*names, ".Junk/Drafts")))


def test_a_pipe_is_not_opened(tmp_path):
    """It would wait for someone who writes."""
    os.mkfifo(tmp_path / "Trash")
    assert list(sources.messages([str(tmp_path)])) == []
    assert list(sources.chunks([str(tmp_path)], leave_out=roles_to_leave_out("ham"))) == []


def test_a_link_that_leads_to_itself_is_told(tmp_path):
    (tmp_path / "Trash").symlink_to("Trash")
    (tmp_path / "mail").write_bytes(ham(1))
    chunks = sources.chunks([str(tmp_path)], leave_out=roles_to_leave_out("ham"))
    assert [item.path for chunk in chunks for item in chunk.messages()] == [
        str(tmp_path / "Trash"),
        str(tmp_path / "mail"),
    ]
