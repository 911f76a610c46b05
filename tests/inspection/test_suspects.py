"""Mail that looks misfiled: it is counted and listed."""

import random

import pytest
from helpers.mailboxes import written

from spamnb.inspection.suspects import count_suspects
from spamnb.store.stored_model import StoredModel

WORDS = {
    "ham": "meeting report thanks project review minutes budget agenda draft patch",
    "spam": "winner casino pills cheap offer loan prize credit bonus free",
}
EACH, MISFILED = 60, 3


def made_up(label, number):
    draw = random.Random(f"{label} {number}")
    text = " ".join(draw.choices(WORDS[label].split(), k=6))
    return f"From: {label}{number}@{label}.example\nSubject: {label} {number}\n\n{text} {number}\n".encode()


@pytest.fixture
def misfiled(spamnb, tmp_path):
    """A model, and its two mailboxes: the last three messages of each are the other label's."""
    boxes = []
    for label, other in (("ham", "spam"), ("spam", "ham")):
        own = [made_up(label, number) for number in range(MISFILED, EACH)]
        box = tmp_path / f"{label}.mbox"
        box.write_bytes(written(own + [made_up(other, number) for number in range(MISFILED)]))
        boxes.append(str(box))
    model = str(tmp_path / "model")
    said = spamnb("train", *boxes, "--model", model).succeeds().out.decode()
    assert "3 of your ham look like spam and 3 of your spam look like ham; to list them: " in said
    return model, boxes


def test_of_little_mail_nothing_is_said(spamnb, tmp_path):
    """Two of ten spam that are like ham are no news: so is much mail of the first days."""
    boxes = []
    for label, odd in (("ham", 0), ("spam", 2)):
        mail = [made_up(label, number) for number in range(10 - odd)]
        box = tmp_path / f"{label}.mbox"
        box.write_bytes(written(mail + [made_up("ham", 100 + number) for number in range(odd)]))
        boxes.append(str(box))
    model = str(tmp_path / "model")
    said = spamnb("train", *boxes, "--model", model).succeeds().out.decode()
    assert not count_suspects(StoredModel.open(model))
    assert "look like" not in said


def test_they_are_listed(spamnb, misfiled):
    model, boxes = misfiled
    lines = spamnb("inspect", "--suspects", *boxes, "--model", model).succeeds().out.decode().splitlines()
    found = sorted(line.split("\t")[:2] + line.split("\t")[3:] for line in lines)
    expected = []
    for label, other, box in (("ham", "spam", boxes[0]), ("spam", "ham", boxes[1])):
        for number in range(MISFILED):
            sender, subject = f"{other}{number}@{other}.example", f"{other} {number}"
            expected.append([label, other, f"{box}:{EACH - MISFILED + number}", sender, subject])
    assert found == expected


def test_those_in_other_mail_are_counted(spamnb, misfiled):
    model, (ham, _) = misfiled
    found = spamnb("inspect", "--suspects", ham, "--model", model, "--json").succeeds().json
    assert [one["looks_like"] for one in found["suspects"]] == ["spam"] * MISFILED
    assert found["elsewhere"] == MISFILED
    few = spamnb("inspect", "--suspects", "--top", "1", ham, "--model", model, "--json").succeeds().json
    assert few["suspects"] == found["suspects"][:1]
