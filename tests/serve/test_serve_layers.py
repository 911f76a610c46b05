"""Users' models on top of the shared one, at the server."""

import os
import shutil
from pathlib import Path

import pytest
from helpers.samples import ham, spam, work

from spamnb.delivery.commands import LearnCommand
from spamnb.model import Model
from spamnb.serve.judge import Judge
from spamnb.serve.metrics import Counters
from spamnb.serve.options import Options
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn


@pytest.fixture
def shared(spamnb, tmp_path):
    return shutil.copy(spamnb.model, tmp_path / "shared")


@pytest.fixture
def homes(tmp_path):
    (tmp_path / "homes" / "ann").mkdir(parents=True)
    return tmp_path / "homes"


@pytest.fixture
def judge(shared, homes):
    return Judge(Options(str(shared), user_models=str(homes)), Counters())


def lesson(shared, homes, raw, label):
    """Learn as the server does for a user, who may have no model yet."""
    path = str(homes / "ann" / "model.msgpack")
    LearnCommand(label, path, base=str(shared)).learn(raw)
    return path


def test_a_model_is_begun_on_top_of_the_shared_one(shared, homes, judge):
    """Which judges alone until there are twelve messages of each label, and then with it."""
    before = Path(shared).read_bytes()
    path = lesson(shared, homes, work(1), "ham")
    assert StoredModel.open(path).head["base"]["path"] == str(shared)
    lesson(shared, homes, spam(60), "spam")
    for n in range(2, 13):
        assert judge.classify(spam(99), "ann").path == str(shared)
        lesson(shared, homes, work(n), "ham")
        lesson(shared, homes, spam(60 + n), "spam")
    judged = judge.classify(spam(99), "ann")
    assert judged.path == path
    assert judged.verdict.as_map() == Model.open(path).classify(spam(99)).as_map()
    assert judged.verdict.score != Model.open(path, layered=False).classify(spam(99)).score
    assert Path(shared).read_bytes() == before
    assert not os.path.exists(f"{shared}.journal")
    learn(str(shared), ham(500), "ham")  # a base that changes is judged by as it is now
    assert judge.classify(spam(99), "ann").verdict.as_map() == Model.open(path).classify(spam(99)).as_map()


def test_no_other_base_than_the_shared_model(shared, homes, judge, tmp_path, capfd):
    """A user could name another one's model, and learn from scores what mail is in it."""
    others = shutil.copy(shared, tmp_path / "others")
    path = str(homes / "ann" / "model.msgpack")
    for n in range(12):
        LearnCommand("ham", path, base=str(others)).learn(work(n))
        LearnCommand("spam", path, base=str(others)).learn(spam(60 + n))
    assert Model.open(path).base
    alone = Model.open(path, layered=False)
    judged = judge.classify(spam(99), "ann")
    assert judged.verdict.as_map() == alone.classify(spam(99)).as_map()
    judge.classify(ham(99), "ann")
    said = capfd.readouterr().err
    assert said.count("its base is not the shared model") == 1


@pytest.mark.parametrize("missing", ["file", "entries"])
def test_without_the_shared_model_users_are_judged_by_their_own(shared, homes, tmp_path, capfd, missing):
    """As without a base; and on top of it again once it is back."""
    for n in range(12):
        lesson(shared, homes, work(n), "ham")
        path = lesson(shared, homes, spam(60 + n), "spam")
    alone = Model.open(path, layered=False).classify(spam(99)).as_map()
    layered = Model.open(path).classify(spam(99)).as_map()
    kept = Path(shared).rename(tmp_path / "kept")
    if missing != "file":
        entries = StoredModel.open(str(kept)).columns["entries"]
        data = kept.read_bytes()
        Path(shared).write_bytes(data[: entries.at] + bytes(entries.size) + data[entries.at + entries.size :])
    judge = Judge(Options(str(shared), user_models=str(homes)), Counters())
    for _ in range(2):
        judged = judge.classify(spam(99), "ann")
        assert (judged.path, judged.verdict.as_map()) == (path, alone)
    assert capfd.readouterr().err.count("without this base") == 1
    kept.rename(shared)
    assert judge.classify(spam(99), "ann").verdict.as_map() == layered
