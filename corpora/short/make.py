#!/usr/bin/env python3
"""Make the two mailboxes in this folder: give each text beside it a head, a charset and an encoding."""

from __future__ import annotations

import base64
import hashlib
import html
import lzma
import quopri
import random
import re
import uuid
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime, parseaddr
from pathlib import Path

HERE = Path(__file__).parent
ENVELOPE = "From MAILER-DAEMON Thu Jan  1 00:00:00 1970\n"
# Of each language: charsets besides UTF-8, and the hours that its clocks are before Greenwich.
LANGUAGES = {
    "de": (("iso-8859-1", "iso-8859-15", "windows-1252"), 1),
    "en": (("us-ascii", "iso-8859-1", "windows-1252"), 0),
    "es": (("iso-8859-1", "windows-1252"), 1),
    "fr": (("iso-8859-1", "iso-8859-15", "windows-1252"), 1),
    "it": (("iso-8859-1", "iso-8859-15"), 1),
    "nl": (("iso-8859-1", "windows-1252"), 1),
    "pl": (("iso-8859-2", "windows-1250"), 1),
    "pt": (("iso-8859-1", "windows-1252"), -3),
    "ru": (("koi8-r", "windows-1251"), 3),
    "zh": (("gb18030", "gb2312", "big5"), 8),
}
# Heads as mail programs write them. Lines whose field stays empty are left out.
PROGRAMS = {
    "thunderbird": """{received}
Message-ID: <{uuid}@{domain}>
Date: {date}
MIME-Version: 1.0
User-Agent: Mozilla Thunderbird
Content-Language: {language}
To: {to}
{reply}
From: {sender}
Subject: {subject}
{content}""",
    "mac": """{received}
From: {sender}
{content}
Mime-Version: 1.0 (Mac OS X Mail 13.4 \\(3608.120.23.2.7\\))
Subject: {subject}
{reply}
Message-Id: <{UUID}@{domain}>
Date: {date}
To: {to}
X-Mailer: Apple Mail (2.3608.120.23.2.7)""",
    "phone": """{received}
{content}
From: {sender}
Mime-Version: 1.0 (1.0)
Date: {date}
Subject: {subject}
Message-Id: <{UUID}@{domain}>
{reply}
To: {to}
X-Mailer: iPhone Mail (18F72)""",
    "outlook alternative": """{received}
From: {sender}
To: {to}
{reply}
Subject: {subject}
Date: {date}
Message-ID: <{number}$01d6{hex}$@{domain}>
MIME-Version: 1.0
{content}
X-Mailer: Microsoft Outlook 16.0
Thread-Index: Adb{base64}==
Content-Language: {language}""",
    "web alternative": """MIME-Version: 1.0
{reply}
From: {sender}
Date: {date}
Message-ID: <CA{base64}@mail.{domain}>
Subject: {subject}
To: {to}
{content}""",
    "mutt": """{received}
Date: {date}
From: {sender}
To: {to}
Subject: {subject}
Message-ID: <{stamp}.GA{number}@{domain}>
{reply}
MIME-Version: 1.0
{content}
Content-Disposition: inline
User-Agent: Mutt/1.10.1 (2018-07-13)""",
    "k9": """Date: {date}
{reply}
User-Agent: K-9 Mail for Android
MIME-Version: 1.0
{content}
Subject: {subject}
To: {to}
From: {sender}
Message-ID: <{UUID}@{domain}>""",
    "roundcube flowed": """{received}
MIME-Version: 1.0
{content}
Date: {date}
From: {sender}
To: {to}
Subject: {subject}
{reply}
User-Agent: Roundcube Webmail/1.4.15
Message-ID: <{long}@{domain}>
X-Sender: {address}""",
    "script": """{received}
To: {to}
Subject: {subject}
From: {sender}
Date: {date}
Message-Id: <E1{base64}@{domain}>
MIME-Version: 1.0
{content}""",
    "old": """{received}
Message-ID: <{number}.{hex}@{domain}>
From: {sender}
{reply}
To: {to}
Subject: {subject}
Date: {date}
MIME-Version: 1.0
{content}
X-Priority: 3
X-Mailer: Microsoft Outlook Express 6.00.2900.5931""",
    "evolution": """{received}
Message-ID: <{hex}.camel@{domain}>
Subject: {subject}
From: {sender}
To: {to}
Date: {date}
{reply}
{content}
User-Agent: Evolution 3.44.4
MIME-Version: 1.0""",
    "claws": """{received}
Date: {date}
From: {sender}
To: {to}
Subject: {subject}
Message-ID: <{stamp}.{hex}@{domain}>
{reply}
X-Mailer: Claws Mail 3.17.8 (GTK+ 2.24.33; x86_64-pc-linux-gnu)
MIME-Version: 1.0
{content}""",
    "kmail": """From: {sender}
To: {to}
{reply}
Subject: {subject}
Date: {date}
Message-ID: <{number}.{base64}@{domain}>
MIME-Version: 1.0
{content}""",
    "short": """From: {sender}
To: {to}
Date: {date}
Subject: {subject}
{content}""",
    "bare": """From: {sender}
Subject: {subject}
{content}""",
}
RECIPIENTS = """
anne@seldonweg.example; Robin Tey <robin@teyhouse.example.org>; info@treppenbau.example; ;
me@kestrel.example.net; familie@nordufer.example; ana.ruiz@ruizpardo.example.com; team@fernleaf.example; ;
lmartin@rivegauche.example; post@vlindertuin.example.org; irina@sosny.example; liwei@songtao.example.com;
j.kowal@kowal.example; c.bianco@campanile.example; office@hollowoak.example; p.meyer@studio9.example.net
""".split(";")
META = '<meta http-equiv="Content-Type" content="text/html; charset={charset}">'
MARKUP = (  # of the whole, of a line, of an empty line
    ('<div dir="ltr">{}</div>\n', "<div>{}</div>\n", "<div><br></div>"),
    (
        f"<html><head>{META}</head><body>{{}}</body></html>\n",
        '<p class="MsoNormal">{}</p>\n',
        "<p>&nbsp;</p>",
    ),
    ('<html><body style="font-family: sans-serif">\n{}</body></html>\n', "{}<br>\n", "<br>\n"),
    ("<!DOCTYPE html>\n<html><table><tr><td>{}</td></tr></table></html>\n", "<p>{}</p>\n", ""),
)
BOUNDARIES = "000000000000{0:x}", "----=_NextPart_000_{0:x}", "=_{0:032x}", "b{0}"


def encoded(text: str, charset: str, way: str) -> str:
    """Return a text as it stands in a message, one character a byte."""
    raw = text.encode(charset.partition(";")[0])
    if way == "base64":
        raw = base64.encodebytes(raw)
    elif way == "quoted-printable":
        raw = quopri.encodestring(raw)
    return raw.decode("latin-1")


def word(text: str, charset: str, draw: random.Random) -> str:
    """Return the text of a header field, as encoded words if it is not ASCII."""
    if text.isascii():
        return text
    if draw.random() < 0.05:
        return text.encode(charset).decode("latin-1")  # as it should not be, and often is
    pieces = [text[first : first + 14].encode(charset) for first in range(0, len(text), 14)]
    if charset.startswith(("iso", "windows")) and draw.random() < 0.8:
        quoted = (quopri.encodestring(piece, header=True).decode() for piece in pieces)
        coded = ["Q?" + each.replace("=\n", "").replace("?", "=3F") for each in quoted]
    else:
        coded = ["B?" + base64.b64encode(piece).decode() for piece in pieces]
    return "\n ".join(f"=?{charset}?{piece}?=" for piece in coded)


def part(kind: str, text: str, charset: str, way: str) -> str:
    """Return a text with its head."""
    head = f"Content-Type: {kind}; charset={charset}\nContent-Transfer-Encoding: {way}"
    return f"{head}\n\n{encoded(text, charset, way)}"


def alternatives(text: str, charset: str, way: str, draw: random.Random) -> str:
    """Return a text as two parts, plain and HTML, with their head."""
    whole, line, empty = draw.choice(MARKUP)
    lines = [line.format(html.escape(each)) if each else empty for each in text.rstrip("\n").split("\n")]
    marked = whole.format("".join(lines), charset=charset)
    boundary = draw.choice(BOUNDARIES).format(draw.getrandbits(48))
    parts = part("text/plain", text, charset, way), part("text/html", marked, charset, way)
    body = "".join(f"--{boundary}\n{each}\n" for each in parts)
    return f'Content-Type: multipart/alternative; boundary="{boundary}"\n\n{body}--{boundary}--\n'


def message(language: str, sender: str, subject: str, form: str, text: str) -> str:
    """Return a message, one character a byte; chance depends on the message alone."""
    draw = random.Random(f"{sender}{subject}{text}")  # noqa: S311
    charsets, hours = LANGUAGES[language]
    plain = text + subject + sender
    charset = draw.choice(["utf-8", "utf-8", *(each for each in charsets if fits(plain, each))])
    ways = "quoted-printable", "quoted-printable", "8bit", "base64"
    way = "7bit" if plain.isascii() else draw.choice(ways)
    program = draw.choice(list(PROGRAMS))
    if form == "bare":
        program = draw.choice(["bare", "short", "phone"])
    elif form == "html":
        program = draw.choice(["outlook alternative", "web alternative", "script", "mac"])
    if form == "html" or "alternative" in program:
        content = alternatives(text, charset, way, draw)
    elif program in ("bare", "short") and (way == "7bit" or draw.random() < 0.4):
        content = "\n\n" + encoded(text, charset, "8bit")  # not declared
    elif "flowed" in program:
        flowed = "\n".join(line + " " if len(line) > 60 else line for line in text.split("\n"))
        content = part("text/plain", flowed, f"{charset}; format=flowed", way)
    else:
        content = part("text/plain", text, charset, way)
    head, _, body = content.partition("\n\n")
    name, address = parseaddr(sender)
    domain = address.partition("@")[2]
    date = datetime(2012, 1, 1, tzinfo=timezone(timedelta(hours=hours))) + timedelta(
        days=draw.randrange(14 * 365), hours=7, seconds=draw.randrange(15 * 3600)
    )
    is_reply = re.match("(?i)(re|aw|r|odp|回复|答复)[: ]", subject) is not None
    recipient = draw.choice(RECIPIENTS).strip()
    identity = str(uuid.UUID(int=draw.getrandbits(128), version=4))
    fields = {
        "received": route(domain, date, draw),
        "uuid": identity,
        "UUID": identity.upper(),
        "hex": f"{draw.getrandbits(32):08x}",
        "long": f"{draw.getrandbits(128):032x}",
        "base64": base64.urlsafe_b64encode(draw.randbytes(18)).decode(),
        "number": str(draw.randrange(100, 99999)),
        "stamp": date.strftime("%Y%m%d%H%M%S"),
        "date": format_datetime(date),
        "reply": f"In-Reply-To: <{draw.getrandbits(40):x}@{parseaddr(recipient)[1].partition('@')[2]}>"
        * is_reply,
        "domain": domain,
        "address": address,
        "language": language,
        "sender": f"{word(name, charset, draw)} <{address}>" if draw.random() < 0.9 else address,
        "to": recipient,
        "subject": word(subject, charset, draw),
        "content": head,
    }
    filled = (line.format(**fields) for line in PROGRAMS[program].split("\n"))
    return "\n".join(line for line in filled if line and not line.endswith(": ")) + "\n\n" + body


def route(domain: str, date: datetime, draw: random.Random) -> str:
    """Return a Received field, or none."""
    if draw.random() < 0.3:
        return ""
    host = draw.choice(["mail", "mx1", "smtp", "out", "relay2", "mout"])
    address = f"{draw.choice(['192.0.2', '198.51.100', '203.0.113'])}.{draw.randrange(1, 255)}"
    arrived = format_datetime(date + timedelta(seconds=draw.randrange(1, 40)))
    by = draw.choice(["mx.kestrel.example.net", "in.postamt.example", "mail.local", "mx3.rivegauche.example"])
    return (
        f"Received: from {host}.{domain} ({host}.{domain} [{address}])\n\tby {by} with "
        f"{draw.choice(['ESMTPS', 'ESMTP', 'SMTP', 'ESMTPSA'])} id {draw.getrandbits(40):X};\n\t{arrived}"
    )


def fits(text: str, charset: str) -> bool:
    try:
        text.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


def entries(label: str) -> list[bytes]:
    found = []
    for language in LANGUAGES:
        pieces = re.split(r"(?m)^(===.*)\n", (HERE / f"{language}.txt").read_text("utf-8"))[1:]
        for line, text in zip(pieces[::2], pieces[1::2], strict=True):
            given, sender, subject, *form = (field.strip("= ") for field in line.split("|"))
            if given == label:
                made = message(language, sender, subject, "".join(form), text)
                quoted = re.sub(r"(?m)^(?=>*From )", ">", made)
                found.append((ENVELOPE + quoted + "\n").encode("latin-1"))
    return found


def main() -> None:
    for label in ("ham", "spam"):
        messages = entries(label)
        mailbox = b"".join(messages)
        (HERE / f"{label}.mbox.xz").write_bytes(lzma.compress(mailbox, preset=9 | lzma.PRESET_EXTREME))
        print(hashlib.sha256(mailbox).hexdigest(), f"{label}.mbox ({len(messages)} messages)")


if __name__ == "__main__":
    main()
