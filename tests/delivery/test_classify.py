"""`spamnb classify`: the line, the JSON, the exit code, and the options that choose how to judge."""

import json
import lzma
import math
import os
import random
from pathlib import Path

import pytest

from spamnb.store.stored_model import StoredModel

KEYS = ["path", "index", "verdict", "is_spam", "score", "probability", "probabilities", "reason"]
ENVELOPE = b"From a@example.org Mon Nov 15 01:02:03 2026\n"


def test_verdict_score_and_path_on_a_line(spamnb, mail):
    for message in ("ham", "spam", "unsure"):
        (line,) = spamnb("classify", stdin=mail.messages[message]).succeeds().lines
        verdict, score, path = line.split("\t")
        assert (verdict, path) == (message, "-")
        assert score == f"{float(score):.4f}"


def test_a_score_without_an_end_is_written_as_inf(spamnb, mail):
    view = ("--settings", "event=multinomial,smoothing=0")
    for name, score in (("ham", "-inf"), ("spam", "inf")):
        raw = mail.messages[name]
        assert spamnb("classify", *view, stdin=raw).succeeds().lines == [f"{name}\t{score}\t-"]
        passed = spamnb("classify", "-p", *view, stdin=raw).succeeds().out
        assert passed.startswith(f"X-Spamnb: {name}; score={score}; probability=".encode())
        assert f"score {score}," in spamnb("inspect", "-", *view, stdin=raw).succeeds().out.decode()


def test_files_folders_and_mailboxes(spamnb, mail, tmp_path):
    box = tmp_path / "box.mbox"
    box.write_bytes(b"".join(ENVELOPE + mail.messages[name] + b"\n" for name in ("spam", "ham")))
    packed = tmp_path / "packed.xz"
    packed.write_bytes(lzma.compress(mail.messages["spam"]))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one").write_bytes(mail.messages["ham"])
    done = spamnb("classify", box, packed, folder, "-", stdin=mail.messages["spam"]).succeeds()
    found = [(line.split("\t")[0], line.split("\t")[2]) for line in done.lines]
    assert found == [
        ("spam", f"{box}:0"),
        ("ham", f"{box}:1"),
        ("spam", str(packed)),
        ("ham", str(folder / "one")),
        ("spam", "-"),
    ]
    as_json = spamnb("classify", "--json", "--jobs", "1", box, packed).succeeds()
    objects = [json.loads(line) for line in as_json.lines]
    assert [list(one) for one in objects] == [KEYS] * 3
    places = [(one["path"], one["index"]) for one in objects]
    assert places == [(str(box), 0), (str(box), 1), (str(packed), None)]
    for one in objects:
        assert one["probability"] == one["probabilities"]["spam"]
        assert math.isclose(sum(one["probabilities"].values()), 1)


NAMES = [
    b"new\nline",
    b"red\x1b[31m",
    b"tab\there",
    b"not\xffutf\xe9",
    b"caf\xc3\xa9",
    b"rtl\xe2\x80\xae",
    b"cr\rx",
]


@pytest.fixture
def oddly_named(mail, tmp_path):
    paths = [os.path.join(os.fsencode(tmp_path), name) for name in NAMES]
    for path in paths:
        with open(path, "wb") as file:
            file.write(mail.messages["spam"])
    return paths


def test_odd_file_names_break_neither_line_nor_terminal(spamnb, oddly_named):
    """Of many and of one; in JSON they are whole."""
    one_by_one = b"".join(spamnb("classify", "-e", path).succeeds().out for path in oddly_named[:4])
    for out, number in ((one_by_one, 4), (spamnb("classify", *oddly_named).succeeds().out, len(NAMES))):
        text = out.decode()  # UTF-8 whatever the names are
        lines = text.split("\n")[:-1]
        assert len(lines) == number
        assert all(line.count("\t") == 2 and line.startswith("spam\t") for line in lines)
        assert all(char.isprintable() or char in "\n\t" for char in text)
    assert "café" in text
    done = spamnb("classify", "--json", *oddly_named).succeeds()
    assert [os.fsencode(json.loads(line)["path"]) for line in done.out.splitlines()] == oddly_named
    spamnb("classify", oddly_named[1] + b"\nmissing").fails(66, "no such file")


def test_no_evidence_is_no_verdict(spamnb, mail, tmp_path):
    """An empty message is not spam because nothing speaks against it."""
    model, ham, spam = str(tmp_path / "model"), tmp_path / "ham", tmp_path / "spam"
    for folder, source in ((ham, mail.ham), (spam, mail.spam)):
        folder.mkdir()
        for n in range(1, 14):  # without the overlap there is one cutoff, and it need not be at zero
            os.link(f"{source}/{n:02}", folder / str(n))
    spamnb("train", "--jobs", "1", "--model", model, ham, spam).succeeds()
    (tmp_path / "file").write_bytes(mail.messages["unknown"])  # many at once, too
    assert spamnb("classify", "--model", model, tmp_path / "file").lines[0].startswith("unsure\t0.0000")
    for raw in (b"", mail.messages["unknown"]):
        assert spamnb("classify", "--model", model, stdin=raw).succeeds().lines == ["unsure\t0.0000\t-"]


# Options, and what becomes of the spam message: verdict, and whether its score is another.
VIEWS = {
    "--settings event=multinomial": "spam",
    "--settings event=bernoulli": "spam",
    "--settings event=gaussian": "spam",
    "--settings event=multinomial,tfidf=yes": "spam",
    "--settings event=multinomial,prior=ham:1/spam:1e-40": "ham",
    "--cutoff 1,100": "unsure",
}


@pytest.mark.parametrize("options", VIEWS)
def test_views(spamnb, mail, options):
    one = spamnb("classify", "--json", *options.split(), stdin=mail.messages["spam"]).succeeds().json
    assert list(one) == KEYS
    assert one["verdict"] == VIEWS[options]
    assert 0 <= one["probability"] <= 1


def test_what_cannot_be_read_is_told_and_the_rest_judged(spamnb, mail, tmp_path):
    cut = tmp_path / "cut.xz"
    cut.write_bytes(lzma.compress(random.Random(1).randbytes(9000))[:3000])
    done = spamnb("classify", cut, f"{mail.spam}/01")
    assert done.code == 65
    assert done.lines[-1].startswith("spam\t")
    assert done.err.decode().startswith(f"spamnb: {cut}: ")
    assert done.err.count(b"\n") == 1


def damaged(model):
    """Ways in which a file is no model, each with a word of the complaint."""
    with open(model, "rb") as file:
        whole = file.read()
    at = whole.index(b"labels")
    return {
        "empty": (b"", "empty"),
        "cut short": (whole[:-10], "cut short"),
        "longer": (whole + b"x", "--fresh"),
        "head changed": (whole[:at] + b"lebels" + whole[at + 6 :], "damaged"),
        "a message": (b"Subject: x\n\nbody\n", "not a spamnb model"),
    }


def test_a_damaged_model_is_no_verdict(spamnb, mail, own):
    for content, word in damaged(own).values():
        with open(own, "wb") as file:
            file.write(content)
        spamnb("classify", "-e", "--model", own, stdin=mail.messages["spam"]).fails(65, own, word)
        with open(own, "rb") as file:
            assert file.read() == content  # left alone


@pytest.mark.parametrize("more", [[], ["--jobs", "1"]], ids=["delivery", "command line"])
def test_the_fallback_judges_where_the_model_cannot(spamnb, mail, tmp_path, more):
    broken, cut = tmp_path / "broken", tmp_path / "cut"
    broken.write_bytes(b"no model")
    whole = Path(spamnb.model).read_bytes()
    entries = StoredModel.open(spamnb.model).columns["entries"]
    cut.write_bytes(whole[: entries.at] + bytes(entries.size) + whole[entries.at + entries.size :])
    models = [tmp_path / "missing", broken, *([] if more else [cut])]  # the last opens, and fails to judge
    for model in models:
        asked = ["classify", "-p", *more, "--model", model]
        assert spamnb(*asked, stdin=mail.messages["spam"]).code in (65, 75)
        done = spamnb(*asked, "--fallback", spamnb.model, stdin=mail.messages["spam"])
        assert (done.code, done.out[:16]) == (0, b"X-Spamnb: spam; ")
        said = f"(judging with {spamnb.model})" in done.err.decode() and f"{model}: " in done.err.decode()
        assert said == (model.name != "missing")
    spamnb("classify", *more, "--fallback", tmp_path / "none", "--model", tmp_path / "missing").fails(
        75, "none: no model"
    )
