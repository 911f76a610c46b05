"""Measure how spam is judged that was learned once, and returns with other words, names, links and route.

Half of each corpus is learned. Then one spam of other mail is learned, variants of it are judged, and it is
forgotten again, for many spams. Also measured is how much ham is lost by this: a reply that quotes the spam,
mail with the same footer, and the form letter that the spam copied.
"""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING

import numpy as np
from tables import figure, table

from corpora import Corpus, lay_out
from spamnb import learn, train
from spamnb.core.native import is_html, read, render_page
from spamnb.evaluation.intervals import auc_loss
from spamnb.model import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHARES = (0, 5, 15, 30)  # % of the words that are changed
MAX_KNOWN = 60  # spam learned of each kind
FOOTER = """
_______________________________________________
You receive this message because you joined the list of members at {0}. To leave it or to change
how often you hear from us, write to the address below with the word remove as its subject, or visit the
page of the list. Members of the list answer for what they write. Archive and rules: http://{0}/rules
"""
NAMES = (
    "Anna Bruno Carla Deniz Elena Farid Greta Hugo Ines Jonas Kira Luis Maria Nils Olga Paulo Rita".split()
)
LINK = re.compile(r"(?:https?://|www\.)[^\s\"'<>)]+|[\w.+-]+@[\w-]+\.[\w.]+")
WIDE = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts in which no spaces part the words
PIECE = re.compile(f"(<[^>]*>|&[#\\w]+;)|(\\d[\\d,.]*)|([{WIDE}])|([^\\W\\d_{WIDE}]+)")
CONTENT = (b"content-", b"mime-version", b"subject:")


class Letter:
    """A message: its headers, and its texts, each of which may be HTML."""

    def __init__(self, raw: bytes) -> None:
        message = read(raw)
        head = re.split(rb"\r?\n\r?\n", raw, maxsplit=1)[0].replace(b"\r\n", b"\n")
        fields = re.sub(rb"\n(?=[ \t])", b"\0", head).split(b"\n")
        kept = [field for field in fields if not field.lower().startswith(CONTENT)]
        self.raw, self.subject = raw, message.get("subject") or ""
        self.head = b"\n".join(kept).replace(b"\0", b"\n")
        self.parts = [(part.text, is_html(part)) for part in message.leaves if part.text]

    def written(self, head: bytes, subject: str, parts: Sequence[tuple[str, bool]]) -> bytes:
        """Return this message with other headers, another subject and other texts."""
        lines = [head, b"Subject: " + subject.encode("utf-8", "replace"), b"MIME-Version: 1.0"]
        kinds = [
            b"Content-Type: text/%s; charset=utf-8" % (b"html" if is_page else b"plain")
            for _, is_page in parts
        ]
        texts = [text.encode("utf-8", "replace") for text, _ in parts]
        if len(parts) == 1:
            return b"\n".join((*lines, kinds[0], b"", texts[0], b""))
        lines.append(b'Content-Type: multipart/alternative; boundary="=_part"')
        for kind, text in zip(kinds, texts, strict=True):
            lines += [b"", b"--=_part", kind, b"", text]
        return b"\n".join((*lines, b"", b"--=_part--", b""))

    def plain(self) -> str:
        """Return the first text as a reader sees it."""
        text, is_page = self.parts[0]
        return render_page(text).text if is_page else text


class Words:
    """Words of other mail, which replace words of a mass mailing."""

    def __init__(self, letters: Sequence[Letter], spam: Sequence[Letter], draw: random.Random) -> None:
        self.draw = draw
        self.links = [link for letter in spam for text, _ in letter.parts for link in LINK.findall(text)]
        pieces: dict[str, list[str]] = {"wide": ["的"], "word": ["other"]}
        for letter in draw.sample(letters, min(400, len(letters))):
            if not letter.parts:
                continue
            for _, _, wide, word in PIECE.findall(letter.plain()):
                pieces["wide" if wide else "word"].append(wide or word)
        self.pieces = pieces

    def changed(self, text: str, share: float) -> str:
        """Replace a share of the words of a text, and each link and number."""

        def other(found: re.Match[str]) -> str:
            kept, number, wide, _ = found.groups()
            if number:
                return "".join(self.draw.choice("0123456789") if c.isdigit() else c for c in number)
            if kept or self.draw.random() >= share:
                return found[0]
            return self.draw.choice(self.pieces["wide" if wide else "word"])

        changed = []
        for at, piece in enumerate(re.split(f"({LINK.pattern})", text)):
            changed.append(self.draw.choice(self.links or [piece]) if at % 2 else PIECE.sub(other, piece))
        return "".join(changed)

    def variant(self, letter: Letter, head: bytes, share: float) -> bytes:
        """Write a variant of a letter: other words, recipient and headers."""
        hello = f"Dear {self.draw.choice(NAMES)},"
        parts = [
            ((f"<p>{hello}</p>" if is_page else f"{hello}\n\n") + self.changed(text, share), is_page)
            for text, is_page in letter.parts
        ]
        return letter.written(head, self.changed(letter.subject, share), parts)


class Trained:
    """A model of one half of a corpus, which learns some messages of other mail and then forgets them."""

    def __init__(self, corpus: Corpus, folder: str, seed: int) -> None:
        self.name, (half, self.other) = corpus.name, corpus.halves(seed)
        laid = lay_out(half, os.path.join(folder, "mail"))
        self.path = os.path.join(folder, "model.msgpack")
        self.journal = f"{self.path}.journal"
        train(self.path, {label: [laid.mbox(label)] for label in ("ham", "spam")})
        self.model, self.known_ham = Model.open(self.path), half.ham

    def judge(self, messages: Sequence[bytes], *lessons: bytes) -> list[str]:
        """Learn `lessons` as spam, judge messages, and forget the lessons again; return the verdicts."""
        for lesson in lessons:
            learn(self.path, lesson, "spam")
        model = Model.open(self.path) if lessons else self.model
        found = [model.verdict(model.features(read(raw))) for raw in messages]
        if os.path.exists(self.journal):  # not if it was known
            os.remove(self.journal)
        self.scores = [verdict.score for verdict in found]
        return [verdict.label for verdict in found]

    def missed(self, spam: Sequence[bytes]) -> list[Letter]:
        labels = self.judge(spam)
        return [
            letter
            for raw, label in zip(spam, labels, strict=True)
            if label != "spam"
            if (letter := Letter(raw)).parts
        ]


def of_model(trained: Trained, corpora: Sequence[Corpus], seed: int) -> Iterator[list[str]]:
    """Yield rows: which spam is learned once, the share of its variants that is caught, and the ham lost."""
    draw = random.Random(seed)
    own = trained.other.spam
    ham = [Letter(raw) for raw in draw.sample(trained.other.ham, 300)]
    ham = [letter for letter in ham if letter.parts]
    known = [
        letter
        for raw in draw.sample(trained.known_ham, min(MAX_KNOWN, len(trained.known_ham)))
        if (letter := Letter(raw)).parts
    ]
    sources = [
        ("its own, missed", own, trained.missed(own)),
        ("its own", own, [x for x in map(Letter, draw.sample(own, min(2 * MAX_KNOWN, len(own)))) if x.parts]),
    ]
    for corpus in corpora:
        if corpus.name != trained.name:
            spam = corpus.spam if corpus.name == "short" else corpus.halves(seed)[1].spam
            sources.append((f"{corpus.name}, missed", spam, trained.missed(spam)))
    for name, spam, learned in sources:
        chosen = draw.sample(learned, min(MAX_KNOWN, len(learned)))
        others = [*map(Letter, draw.sample(list(spam), min(300, len(spam))))]
        words = Words([*others, *ham], others, draw)
        found: list[list[str]] = []
        for letter in chosen:
            chance = draw.choice(others).head, draw.choice(ham), draw.choice(known)
            found.append(one_lesson(trained, letter, words, *chance))
        if found:
            columns = list(zip(*found, strict=True))
            caught = [100 * labels.count("spam") / len(labels) for labels in columns]
            yield [trained.name, name, str(len(chosen)), *(figure(share, 1) for share in caught)]


def one_lesson(
    trained: Trained, letter: Letter, words: Words, head: bytes, ham: Letter, known: Letter
) -> list[str]:
    """Learn a spam: alone, with a footer, or with the text of a form letter; then judge similar mail."""
    quoted = "".join(f"> {line}\n" for line in letter.plain().splitlines())
    reply = ham.written(ham.head, ham.subject, [(f"{ham.plain()}\n\n{quoted}", False)])
    short = ham.written(ham.head, ham.subject, [(f"What do you think of this?\n\n{quoted}", False)])
    variants = [words.variant(letter, head, share / 100) for share in SHARES]
    footer = FOOTER.format("lists.members.example")
    with_footer = [
        (text + (f"<p>{footer}</p>" if is_page else footer), is_page) for text, is_page in letter.parts
    ]
    lesson = letter.written(letter.head, letter.subject, with_footer)
    same_footer = ham.written(ham.head, ham.subject, [(ham.plain() + footer, False)])
    copy, same_form = words.variant(known, letter.head, 0.05), words.variant(known, known.head, 0.05)
    before = trained.judge([reply, short, same_footer, same_form])
    after = trained.judge([*variants, reply, short], letter.raw)
    labels, after = after[: len(variants)], after[len(variants) :]
    after += trained.judge([same_footer], lesson) + trained.judge([same_form], copy)
    return labels + ["" if was == "spam" else label for was, label in zip(before, after, strict=True)]


def after_all(trained: Trained) -> list[str]:
    """Return a row: ham lost, and (1-AUC)% of all other mail, before and after all missed spam is learned."""
    ham, spam = trained.other.ham, trained.other.spam
    lessons = [letter.raw for letter in trained.missed(spam)]
    known = set(lessons)
    rest = [raw for raw in spam if raw not in known]
    cells = []
    for given in ((), lessons):
        labels = trained.judge([*ham, *rest], *given)
        is_spam = np.arange(len(labels)) >= len(ham)
        loss = auc_loss(is_spam, np.array(trained.scores))
        cells += [
            figure(100 * labels[: len(ham)].count("spam") / len(ham), 3),
            figure(100 * loss.value if loss else None, 4),
        ]
    return [trained.name, str(len(lessons)), *cells]


def report(corpora: Sequence[Corpus], folder: str, seed: int = 1) -> Iterator[str]:
    """Yield the tables of results."""
    rows: list[list[str]] = []
    afterwards = []
    for corpus in corpora:
        place = os.path.join(folder, f"variants-{corpus.name}")
        os.mkdir(place)
        trained = Trained(corpus, place, seed)
        rows += of_model(trained, [*corpora, Corpus.short()], seed)
        afterwards.append(after_all(trained))
    caught = [f"{share} % changed" if share else "same words" for share in SHARES]
    lost = [f"lost: {ham}" for ham in ("quoted in ham", "in a short reply", "same footer", "same form")]
    names = ["trained", "learned once", "spam", *caught, *lost]
    yield f"## spam learned once, and again\n\n{table(names, rows)}\n"
    columns = ["trained", "learned", "ham lost before", "(1-AUC)% before", "ham lost after", "(1-AUC)% after"]
    yield f"## all that was missed is learned\n\n{table(columns, afterwards)}\n"
