"""The compiled form makes of any bytes what the interpreted one makes of them: each check compares both."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from fuzz.file_checks import sound_model
from helpers.interpreted import interpreted

SETTINGS: list[dict[str, Any]] = [{}, {"ngrams": 3, "stem": "english"}, {"keep_case": True, "headers": False}]
DECLARED = ("", "utf_8", "cp1251", "gb18030", "big5hkscs", "iso2022_jp", "utf_16_le")
DECODING = ("charset", "encoding", "why_charset", "why_encoding")
PART = ("charset", "content_type", "disposition", "filename", "headers", "size", "text")
OF_MAIL = ("message", "head", "features", "batch")
PAGE = ("hidden", "images", "links", "tags", "text")


class Form:
    """The functions of one form, and what they make of bytes as values that can be compared."""

    def __init__(self, imported: Callable[[str], Any]) -> None:
        def module(name: str) -> Any:
            return imported(f"spamnb.{name}")

        self.read = module("reading.message").read
        self.read_envelope = module("reading.envelope").read_envelope
        self.digest = module("reading.identity").digest
        self.find = module("reading.encodings.detection").find
        self.surroundings = module("reading.headers").Surroundings
        self.render = module("html.page").render
        self.mbox = module("mailboxes.formats.mbox")
        self.batch_builder = module("reading.batch").BatchBuilder
        tokenizer, settings = module("reading.tokenizer").Tokenizer, module("reading.settings").Settings
        self.tokenizers = [tokenizer(settings(**chosen)) for chosen in SETTINGS]
        self.model = module("model").Model.open(sound_model())

    def message(self, data: bytes) -> Any:
        message = self.read(data)
        parts = [[getattr(part, name) for name in PART] for part in message.leaves]
        decodings = [
            [getattr(part.decoding, name) for name in DECODING] for part in message.leaves if part.decoding
        ]
        return message.has_headers, message.headers, parts, decodings, self.digest(message)

    def charset(self, data: bytes) -> Any:
        """The charsets of bytes under several declarations, alone and in a message of the same bytes."""
        return [
            self.find(data, declared, around)
            for declared in DECLARED
            for around in (None, self.surroundings(data))
        ]

    def head(self, data: bytes) -> Any:
        found = self.read_envelope(data), self.read_envelope(b"From: " + data)
        return [[getattr(one, name) for name in one.__slots__] for one in found]

    def features(self, data: bytes) -> Any:
        features = self.tokenizers[len(data) % len(SETTINGS)].features(self.read(data))
        texts = [features.text_of(number) for number, *_ in (*features.tokens, *features.pairs)]
        return features.tokens, features.pairs, features.grams, features.numbers, texts

    def batch(self, data: bytes) -> Any:
        builder = self.batch_builder()
        half = len(data) // 2
        for raw in (data[:half], data[half:]):
            builder.add(self.tokenizers[len(data) % len(SETTINGS)].features(self.read(raw)))
        rows, fingerprints, texts = builder.build()
        columns = rows.starts, rows.places, rows.times, rows.parts, fingerprints, texts.ends, texts.data
        numbers = {name: values.tolist() for name, values in rows.numbers.items()}
        return [column.tolist() for column in columns], numbers

    def page(self, data: bytes) -> Any:
        page = self.render(data.decode("utf-8", "replace"))
        return [getattr(page, name) for name in PAGE]

    def mailbox(self, data: bytes) -> Any:
        return list(self.mbox.messages([data[at : at + 100] for at in range(0, len(data), 100)]))

    def verdict(self, data: bytes) -> Any:
        verdict = self.model.classify(data)
        evidence = [(one.feature, one.part, one.times, one.weights) for one in verdict.evidence]
        return verdict.label, verdict.score, verdict.probability, verdict.probabilities, evidence


def is_compiled() -> bool:
    """Whether a module in use is compiled: else both forms are one."""
    return any(
        str(module.__spec__.origin).endswith(".so")
        for name, module in list(sys.modules.items())
        if name.startswith("spamnb.") and module.__spec__
    )


@cache
def forms() -> tuple[Form, Form]:
    return Form(import_module), Form(interpreted)


def same(what: str) -> Callable[[bytes], None]:
    def check(data: bytes) -> None:
        compiled, plain = (getattr(form, what)(data) for form in forms())
        assert compiled == plain, what

    return check
