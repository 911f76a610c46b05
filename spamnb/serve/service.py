"""What spamd's protocol and rspamd's share: one request a connection, refusals, and who may teach."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from time import perf_counter

from spamnb.bayes.verdict import Verdict
from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.history.log import append_lessons, digest_of
from spamnb.labels import HAM, SPAM
from spamnb.reading.envelope import read_envelope
from spamnb.reading.features import Features
from spamnb.rights import ROOT
from spamnb.serve.conversation import Conversation, Incoming
from spamnb.serve.judge import Judge
from spamnb.serve.learning import LearningQueue
from spamnb.serve.log import Log
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.options import Options
from spamnb.store.changes import FORGOTTEN, LEARNED, MOVED

SHOWN_TOKENS = 15
LONGEST_TOKEN = 60  # characters shown
MOST_HEADERS = 255
LONGEST_LINE = 8192  # bytes


class Refusal(Exception):
    """Error as an answer: its kind, as the metrics have it, and why."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class Asked:
    """Who asked, and about which message, as far as a request was read."""

    user = ""
    raw = b""


class Service(ABC):
    """Answers requests: judges, and learns where that is allowed."""

    def __init__(self, judge: Judge, learning: LearningQueue, log: Log, options: Options) -> None:
        self.judge = judge
        self.learning = learning
        self.log = log
        self.options = options

    @abstractmethod
    def answer(self, incoming: Incoming, asked: Asked) -> Conversation:
        """Read a request and return the answer to it; put down who asked and what, in case of an error."""

    @abstractmethod
    def refusal_answer(self, refusal: Refusal) -> bytes:
        """Answer that a client gets in place of what it asked for; of a failure of ours it tells no more."""

    def handle(self, incoming: Incoming) -> Conversation:
        asked = Asked()
        try:
            return (yield from self.answer(incoming, asked))
        except Refusal as refusal:
            return self._refuse(refusal, asked)
        except TimeoutError:
            seconds = f"({self.options.timeout:g} second timeout reading input from client)"
            return self._refuse(Refusal(TIMEOUT, seconds), asked)
        except SpamnbError as error:
            return self._refuse(Refusal(FAILED, str(error)), asked)
        except Exception as error:  # whatever a message does, it gets an answer
            self.log.unexpected(error)
            return self._refuse(Refusal(FAILED, "this message could not be answered"), asked)

    def _refuse(self, refusal: Refusal, asked: Asked) -> bytes:
        self.judge.counters.count(refusal.kind)
        message_id = read_envelope(asked.raw).message_id if asked.raw else ""
        self.log.refused(f"{refusal.kind}: {refusal}", asked.user, message_id)
        return self.refusal_answer(refusal)

    def check_teaching(self) -> None:
        """Refuse a lesson before its message is read, where nobody may teach."""
        if not self.options.allow_tell:
            raise Refusal(REFUSED, "TELL commands are not enabled, set the --allow-tell switch.")

    def teach(
        self, raw: bytes, label: str | None, user: str, peer: int | None
    ) -> Generator[int | bytes | None, None, str]:
        """Learn a message for a user, or forget it (no label); return what became of it, once on the disk."""
        start = perf_counter()
        model = self.judge.model_to_teach(user)
        if model is None:
            raise Refusal(REFUSED, "this user has no model, see --create-user-models and --teach-shared.")
        if not (self.options.allow_tell_all or self.judge.may_teach(peer, user, model)):
            raise Refusal(REFUSED, "this model is another user's, see --allow-tell-all.")
        shared = self.judge.shared.path
        base, owner = (shared, self.judge.owner(user)) if model != shared else (None, ROOT)
        task = self.learning.add(model, raw, label, self.options.create_user_models, base, owner)
        yield task.result_reader
        outcome = self.learning.finish(task)
        self.judge.counters.count(outcome)
        if self.judge.history and outcome in (LEARNED, MOVED, FORGOTTEN):
            before = {HAM: SPAM, SPAM: HAM}.get(label or "") if outcome == MOVED else None
            append_lessons(model, [(before, label, digest_of(raw).to_bytes(8, "little"))])
        self.log.learned(outcome, label, raw, perf_counter() - start, user=user, model=model)
        return outcome


def read_headers(incoming: Incoming) -> Generator[None, None, list[bytes]]:
    """Read the lines of a request up to an empty one."""
    lines: list[bytes] = []
    for _ in range(MOST_HEADERS + 1):
        line = yield from incoming.read_line(LONGEST_LINE)
        if line is None:
            raise Refusal(PROTOCOL, "(EOF during headers)" if incoming.ended else "(line too long)")
        if not line:
            return lines
        lines.append(line)
    raise Refusal(PROTOCOL, "(too many headers)")


def symbol(label: str) -> str:
    """Name of a verdict in the style of SpamAssassin's tests: SPAMNB_HAM, SPAMNB_SPAM, SPAMNB_UNSURE."""
    return "SPAMNB_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in label).upper()


def strongest_evidence(verdict: Verdict, features: Features) -> list[tuple[float, str]]:
    """Strength and text of the tokens that decided most, for people to read."""
    named = [(item.strength, features.text_of(item.feature)) for item in verdict.evidence]
    strongest = sorted(named, key=lambda item: (-item[0], item[1]))[:SHOWN_TOKENS]
    return [(strength, printable(token[:LONGEST_TOKEN])) for strength, token in strongest]
