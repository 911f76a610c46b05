"""Measure sorting into folders: mailing lists, other ham, and spam. `python bench/sorting.py HAM SPAM`.

Each of the largest mailing lists in HAM is a label; all other mail there is ham. A random half of each label
is learned, and the other half is judged: once with all headers, once without the headers that name a list.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tables import table

from spamnb.labels import HAM, SPAM, UNSURE
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages
from spamnb.model import Model
from spamnb.training.train import train
from spamnb.workers import LocalPool

MAX_LISTS, MIN_MESSAGES, MAX_MESSAGES = 8, 100, 1000  # lists; messages of each that are taken
LIST_ID = re.compile(rb"^list-id:[^<\n]*(?:\n[ \t][^<\n]*)*<([^>\n]+)>", re.I | re.M)
TELLING = re.compile(
    rb"^(?:list-[\w-]+|to|cc|x-been-there|x-mailman-[\w-]+|sender|errors-to|delivered-to|return-path|reply-to"
    rb"|x-list[\w-]*|mailing-list|archived-at|x-original-to|received|precedence):.*\n(?:[ \t].*\n)*",
    re.I | re.M,
)
TAG = re.compile(rb"^(subject:[^\n]*?)\[[^\]\n]{1,40}\] ?", re.I | re.M)  # as lists put before a subject


def without_lists(raw: bytes) -> bytes:
    """Remove addresses, headers that name a mailing list, and the tag in the subject from a message."""
    head, end, body = raw.partition(b"\n\n")
    return TAG.sub(rb"\1", TELLING.sub(b"", head + b"\n")) + end[1:] + body


def raw_messages(path: str) -> list[bytes]:
    return [message.data for message in messages([path]) if isinstance(message, RawMessage)]


def by_label(ham: str, spam: str) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = defaultdict(list)
    for raw in raw_messages(ham):
        name = LIST_ID.search(raw[: 64 << 10].partition(b"\n\n")[0])
        found[name[1].decode("ascii", "replace").lower() if name else HAM].append(raw)
    sizes = Counter({name: len(raws) for name, raws in found.items() if name != HAM})
    lists = [name for name, size in sizes.most_common(MAX_LISTS) if size >= MIN_MESSAGES]
    rest = [raw for name, raws in found.items() if name not in lists for raw in raws]
    chosen = {name: found[name] for name in lists} | {HAM: rest}
    chosen[SPAM] = raw_messages(spam)
    draw = random.Random(1)
    return {name: draw.sample(raws, min(len(raws), MAX_MESSAGES)) for name, raws in chosen.items()}


def verdicts(mail: dict[str, list[bytes]], folder: Path) -> dict[str, Counter[str]]:
    """Learn one half of each label's mail; return how often each verdict is given on the other half."""
    sources = {}
    for number, (label, raws) in enumerate(mail.items()):
        (folder / str(number)).mkdir(parents=True)
        for at, raw in enumerate(raws[::2]):
            (folder / str(number) / f"{at}.eml").write_bytes(raw)
        sources[label] = [str(folder / str(number))]
    path = str(folder / "model.msgpack")
    train(path, sources, pool=LocalPool(None))
    model = Model.open(path)
    return {label: Counter(model.classify(raw).label for raw in raws[1::2]) for label, raws in mail.items()}


def main() -> None:
    mail = by_label(*sys.argv[1:3])
    rows = []
    for kind, change in (("all headers", lambda raw: raw), ("no list, no address", without_lists)):
        for labels in (
            mail,
            {HAM: [raw for name in mail if name != SPAM for raw in mail[name]], SPAM: mail[SPAM]},
        ):
            with tempfile.TemporaryDirectory() as folder:
                changed = {label: [*map(change, raws)] for label, raws in labels.items()}
                found = verdicts(changed, Path(folder))
            listed = [label for label in found if label not in (HAM, SPAM)]
            others = {label: counts for label, counts in found.items() if label != SPAM}
            judged = sum(counts.total() for counts in others.values())
            sorted_ = sum(found[label].total() for label in listed) or 1
            filed = sum(found[label][label] for label in listed)
            wrong = sum(
                n
                for label, counts in others.items()
                for got, n in counts.items()
                if got in listed and got != label
            )
            lost = sum(counts[SPAM] for counts in others.values())
            caught = found[SPAM][SPAM] / found[SPAM].total()
            unsure = sum(counts[UNSURE] for counts in others.values()) / judged
            rows.append(
                (
                    kind,
                    str(len(listed)),
                    str(judged),
                    f"{filed / sorted_:.1%}" if listed else "",
                    f"{wrong / judged:.2%}",
                    f"{unsure:.1%}",
                    f"{lost / judged:.2%}",
                    f"{caught:.1%}",
                )
            )
    names = ("headers", "lists", "judged", "filed", "misfiled", "neither", "ham lost", "spam caught")
    print(table(names, rows))


if __name__ == "__main__":
    main()
