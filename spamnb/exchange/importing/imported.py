"""Models made of another filter's counts.

Such a model is closed: it learns more about its tokens, but no new ones. The other filter never counted what
only spamnb looks at, so 20 spam learned would make evidence of spam out of what is in every mail: 66 % of the
ham was lost by that, 0.1 % in a closed model (docs/importing.md).
"""

from dataclasses import dataclass, field

import numpy as np

from spamnb.arrays import Texts
from spamnb.clock import today
from spamnb.errors import DataError
from spamnb.exchange.importing import FORMATS
from spamnb.exchange.importing.exports import Format, Lines, TokenCounts
from spamnb.exchange.importing.rules import Token, rule_for
from spamnb.labels import LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of
from spamnb.reading.features import fingerprints_of, pair_fingerprint
from spamnb.reading.settings import Settings
from spamnb.store.journal import LAST_DAY
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.loading import load_table
from spamnb.training.train import existing, replaceable
from spamnb.training.writing import write

MAX_COUNT = (1 << 31) - 1  # the largest that a column of counts holds


@dataclass
class Tally:
    """How many tokens of a kind were carried over or dropped, and why."""

    carried: int = 0
    dropped: int = 0
    why: str = ""


@dataclass
class Imported:
    """Counts of an export, by spamnb's tokens."""

    format: Format
    messages: tuple[int, int] = (0, 0)  # ham and spam
    counts: dict[Token, list[int]] = field(default_factory=dict)  # ham, spam, and the day last seen
    kinds: dict[str, Tally] = field(default_factory=dict)

    def tally(self, kind: str, why: str, carried: bool) -> None:
        tally = self.kinds.setdefault(kind, Tally())
        tally.carried += carried
        tally.dropped += not carried
        if not carried:
            tally.why = why

    def add(self, token: Token, entry: TokenCounts) -> None:
        """Add the counts of a token. If several become one, they are summed; `columns` limits the sum.

        (1-AUC)% 0.043 on half of spamassassin; 0.047 with the largest of the counts instead of their sum.
        """
        row = self.counts.setdefault(token, [0, 0, 0])
        row[0] = min(row[0] + entry.ham, MAX_COUNT)
        row[1] = min(row[1] + entry.spam, MAX_COUNT)
        row[2] = max(row[2], entry.day)

    def columns(self) -> CountTable:
        """Make a count table: no more than all messages have a token, each once, as no more is known."""
        tokens = [token for token in self.counts if isinstance(token, str)]
        pairs = [token for token in self.counts if not isinstance(token, str)]
        rows = [self.counts[token] for token in tokens] + [self.counts[pair] for pair in pairs]
        *labels, days = np.array(rows, np.int64).T
        message_counts = np.minimum(labels, np.array([self.messages]).T).astype(np.int32)
        days = np.where(days == 0, today(), np.minimum(days, LAST_DAY)).astype(np.uint16)
        of_pairs = [pair_fingerprint(*pair) for pair in pairs]
        fingerprints = np.array(fingerprints_of(tokens) + of_pairs, np.uint64)
        order = np.argsort(fingerprints, kind="stable")
        texts = [token.encode() for token in tokens] + [b""] * len(pairs)
        occurrence_counts = message_counts.copy()
        occurrence_counts[:, len(tokens) :] = 0
        return CountTable(
            LABELS,
            self.messages,
            {},
            fingerprints[order],
            Texts.of([texts[at] for at in order]),
            message_counts[:, order],
            occurrence_counts[:, order],
            days[order],
            days[order],
        )


def read_export(lines: Lines, name: str | None = None) -> Imported:
    """Read an export of the filter named, or of the one that its first line shows."""
    imported = Imported(FORMATS[name] if name else format_of(lines))
    words = Settings().words()
    for entry in imported.format.entries(lines):
        if not entry.token:
            imported.messages = (entry.ham, entry.spam)
            if max(imported.messages) > MAX_COUNT:
                raise lines.error(f"more than {MAX_COUNT:,} messages")
            continue
        rule, text = rule_for(imported.format.rules, entry.token)
        tokens = rule.carry(text, words) if entry.ham or entry.spam else ()
        imported.tally(rule.kind, rule.why, bool(tokens))
        for token in tokens:
            imported.add(token, entry)
    if not any(imported.messages):
        raise DataError(
            f"{lines.path}: does not say how many messages it was made from; export it again, whole"
        )
    if not imported.counts:
        raise DataError(f"{lines.path}: nothing in it can be carried over; train on your mail instead")
    return imported


def format_of(lines: Lines) -> Format:
    """Recognise the format of an export by its first line."""
    for known in FORMATS.values():
        if known.recognises(lines.first):
            return known
    if b"\0" in lines.first:
        raise DataError(f"{lines.path}: not a text; export it first, e.g.: bogoutil -d wordlist.db")
    names = ", ".join(FORMATS)
    raise lines.error(f"not a known export ({names}); name the filter with --from")


def check_importable(model: StoredModel) -> None:
    """Raise an error if an import cannot be added to a model: it must be an import, too, of ham and spam."""
    if set(model.labels) != set(LABELS):
        why = f"its labels are {', '.join(model.labels)}"
    elif not settings_of(model).closed:
        why = "it was trained on mail, which tells more than an export"
    else:
        return
    raise DataError(f"{model.path}: {why}; use --fresh to replace it, or name another file with --model")


def add_to_model(model: str, imported: Imported, fresh: bool = False) -> None:
    """Make a model of an import, or add it to a model that was imported, too."""
    with Lock(model, kind=TRAINING):
        before = replaceable(model) if fresh else existing(model)
        base, more = CountTable.empty(LABELS), imported.columns()
        if before and not fresh:
            check_importable(before)
            base = load_table(before)
        settings = Settings(closed=True, grams=False)
        write(model, sum_tables([base, more]), settings, before=before)
