"""Backup of a model as text: every count, so that what is restored is the same file, byte for byte.

The first line names the format, the second is a JSON object of all that is small. Then a line each, fields
between tabs: `t` for a token (days first and last seen, messages and occurrences of each label, the token),
`p` for a pair of neighbours (fingerprint, day, messages), `g` for a counter of grams (its number, messages),
`m` for a message (digest, label's index, score, and of three labels or more its lead). The last line, `end`,
holds the SHA-256 of all lines before it: a backup that was cut short or changed is refused.
"""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from math import nan
from typing import Any

import numpy as np

from spamnb.arrays import Array, Texts, stable_order
from spamnb.errors import CannotCreate, ModelError, UsageError
from spamnb.exchange.lines import Lines
from spamnb.grams import COUNTERS
from spamnb.lock import TRAINING, Lock
from spamnb.model import Model
from spamnb.reading.features import fingerprints_of
from spamnb.store.journal import LAST_DAY
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import LARGEST_INT32, NO_GRAMS, CountTable
from spamnb.tables.learned import LearnedMessages
from spamnb.tables.loading import load_table
from spamnb.tables.saving import save
from spamnb.training.labels import with_mail
from spamnb.training.replacing import removed_at_end, replace_model
from spamnb.training.train import fold, replaceable

FIRST_LINE = "spamnb export 1"
LATER_FIELDS = ("misfiled", "margin", "base")  # which some models lack
COPIED_FIELDS = ("settings", "view", "ham_loss", "cutoffs", "calibration", *LATER_FIELDS)  # of a model's head
END = "end"
DAMAGED = "not written by spamnb export, or damaged"
CUT = f"damaged: cut short, its last line (`{END}`) is missing; use another backup"
CHANGED = "damaged: cut short or changed since spamnb export wrote it; use another backup"
MALFORMED = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError)  # raised by odd fields
TRIED_TOKENS = 20  # a restored model judges these, to see that it works


def exported(path: str) -> Iterator[str]:
    """Yield the lines of a backup of a model and its journal.

    The last one proves the others whole, as `head -n -1 BACKUP | sha256sum` does.
    """
    digest = sha256()
    for line in _content(path):
        digest.update(line.encode() + b"\n")
        yield line
    yield f"{END}\t{digest.hexdigest()}"


def _content(path: str) -> Iterator[str]:
    stored = StoredModel.open(path)
    table = load_table(stored).clipped()
    head = {name: stored.head[name] for name in COPIED_FIELDS if name in stored.head}
    head |= {"labels": table.labels, "messages": table.messages, "numbers": table.numbers}
    yield FIRST_LINE
    yield json.dumps(head, ensure_ascii=False)
    words = table.words
    tokens = table.tokens(np.flatnonzero(words).tolist())
    counts = np.concatenate(
        (table.first_days[None], table.last_days[None], table.message_counts, table.occurrence_counts)
    ).T
    for row, token in zip(counts[words].tolist(), tokens, strict=True):
        yield "\t".join(("t", *map(str, row), token))
    counts = np.concatenate((table.last_days[None], table.message_counts)).T
    for fingerprint, row in zip(table.fingerprints[~words].tolist(), counts[~words].tolist(), strict=True):
        yield "\t".join(("p", f"{fingerprint:016x}", *map(str, row)))
    for counter in np.flatnonzero(table.grams.any(axis=0)).tolist():
        yield "\t".join(("g", str(counter), *map(str, table.grams[:, counter].tolist())))
    learned = table.learned
    taken = [learned.scores, learned.leads] if len(table.labels) > 2 else [learned.scores]
    columns = (learned.digests.tolist(), learned.labels.tolist(), *(each.tolist() for each in taken))
    for digest, label, *scores in zip(*columns, strict=True):
        yield "\t".join((f"m\t{digest:016x}\t{label}", *map(repr, scores)))


def is_export(lines: Lines) -> bool:
    return lines.first == FIRST_LINE.encode()


def restore(path: str, lines: Lines, fresh: bool = False) -> CountTable:
    """Make a model from its backup; a model that is there is replaced only if asked for."""
    with Lock(path, kind=TRAINING):
        before = replaceable(path)
        if not fresh and os.path.lexists(path):
            raise CannotCreate(f"{path}: already exists; use --fresh to replace it, or another --model")
        table, about = _parse(lines)
        with removed_at_end(f"{path}.new"):
            replace_model(path, _save_and_try(path, table, about, lines), before)
        if with_mail(table.labels, table.messages) != list(table.labels):
            fold(path, always=True)
    return table


def _save_and_try(path: str, table: CountTable, about: dict[str, Any], lines: Lines) -> str:
    """Write the new model beside the old one, and return its path; an error if it judges no message."""
    known = table.tokens(np.flatnonzero(table.words)[:TRIED_TOKENS].tolist())
    try:
        new = save(path, [table], table.learned, {**about, "labels": list(table.labels)})
        Model(StoredModel(new)).classify(" ".join(known).encode())
    except (ModelError, UsageError, *MALFORMED) as error:
        raise lines.error(DAMAGED) from error
    return new


def _parse(lines: Lines) -> tuple[CountTable, dict[str, Any]]:
    """Return the table of a backup, and the fields copied from the model's head."""
    try:
        rest = _unsealed(lines)
        next(rest)
        head = json.loads(next(rest, ""))
        reader = _BackupReader(head["labels"])
        for line in rest:
            reader.add(line)
        about = {name: head[name] for name in COPIED_FIELDS if name not in LATER_FIELDS or name in head}
        return reader.table(tuple(head["messages"]), head["numbers"]), about
    except MALFORMED as error:
        raise lines.error(DAMAGED) from error


def _unsealed(lines: Lines) -> Iterator[str]:
    """Yield the lines before the last; an error if that one does not prove them whole."""
    digest, end = sha256(), ""
    for line in lines:
        if end:
            raise lines.error(CHANGED)
        if line.startswith(f"{END}\t".encode()):
            end = line.decode()
        else:
            digest.update(line + b"\n")
            yield line.decode()
    if not end:
        raise lines.error(CUT)
    if end != f"{END}\t{digest.hexdigest()}":
        raise lines.error(CHANGED)


class _BackupReader:
    """Lines of a backup, collected into a table."""

    def __init__(self, labels: list[str]) -> None:
        self.labels = tuple(labels)
        self.tokens: list[str] = []
        self.counts: list[list[int]] = []
        self.pairs: list[int] = []
        self.pair_counts: list[list[int]] = []
        self.grams: list[list[int]] = []  # counter, and messages of each label
        # Digest, index of the label, score; lead, of three labels or more; score in layers, of two.
        self.learned: list[tuple[int, int, float, float]] = []

    def add(self, line: str) -> None:
        label_count = len(self.labels)
        kind, *fields = line.split("\t", 3 + 2 * label_count)
        if kind == "t":
            *counts, token = fields
            self.counts.append(_parse_counts(counts, 2 + 2 * label_count))
            self.tokens.append(token)
        elif kind == "p":
            self.pairs.append(int(fields[0], 16))
            day, *messages = _parse_counts(fields[1:], 1 + label_count)
            self.pair_counts.append([day, day, *messages, *[0] * label_count])
        elif kind == "g":
            self.grams.append(_parse_counts(fields, 1 + label_count))
            if self.grams[-1][0] >= COUNTERS:
                raise ValueError("no such counter")
        elif kind == "m":
            digest, label, score, *more = fields
            if not 0 <= int(label) < label_count:
                raise ValueError(label)
            lead = float(more[0]) if more and label_count > 2 else nan
            self.learned.append((int(digest, 16), int(label), float(score), lead))
        else:
            raise ValueError(kind)

    def table(self, messages: tuple[int, ...], numbers: dict[str, Any]) -> CountTable:
        label_count = len(self.labels)
        if len(messages) != label_count:
            raise ValueError(messages)
        fingerprints = np.array(fingerprints_of(self.tokens) + self.pairs, np.uint64)
        counts: Array = np.array(self.counts + self.pair_counts, np.int64).reshape(-1, 2 + 2 * label_count).T
        if counts[:2].max(initial=0) > LAST_DAY:
            raise ValueError("a day beyond all days")
        kind = np.int32 if counts[2:].max(initial=0) <= LARGEST_INT32 else np.int64
        order = stable_order(fingerprints)
        texts = [token.encode() for token in self.tokens] + [b""] * len(self.pairs)
        grams = NO_GRAMS
        if self.grams:
            grams = np.zeros((label_count, COUNTERS), np.int64)
            counters, *messages_with = np.array(self.grams, np.int64).T
            grams[:, counters] = messages_with
        learned = zip(*self.learned, strict=True) if self.learned else ((), ())
        return CountTable(
            self.labels,
            messages,
            numbers,
            fingerprints[order],
            Texts.of([texts[at] for at in order.tolist()]),
            counts[2 : 2 + label_count, order].astype(kind),
            counts[2 + label_count :, order].astype(kind),
            counts[0, order].astype(np.uint16),
            counts[1, order].astype(np.uint16),
            LearnedMessages.of(*learned),
            grams,
        )


def _parse_counts(fields: list[str], expected: int) -> list[int]:
    counts = [int(field) for field in fields]
    if len(counts) != expected or min(counts) < 0:
        raise ValueError(fields)
    return counts
