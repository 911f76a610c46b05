"""Known attacks on naive Bayes: how much more spam is missed under each. Run by `make attacks`.

Half of the SpamAssassin corpus is learned. In the other half, each spam with text is written again as one
HTML part under its own headers, first without an attack, then once for each attack.

The corpus is older than DKIM signatures. So it is also learned as mail of today: on top, the server says
whether the sender passed its checks, and three spams in ten have a forged link, name or file. Then spam is
sent under the headers of ham.
"""

from __future__ import annotations

import argparse
import base64
import html
import os
import random
import tempfile
from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

from documents import docx, pdf, qr_code, smuggling_page

from corpora import LABELS, Corpus, lay_out
from spamnb import train
from spamnb.core.native import is_html, read, render_page
from spamnb.inspection.model_summary import ModelSummary
from spamnb.model import Model

LOOK_ALIKES = str.maketrans("aeopcyxi", "аеорсухі")
ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"

# Ways to hide words, for a style attribute.
STYLES = {
    "off the screen": "position:absolute;left:-9999px",
    "off the screen by a margin": "margin-left:-9999px",
    "cut away by clip-path": "clip-path:inset(50%)",
    "shrunk by transform": "transform:scale(0)",
    "in a box without room": "max-height:0;overflow:hidden",
    "in tiny letters": "font-size:1px",
    "invisible": "visibility:hidden",
    "nearly transparent": "opacity:.01",
    "in a transparent colour": "color:transparent",
    "white by numbers": "color:rgb(255,255,255)",
    "white by hue": "color:hsl(0,0%,100%)",
    "hidden with escapes": r"d\69splay:none",
}
# Ways to hide words that take more; {{ and }} stand for braces.
HIDING = {
    "hidden by a class": "<style>.n7 {{display:none}}</style><p class=n7>{}</p>",
    "hidden by a class, style sheet last": "<p class=n7>{}</p><style>p.n7 {{display:none}}</style>",
    "hidden by an id, important": "<style>#n {{display:none!important}}</style>"
    '<p id=n style="display:block">{}</p>',
    "hidden by a class around": "<style>.n7 > p {{visibility:hidden}}</style><div class=n7><p>{}</p></div>",
    "hidden on every screen": "<style>@media screen and (min-width:1px) {{.n {{display:none}}}}</style>"
    "<p class=n>{}</p>",
    "off the screen by a class": "<style>.n {{position:fixed;top:-200em}}</style><div class=n>{}</div>",
    "off the screen by text-indent": "<style>.n {{text-indent:-99999px}}</style><div class=n>{}</div>",
    "nearly white by any word": '<font color="#fffffx">{}</font>',
    "coloured by a variable": "<style>:root {{--n:#fff}} .n {{color:var(--n)}}</style><div class=n>{}</div>",
    "coloured by a variable inline": '<div style="--n:#fff"><p style="color:var(--n)">{}</p></div>',
    **{name: f'<div style="{style}">{{}}</div>' for name, style in STYLES.items()},
}
# Ways to let text look hidden that people see.
SHOWING = {
    "hidden in print": "<style>@media print {{.n {{display:none}}}}</style><p class=n>{}</p>",
    "hidden on a phone": "<style>@media (max-width:480px) {{.n {{display:none}}}}</style><p class=n>{}</p>",
    "hidden on large screens": "<style>@media (min-width:800px) {{.n {{display:none}}}}</style>"
    "<p class=n>{}</p>",
    "hidden and shown by a later rule": "<style>.n {{display:none}} .n {{display:block}}</style>"
    "<p class=n>{}</p>",
    "hidden and shown by an important rule": "<style>.n {{display:block!important}}</style>"
    '<p class=n style="display:none">{}</p>',
    "hidden elsewhere": "<style>table .n {{display:none}}</style><p class=n>{}</p>",
}


class Mail:
    """A spam message: its headers, and the words of its text."""

    def __init__(self, raw: bytes) -> None:
        message = read(raw)
        head, _, _ = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
        fields = [
            field for field in unfolded(head) if not field.lower().startswith((b"content-", b"mime-version"))
        ]
        self.head = b"\n".join(fields)
        texts = [
            render_page(part.text).text if is_html(part) else part.text
            for part in message.leaves
            if part.text
        ]
        self.words = "\n".join(texts).split()

    def written(self, body: str, encoded: bool = False) -> bytes:
        data = f"<html><body>{body}</body></html>".encode()
        return self.with_body(data, "text/html; charset=utf-8", encoded)

    def attached(self, data: bytes, content_type: str, name: str) -> bytes:
        """Return the mail with an attachment, `data`, in place of its text."""
        return self.with_body(data, f'{content_type}; name="{name}"', True)

    def with_body(self, data: bytes, content_type: str, encoded: bool) -> bytes:
        encoding = "base64" if encoded else "8bit"
        lines = (
            "MIME-Version: 1.0",
            f"Content-Type: {content_type}",
            f"Content-Transfer-Encoding: {encoding}",
        )
        head = self.head + b"\n" + "\n".join(lines).encode()
        return head + b"\n\n" + (base64.encodebytes(data) if encoded else data)

    @property
    def text(self) -> str:
        return html.escape(" ".join(self.words))


def unfolded(head: bytes) -> list[bytes]:
    return head.replace(b"\n ", b"\0 ").replace(b"\n\t", b"\0\t").split(b"\n")


def attacks(model: Model, ham: list[str]) -> dict[str, Callable[[Mail], bytes]]:
    """Return the attacks by name, each a function from a mail to the bytes of the attack."""
    strongest = ModelSummary.of(model, 20_000).strongest

    def words(label: str, many: int) -> list[str]:
        return [one.token for one in strongest[label][:many] if ":" not in one.token]

    hammy, spammy = words("ham", 5000), set(words("spam", 20_000))
    urls = [one.token for one in strongest["spam"] if one.token.startswith("url:www.")]
    hosts = [url.removeprefix("url:") for url in urls][:50]
    chosen = random.Random(1)

    def disguised(change: Callable[[str], str]) -> Callable[[Mail], bytes]:
        def attack(mail: Mail) -> bytes:
            words = [
                change(word) if word.lower().strip(".,!?") in spammy else html.escape(word)
                for word in mail.words
            ]
            return mail.written(" ".join(words))

        return attack

    def middle(mark: str) -> Callable[[str], str]:
        return lambda word: html.escape(word[: len(word) // 2]) + mark + html.escape(word[len(word) // 2 :])

    def in_a(wrap: str) -> Callable[[Mail], bytes]:
        return lambda mail: mail.written(wrap.format(mail.text))

    def with_words(count: int, wrap: str) -> Callable[[Mail], bytes]:
        return lambda mail: mail.written(mail.text + wrap.format(" ".join(hammy[:count])))

    return {
        "none": lambda mail: mail.written(mail.text),
        "50 good words": with_words(50, "<p>{}</p>"),
        "500 good words": with_words(500, "<p>{}</p>"),
        "50 good words, not displayed": with_words(50, '<div style="display:none">{}</div>'),
        "500 good words, hidden: not displayed": with_words(500, '<div style="display:none">{}</div>'),
        "500 good words, hidden: white on white": with_words(500, '<font color="#ffffff">{}</font>'),
        **{f"500 good words, hidden: {name}": with_words(500, wrap) for name, wrap in HIDING.items()},
        **{f"text that only looks hidden: {name}": in_a(wrap) for name, wrap in SHOWING.items()},
        "text in pictures' texts": lambda mail: mail.written(
            "".join([f'<img src=a.gif alt="{word}">' for word in mail.text.split()])
        ),
        "text ten times": lambda mail: mail.written(" ".join([mail.text] * 10)),
        "zero-width characters in spammy words": disguised(middle(ZERO_WIDTH)),
        "look-alike letters in spammy words": disguised(
            lambda word: html.escape(word.translate(LOOK_ALIKES))
        ),
        "spammy words split by tags": disguised(middle("<b></b>")),
        "spammy words split by comments": disguised(middle("<!-- x -->")),
        "body in base64": lambda mail: mail.written(mail.text, encoded=True),
        "a picture instead of text": lambda mail: mail.written('<img src="http://pictures.example/a.gif">'),
        "a PDF instead of text": lambda mail: mail.attached(pdf(mail.words), "application/pdf", "a.pdf"),
        "HTML as application/octet-stream": lambda mail: mail.attached(
            f"<html><body>{mail.text}</body></html>".encode(), "application/octet-stream", "invoice.txt"
        ),
        "a DOCX instead of text": lambda mail: mail.attached(
            docx(mail.words), "application/octet-stream", "a.docx"
        ),
        "a text file instead of text": lambda mail: mail.attached(
            " ".join(mail.words).encode(), "application/octet-stream", "a.txt"
        ),
        "a QR code instead of text": lambda mail: mail.attached(
            qr_code(f"http://{chosen.choice(hosts)}/"), "image/png", "a.png"
        ),
        "a paragraph of ham": lambda mail: mail.written(
            f"{mail.text}<p>{html.escape(chosen.choice(ham))}</p>"
        ),
    }


SERVER, FORGER = "mx.receiver.example", "mx.forger.example"
PASS = "dkim=pass header.d={0}; spf=pass smtp.mailfrom=bounce@{0}; dmarc=pass header.from={0}"
NO_PASS = (
    "dkim=none; spf=fail smtp.mailfrom=bounce@{0}; dmarc=fail header.from={0}",
    "dkim=none; spf=softfail smtp.mailfrom=a@{0}; dmarc=none header.from={0}",
    "dkim=pass header.d=bulk.example; spf=pass smtp.mailfrom=a@bulk.example; dmarc=none header.from={0}",
)
LINK = '<p><a href="http://203.0.113.9/login">https://www.bank.example/login</a></p>'
BRANDS = (
    "PayPal Service",
    "Amazon",
    "Netflix Billing",
    "DHL Express",
    "Microsoft account team",
    "Apple Support",
)


def with_name(mail: Mail, body: str, name: str, address: str = "") -> bytes:
    """Return a message with another name in its From and, if `address` is given, with this address."""
    fields = mail.head.split(b"\n")
    for at, field in enumerate(fields):
        if field.lower().startswith(b"from:"):
            own = field.rpartition(b"<")[2].replace(b"From:", b"").strip(b"> ")
            fields[at] = f'From: "{name}" <'.encode() + (address.encode() or own) + b">"
    return mail.written(body).replace(mail.head, b"\n".join(fields), 1)


class Forgeries:
    """Changes older mail so that it is like mail of today, in the same way at every run."""

    def __init__(self) -> None:
        self.chosen = random.Random(2)

    def findings(self, raw: bytes, passes: float, server: str = SERVER) -> bytes:
        """Return Authentication-Results; `passes` is the share of messages whose sender passes the checks."""
        domain = (read(raw).get("from") or "").rpartition("@")[2].rstrip("> ") or "unknown.example"
        draw = random.Random(raw[-1000:])
        form = PASS if draw.random() < passes else draw.choice(NO_PASS)
        return f"Authentication-Results: {server}; {form.format(domain)}\n".encode("ascii", "replace")

    def forms(self) -> dict[str, Callable[[Mail, str], bytes]]:
        """Return the ways to forge a message, by name; each is a function of a message and a body."""
        posing = '<p><a href="http://раyраl.com/">Log in</a></p>'
        return {
            "with a link to another host": lambda mail, body: mail.written(body + LINK),
            "with a link to a domain that poses": lambda mail, body: mail.written(body + posing),
            "in the name of a firm": self.named,
            "with another address in the name": lambda mail, body: with_name(
                mail, body, "service@bank.example"
            ),
            "from a domain that poses": lambda mail, body: with_name(mail, body, "Bank", "info@раyраl.com"),
            "with a file that its script builds": lambda mail, body: mail.written(
                body + smuggling_page(["a", "file"])
            ),
        }

    def named(self, mail: Mail, body: str) -> bytes:
        """Return a message with the name of a company, from the sender's own address."""
        return with_name(mail, body, self.chosen.choice(BRANDS))

    def of_today(self, raw: bytes, label: str) -> bytes:
        """Return a message to learn, changed to be like mail of today; three spams in ten are forged."""
        if label == "ham":
            return self.findings(raw, 0.995) + raw
        mail, kind = Mail(raw), int(self.chosen.random() * 20)
        forms = list(self.forms().values())
        if kind < len(forms):
            raw = forms[kind](mail, mail.text)
        return self.findings(raw, 0.2) + raw

    def attacks(self, ham: list[Mail]) -> dict[str, Callable[[Mail], bytes]]:
        """Return attacks that send the text of a spam under the headers of a ham, by name."""

        def model_of(mail: Mail) -> Mail:
            return ham[len(mail.text) % len(ham)]

        def written(mail: Mail) -> bytes:
            return model_of(mail).written(mail.text)

        def found(raw: bytes) -> bytes:
            return self.findings(raw, 0.0) + raw

        def in_form(form: Callable[[Mail, str], bytes]) -> Callable[[Mail], bytes]:
            return lambda mail: found(form(model_of(mail), mail.text))

        def forged(raw: bytes, server: str = SERVER) -> bytes:
            return self.findings(raw, 1.0, server) + raw

        return {
            "of today, from its own sender": lambda mail: found(mail.written(mail.text)),
            "of today, from a forged sender": lambda mail: found(written(mail)),
            "… with a forged pass below the server's": lambda mail: found(forged(written(mail))),
            "… where no server looks": written,
            "… where no server looks, with a pass by another": lambda mail: forged(written(mail), FORGER),
            **{f"… {name}": in_form(form) for name, form in self.forms().items()},
        }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--most", type=int, default=400, help="spam attacked")
    options.add_argument("--ham-heads", action="store_true", help="attack under headers of ham")
    chosen = options.parse_args()
    learned, other = Corpus.spamassassin().halves(chosen.seed)
    with tempfile.TemporaryDirectory() as folder:
        laid = lay_out(learned, os.path.join(folder, "mail"))
        path = os.path.join(folder, "model.msgpack")
        train(path, {label: [laid.mbox(label)] for label in LABELS})
        model = Model.open(path)
        mails = [mail for mail in map(Mail, other.spam) if len(mail.words) >= 20][: chosen.most]
        hams = list(map(Mail, other.ham))
        if chosen.ham_heads:
            for mail, ham_mail in zip(mails, hams, strict=False):
                mail.head = ham_mail.head
        ham = [" ".join(mail.words[:120]) for mail in hams if len(mail.words) >= 60]
        heads = "heads of ham" if chosen.ham_heads else "their own heads"
        print(f"## under {heads}: {len(mails)} spam of the other half, seed {chosen.seed}")
        print("| attack | caught | unsure | missed |\n|---|---|---|---|")
        report(model, mails, attacks(model, ham))
        forgeries = Forgeries()
        made = {label: [forgeries.of_today(raw, label) for raw in learned.of(label)] for label in LABELS}
        laid = lay_out(Corpus("of today", **made), os.path.join(folder, "today"))
        path = os.path.join(folder, "today.msgpack")
        train(path, {label: [laid.mbox(label)] for label in LABELS})
        report(Model.open(path), mails, forgeries.attacks(hams))


def report(model: Model, mails: list[Mail], attacks: dict[str, Callable[[Mail], bytes]]) -> None:
    """Print a row for each attack, or one row for several attacks of a kind that have the same result."""

    def cells(attack: Callable[[Mail], bytes]) -> str:
        verdicts = [model.classify(attack(mail)).label for mail in mails]
        shares = [100 * verdicts.count(label) / len(mails) for label in ("spam", "unsure", "ham")]
        return "".join(f" {share:.1f} % |" for share in shares)

    found = ((name.partition(": ")[0], cells(attack), name) for name, attack in attacks.items())
    for (kind, gained), same in groupby(found, itemgetter(0, 1)):
        names = [name for *_, name in same]
        name = names[0] if len(names) == 1 else f"{kind} in {len(names)} ways"
        print(f"| {name} |{gained}", flush=True)


if __name__ == "__main__":
    main()
