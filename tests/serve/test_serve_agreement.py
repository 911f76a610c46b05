"""A thousand real messages: what the server says of them is what `spamnb classify` says."""

import json
import os
import shutil
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from helpers.letters import letters
from helpers.paths import SPAMASSASSIN
from helpers.programs import needs
from helpers.serving import LOOPBACK, request
from helpers.waiting import PATIENCE

import spamnb as library
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.store.stored_model import StoredModel

TRAINED, ASKED = 150, 500  # of each label


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A model of some mail, and a folder of other mail."""
    root = tmp_path_factory.mktemp("corpus")
    for label in ("ham", "spam"):
        found = messages([os.path.join(SPAMASSASSIN, f"{label}.mbox.xz")])
        raws = [each.data for each in islice(found, TRAINED + ASKED) if isinstance(each, RawMessage)]
        for name, part in ((label, raws[:TRAINED]), ("asked", raws[TRAINED:])):
            (root / name).mkdir(exist_ok=True)
            for number, raw in enumerate(part):
                (root / name / f"{label}-{number:03}").write_bytes(raw)
    library.train(root / "model", {label: [root / label] for label in ("ham", "spam")}, jobs=1)
    return root


@pytest.fixture(scope="module")
def server(serving, corpus):
    return serving(model=str(corpus / "model"), http=(LOOPBACK,), workers=2, allow_tell=True)


@pytest.fixture(scope="module")
def said(spamnb, corpus):
    """What `spamnb classify` says of each message, by path."""
    asked = ("classify", "--json", "--jobs", "1", "--model", corpus / "model", corpus / "asked")
    said = {line["path"]: line for line in map(json.loads, spamnb(*asked).succeeds().lines)}
    assert len(said) == 2 * ASKED
    return said


def test_verdicts_scores_and_headers(server, said):
    for path, line in said.items():
        raw = Path(path).read_bytes()
        head, _, body = server.ask(request("PROCESS", raw)).partition(b"\r\n\r\n")
        ours = "X-Spamnb: {verdict}; score={score:.4f}; probability={probability:.4f}\n".format(**line)
        assert body == ours.encode() + raw
        flag, points = head.rpartition(b"Spam: ")[2].split(b" / ")[0].split(b" ; ")
        assert flag == (b"True" if line["verdict"] == "spam" else b"False")
        assert (float(points) >= 5.0) == (line["verdict"] == "spam")
        if path.endswith("0"):
            assert server.ask(request("CHECK", raw)) == (
                b"SPAMD/1.1 0 EX_OK\r\nSpam: %s ; %s / 5.0\r\n\r\n" % (flag, points)
            )
    assert {line["verdict"] for line in said.values()} == {"ham", "spam", "unsure"}


@needs("rspamc")
def test_rspamc_says_the_same(server, said, corpus):
    """All of them in one call, eight at a time."""
    command = ["rspamc", "-h", server.http, "--compact", corpus / "asked"]
    out = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True).stdout
    answers = {answer["filename"]: answer for answer in map(json.loads, out.splitlines())}
    assert answers.keys() == said.keys()
    for path, line in said.items():
        answer, is_spam = answers[path], line["verdict"] == "spam"
        written = "{verdict}; score={score:.4f}; probability={probability:.4f}".format(**line)
        assert answer["milter"]["add_headers"]["X-Spamnb"]["value"] == written
        assert list(answer["symbols"]) == [f"SPAMNB_{line['verdict'].upper()}"]
        assert answer["action"] == ("add header" if is_spam else "no action")
        assert (answer["score"] >= answer["required_score"]) == is_spam


def test_odd_messages(server, spamnb, corpus):
    for raw in letters():
        passed = spamnb("classify", "-p", "--model", corpus / "model", stdin=raw).succeeds().out
        assert server.ask(request("PROCESS", raw)).partition(b"\r\n\r\n")[2] == passed


def test_lessons_are_those_of_train(serving, spamnb, corpus, tmp_path):
    """The journals that both ways leave are the same; of short messages, or they would be folded."""
    both = [str(tmp_path / "told"), str(tmp_path / "trained")]
    for path in both:
        shutil.copy(corpus / "model", path)
    server = serving(model=both[0], allow_tell=True)
    raws = sorted((path.read_bytes() for path in (corpus / "asked").iterdir()), key=len)[:16]
    for number, raw in enumerate(raws):
        label = ("spam", "ham")[number % 2]
        for headers, arguments in (
            ({"Set": "local", "Message_class": label}, [f"--{label}"]),
            ({"Set": "local", "Message_class": "ham"}, ["--ham"]),
            ({"Remove": "local"}, ["--forget", "--ham"]),
        )[: number % 4 + 1]:
            done = spamnb("train", *arguments, "-", "--model", both[1], stdin=raw).succeeds()
            changed = "known" not in done.lines[0] and "never" not in done.lines[0]
            what = b"DidRemove: local\r\n" if "Remove" in headers else b"DidSet: local\r\n"
            answer = b"SPAMD/1.1 0 EX_OK\r\n" + (what if changed else b"") + b"\r\n\r\n"
            assert server.ask(request("TELL", raw, **headers)) == answer
    told, trained = (known(path) for path in both)
    assert told == trained
    assert len(told["entries"]) > 25


def known(path):
    """All that a model knows; but for how it judged each before: neighbours add up in any order."""
    stored = StoredModel.open(path)
    entries = [
        (each.digest, each.before, each.after, [*each.fingerprints], [*each.pairs], bytes(each.text))
        for each in stored.journal.records
    ]
    totals = (stored.messages, stored.presences, stored.occurrences, stored.vocabulary, stored.numbers)
    return {"entries": entries, "totals": totals}
