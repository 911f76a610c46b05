"""Common part of the protocols of spamd and rspamd: one request per connection, refusals, and learning."""

from abc import ABC, abstractmethod
from time import perf_counter
from typing import Generic, TypeVar

from spamnb.bayes.verdict import Verdict
from spamnb.core.native import FeatureSet
from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.history.log import append_lessons, hash_of_raw
from spamnb.labels import HAM, SPAM
from spamnb.reading.envelope import read_envelope
from spamnb.rights import ROOT
from spamnb.serve.clients import Connection, Gone
from spamnb.serve.judge import Judge
from spamnb.serve.learning import Lesson, Lessons
from spamnb.serve.log import Log
from spamnb.serve.metrics import FAILED, REFUSED, TIMEOUT
from spamnb.serve.options import Options
from spamnb.store.changes import FORGOTTEN, LEARNED, MOVED

SHOWN_TOKENS = 15
MAX_TOKEN_LENGTH = 60  # characters shown

Request = TypeVar("Request")


class Refusal(Exception):
    """Raised to answer a request with an error; `kind` is the name under which metrics count the error."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class Asked:
    """The user and the message of a request, empty until they are read."""

    def __init__(self, peer: int | None) -> None:
        self.peer = peer  # the user id of a client of a Unix socket; None at a port, where it is unknown
        self.user = ""
        self.raw = b""


class Service(ABC, Generic[Request]):
    """Answers requests: judges messages, and learns them if that is allowed."""

    def __init__(self, judge: Judge, lessons: Lessons, log: Log, options: Options) -> None:
        self.judge = judge
        self.lessons = lessons
        self.log = log
        self.options = options

    @abstractmethod
    async def read(self, connection: Connection, asked: Asked) -> Request:
        """Read a request; also store its user and message in `asked`, for the log of errors."""

    @abstractmethod
    async def answer(self, request: Request, asked: Asked) -> bytes:
        """Return the answer to a request."""

    @abstractmethod
    def refusal_answer(self, refusal: Refusal) -> bytes:
        """Return the answer to a refused request, without details of internal failures."""

    async def handle(self, connection: Connection) -> bytes:
        asked = Asked(connection.peer)
        try:
            async with connection.waiting():
                request = await self.read(connection, asked)
            connection.clear()
            return await self.answer(request, asked)
        except Gone:
            raise
        except Refusal as refusal:
            return self._refuse(refusal, asked)
        except TimeoutError:
            connection.complete = True  # do not wait for what it may still send
            seconds = f"({self.options.timeout:g} second timeout reading input from client)"
            return self._refuse(Refusal(TIMEOUT, seconds), asked)
        except SpamnbError as error:
            return self._refuse(Refusal(FAILED, str(error)), asked)
        except Exception as error:  # every request gets an answer
            self.log.unexpected(error)
            return self._refuse(Refusal(FAILED, "this request could not be answered"), asked)

    def _refuse(self, refusal: Refusal, asked: Asked) -> bytes:
        self.judge.counters.count(refusal.kind)
        message_id = read_envelope(asked.raw).message_id if asked.raw else ""
        self.log.refused(f"{refusal.kind}: {refusal}", asked.user, message_id)
        return self.refusal_answer(refusal)

    def check_learning_allowed(self) -> None:
        """Raise Refusal if the options do not allow learning; called before the message is read."""
        if not self.options.allow_tell:
            raise Refusal(REFUSED, "TELL commands are not enabled, set the --allow-tell switch.")

    async def learn(self, asked: Asked, label: str | None) -> str:
        """Learn or (`label` None) forget the message; return the outcome when the change is on disk."""
        start = perf_counter()
        raw, user = asked.raw, asked.user
        model = self.judge.learning_model(user)
        if model is None:
            raise Refusal(REFUSED, "this user name is not allowed.")
        if not (self.options.allow_tell_all or self.judge.may_change_model(asked.peer, user, model)):
            raise Refusal(REFUSED, "this model belongs to another user, see --allow-tell-all.")
        shared = self.judge.shared.path
        base, owner = (shared, self.judge.owner(user)) if model != shared else (None, ROOT)
        outcome = await self.lessons.learn(Lesson(model, raw, label, base, owner))
        self.judge.counters.count(outcome)
        if self.judge.history and outcome in (LEARNED, MOVED, FORGOTTEN):
            before = {HAM: SPAM, SPAM: HAM}.get(label or "") if outcome == MOVED else None
            append_lessons(model, [(before, label, hash_of_raw(raw).to_bytes(8, "little"))])
        self.log.learned(outcome, label, raw, perf_counter() - start, user=user, model=model)
        return outcome


def symbol(label: str) -> str:
    """Return the name of a verdict in SpamAssassin's style, such as SPAMNB_HAM for the label ham."""
    return "SPAMNB_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in label).upper()


def strongest_evidence(verdict: Verdict, features: FeatureSet) -> list[tuple[float, str]]:
    """List (strength, text) of the strongest tokens in the evidence, for people to read."""
    named = [(item.strength, features.text_of(item.feature)) for item in verdict.evidence]
    strongest = sorted(named, key=lambda item: (-item[0], item[1]))[:SHOWN_TOKENS]
    return [(strength, printable(token[:MAX_TOKEN_LENGTH])) for strength, token in strongest]
