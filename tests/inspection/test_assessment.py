"""What train and inspect say of a model is what then happens to mail it has not seen."""

import random
import re

import pytest
from helpers.mailboxes import written
from helpers.paths import SPAMASSASSIN

from spamnb.inspection.assessment import assessment
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training.train import train
from spamnb.workers import LocalPool


@pytest.fixture(scope="module")
def corpus():
    """Ham and spam, shuffled."""
    found = {}
    for label in ("ham", "spam"):
        read = messages([str(SPAMASSASSIN / f"{label}.mbox.xz")])
        mail = [one.data for one in read if isinstance(one, RawMessage)]
        found[label] = random.Random(1).sample(mail, len(mail))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ham", "spam", "says"),
    [
        (100, 100, "with 100 ham and 100 spam, about "),
        (3, 3, "with 3 ham and 3 spam, nearly all is still unsure"),
        (1, 3, "199 more ham would help; 197 more spam would help"),
    ],
)
def test_the_spam_caught_now(corpus, tmp_path, ham, spam, says):
    path, sources = str(tmp_path / "model"), {}
    for label, count in (("ham", ham), ("spam", spam)):
        box = tmp_path / label
        box.write_bytes(written(corpus[label][:count]))
        sources[label] = [str(box)]
    train(path, sources, pool=LocalPool(1))
    said = "; ".join(assessment(StoredModel.open(path)))
    assert said.startswith(says)
    if share := re.findall(r"about (\d+) % of the spam in mail like this is caught", said):
        model, others = Model.open(path), corpus["spam"][-400:]
        caught = sum(model.classify(raw).label == "spam" for raw in others) / len(others)
        assert int(share[0]) / 100 == pytest.approx(caught, abs=0.12)
