"""What train and inspect say of a model is what then happens to mail it has not seen."""

import random
import re

import pytest
from helpers.mailboxes import written
from helpers.paths import SPAMASSASSIN
from helpers.tiers import only_long

from spamnb.inspection.standing import standing
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training.train import train
from spamnb.workers.local import LocalPool

TESTED = 400


@pytest.fixture(scope="module")
def corpus():
    names = {"ham": ("ham", "hard-ham"), "spam": ("spam",)}
    return {
        label: [
            found.data
            for found in messages([str(SPAMASSASSIN / f"{name}.mbox.xz") for name in boxes])
            if isinstance(found, RawMessage)
        ]
        for label, boxes in names.items()
    }


@pytest.fixture
def after(corpus, tmp_path):
    def trained(ham, spam, seed=1):
        """What a model of so many messages says, and the share of other spam that it catches."""
        path, sources, other = str(tmp_path / f"{ham}-{spam}-{seed}"), {}, []
        for label, count in (("ham", ham), ("spam", spam)):
            shuffled = random.Random(seed).sample(corpus[label], len(corpus[label]))
            box = tmp_path / f"{label}-{count}.mbox"
            box.write_bytes(written(shuffled[:count]))
            sources[label], other = [str(box)], shuffled[-TESTED:]
        train(path, sources, pool=LocalPool(1))
        verdicts = [Model.open(path).classify(raw).label for raw in other]
        return "; ".join(standing(StoredModel.open(path))), verdicts.count("spam") / TESTED

    return trained


def said(text, pattern):
    (found,) = re.findall(pattern, text)
    return int(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ham", "spam"),
    [
        (100, 100),
        pytest.param(30, 30, marks=only_long),
        pytest.param(300, 100, marks=only_long),
        pytest.param(1000, 400, marks=only_long),
    ],
)
def test_the_spam_caught_now(after, ham, spam):
    text, caught = after(ham, spam)
    assert text.startswith(f"with {ham:,} ham and {spam} spam, about ")
    share = said(text, r"about (\d+) % of the spam in mail like this is caught") / 100
    assert share == pytest.approx(caught, abs=0.12)


@pytest.mark.slow
@only_long
def test_and_with_more_mail(after):
    """Not in each case, which chance decides, but in the mean."""
    errors, count = [], 100
    for seed in range(4):
        text, _ = after(count, count, seed)
        growth = said(text, r"with (\d+) times as much mail")
        _, caught = after(growth * count, growth * count, seed)
        errors.append(said(text, r"as much mail about (\d+) %") / 100 - caught)
    assert abs(sum(errors)) / len(errors) < 0.1


def test_little_mail_is_all_unsure(after):
    assert after(3, 3)[0].startswith("with 3 ham and 3 spam, nearly all is still unsure")


def test_one_message_is_too_little(after):
    assert after(1, 3)[0] == "199 more ham would help; 197 more spam would help"
