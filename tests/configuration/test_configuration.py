"""`spamnb.toml`: what is in force and where it comes from; no mail is lost by a mistake in it."""

import os
import sys
import time

import pytest

from spamnb import configuration
from spamnb.bayes.verdict import Verdict
from spamnb.configuration import load
from spamnb.reading.envelope import read_envelope

SYSTEM = "import sys, spamnb.configuration as c; c.SYSTEM_FOLDER = sys.argv.pop(1); "
START = "from spamnb.__main__ import main; sys.exit(main())"


class Home:
    """A user's home, with the system's files beside it; written files look as old as files mostly are."""

    def __init__(self, spamnb, folder):
        self.spamnb = spamnb
        self.home, self.system = folder / "home", folder / "etc"
        self.own = self.home / ".config" / "spamnb"
        self.ticks = 0
        for made in (self.own, self.system):
            made.mkdir(parents=True)

    def write(self, name, text, system=False):
        path = (self.system if system else self.own) / name
        path.write_text(text)
        self.ticks += 1
        os.utime(path, (1e9 + self.ticks, 1e9 + self.ticks))
        return path

    def environment(self, **more):
        kept = {name: value for name, value in self.spamnb.environment.items() if name != "SPAMNB_MODEL"}
        return kept | {"HOME": str(self.home)} | more

    def __call__(self, *arguments, stdin=b"", **more):
        return self.spamnb(*arguments, stdin=stdin, env=self.environment(**more))

    def classify(self, *arguments, stdin):
        return self("classify", "--model", self.spamnb.model, *arguments, stdin=stdin)

    def beside_a_system(self, *arguments, **more):
        command = [sys.executable, "-c", SYSTEM + START, self.system, *arguments]
        return self.spamnb.run(command, env=self.environment(**more))


@pytest.fixture
def home(spamnb, tmp_path):
    return Home(spamnb, tmp_path)


@pytest.fixture
def here(home, monkeypatch):
    """The configuration of this very process is that home's."""
    monkeypatch.setattr(configuration, "SYSTEM_FOLDER", str(home.system))
    monkeypatch.setenv("HOME", str(home.home))
    return home


def sent_by(sender, raw=b"Subject: x\n\nhello\n", more=b""):
    return b"From: Somebody <%s>\n%s%s" % (sender.encode(), more, raw)


@pytest.mark.slow
def test_who_has_the_last_word(home):
    def model(**more):
        output = home.beside_a_system("config", "--json", **more).succeeds().json
        return output["values"]["model"], output["from"]["model"]

    def asked(*arguments, **more):
        done = home.beside_a_system("classify", *arguments, **more)
        return done.err.decode().split(": ")[1]

    data = str(home.home / ".local" / "share" / "spamnb" / "model.msgpack")
    assert model() == (data, "default")
    system = home.write("spamnb.toml", 'model = "/system"\nheader = "X-Spam-System"\n', system=True)
    assert model() == ("/system", str(system))
    user = home.write("spamnb.toml", 'model = "~/mine"\n')
    mine = str(home.home / "mine")
    assert model() == (mine, str(user))
    assert asked() == mine
    assert model(SPAMNB_MODEL="/environment") == ("/environment", "$SPAMNB_MODEL")
    assert asked(SPAMNB_MODEL="/environment") == "/environment"
    assert asked("--model", "/line", SPAMNB_MODEL="/environment") == "/line"
    assert home.beside_a_system("config", "--json").json["values"]["header"] == "X-Spam-System"  # key by key


WRONG = {
    'subject_tga = "[spam]"': ("unknown key 'subject_tga'; did you mean 'subject_tag'?",),
    "model = 3": ('model must be quoted, e.g. "3"',),
    'syslog = "yes"': ("syslog must be true or false, not 'yes'",),
    "history_days = 0": ("history_days takes a number of days, 1 or more",),
    'ham_loss = "60%"': ("ham_loss takes a percentage",),
    'header_style = "other"': ("header_style must be one of spamnb, bogofilter, spamassassin",),
    'header = "X-Spam: a"': ("header must begin with X-",),
    'subject_tag = "[spam]\\nX: y"': ("subject_tag must be a tag such as",),
    "model = ": ("line 3",),
    'allow = "nothing-there"': ("nothing-there", "No such file", "spamnb.toml"),
}


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_told_with_file_and_key_and_no_mail_is_lost(home, mail, text):
    path = home.write("spamnb.toml", "syslog = true\n# a comment\n" * ("syslog" not in text) + text + "\n")
    line = str(path) if text == "model = " else f"{path}:{1 if 'syslog' in text else 3}: "
    home.classify("-p", stdin=mail.messages["spam"]).fails(75, *WRONG[text], line)
    home("config").fails(66 if "nothing" in text else 65, *WRONG[text], line)
    home("train", "--spam", "-", stdin=mail.messages["spam"]).fails(75, line)
    home("config", "--help").succeeds()


@pytest.mark.parametrize("days", ["history_days = 30", 'history_days = "30d"'])
def test_the_history_is_kept_as_long_as_configured(home, mail, days):
    home.write("spamnb.toml", f'history = true\nhistory_size = "1MB"\n{days}\n')
    folder = home.home / ".local" / "state" / "spamnb" / "history"
    for age, stays in ((20, True), (40, False)):
        home.classify("-p", stdin=mail.messages["spam"]).succeeds()
        for day in range(3):  # with mail: they tell what time it is
            (folder / f"2026-01-0{day + 2}-000000.verdicts").touch()
            os.utime(folder / f"2026-01-0{day + 2}-000000.verdicts", (time.time() - day * 86400,) * 2)
        kept = max(folder.glob("*.verdicts")).rename(folder / "2026-01-01-000000.verdicts")
        then = time.time() - age * 86400
        os.utime(kept, (then, then))
        home.classify("-p", stdin=mail.messages["spam"]).succeeds()  # begins another file
        assert kept.exists() == stays


def test_a_wrong_line_of_a_list_is_told(home, mail):
    for line in ("two words", "a@", "@", "a@b@", "*", "a..b", "a@*.example", "x" + ".x" * 20, "a,b"):
        path = home.write("block.txt", f"fine.example\n\n{line}\n")
        home.classify("-p", stdin=mail.messages["spam"]).fails(75, f"{path}:3: not an address or domain")


def test_what_is_in_force_is_shown(home):
    home.write("spamnb.toml", 'header = "X-Spam-Is"\nham_loss = "0.05%"\n')
    listed = home.write("allow.txt", "ann@example.org\n")
    lines = dict(line.split("\t", 1) for line in home("config").succeeds().lines)
    assert lines["header"] == f"X-Spam-Is\t{home.own}/spamnb.toml"
    assert lines["allow"] == f"{listed}\t{listed}"
    assert list(lines) == list(configuration.DEFAULTS)


def test_ham_loss_is_that_of_training(home, mail):
    home.write("spamnb.toml", 'ham_loss = "5%"\n')
    home("train", "--jobs", "1", mail.ham, mail.spam).succeeds()
    assert b"set for 5 %" in home("inspect").succeeds().out
    home("train", "--jobs", "1", "--ham-loss", "1%", mail.ham, mail.spam).succeeds()
    assert b"set for 1 %" in home("inspect").succeeds().out


def test_a_change_of_any_file_counts_at_once(home):
    raw = sent_by("win@casino.example")

    def reason():
        return home.classify("--json", stdin=raw).succeeds().json["reason"]

    home.write("spamnb.toml", "")
    assert reason() is None
    first = home.write("block.txt", "casino.example\n")
    assert reason() == "blocked=casino.example"
    home.write("block.txt", "kasino.example\n")  # of the same length
    assert reason() is None
    first.unlink()
    other = home.write("other", "win@casino.example\n")
    home.write("spamnb.toml", 'block = "other"\n')
    assert reason() == "blocked=win@casino.example"
    home.write(other.name, "")
    assert reason() is None


# Senders

LISTED = [
    # allow, block, From, what is said of the sender
    ("", "casino.example", "win@casino.example", "blocked=casino.example"),
    ("", "casino.example", "WIN@mail.Casino.Example", "blocked=casino.example"),
    ("", "casino.example", "win@notcasino.example", None),
    ("", "*.casino.example # a comment", "win@a.b.casino.example", "blocked=casino.example"),
    ("", "Win@casino.example", "win@casino.example", "blocked=win@casino.example"),
    ("ann@casino.example", "casino.example", "ann@casino.example", "allowed=ann@casino.example"),
    ("ann@casino.example", "casino.example", "bob@casino.example", "blocked=casino.example"),
    ("casino.example", "casino.example", "bob@casino.example", "allowed=casino.example"),
    ("", "casino.example", "win@casino.example.", "blocked=casino.example"),
    ("", "bücher.example", "win@xn--bcher-kva.example", "blocked=xn--bcher-kva.example"),
    ("ann@bücher.example", "", "ann@xn--bcher-kva.example", "allowed=ann@xn--bcher-kva.example"),
    ("", "casino.example", "", None),
    ("", "casino.example", "x@" + "a." * 5000 + "casino.example", "blocked=casino.example"),
    # Nobody is allowed whose From is not one mailbox, and nobody gets off the other list by such a From.
    ("casino.example", "", "x@evil.example (<ann@casino.example>)", None),
    ("casino.example", "", "x@evil.example, ann@casino.example", None),
    ("casino.example", "", "ann@casino.example\nFrom: x@evil.example", None),
    ("", "casino.example", "Casino, Inc. <win@casino.example>", "blocked=casino.example"),
]


@pytest.mark.parametrize(("allow", "block", "sender", "reason"), LISTED)
def test_who_is_listed(here, allow, block, sender, reason):
    here.write("allow.txt", allow + "\n")
    here.write("block.txt", f"# nobody\n\n{block}\n")
    for label in ("ham", "unsure", "spam"):
        before = Verdict(label, 1.0, 0.5, {"ham": 0.5, "spam": 0.5}, ())
        verdict = load().decide(before, read_envelope(sent_by(sender)))
        expected = {"b": "spam", "a": "ham"}.get((reason or " ")[0], label)
        assert (verdict.label, verdict.reason or None) == (expected, reason)


def test_the_verdict_says_so_everywhere(home, mail):
    home.write("block.txt", "example.org\n")
    home.write("allow.txt", "casino.example\n")
    raw = mail.messages["ham"]
    first = home.classify("-p", stdin=raw).succeeds().out.partition(b"\n")[0]
    assert first.startswith(b"X-Spamnb: spam; score=-")
    assert first.endswith(b"; blocked=example.org")
    assert home.classify("-e", stdin=raw).code == 0
    style = home.classify("-p", "--header-style", "bogofilter", stdin=raw).out
    assert style.startswith(b"X-Bogosity: Spam, ")
    style = home.classify("-p", "--header-style", "spamassassin", stdin=raw).out
    assert style.startswith(b"X-Spam-Flag: YES\nX-Spam-Level: *****\nX-Spam-Status: Yes, score=5.0 ")
    output = home("inspect", "--model", home.spamnb.model, "-", stdin=raw).succeeds().out
    assert b"decided by its sender, not by the score: blocked=example.org" in output
    as_json = home("inspect", "--json", "--model", home.spamnb.model, "-", stdin=raw).succeeds().json
    assert (as_json["verdict"], as_json["reason"]) == ("spam", "blocked=example.org")
    for jobs in ([], ["--jobs", "1"]):  # a little mail, and much of it
        many = [mail.spam] * (3 if jobs else 1)
        lines = home.classify(*jobs, mail.ham, *many, stdin=b"").succeeds().lines
        said = {(line.split("\t")[0], "/ham/" in line) for line in lines if not line.endswith("/00")}
        assert said == {("spam", True), ("ham", False)}


def test_a_list_needs_no_model(home):
    home.write("allow.txt", "ann@example.org\n")
    allowed = home("classify", stdin=sent_by("ann@example.org")).succeeds()
    assert allowed.out == b"ham\t0.0000\t-\n"
    home("classify", stdin=sent_by("bob@example.org")).fails(75, "no model yet")


def test_nobody_is_allowed_in_whose_name_another_writes(home, mail):
    home.write("allow.txt", "casino.example\n")
    result = b"Authentication-Results: mx.example.org; spf=pass; dmarc=%s header.from=casino.example\n"
    for found, verdict in ((b"pass", "ham"), (b"fail", "spam")):
        raw = result % found + result % b"pass" + mail.messages["spam"]
        assert home.classify("--json", stdin=raw).succeeds().json["verdict"] == verdict


# The subject's tag


def test_the_tag_stands_before_the_subject_of_spam_alone(home, mail):
    home.write("spamnb.toml", 'subject_tag = "[spam] "\n')
    for name, raw in mail.messages.items():
        out = home.classify("-p", stdin=raw).succeeds().out.partition(b"\n")[2]
        assert out == (raw.replace(b"Subject: ", b"Subject: [spam] ") if name == "spam" else raw)
