"""What can be changed of a model without learning anew: how much ham may be lost, and the view."""

import os
import shutil

from spamnb.evaluation.candidates import parse_candidate
from spamnb.store.stored_model import StoredModel
from spamnb.training.train import train
from spamnb.workers.local import LocalPool

MORE = b"Subject: one more\n\nviagra\n"


def test_ham_loss_is_changed_without_mail(spamnb, own, mail, tmp_path):
    """The cutoffs are those that training on the same mail would set."""
    spamnb("train", "--spam", "-", "--model", own, stdin=MORE).succeeds()
    same = tmp_path / "same"
    shutil.copy(own, same)
    shutil.copy(own + ".journal", f"{same}.journal")
    told = spamnb("train", "--ham-loss", "5%", "--model", own).succeeds()
    assert told.lines[0] == f"model: {own}"
    spamnb("train", "--ham-loss", "5%", "--jobs", "1", "--model", same, "--ham", mail.ham).succeeds()
    heads = [StoredModel.open(str(path)).head for path in (own, same)]
    assert heads[0]["ham_loss"] == heads[1]["ham_loss"] == 0.05
    assert heads[0]["cutoffs"] == heads[1]["cutoffs"]
    as_json = spamnb("train", "--ham-loss", "0.2%", "--json", "--model", own).succeeds().json
    assert as_json["ham_loss"] == 0.002
    assert spamnb("train", "--ham-loss", "0.1%", "-q", "--model", own).succeeds().out == b""
    assert sum(StoredModel.open(own).messages) == 29


def test_ham_loss_alone_needs_a_model(spamnb, tmp_path):
    spamnb("train", "--ham-loss", "5%", "--model", tmp_path / "none").fails(75, "no model yet")
    spamnb("train", "--ham-loss", "60%", "--model", tmp_path / "none").fails(64, "--ham-loss")
    spamnb("train", "--ham-loss", "5%", "--fresh", "--model", tmp_path / "none").fails(64, "no mail given")
    assert os.listdir(tmp_path) == []


VIEW = "smoothing=0.5,least-evidence=1"


def assert_alike(spamnb, one, other, messages):
    """Judged as by a model that was trained with that view."""
    heads = [StoredModel.open(path).head for path in (one, other)]
    for key in ("view", "cutoffs", "calibration", "messages"):
        assert heads[0][key] == heads[1][key]
    for raw in messages:
        said = [spamnb("classify", "--model", path, stdin=raw).succeeds().out for path in (one, other)]
        assert said[0] == said[1]


def test_the_view_is_changed_by_mail_that_is_known(spamnb, own, mail, tmp_path):
    train = ("train", "--jobs", "1", "--ham-loss", "0.1%", "--view", VIEW)
    fresh = str(tmp_path / "fresh")
    spamnb(*train, "--model", fresh, mail.ham, mail.spam).succeeds()
    spamnb(*train, "--model", own, mail.ham, mail.spam).succeeds()
    assert_alike(spamnb, own, fresh, mail.messages.values())


def test_a_message_learned_since_stays(spamnb, own, mail):
    spamnb("train", "--spam", "-", "--model", own, stdin=MORE).succeeds()
    spamnb("train", "--jobs", "1", "--view", VIEW, "--model", own, mail.ham, mail.spam).succeeds()
    assert StoredModel.open(own).messages == [14, 15]
    assert spamnb("train", "--spam", "-", "--model", own, stdin=MORE).lines == ["spam: 1 already known"]


def test_too_little_mail_for_another_view_changes_nothing(spamnb, own, mail):
    before = StoredModel.open(own).generation
    for words in ([], ["--ham-loss", "1%"], ["--spam", "-"], ["--ham", mail.ham]):
        done = spamnb("train", "--view", VIEW, "--model", own, *words, stdin=MORE)
        done.fails(65, "needs cutoffs of its own", "add to this command: --ham PATH --spam PATH")
    assert StoredModel.open(own).generation == before


def test_mail_as_much_as_a_sample_has_sets_the_cutoffs_of_another_view(own, mail, monkeypatch):
    monkeypatch.setattr("spamnb.training.train.SAMPLE_SIZE", 3)
    folders = {"ham": mail.ham, "spam": mail.spam}
    some = {
        label: [os.path.join(folder, name) for name in sorted(os.listdir(folder))[:3]]
        for label, folder in folders.items()
    }
    train(own, some, view=parse_candidate(VIEW).view, pool=LocalPool(1))
    assert StoredModel.open(own).head["view"]["smoothing"] == 0.5


def test_a_view_without_cutoffs_is_set_without_mail(spamnb, own, mail, tmp_path):
    """And back to the default, mail is needed again."""
    fresh, view = str(tmp_path / "fresh"), ("--view", "event=bernoulli")
    spamnb("train", "--jobs", "1", *view, "--model", fresh, mail.ham, mail.spam).succeeds()
    told = spamnb("train", *view, "--model", own).succeeds().lines
    assert told[-1].startswith("view: the likeliest label decides; for cutoffs again")
    assert_alike(spamnb, own, fresh, [MORE])
    spamnb("train", "--view", "default", "--model", own).fails(65, "needs cutoffs of its own")
    spamnb("train", "--view", "ngrams=2", "--model", own).fails(
        64, "'ngrams=2'; use NAME=VALUE with one of event,"
    )
