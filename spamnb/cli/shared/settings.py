"""Settings of how mail is read and judged, written as options: `--event bernoulli`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spamnb.errors import UsageError

SETTINGS = "--settings"
END = "--"  # after this word, no word is an option


def with_settings_joined(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Join settings given as options: `--event binary` becomes `--settings event=binary`.

    A setting of yes or no is written `--tfidf` or `--no-tfidf`. `options`: the command's other options.
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
            # Commas and equal signs separate settings, so a value must not have them.
            text = value if equals else given.pop(0)
            found.append(f"{name}={text.replace(',', '/').replace('=', ':')}")
        else:
            rest.append(word)
    if found and any(word.startswith(SETTINGS) for word in rest):
        raise UsageError(f"write all settings as options, such as --event binary, or all after {SETTINGS}")
    return [*([SETTINGS, ",".join(found)] if found else []), *rest, *given]
