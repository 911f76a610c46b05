"""Settings of how mail is read and judged, written as options: `--event bernoulli`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spamnb.errors import UsageError

SETTINGS = "--settings"
END = "--"  # no options follow it


def with_settings_joined(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Collect settings given as options: `--event bernoulli` becomes `--settings event=bernoulli`.

    Settings with yes or no are given as `--tfidf`, `--no-headers`. `options`: the options of the command.
    """
    from spamnb.evaluation.candidates import SETTING_NAMES, SWITCHES

    rest: list[str] = []
    found: list[str] = []
    given = list(words)
    while given and given[0] != END:
        word = given.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        switched = name.removeprefix("no-")
        if not word.startswith("--") or f"--{name}" in options:
            rest.append(word)
        elif switched in SWITCHES and not equals:
            found.append(f"{switched}={'yes' if switched == name else 'no'}")
        elif name in SETTING_NAMES and (equals or given):
            # In the text of settings, commas and equal signs stand between them.
            text = value if equals else given.pop(0)
            found.append(f"{name}={text.replace(',', '/').replace('=', ':')}")
        else:
            rest.append(word)
    if found and any(word.startswith(SETTINGS) for word in rest):
        raise UsageError(f"give all settings as options of their own, or all of them after {SETTINGS}")
    return [*([SETTINGS, ",".join(found)] if found else []), *rest, *given]
