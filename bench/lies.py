"""Mail that is not as it says: accuracy beside the same mail truly declared. Run by `make lies`.

The SpamAssassin corpus is turned Chinese and Russian: a word always becomes the same made-up one, of letters
as frequent as in prose. A share of it names no charset, and is not encoded as it says.
"""

from __future__ import annotations

import random
import re
import sys
from base64 import b64encode, encodebytes
from email import message_from_bytes, policy
from functools import cache
from itertools import accumulate, repeat
from math import exp

from accuracy import SEEDS, Trial, averages
from peers import Spamnb
from tables import figure, table

from corpora import LABELS, Corpus
from spamnb.core.letter_tables import IDEOGRAPHS, LETTERS
from spamnb.core.native import found_text, readable

CHARSETS = {"Chinese": ("gb18030",), "Russian": ("koi8-r", "windows-1251")}
HAN, CYRILLIC = IDEOGRAPHS["zh-Hans"], LETTERS["ru"]  # characters, and what each costs in quarters of a nat
SHARES = list(accumulate(exp(-cost / 4) * char.isalpha() for char, cost in zip(*HAN, strict=True)))
OWN = 28  # columns before those of the Cyrillic letters
# Words are turned; style sheets, tags, entities, links and addresses stay.
WORDS = re.compile(
    r"<style.*?</style>|<[^>]*>|&\w+;|[^\s<>/@]{0,60}[/@]\S*|([a-z]+(?: [a-z]+)*)", re.S | re.I
)
LIES = ("base64", "quoted-printable", "7bit")  # the last over base64, the others over raw bytes
FIGURES = {"F1": ("f1", 4), "(1-AUC)%": ("one_minus_auc_percent", 4), "ham lost %": ("ham_lost_percent", 3)}
UNFOLDED = policy.compat32.clone(max_line_length=None)


@cache
def word_in(language: str, english: str) -> str:
    draw, word, row = random.Random(english), "", 0
    if language == "Chinese":
        return "".join(draw.choices(HAN[0], cum_weights=SHARES, k=min(3, 1 + len(english) // 4)))
    letters, costs = CYRILLIC
    for _ in english:
        start = row * (OWN + len(letters)) + OWN
        word += draw.choices(letters, [exp(-cost / 4) for cost in costs[start : start + len(letters)]])[0]
        row = OWN + letters.index(word[-1])
    return word


def translated(text: str, language: str) -> str:
    def run(found: re.Match[str]) -> str:
        words = [word_in(language, word) for word in (found[1] or "").lower().split()]
        return ("" if language == "Chinese" else " ").join(words) or found[0]

    return WORDS.sub(run, text)


def turned(raw: bytes, language: str, lie: str = "") -> bytes:
    """Return a message in another language: truly declared, or with a lie for its transfer encoding."""
    charset = CHARSETS[language][len(raw) % len(CHARSETS[language])]
    message = message_from_bytes(raw)
    for part in message.walk():
        data = part.get_payload(decode=True)
        if isinstance(data, bytes) and data and part.get_content_maintype() == "text":
            text = found_text(data, part.get_content_charset(""))[0]
            data = translated(text, language).encode(charset, "replace")
            data = encodebytes(data) if lie == "7bit" else data
            part.set_payload(data.decode("ascii", "surrogateescape"))
            part.del_param("charset") if lie else part.set_param("charset", charset)
            del part["Content-Transfer-Encoding"]
            part["Content-Transfer-Encoding"] = lie or "8bit"
    subject = readable(str(message["Subject"] or "").encode("latin-1", "replace").decode("latin-1"))
    data = translated(" ".join(subject.split()), language).encode(charset, "replace")
    data = data if lie else b"=?%s?B?%s?=" % (charset.encode(), b64encode(data))
    del message["Subject"]
    message["Subject"] = data.decode("ascii", "surrogateescape")
    return message.as_bytes(policy=UNFOLDED)


def main() -> None:
    seeds = int(sys.argv[1]) if sys.argv[1:] else SEEDS
    english, rows = Corpus.spamassassin(), []
    for language in CHARSETS:
        for name, share in (("truly declared", 0.0), ("15 % lies", 0.15)):
            draw, said = random.Random(1), {}
            for label in LABELS:
                lies = [draw.choice(LIES) if draw.random() < share else "" for _ in english.of(label)]
                said[label] = list(map(turned, english.of(label), repeat(language), lies))
            done = [Trial(name, seed, *Corpus(name, **said).halves(seed)) for seed in range(1, seeds + 1)]
            for trial in done:
                trial.run([Spamnb], 1)
            means = averages([trial.rows[Spamnb.name] for trial in done])
            rows.append([f"{language}, {name}", *(figure(means[key], n) for key, n in FIGURES.values())])
    print(table(["mail", *FIGURES], rows))


if __name__ == "__main__":
    main()
