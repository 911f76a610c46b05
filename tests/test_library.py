"""`import spamnb`: the few lines it promises, and what it costs."""

import os
import subprocess
import sys

import pytest

import spamnb as library
from spamnb.errors import CannotCreate, DataError, Locked, ModelError, NoInput, NoModel, UsageError

NAMES = ["Classifier", "CountTable", "Model", "Settings", "SpamnbError", "Verdict", "View", "learn", "train"]


def test_names_that_others_build_upon():
    assert sorted(library.__all__) == NAMES
    for name in library.__all__:
        assert getattr(library, name).__name__ == name
    assert set(library.__all__) <= set(dir(library))
    with pytest.raises(AttributeError, match="nosuch"):
        library.nosuch  # noqa: B018


def test_importing_it_loads_nothing_else():
    script = "import sys; before = set(sys.modules); import spamnb; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"spamnb", "__future__"}


def test_the_example_of_its_docstring(mail, tmp_path, monkeypatch, capsys):
    code = library.__doc__.partition("\n\n")[2]
    assert code.startswith("import spamnb\n")
    monkeypatch.chdir(tmp_path)
    os.symlink(mail.ham, "ham")
    os.symlink(mail.spam, "spam")
    exec(code, {"raw_message": mail.messages["spam"]})
    label, score, probability = capsys.readouterr().out.split()
    assert label == "spam"
    assert float(score) > 0
    assert 0.5 < float(probability) < 1
    assert library.learn("model.msgpack", mail.messages["spam"], "spam") == "known"


def test_the_library_and_the_program_agree(spamnb, mail):
    model = library.Model.open(spamnb.model)
    for message in ("ham", "spam", "unsure"):
        said = spamnb("classify", "--json", stdin=mail.messages[message]).succeeds().json
        verdict = model.classify(mail.messages[message])
        assert isinstance(verdict, library.Verdict)
        assert {"path": "-", "index": None, **verdict.as_map()} == said


def test_training(mail, tmp_path):
    path = str(tmp_path / "model")
    summary = library.train(path, {"ham": [mail.ham], "spam": [mail.spam]}, {"ngrams": 2}, jobs=1)
    assert summary.outcomes == {"ham": {"learned": 14}, "spam": {"learned": 14}}
    assert summary.unreadable == []
    assert library.Model.open(path).settings == library.Settings(ngrams=2)
    with pytest.raises(DataError, match="ngrams"):
        library.train(path, {"ham": [mail.ham]}, {"ngrams": 3})


def test_errors(tmp_path):
    with pytest.raises(NoModel):
        library.Model.open(str(tmp_path / "none"))
    (tmp_path / "damaged").write_bytes(b"damaged")
    with pytest.raises(ModelError) as caught:
        library.Model.open(str(tmp_path / "damaged"))
    assert caught.value.path == str(tmp_path / "damaged")
    with pytest.raises(CannotCreate):
        library.learn(str(tmp_path / "damaged" / "model"), b"", "spam")
    with pytest.raises(UsageError):
        library.Settings(ngrams=9)
    for error in (NoModel, ModelError, CannotCreate, UsageError, Locked, DataError, NoInput):
        assert issubclass(error, library.SpamnbError)
