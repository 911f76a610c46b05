"""Files that lie among mail and hold none: archives, what Thunderbird keeps beside its mailboxes, data."""

import gzip
import io
import os
import tarfile
import zipfile
from random import Random

import pytest
from helpers.mailboxes import ENVELOPE
from helpers.samples import ham

from spamnb.mailboxes import sources
from spamnb.mailboxes.skipped import SkippedMail

MORK = b"""// <!-- <mdb:mork:z v="1.4"/> -->
< <(a=c)> // (f=iso-8859-1)
  (B8=unreadChildren)(B9=threadSubject)>
"""
FILTERS = b'version="9"\nlogging="no"\nname="lists"\nenabled="yes"\n'
STATE = b"# POP3 State File\n# This is a generated file!  Do not edit.\n\n*pop.example.org ann\n"


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("1.eml", ham(1))
    return file.getvalue()


def tarred(form=tarfile.PAX_FORMAT):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        member = tarfile.TarInfo("mail/1.eml")
        member.size = len(ham(1))
        archive.addfile(member, io.BytesIO(ham(1)))
    return file.getvalue()


SEVEN = b"7z\xbc\xaf\x27\x1c\0\4" + bytes(40)
RAR = b"Rar!\x1a\x07\x01\0" + bytes(40)
ARCHIVES = {
    "a.zip": zipped(),
    "b": zipped(),
    "c.tar": tarred(),
    "d.tgz": gzip.compress(tarred(tarfile.GNU_FORMAT)),
    "f.7z": SEVEN,
    "g.rar": RAR,
}
BESIDE = {
    "Inbox.msf": MORK,
    "msgFilterRules.dat": FILTERS,
    "popstate.dat": STATE,
    "training.dat": b"\xfe\xed\xfa\xce\0\0\0\1",
    "filterlog.html": b"<html><p>Applied filter to message from ann</p></html>",
}
DATA = {
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "paper.pdf": b"%PDF-1.4\n%\xc4\xe5\xf2\xe5\n1 0 obj\n",
    "random": Random(1).randbytes(200),
    "model": b"\x89\xa6format\xadspamnb" + bytes(range(32)),
}
# Mail may have any name, and say anything.
MAIL = {
    "h.zip": ham(101),
    "i.msf": ham(102),
    "k.tar": ENVELOPE + ham(104),
    "m.eml": FILTERS,
    "o": b"Subject: " + b"1" * 2000,
    "p": b"Subject: \0\1\2\3\4\5\6\n\n" + bytes(100),  # what has a header field is mail
    "q": b"X-{odd}_name!: " + Random(2).randbytes(100),
    "r": b"no header at all, \2 but text\n",
    "s": "\u65e5\u672c\u8a9e\u306e\u624b\u7d19".encode("iso2022_jp") + b"\n",
    "u": "\u043f\u0438\u0441\u044c\u043c\u043e".encode("koi8_r"),
    "v": b"[SPAM] {Hi|Hello} there, see [1] and [2]",
    "w": b'{"Hello"|"Hi"} friend',
    "y": b"<html><body>buy</body></html>",
    "z.html": b"<html><body>buy more</body></html>",
}


def put(folder, files):
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return str(folder)


def test_met_in_a_folder_they_are_skipped_and_told(spamnb, own, tmp_path):
    folder = put(tmp_path / "ham", ARCHIVES | BESIDE | DATA | MAIL)
    done = spamnb("train", "--jobs", "2", "--model", own, "--ham", folder).succeeds()
    assert done.lines[:2] == [f"ham: {len(MAIL)} learned", "unreadable: 0"]
    line = done.lines[-1]
    assert line.startswith(f"skipped 15 files without mail: {folder}/Inbox.msf, {folder}/a.zip, ")
    assert line.endswith(" and 5 more; to read archives, unpack them")
    found = list(sources.messages([folder]))
    passed = {os.path.basename(item.path) for item in found if isinstance(item, SkippedMail)}
    assert passed == (ARCHIVES | BESIDE | DATA).keys()
    done = spamnb("classify", folder)
    assert (done.code, len(done.lines)) == (0, len(MAIL))
    assert b"skipped 15 files" in done.err


@pytest.mark.parametrize("name", [*ARCHIVES, *BESIDE])
def test_named_they_are_refused(spamnb, own, mail, tmp_path, name):
    path = put(tmp_path / "x", ARCHIVES | BESIDE) + f"/{name}"
    todo = "unpack it first" if name in ARCHIVES else "beside it"
    spamnb("classify", path).fails(65, f"{path}: ", todo)
    if name == "a.zip":
        train = ("train", "--model", own, path, mail.spam)
        for command in (train, ("evaluate", mail.ham, path), ("inspect", path)):
            spamnb(*command).fails(65, f"{path}: ", todo)
