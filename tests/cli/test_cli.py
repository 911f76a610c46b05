"""The command line as a whole, and `spamnb train`."""

import gzip
import os
import random
import shlex
from pathlib import Path

import click
import pytest

from spamnb.cli import main
from spamnb.store.stored_model import StoredModel

COMMANDS = ["train", "classify", "evaluate", "inspect", "check", "import"]
# Frozen: scripts and mail recipes depend on them.
OPTIONS = {
    "train": "--ham --spam --label --model --fresh --ham-loss --base --jobs --settings --help",
    "classify": "-p --passthrough -e --exit-code --header-style --json --model --settings --cutoff --help",
    "evaluate": "--ham --spam --label --folds --model --online --tune --settings --top --report --json",
    "inspect": "--top --all --html --token --sample --suspects --settings --model --json --help",
    "import": "--model --fresh --help",
}


def examples(help_text):
    lines = help_text.partition("\nExamples:\n")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]


def loaded(command):
    return main.get_command(click.Context(main), command)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_options_and_examples_that_work(spamnb, command):
    text = spamnb(command, "--help-all").succeeds().out.decode()
    assert spamnb(command, "-h").out == spamnb(command, "--help").succeeds().out
    for option in OPTIONS.get(command, "").split():
        assert option in text
    shown = examples(text)
    assert len(shown) >= 2
    for line in shown:
        words = shlex.split(line)
        while "spamnb" in words[1:]:  # behind a pipe
            words = words[words.index("|") + 1 :]
        assert words[:2] == ["spamnb", command], f"not a command by itself: {line}"
        until = min([words.index(word) for word in ("<", ">", "|") if word in words], default=len(words))
        # Parsed as the command would, without running it.
        loaded(command).make_context(command, words[2:until])


USAGE = {
    "bogus": "bogus",
    "train": "spamnb train ham/ spam/",
    "train {ham} {spam} {work}": "--spam",
    "train {ham} {ham}": "{ham}",
    "train --bogus": "see: spamnb train --help",
    "train --settings ngrams=6 {ham} {spam}": "ngrams",
    "train --label foo=": "NAME=PATH",
    "train --label unsure={ham}": "unsure",
    "train --ham - --spam -": "-",
    "train --settings stem=klingon --fresh {ham} {spam}": "english",
}


@pytest.mark.parametrize("line", USAGE)
def test_usage(spamnb, mail, own, line):
    """In one line, with what would be right."""
    known = {"ham": mail.ham, "spam": mail.spam, "work": mail.work}
    arguments = line.format(**known).split()
    if arguments[:1] == ["train"]:
        arguments += ["--model", own] if arguments[-1] != "--ham" else []
    spamnb(*arguments).fails(64, USAGE[line].format(**known))


def test_nothing_asked_shows_the_help(spamnb):
    done = spamnb()
    assert (done.code, done.out) == (64, b"")
    assert done.err == spamnb("--help").out


def test_ham_loss_sets_the_cutoffs(spamnb, mail, own):
    spamnb("train", "--model", own, "--ham-loss", "20%", mail.ham, mail.spam).succeeds()
    loose = spamnb("inspect", "--json", "--model", own).json
    assert loose["ham_loss"] == 0.2
    # The same mail again.
    spamnb("train", "--model", own, "--ham-loss", "0.1", mail.ham, mail.spam).succeeds()
    strict = spamnb("inspect", "--json", "--model", own).json
    assert strict["ham_loss"] == 0.001
    assert strict["cutoffs"][1] >= loose["cutoffs"][1]
    for wrong in ("x", "-1", "80%"):
        assert spamnb("train", "--model", own, "--ham-loss", wrong, mail.ham, mail.spam).code == 64


def test_train_reports(spamnb, mail, own):
    """Learned, known and moved."""
    first = spamnb("train", "--model", own, "--ham", mail.work).succeeds().lines
    assert first[0] == "ham: 14 learned"
    assert first[-2] == f"model: {own}"
    assert first[-1].startswith("with 28 ham and 14 spam, ")
    again = spamnb("train", "--model", own, "--ham", mail.work).succeeds().lines
    assert again[0] == "ham: 14 already learned"
    moved = spamnb("train", "--model", own, "--spam", mail.work).succeeds().lines
    assert moved[0].startswith("spam: 14 moved")
    both = spamnb("train", "--model", own, mail.work, mail.spam).succeeds().lines
    assert both[:2] == ["ham: 14 moved here from another label", "spam: 14 already learned"]


def test_fresh_replaces_a_damaged_model(spamnb, mail, own):
    os.truncate(own, size := os.path.getsize(own) - 1)
    for command in (["train", mail.ham, mail.spam], ["train", "--spam", "-"], ["classify"], ["inspect"]):
        spamnb(*command, "--model", own, stdin=b"Subject: x\n\nx\n").fails(65, own, "cut short", "--fresh")
    assert os.path.getsize(own) == size
    spamnb("train", "--fresh", "--ham-loss", "1%", "--model", own, mail.ham, mail.spam).succeeds()
    assert Path(own).read_bytes() == Path(spamnb.model).read_bytes()


def test_fresh_does_not_replace_what_is_no_model(spamnb, mail, tmp_path):
    """A slip of the finger must not cost a mailbox."""
    box = tmp_path / "inbox"
    box.write_bytes(b"From a@example.org Mon Nov 15 01:02:03 2026\n" + mail.messages["ham"])
    train = ("train", "--fresh", "--model", box, mail.ham, mail.spam)
    spamnb(*train).fails(73, str(box), "is not a model; remove it first")
    assert box.read_bytes().endswith(mail.messages["ham"])


def test_to_be_forgotten_mail_needs_no_label(spamnb, mail, own):
    """One message or many, named in any way, whatever they were learned as."""
    raw, forget = mail.messages["spam"], ("forget", "--model", own)
    spamnb("train", "--model", own, "--spam", "-", stdin=raw).succeeds()
    for run in (spamnb, spamnb.afresh):
        known = ["messages: 1 forgotten"] if run is spamnb else ["messages: 1 never learned"]
        assert run(*forget, "-", stdin=raw).succeeds().lines == known
    one, many = f"{mail.ham}/03", (f"{mail.spam}/03", f"{mail.spam}/04")
    assert spamnb(*forget, one).succeeds().lines[0] == "messages: 1 forgotten"
    assert spamnb(*forget, one, *many).succeeds().lines[0] == "messages: 2 forgotten, 1 never learned"
    mixed = spamnb(*forget, mail.ham, mail.spam).succeeds().lines
    assert mixed[0] == "messages: 25 forgotten, 3 never learned"
    spamnb(*forget).fails(64, "--from SENDER")
    spamnb("train", "--model", own, "-", stdin=raw).fails(64, "--spam PATH")


@pytest.mark.parametrize(("nothing", "extra"), [(b"", []), (b"\n\r\n", ["--jobs", "1", "--ham-loss", "1%"])])
def test_an_empty_message_is_not_learned(spamnb, own, nothing, extra):
    before = Path(own).read_bytes()
    spamnb("train", *extra, "--model", own, "--ham", "-", stdin=nothing).fails(66, "standard input is empty")
    assert Path(own).read_bytes() == before
    assert not os.path.exists(own + ".journal")


def test_the_first_message_makes_the_model(spamnb, mail, tmp_path):
    model = tmp_path / "deep" / "down" / "model"
    assert spamnb("train", "--spam", "-", "--model", model, stdin=mail.messages["spam"]).succeeds()
    assert spamnb("inspect", "--json", "--model", model).succeeds().json["messages"] == [0, 1]


def test_a_base_is_given_and_taken_away(spamnb, mail, tmp_path):
    for base in (spamnb.model, "none"):
        spamnb("train", "--base", base, "--model", tmp_path / "model", mail.ham, mail.spam).succeeds()
        assert ("base" in StoredModel.open(str(tmp_path / "model")).head) == (base != "none")


def test_what_cannot_be_read_is_counted_and_told(spamnb, mail, tmp_path, own):
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(random.Random(1).randbytes(9000))[:4000])
    done = spamnb("train", "--model", own, "--spam", cut, "--spam", mail.work)
    assert "unreadable: 1" in done.lines
    assert str(cut) in done.err.decode()


def test_nothing_found_is_told(spamnb, tmp_path, mail):
    """Most likely the wrong folder."""
    (tmp_path / "empty").mkdir()
    done = spamnb("train", "--model", tmp_path / "model", tmp_path / "empty", mail.spam)
    assert done.code == 0
    assert done.lines[:2] == ["ham: 0 learned", "spam: 14 learned"]
    assert done.err.decode() == f"spamnb: no ham found in {tmp_path}/empty\n"


# Settings of the tokenizer: how they are asked for, and how they are kept.
SETTINGS: dict[str, dict] = {
    "ngrams=2": {"ngrams": 2},
    "stem=english": {"stem": "english"},
    "stop-words=english": {"stop_language": "english"},
    "headers=no": {"headers": False},
}
PLAIN = {"ngrams": 1, "stem": None, "stop_language": None, "headers": True}


def test_settings_are_kept_and_others_refused(spamnb, mail, tmp_path):
    pytest.importorskip("Stemmer", reason="without the extra `languages`")
    pytest.importorskip("stop_words", reason="without the extra `languages`")
    for number, (settings, kept) in enumerate(SETTINGS.items()):
        model = tmp_path / str(number)
        train = ("train", "--jobs", "1", "--model", model)
        spamnb(*train, "--settings", settings, mail.ham, mail.spam).succeeds()
        known = spamnb("inspect", "--json", "--model", model).succeeds().json
        assert {name: known["settings"][name] for name in PLAIN} == PLAIN | kept
        # The same again, or none at all, is no contradiction; others are, and change nothing.
        spamnb(*train, "--settings", settings, "--spam", mail.work).succeeds()
        spamnb(*train, "--ham", mail.work).succeeds()
        before = model.read_bytes()
        other = ("--settings", "ngrams=3")
        spamnb(*train, *other, mail.ham, mail.spam).fails(65, str(model), "--fresh")
        spamnb(*train, *other, "--spam", "-", stdin=mail.messages["spam"]).fails(65, str(model), "--fresh")
        assert model.read_bytes() == before
        spamnb("classify", "--model", model, stdin=mail.messages["spam"]).succeeds()


def test_settings_are_options_too(spamnb, mail):
    """`--event binary` is `--settings event=binary`; one way at a time."""
    judge = ("classify", "--json")
    for short, text in (
        ("--event multinomial --smoothing 0.5", "event=multinomial,smoothing=0.5"),
        ("--event=binary --tfidf --no-numbers", "event=binary,tfidf=yes,numbers=no"),
        ("--event bernoulli --prior ham=0.7,spam=0.3", "event=bernoulli,prior=ham:0.7/spam:0.3"),
    ):
        one = spamnb(*judge, *short.split(), stdin=mail.messages["spam"]).succeeds()
        other = spamnb(*judge, "--settings", text, stdin=mail.messages["spam"]).succeeds()
        assert one.json == other.json
    spamnb(*judge, "--tfidf", "--settings", "event=binary").fails(64, "all settings")
    spamnb(*judge, "--evnt", "binary").fails(64, "--evnt")
    spamnb(*judge, "--event", "poisson").fails(64, "event cannot be 'poisson'", "bernoulli")


def test_three_labels(spamnb, three, mail):
    """Only spam exits as spam: a recipe that throws away what exits with 0 must not throw away work."""
    classify = ("classify", "--json", "-e", "--model", three)
    for message, code in (("ham", 1), ("spam", 0), ("work", 1)):
        one = spamnb(*classify, stdin=mail.messages[message]).succeeds(code).json
        assert one["verdict"] == message
        assert list(one["probabilities"]) == ["ham", "spam", "work"]
        assert max(one["probabilities"], key=one["probabilities"].get) == message
        assert one["probability"] == one["probabilities"]["spam"]
        assert (one["score"] > 0) == (message == "spam")


def test_labels_without_spam(spamnb, mail, tmp_path):
    model = tmp_path / "model"
    labels = ["--label", f"a={mail.ham}", "--label", f"b={mail.spam}", "--label", f"c={mail.work}"]
    spamnb("train", "--model", model, *labels).succeeds()
    files = [f"{folder}/03" for folder in (mail.ham, mail.spam, mail.work)]
    lines = spamnb("classify", "--model", model, *files).succeeds().lines
    assert [line.split("\t")[0] for line in lines] == ["a", "b", "c"]
    passed = spamnb("classify", "-p", "--model", model, stdin=mail.messages["work"]).out
    assert passed.startswith(b"X-Spamnb: c;")
    shown = spamnb("inspect", "--model", model, files[2]).succeeds().out.decode()
    assert "ham" not in shown.replace(mail.ham, "")
    assert spamnb("evaluate", "--json", "--folds", "2", *labels).succeeds().json["accuracy"] > 0.9
