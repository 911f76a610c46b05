"""Words that a fuzzer would have to find by chance: of messages, pages, files and protocols."""

from __future__ import annotations

from spamnb.html.elements import ATTRIBUTES, KINDS
from spamnb.reading.encodings.charsets import KNOWN
from spamnb.reading.header_rules import IGNORED, RULES

ENCODED = [
    *(
        b"\x1b$B",
        b"\x1b$)C",
        b"\x1b.J\x1bN",
        b"~{",
        b"\xff\xfe",
        b"=\n",
        b"=3D",
        b"=E9",
        b"QUJD\n",
        b"QQ==\n",
    ),
    *("привет".encode("cp1251"), "漢字".encode("gb18030"), "漢字".encode("big5"), "漢字".encode("euc_jp")),
    *(b"=?utf-8?q?", b"=?utf-8?b?", b"?=", b"\n\n", b"\r\n"),
]
MIME = [
    *(b"multipart/mixed; boundary=b", b'multipart/alternative; boundary="b"', b"\n--b\n", b"\n--b--\n"),
    *(b"message/rfc822", b"text/html", b"text/plain", b"application/pdf", b"; charset="),
    *(
        b"\nContent-Transfer-Encoding: base64\n\n",
        b"quoted-printable",
        b"; name*0*=utf-8''%41",
        b"; filename=",
    ),
    *(b"X-Spamnb: ham\n", b"[spam] ", b"<a@b.example>", b"((", b"@", b"dmarc=fail", b"; "),
    *(b"\n%s: " % name.encode() for name in (*RULES, *IGNORED)),
    *(name.encode() for name in sorted(KNOWN)),
]
TEXT = [
    *(b"http://", b"https://a.example/", b"www.", b"xn--", b"%41", b"://", b"[::1]", b"0x7f.1", b"''", b"!"),
    *("\u200b".encode(), "\u202e".encode(), "\u0301".encode(), "漢字".encode(), "vіаgrа".encode()),
]
HTML = [
    *(
        b"<!--",
        b"-->",
        b"--!>",
        b"&#x41;",
        b"&nbsp;",
        b"&amp",
        b"</table>",
        b"<p class=a id=b>",
        b"<p style='",
    ),
    *(b"<%s " % name.encode() for name in KINDS if name),
    *(b"</%s>" % name.encode() for name in KINDS if name),
    *(b' %s="' % name for name in ATTRIBUTES),
]
CSS = [
    *(b"<style>", b"</style>", b"<style>.a #b,p{color:var(--a)}</style>", b"@media (max-width:9px){", b"}"),
    *(
        b"@supports ",
        b"@import ",
        b"!important",
        b"var(--a)",
        b"--a:",
        b"/*",
        b"*/",
        b">",
        b"[class=a]",
        b":root",
    ),
    *(b"display:", b"opacity:", b"visibility:", b"position:", b"margin-left:", b"text-indent:", b"overflow:"),
    *(
        b"font-size:",
        b"color:",
        b"background:",
        b"left:",
        b"top:",
        b"max-height:",
        b"width:",
        b"line-height:",
    ),
    *(b"clip:", b"clip-path:", b"transform:"),
    *(
        b"none",
        b"hidden",
        b"absolute",
        b"-9999px",
        b"rgba(0,0,0,0)",
        b"#fff",
        b"0.01em",
        b"scale(0)",
        b"rect(0",
    ),
]
MAILBOX = [b"\nFrom a@b Mon Nov 16 01:02:03 2026\n", b">From ", b"From ", b"\nContent-Length: ", b"\nDate: "]
PROTOCOLS = [
    *(b"\r\n* 1 FETCH (UID 3 ", b"{4294967296}\r\n", b"\0TAG OK\r\n", b"* SEARCH 1", b"18446744073709551616"),
    *(b"CHECK SPAMC/1.5\r\n", b"PROCESS", b"Content-length: 5\r\n", b"Compress: zlib\r\n", b"TELL"),
    *(
        b"POST /checkv2 HTTP/1.1\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"\r\n0\r\n\r\n",
        b"Compression: gzip\r\n",
    ),
]
PACKED = [b"\xc6\x00\x00\x00\x08", b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", b"\xdd", b"\xdf", b"\xd9\x20"]
ATTACHED = [
    *(b"PK\1\2", b"PK\3\4", b"PK\5\6", b"[Content_Types].xml", b"word/document", b".xml", b'Target="'),
    *(b"1 0 obj", b"endobj", b"stream\n", b"endstream", b"/ToUnicode 1 0 R", b"/ObjStm/First 9", b"BT "),
    *(b"beginbfrange", b"/FlateDecode", b"/ASCII85Decode", b"((", b"Tj", b"/URI("),
]
SENDER = [b"<a@b.example>", b'"', b"((", b")", b"@", b"dmarc=fail", b"dmarc = ", b"; "]

MAIL = [*ENCODED, *MIME, *TEXT, *HTML, *CSS, *MAILBOX]
