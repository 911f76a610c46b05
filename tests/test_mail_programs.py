"""Real mail programs deliver through spamnb, and lose nothing when it fails."""

import os
import shutil

import pytest

needs_procmail = pytest.mark.skipif(not shutil.which("procmail"), reason="procmail is not installed")
needs_maildrop = pytest.mark.skipif(not shutil.which("maildrop"), reason="maildrop is not installed")

# Deliveries into Maildirs are byte for byte; an mbox would add its envelope and quote `From `.
PROCMAIL = """
SHELL=/bin/sh
PATH={path}
MAILDIR={folder}
DEFAULT={folder}/inbox/
LOGFILE={folder}/log
SPAMNB_MODEL={model}
"""
FILTER = """
:0fw
| spamnb classify -p

:0
* ^X-Spamnb: spam
junk/

:0
* ^X-Spamnb: unsure
unsure/
"""
# Without HB a condition gets the header only.
ASK = """
:0HB
* ? spamnb classify -e
junk/
"""
LEARN = """
:0cw
| spamnb train --spam -
"""
MAILDROP = """
PATH="{path}"
SPAMNB_MODEL="{model}"
DEFAULT="{folder}/inbox"
logfile "{folder}/log"
"""
XFILTER = """
exception {{
    xfilter "spamnb classify -p"
}}
if (/^X-Spamnb: spam/)
{{
    to "{folder}/junk"
}}
"""
XFILTER_OR_WAIT = 'xfilter "spamnb classify -p"\n'


class Post:
    """A user's mail folders."""

    def __init__(self, spamnb, folder):
        self.spamnb = spamnb
        self.folder = folder
        for name in ("inbox", "junk", "unsure"):
            for part in ("new", "cur", "tmp"):
                (folder / name / part).mkdir(parents=True)

    def deliver(self, program, recipe, raw, model=None, code=0):
        rules = self.folder / "rules"
        path = os.path.dirname(self.spamnb.program) + ":/usr/bin:/bin"
        rules.write_text(recipe.format(path=path, folder=self.folder, model=model or self.spamnb.model))
        rules.chmod(0o600)
        options = ["-m"] if program == "procmail" else []
        done = self.spamnb.run([program, *options, str(rules)], raw)
        assert done.code == code, done
        return self.taken()

    def taken(self):
        """What was delivered since, as folder and bytes."""
        found = [
            (name, (self.folder / name / part / file).read_bytes())
            for name in ("inbox", "junk", "unsure")
            for part in ("new", "cur")
            for file in os.listdir(self.folder / name / part)
        ]
        for name in ("inbox", "junk", "unsure"):
            shutil.rmtree(self.folder / name / "new")
            (self.folder / name / "new").mkdir()
        return found


@pytest.fixture
def post(spamnb, tmp_path):
    return Post(spamnb, tmp_path)


FORGED = b"X-Spamnb: ham; score=-9.0000; probability=0.0000\n"


def messages(mail):
    odd = b"Subject: x\n\nno final newline, \xff\x80, >From and\nFrom here\n\n\nto the end"
    return [mail.messages["ham"], mail.messages["spam"], odd]


@needs_procmail
def test_the_recipe_of_the_readme(post, mail, tmp_path):
    """The very text of the page; `Junk` is a plain mbox there."""
    with open(os.path.join(os.path.dirname(__file__), "..", "README.md")) as page:
        recipe = page.read().partition("```procmail\n")[2].partition("```")[0]
    assert "spamnb classify -p" in recipe
    (ham,) = post.deliver("procmail", PROCMAIL + recipe, mail.messages["ham"])
    assert ham[0] == "inbox"
    assert post.deliver("procmail", PROCMAIL + recipe, mail.messages["spam"]) == []
    assert b"X-Spamnb: spam; score=" in (tmp_path / "Junk").read_bytes()
    (kept,) = post.deliver("procmail", PROCMAIL + recipe, mail.messages["spam"], model=str(tmp_path / "none"))
    assert kept == ("inbox", mail.messages["spam"])


@needs_procmail
def test_procmail_files_by_the_header(post, mail):
    recipe = PROCMAIL + FILTER
    for message, folder in (("ham", "inbox"), ("spam", "junk"), ("unsure", "unsure")):
        ((where, what),) = post.deliver("procmail", recipe, mail.messages[message])
        assert where == folder
        assert what.startswith(b"X-Spamnb: %s; " % message.encode())
        # procmail ends what comes from a filter with an empty line.
        assert what.partition(b"\n")[2] == mail.messages[message] + b"\n"


@needs_procmail
def test_procmail_is_not_deceived_by_a_forged_header(post, mail):
    ((where, what),) = post.deliver("procmail", PROCMAIL + FILTER, FORGED + mail.messages["spam"])
    assert where == "junk"
    assert what.count(b"X-Spamnb") == 1


@needs_procmail
@pytest.mark.parametrize("model", ["missing", "damaged", "empty"])
def test_procmail_delivers_unfiltered_when_the_filter_fails(post, mail, tmp_path, model):
    path = tmp_path / model
    if model != "missing":
        path.write_bytes(b"\x84\xa6format" if model == "damaged" else b"")
    for raw in messages(mail):
        assert post.deliver("procmail", PROCMAIL + FILTER, raw, model=path) == [("inbox", raw)]


@needs_procmail
def test_procmail_delivers_unfiltered_without_the_program(post, mail):
    recipe = (PROCMAIL + FILTER).replace("{path}", "/usr/bin:/bin").replace("| spamnb", "| /nosuch/spamnb")
    raw = mail.messages["spam"]
    assert post.deliver("procmail", recipe, raw) == [("inbox", raw)]


@needs_procmail
def test_procmail_asks_by_exit_code(post, mail, tmp_path):
    """Only spam exits with 0: unsure, ham and every error go to the inbox, as they came."""
    for message, folder in (("ham", "inbox"), ("spam", "junk"), ("unsure", "inbox")):
        raw = mail.messages[message]
        assert post.deliver("procmail", PROCMAIL + ASK, raw) == [(folder, raw)]
    raw = mail.messages["spam"]
    assert post.deliver("procmail", PROCMAIL + ASK, raw, model=tmp_path / "missing") == [("inbox", raw)]
    typo = ASK.replace("-e", "-e --typo")
    assert post.deliver("procmail", PROCMAIL + typo, raw) == [("inbox", raw)]


@needs_procmail
def test_procmail_teaches(post, spamnb, own):
    raw = b"Subject: plugh\n\nxyzzy\n"
    assert post.deliver("procmail", PROCMAIL + LEARN, raw, model=own) == [("inbox", raw)]
    assert spamnb("train", "--spam", "-", "--model", own, stdin=raw).lines == ["spam: 1 already known"]


@needs_maildrop
def test_maildrop_files_by_the_header(post, mail):
    for message, folder in (("ham", "inbox"), ("spam", "junk"), ("unsure", "inbox")):
        ((where, what),) = post.deliver("maildrop", MAILDROP + XFILTER, mail.messages[message])
        assert where == folder
        assert what.startswith(b"X-Spamnb: %s; " % message.encode())
        assert what.partition(b"\n")[2] == mail.messages[message]


@needs_maildrop
@pytest.mark.parametrize("model", ["missing", "damaged"])
def test_maildrop_delivers_unfiltered_when_the_filter_fails(post, mail, tmp_path, model):
    path = tmp_path / model
    if model == "damaged":
        path.write_bytes(b"\x84\xa6format")
    for raw in messages(mail):
        delivered = raw if raw.endswith(b"\n") else raw + b"\n"  # maildrop ends the last line
        assert post.deliver("maildrop", MAILDROP + XFILTER, raw, model=path) == [("inbox", delivered)]


@needs_maildrop
def test_maildrop_without_an_exception_keeps_the_mail_for_later(post, mail, tmp_path):
    """75: the mail server tries again."""
    recipe = MAILDROP + XFILTER_OR_WAIT
    raw = mail.messages["spam"]
    assert post.deliver("maildrop", recipe, raw, model=tmp_path / "missing", code=75) == []
