"""A model as text, and its copy: all that it knows is in both."""

import json
import os
from pathlib import Path
from pwd import getpwuid

import pytest
from helpers.paths import ROOT
from helpers.recipes import recipes

from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn


def test_the_text_of_a_model_and_its_journal(spamnb, own):
    """In any locale."""
    learn(own, "Subject: grüße\n\nпривет\n".encode(), "ham")
    plain = {**spamnb.environment, "PYTHONIOENCODING": "ascii"}
    head, *lines = spamnb.afresh("export", "--model", own, env=plain).succeeds().out.decode().splitlines()
    stored, about = StoredModel.open(own), json.loads(head)
    assert (about["labels"], about["messages"]) == (["ham", "spam"], [15, 14])
    assert about["cutoffs"] == stored.head["cutoffs"]
    rows = [line.split("\t") for line in lines]
    kinds = [row[0] for row in rows]
    assert {kind: kinds.count(kind) for kind in "tpm"} == {
        "t": stored.vocabulary,
        "p": stored.pair_vocabulary,
        "m": 29,
    }
    assert [row[3:] for row in rows if row[-1] == "привет"] == [["1", "0", "1", "0", "привет"]]


@pytest.mark.slow
def test_backup_and_restore_by_the_page(spamnb, own, tmp_path):
    """As docs/operation.md has the commands: model and journal are as they were, and so is what it knows."""
    page, copies = ROOT / "docs" / "operation.md", tmp_path / "backup"
    copies.mkdir()

    def content():
        return Path(own).read_bytes(), Path(own + ".journal").read_bytes()

    def run(heading):
        text = recipes(page, heading, "sh")[0].replace("/backup/", f"{copies}/")
        text = text.replace("/var/lib/spamnb", str(tmp_path)).replace(
            "chown spamnb:", f"chown {getpwuid(os.getuid()).pw_name}:"
        )
        path = f"{os.path.dirname(spamnb.program)}:{os.environ['PATH']}"
        return spamnb.run(["sh", "-e", "-c", text], env={**os.environ, "PATH": path})

    learn(own, b"Subject: tea\n\nat five\n", "ham")
    before = content()
    run("Backup").succeeds()
    learn(own, b"Subject: coffee\n\nat six\n", "spam")
    Path(own).write_bytes(b"")
    run("Restore").succeeds()
    assert content() == before
    assert StoredModel.open(own).messages == [15, 14]
