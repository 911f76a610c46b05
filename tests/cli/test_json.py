"""`--json` by one rule: an object; of any number of like things, an object on a line each."""

import json

import pytest

from spamnb.history.log import hash_of_raw

OBJECTS = ["evaluate --folds 2 HAM SPAM", "inspect", "check", "history --summary", "config"]
LINES = [
    "classify HAM/03 SPAM/03",
    "history",
    "inspect --token viagra subject:cheap",
    "evaluate --folds 2 --settings default --settings smoothing=1 HAM SPAM",
]


@pytest.fixture(scope="module")
def answers(spamnb, mail, tmp_path_factory):
    environment = spamnb.environment | {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    for kind in ("ham", "spam"):
        spamnb("classify", "--history", stdin=mail.messages[kind], env=environment).succeeds()

    def ask(command):
        for name, place in (("HAM", mail.ham), ("SPAM", mail.spam), ("MODEL", spamnb.model)):
            command = command.replace(name, place)
        return spamnb(*command.split(), "--json", env=environment)

    return ask


def numbers_in(value):
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(item)
    elif isinstance(value, int):
        yield value


def refuse(name):
    raise AssertionError(f"not JSON: {name}")


@pytest.mark.parametrize("command", OBJECTS + LINES)
def test_one_object_or_one_a_line(answers, command):
    out = answers(command).succeeds().out.decode()
    texts = out.splitlines() if command in LINES else [out]
    assert len(texts) > 1 or command in OBJECTS
    for text in texts:
        found = json.loads(text, parse_constant=refuse)
        assert isinstance(found, dict)
        assert all(abs(number) < 1 << 53 for number in numbers_in(found))  # others round what is larger


def test_a_digest_is_told_to_the_last_bit(answers, mail):
    said = [one["digest"] for one in answers("history").succeeds().json_lines]
    assert said == [str(hash_of_raw(mail.messages[kind])) for kind in ("spam", "ham")]
