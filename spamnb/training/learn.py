"""Learning one message by writing a record to the journal; the model file does not change."""

import os
import sys

from spamnb.bayes.verdict import verdict_of
from spamnb.clock import today
from spamnb.core.native import hash_of_message, lesson_of, read
from spamnb.errors import CannotCreate, DataError, SpamnbError
from spamnb.files import STDERR, STDIN, STDOUT, write_stderr
from spamnb.labels import HAM, SPAM
from spamnb.lock import TRAINING, Lock
from spamnb.model import Model
from spamnb.store import journal
from spamnb.store.changes import KNOWN, LEARNED, UNKNOWN, change, outcome
from spamnb.store.stored_model import StoredModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.core.native import FeatureSet

# The program of a process that folds a journal; its arguments end with the module path of this process.
FOLD = "import sys; sys.path[:] = sys.argv[2:]; from spamnb.training.train import fold; fold(sys.argv[1])"
# With that many messages of a label, scores of corrected messages are left out. With 500 or 1,000 learned,
# and the mistakes among 2,000 more corrected, 93 % of the spam was caught without these scores, 83 % with
# them; with 100 learned, 73 % without them, 83 % with them.
ENOUGH_FAIR = 100
TOO_LONG = 8 * journal.FOLD_LIMIT  # bytes: no process came to fold it, so this one does


def learn(path: str, raw: bytes, label: str | None, is_correction: bool = False) -> str:
    """Learn a message under a label (None: forget it); return the outcome when the change is on disk.

    `is_correction` means that a person corrected the verdict. Corrected messages are hard to judge, so their
    scores are used for cutoffs only while few messages of the label are learned.
    """
    message = read(raw)
    with Lock(path):
        stored = StoredModel(path)
        if label is not None and label not in stored.labels:
            raise DataError(f"{path}: has no label {label!r}; its labels are: {', '.join(stored.labels)}")
        identity = hash_of_message(message)
        before = stored.label_of(identity)
        result = outcome(before, label)
        if result in (KNOWN, UNKNOWN):
            return result
        model = Model(stored)
        features = model.tokenizer.features(message)
        count = stored.messages[stored.labels.index(label)] if label is not None else 0
        is_fair = result == LEARNED and not (is_correction and count >= ENOUGH_FAIR)
        judged = judge(model, features, label) if is_fair and label is not None else ()
        about = lesson_of(features), features.numbers, *judged
        record = change(stored, identity, before, label, today(), *about)
        try:
            size = stored.journal.append(path + ".journal", stored.generation, [record])
        except OSError as error:
            raise CannotCreate(f"{path}.journal: {error.strerror}; the message was not learned") from error
    limit = 0 if stored.journal.damaged else journal.FOLD_LIMIT  # folding ends the damage
    # Folding also removes a label without messages.
    is_last = before is not None and stored.messages[stored.labels.index(before)] == 1
    is_last = is_last and not set(stored.labels) <= {HAM, SPAM}
    if size > limit or is_last:
        fold_in_background(path, 0 if is_last else limit, 0 if is_last else TOO_LONG)
    return result


def judge(model: Model, features: "FeatureSet", label: str) -> "tuple[float, float, tuple[int, int] | None]":
    """Judge a message before it is learned, since cutoffs are computed from such scores.

    Return the score; the lead of `label` over other labels except spam, in nats; and how many words and how
    many pairs are new to the model, or None if some of them were not looked up.
    """
    found, scorer = model.scorers.score(features), model.scorers.first
    score = verdict_of(found, model.cutoffs, model.calibration).score
    is_all = model.view.pairs and model.view.event != "gaussian"  # of the message was looked up
    return score, found.lead_among_others(label), (scorer.new_words, scorer.new_pairs) if is_all else None


def learned_label(path: str, raw: bytes) -> str | None:
    """Return the label under which a message was learned; None if it was not learned."""
    stored = StoredModel.open(path)
    return stored.label_of(hash_of_message(read(raw)))


def fold_in_background(path: str, limit: int, most: int = TOO_LONG) -> None:
    """Merge a journal larger than `limit` bytes into its model, in a new process, so that mail need not wait.

    If the journal is larger than `most` bytes, this process merges it itself before it goes on.
    """
    lock = Lock(path, patience=0, kind=TRAINING)
    size = 0
    try:
        with lock:
            size = os.path.getsize(path + ".journal")
            if size > most:
                from spamnb.training.train import fold

                fold(path)
            elif size > limit:
                start_folding(path, lock.handle)
    except (SpamnbError, OSError) as error:  # another process is folding, or just did
        if size > TOO_LONG:
            write_stderr(f"spamnb: the message was learned, but it stays in the journal: {error}\n")


def start_folding(path: str, lock: int) -> None:
    """Start a process that merges the journal into the model; a shell starts it, and ends at once.

    The process inherits the lock as its standard output: no second process can start before the first ends.
    """
    command = ["sh", "-c", '"$@" &', "sh", sys.executable, "-c", FOLD, path, *sys.path]
    streams = [
        (os.POSIX_SPAWN_DUP2, lock, STDOUT),
        (os.POSIX_SPAWN_OPEN, STDIN, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, STDERR, os.devnull, os.O_WRONLY, 0),
    ]
    shell = os.posix_spawn("/bin/sh", command, os.environ, file_actions=streams, setsid=True, setsigmask=())
    os.waitpid(shell, 0)
