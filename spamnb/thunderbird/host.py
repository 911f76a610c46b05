"""The program that the Thunderbird add-on talks to: it judges, explains and learns messages of the add-on.

Thunderbird starts it, writes requests to its standard input and reads answers from its standard output. Each
is 4 bytes with its length, in the byte order of this machine, then JSON. Answers come in the order of the
requests; each has the `id` of its request. A message is a string in which each character is a byte.

    {"id": 1, "do": "status"}                                  messages by label; can it judge already?
    {"id": 2, "do": "judge", "message": "From: …"}             verdict, score
    {"id": 3, "do": "learn", "message": "…", "label": "spam"}  outcome; label null forgets the message
    {"id": 4, "do": "why", "message": "…"}                     page, in HTML; "more" if another piece follows
    {"id": 5, "do": "train"}                                   "mail" with message and label, repeatedly, and
                                                               "end" follow: all is learned, or nothing

If a request fails, the answer has `error`, a sentence for people, and `kind`, the class of the error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

from spamnb.configuration import load, model_path
from spamnb.configuration.quantities import parse_percentage
from spamnb.delivery.commands import ClassifyCommand, LearnCommand
from spamnb.errors import DataError, InputOutputError, NoModel, SpamnbError
from spamnb.files import STDERR, STDIN, STDOUT, complain, model_file, write_all
from spamnb.history.log import append_lessons
from spamnb.inspection.explanation import explain
from spamnb.labels import LABELS, SPAM
from spamnb.mailboxes.chunks import RawMessage
from spamnb.model import Model
from spamnb.pages.message_sections import message_page
from spamnb.threads import all_cores
from spamnb.training.batches import AT_ONCE, Batch, ChunkReader, MailToRead
from spamnb.training.train import train

MAX_REQUEST = 256 << 20  # bytes
MAX_PIECE = 150_000  # characters of a page: Thunderbird takes answers up to 1 MB, and JSON may need 6 for one
BLOCK = 1 << 20  # bytes read at once
PLACE = "Thunderbird"  # shown as the path of messages

Answer = dict[str, Any]


class AddOnRequest(NamedTuple):
    """A valid request of the add-on; the message is empty if the request needs none."""

    id: int
    do: str
    message: bytes
    label: str | None


class Pipe:
    """The connection to the add-on: requests are read from one file handle, answers written to another."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self.requests = self._requests()

    def answer(self, id_: object, content: Answer) -> None:
        """Write the answer to the request `id_`; if it has a long page, split it into several answers."""
        page = content.get("page", "")
        for start in range(0, len(page) or 1, MAX_PIECE):
            end = start + MAX_PIECE
            piece = {"page": page[start:end], "more": end < len(page)} if page else {}
            data = json.dumps({"id": id_, **content, **piece}).encode()
            write_all(self.target, len(data).to_bytes(4, sys.byteorder) + data)

    def refuse(self, id_: object, error: SpamnbError) -> None:
        self.answer(id_, {"error": str(error), "kind": type(error).__name__})

    def _requests(self) -> Iterator[AddOnRequest]:
        """Yield valid requests until the pipe is closed; answer invalid requests with an error."""
        while len(head := b"".join(self._blocks(4))) == 4:
            size, asked = int.from_bytes(head, sys.byteorder), None
            try:
                if size > MAX_REQUEST:
                    for _ in self._blocks(size):
                        pass
                    raise DataError("the message is too large")
                asked = json.loads(b"".join(self._blocks(size)))
                request = checked(asked)
            except DataError as error:
                self.refuse(asked.get("id") if isinstance(asked, dict) else None, error)
            except (ValueError, RecursionError):  # not JSON, or nested too deeply
                self.refuse(None, DataError("this is not a request: it must be one JSON object"))
            else:
                yield request

    def _blocks(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes, block by block; fewer bytes if the pipe is closed."""
        while size and (block := os.read(self.source, min(size, BLOCK))):
            size -= len(block)
            yield block


def checked(asked: object) -> AddOnRequest:
    """Check a request and return it; raise DataError if anything is missing or wrong."""
    if not isinstance(asked, dict) or type(asked.get("id")) is not int:
        raise DataError("a request needs a number in `id`")
    do, message, label = asked.get("do"), asked.get("message", ""), asked.get("label")
    if do not in ("status", "judge", "learn", "why", "train", "mail", "end"):
        raise DataError("the request has an unknown command in `do`, or none")
    if do in ("judge", "learn", "why", "mail") and not (isinstance(message, str) and message.strip()):
        raise DataError("the message is empty")
    if label not in LABELS and not (label is None and do != "mail"):
        raise DataError("the label must be ham or spam")
    try:
        return AddOnRequest(asked["id"], do, str(message).encode("latin-1"), label)
    except UnicodeEncodeError:
        raise DataError("each character of the message must be one byte, from 0 to 255") from None


class Host:
    """Answers the requests of the add-on with the configured model."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe

    def run(self) -> None:
        for request in self.pipe.requests:
            mail = PipedMail(self.pipe, request.id)
            try:
                answer = self.train(mail) if request.do == "train" else self.answer_to(request)
            except SpamnbError as error:
                self.pipe.refuse(mail.asked, error)
            except Exception as error:  # every request gets an answer
                complain(f"unexpected {type(error).__name__}: {error}")
                self.pipe.refuse(mail.asked, SpamnbError("this message could not be read"))
            else:
                self.pipe.answer(mail.asked, answer)

    def answer_to(self, request: AddOnRequest) -> Answer:
        if request.do == "status":
            return status()
        if request.do == "judge":
            return judge(request.message)
        if request.do == "learn":
            lesson = LearnCommand(request.label or SPAM, forget=request.label is None, is_correction=True)
            return {"outcome": lesson.learn_and_note(request.message)}
        if request.do == "why":
            model = Model.open(model_file(model_path()))
            return {"page": message_page(explain(model, request.message, load()), PLACE)}
        raise DataError("send the request `train` before `mail` and `end`")

    def train(self, mail: PipedMail) -> Answer:
        """Learn the mail in the next requests, up to `end`; return an answer with the numbers learned."""
        path, ham_loss = model_file(model_path()), load()["ham_loss"]
        sources: dict[str, list[str]] = {label: [] for label in LABELS}
        summary = train(path, sources, ham_loss=parse_percentage(ham_loss) if ham_loss else None, pool=mail)
        append_lessons(path, summary.lessons)
        return {"outcomes": summary.outcomes, **status()}


def status() -> Answer:
    """Return how many messages of each label are learned, and whether these are enough to judge."""
    path = model_file(model_path())
    try:
        model = Model.open(path)
    except NoModel:
        return {"model": path, "messages": {}, "can_judge": False}
    messages = dict(zip(model.labels, model.stored.messages, strict=True))
    has_cutoffs = not model.cutoffs or isfinite(model.cutoffs.spam)
    return {"model": path, "messages": messages, "can_judge": model.can_judge and has_cutoffs}


def judge(raw: bytes) -> Answer:
    """Judge a message as a delivery does; if a history is kept, note the verdict in the history."""
    command = ClassifyCommand()
    verdict, _ = command.judged(raw)
    if command.history:
        command.history.append(raw, verdict, command.model, "thunderbird")
    return {"verdict": verdict.label, "score": verdict.score}


class PipedMail:
    """Mail for training that comes through the pipe, one message per request."""

    def __init__(self, pipe: Pipe, asked: int) -> None:
        self.pipe = pipe
        self.asked = asked  # the id of the request that waits for an answer
        self.jobs = all_cores()
        self.held = {label: HeldMail() for label in LABELS}

    def batches(self, mail: MailToRead) -> Iterator[Batch]:
        """Yield batches of the mail in requests up to `end`; raise InputOutputError if `end` never comes."""
        read = ChunkReader(mail.settings, mail.learned_hashes)
        self.pipe.answer(self.asked, {})
        for request in self.pipe.requests:
            self.asked, label = request.id, request.label
            if request.do == "end":
                for label, held in self.held.items():
                    yield read(held, label)
                return
            if request.do != "mail" or label is None:
                self.pipe.refuse(request.id, DataError("send the request `end` first, to end training"))
                continue
            if self.held[label].add(request.message) >= AT_ONCE:
                yield read(self.held[label], label)
                self.held[label] = HeldMail()
            self.pipe.answer(request.id, {})
        raise InputOutputError("training was interrupted; nothing was learned")


class HeldMail:
    """Messages of one label that wait to be read."""

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.size = 0

    def add(self, raw: bytes) -> int:
        """Add a message; return the size of all waiting messages in bytes."""
        self.data.append(raw)
        self.size += len(raw)
        return self.size

    def messages(self) -> Iterator[RawMessage]:
        return (RawMessage(PLACE, None, raw) for raw in self.data)


def run() -> None:
    """Answer the requests on standard input; all other output goes to standard error, not between answers."""
    target = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    Host(Pipe(STDIN, target)).run()
