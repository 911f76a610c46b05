"""Learning one message at the cost of the message: a record in the journal."""

from __future__ import annotations

import os
import sys
from math import nan

from spamnb.clock import today
from spamnb.errors import CannotCreate, DataError, SpamnbError
from spamnb.files import STDERR, STDIN, STDOUT, write_stderr
from spamnb.lock import TRAINING, Lock
from spamnb.model import Model
from spamnb.reading.fingerprint import fingerprints, pair_fingerprints
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.store import journal
from spamnb.store.changes import change
from spamnb.store.outcomes import KNOWN, LEARNED, UNKNOWN, outcome
from spamnb.store.stored import Stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Modules are looked for where this process finds them, not in whatever folder it stands in.
FOLD = "import sys; sys.path[:] = sys.argv[2:]; from spamnb.training.train import fold; fold(sys.argv[1])"
TOO_LONG = 8 * journal.LIMIT  # a journal that nobody came to fold


def learn(path: str, raw: bytes, label: str | None) -> str:
    """Learn a message under a label, or forget it (None). When this returns, the change is on disk."""
    message = read(raw)
    identity = digest(message)
    with Lock(path):
        stored = Stored(path)
        if label is not None and label not in stored.labels:
            raise DataError(f"{path}: has no label {label!r}; there are: {', '.join(stored.labels)}")
        identity = stored.hidden_digest(identity)
        before = stored.label_of(identity)
        result = outcome(before, label)
        if result in (KNOWN, UNKNOWN):
            return result
        model = Model(stored)
        features = model.tokenizer.features(message)
        # How the model judged it before it learned it: cutoffs are set by such scores.
        score = model.classify_features(features).score if result == LEARNED else nan
        tokens = kept(stored, by_fingerprint(features.tokens))
        pairs = sorted(set(stored.hidden(pair_fingerprints(list(features.pairs)))))
        day = today()
        record = change(stored, identity, before, label, day, tokens, pairs, features.numbers, score)
        try:
            size = stored.journal.append(path + ".journal", stored.generation, [record])
        except OSError as error:
            raise CannotCreate(f"{path}.journal: {error.strerror}; the message was not learned") from error
    limit = 0 if stored.journal.damaged else journal.LIMIT  # with the damage, what is told of it ends
    if size > limit:
        fold_aside(path, limit)
    return result


def by_fingerprint(tokens: Mapping[str, int]) -> list[tuple[int, int, str]]:
    """Of each token its fingerprint, how often it occurs, and itself; those that collide are one."""
    found: dict[int, tuple[int, str]] = {}
    for number, (token, times) in zip(fingerprints(tokens), tokens.items(), strict=True):
        earlier, first = found.get(number, (0, token))
        found[number] = (earlier + times, first)
    return [(number, *found[number]) for number in sorted(found)]


def kept(stored: Stored, tokens: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The same as a model has them: some keep no words."""
    if not stored.keyed:
        return tokens
    numbers = stored.hidden([number for number, _, _ in tokens])
    return sorted([(number, times, "") for number, (_, times, _) in zip(numbers, tokens, strict=True)])


def fold_aside(path: str, limit: int) -> None:
    """Fold a journal larger than that by a process of its own: the mail does not wait for it."""
    lock = Lock(path, patience=0, kind=TRAINING)
    size = 0
    try:
        with lock:
            size = os.path.getsize(path + ".journal")
            if size > TOO_LONG:
                from spamnb.training.train import fold

                fold(path)
            elif size > limit:
                start_folding(path, lock.handle)
    except (SpamnbError, OSError) as error:  # somebody is at it, or has just been
        if size > TOO_LONG:
            write_stderr(f"spamnb: {error}; the message was learned\n")


def start_folding(path: str, lock: int) -> None:
    """A shell starts it and ends at once, so that nobody has to wait for the one that folds.

    The lock goes with it, as its standard output: until it ends, no other is started.
    """
    command = ["sh", "-c", '"$@" &', "sh", sys.executable, "-c", FOLD, path, *sys.path]
    streams = [
        (os.POSIX_SPAWN_DUP2, lock, STDOUT),
        (os.POSIX_SPAWN_OPEN, STDIN, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, STDERR, os.devnull, os.O_WRONLY, 0),
    ]
    shell = os.posix_spawn("/bin/sh", command, os.environ, file_actions=streams, setsid=True, setsigmask=())
    os.waitpid(shell, 0)
