"""Terminals of 80 columns and pipes: no figure is broken."""

import re

import pytest
from helpers.screens import ESCAPES, on_a_terminal

FIGURE = re.compile(r"(?<![\w.:-])[+-]?\d+(?:[.,]\d+)*(?![\w:])")
COMMANDS = ["evaluate --folds 2 --jobs 1 {ham} {spam}", "inspect {spam}/03"]


def screen(spamnb, mail, line, **more):
    words = line.format(ham=mail.ham, spam=mail.spam).split()
    seen, code = on_a_terminal(spamnb, *words, **more)
    assert code == 0
    lines = [ESCAPES.sub("", one).rstrip() for one in seen.splitlines()]
    return [one for one in lines if "/s" not in one]  # not how fast it goes


@pytest.mark.parametrize("line", COMMANDS)
def test_figures_are_whole_in_80_columns(spamnb, mail, line):
    wide = screen(spamnb, mail, line, COLUMNS="400")
    narrow = screen(spamnb, mail, line, COLUMNS="80")
    paths = [one for one in narrow if mail.ham in one or mail.spam in one or "model" in one]
    assert not [one for one in narrow if len(one) > 80 and one not in paths]
    missing = set(FIGURE.findall("\n".join(wide))) - set(FIGURE.findall("\n".join(narrow)))
    assert not missing


COMPARE = "evaluate --folds 2 --jobs 1 --settings default --settings {long} {ham} {spam}"
LONG = "ngrams=2,stem=english,stop-words=english,smoothing=0.5,damping=4,word-pairs=no"


@pytest.mark.parametrize("line", [*COMMANDS, COMPARE, "inspect", "config"])
def test_a_pipe_gets_whole_rows_without_blanks_behind(spamnb, mail, line):
    done = spamnb(*line.format(ham=mail.ham, spam=mail.spam, long=LONG).split()).succeeds()
    text = done.out.decode()
    assert not [one for one in text.split("\n") if one != one.rstrip()]
    if line == COMPARE:
        assert LONG.replace(",", ", ") in text


def test_history_has_a_line_for_each_message(spamnb, tmp_path):
    environment = spamnb.environment | {"XDG_STATE_HOME": str(tmp_path)}
    long = (
        b"From: somebody with a long name <somebody@a.long.example.org>\nSubject: "
        + b"word " * 40
        + b"\n\nx\n"
    )
    for _ in range(3):
        spamnb.afresh("classify", "-p", "--history", stdin=long, env=environment).succeeds()
    seen, _ = on_a_terminal(spamnb, "history", XDG_STATE_HOME=str(tmp_path), COLUMNS="80")
    rows = [one for one in ESCAPES.sub("", seen).splitlines() if "somebody" in one]
    assert len(rows) == 3
    assert all(len(row) <= 80 and row.count("…") == 2 for row in rows)
    assert "word" in rows[0]


def test_letters_that_an_output_lacks_are_question_marks(spamnb, mail):
    environment = spamnb.environment | {"PYTHONIOENCODING": "ascii"}
    assert b"?" in spamnb.afresh("inspect", f"{mail.spam}/01", env=environment).succeeds().out
