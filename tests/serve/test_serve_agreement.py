"""Real messages: what the server says of them is what `spamnb classify` says."""

import json
import os
from itertools import islice
from pathlib import Path

import pytest
from helpers.paths import SPAMASSASSIN
from helpers.serving import request

import spamnb as library
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages

TRAINED, ASKED = 150, 150  # of each label


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
    return serving(model=str(corpus / "model"))


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
    assert {line["verdict"] for line in said.values()} == {"ham", "spam", "unsure"}
