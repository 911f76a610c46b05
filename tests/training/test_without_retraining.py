"""What can be changed of a model without learning again: how much ham may be lost."""

import os
import shutil

from spamnb.store.stored_model import StoredModel

MORE = b"Subject: one more\n\nviagra\n"


def test_ham_loss_is_changed_without_mail(spamnb, own, mail, tmp_path):
    """The cutoffs are those that training on the same mail would set."""
    spamnb("train", "--spam", "-", "--model", own, stdin=MORE).succeeds()
    same = tmp_path / "same"
    shutil.copy(own, same)
    shutil.copy(own + ".journal", f"{same}.journal")
    said = spamnb("train", "--ham-loss", "5%", "--model", own).succeeds()
    assert said.lines[0] == f"model: {own}"
    spamnb("train", "--ham-loss", "5%", "--jobs", "1", "--model", same, "--ham", mail.ham).succeeds()
    heads = [StoredModel.open(str(path)).head for path in (own, same)]
    assert heads[0]["ham_loss"] == heads[1]["ham_loss"] == 0.05
    assert heads[0]["cutoffs"] == heads[1]["cutoffs"]
    assert sum(StoredModel.open(own).messages) == 29


def test_ham_loss_alone_needs_a_model(spamnb, tmp_path):
    spamnb("train", "--ham-loss", "5%", "--model", tmp_path / "none").fails(75, "no model yet")
    spamnb("train", "--ham-loss", "60%", "--model", tmp_path / "none").fails(64, "--ham-loss")
    spamnb("train", "--ham-loss", "5%", "--fresh", "--model", tmp_path / "none").fails(64, "no mail given")
    assert os.listdir(tmp_path) == []
