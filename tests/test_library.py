"""`import spamnb`: the few lines it promises, and what it costs."""

import doctest
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from helpers.paths import ROOT

import spamnb as library
from spamnb.errors import CannotCreate, DataError, Locked, ModelError, NoInput, NoModel, UsageError

NAMES = ["Model", "Settings", "SpamnbError", "Verdict", "View", "evaluate", "forget", "learn", "train"]


@pytest.fixture
def workplace(mail, tmp_path, monkeypatch):
    """A folder with ham/, spam/ and a message, as the examples expect."""
    monkeypatch.chdir(tmp_path)
    os.symlink(mail.ham, "ham")
    os.symlink(mail.spam, "spam")
    Path("message.eml").write_bytes(mail.messages["spam"])
    return tmp_path


def test_names_that_others_build_upon():
    assert sorted(library.__all__) == NAMES
    for name in library.__all__:
        assert getattr(library, name).__doc__
    assert set(library.__all__) <= set(dir(library))
    with pytest.raises(AttributeError, match="nosuch"):
        library.nosuch  # noqa: B018


def test_importing_it_loads_nothing_else():
    script = "import sys; before = set(sys.modules); import spamnb; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"spamnb", "__future__"}


@pytest.mark.usefixtures("workplace")
def test_the_page():
    page = str(ROOT / "docs" / "python.md")
    done = doctest.testfile(page, module_relative=False, optionflags=doctest.ELLIPSIS)
    assert done.attempted > 20
    assert done.failed == 0


@pytest.mark.usefixtures("workplace")
def test_the_example_of_its_docstring(mail, capsys):
    code = library.__doc__.partition("\n\n")[2]
    assert code.startswith("import spamnb\n")
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


@pytest.mark.usefixtures("workplace")
def test_a_path_is_a_path_and_not_its_letters():
    for ham in ("ham", Path("ham"), ["ham"], iter(["ham"])):
        found = library.train("model", {"ham": ham, "spam": "spam"}, fresh=True, jobs=1)
        assert found.outcomes["ham"] == {"learned": 14}


def test_signatures_and_reprs_show():
    for name in ("evaluate", "forget", "learn", "train"):
        function = getattr(library, name)
        assert function.__doc__
        assert len(inspect.signature(function).parameters) >= 2
    for method in (library.Model.open, library.Model.classify, library.Model.explain):
        assert method.__doc__
        assert inspect.signature(method).parameters
    for value in (library.Settings(ngrams=2), library.View(event="bernoulli")):
        assert (
            eval(repr(value), vars(library) | {type(value).__name__: type(value)}).as_map() == value.as_map()
        )


def test_wrong_arguments(tmp_path):
    with pytest.raises(ValueError, match="ham_loss must be from"):
        library.train(tmp_path / "model", {}, ham_loss=5)
    with pytest.raises(ValueError, match="cannot be a label"):
        library.train(tmp_path / "model", {"unsure": "x"})
    with pytest.raises(NoInput):
        library.evaluate({"ham": str(tmp_path / "none"), "spam": str(tmp_path)})
    for call in (library.learn, library.forget):
        with pytest.raises(TypeError, match="must be bytes"):
            call(tmp_path / "model", cast(Any, "Subject: x"), *["spam"] * (call is library.learn))


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
