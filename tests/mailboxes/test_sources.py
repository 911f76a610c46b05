import binascii
import bz2
import gzip
import io
import lzma
import os
import random
import sys

import pytest
from helpers.mailboxes import ENVELOPE, box, described, mail, maildir, put, together

from spamnb.errors import NoInput
from spamnb.mailboxes import sources
from spamnb.mailboxes.streams import MAX_MEMBERS, MIN_MEMBER, decompressed

try:
    from compression import zstd
except ImportError:
    from backports import zstd

PACKERS = [gzip.compress, lzma.compress, bz2.compress, zstd.compress]


def read(*paths, **options):
    return [described(item) for item in sources.messages(map(str, paths), **options)]


def in_chunks(*paths, **options):
    """As another process would see them."""
    return together(sources.chunks(map(str, paths), **options))


def names(folder, **options):
    return [os.path.relpath(path, folder) for path, *_ in read(folder, **options)]


@pytest.mark.parametrize(
    "data", [mail(1), b"x", b"\n", b"no header", b"\xff\0", b"From me\n", b"BZhello", b"\x1f\x8b"]
)
def test_a_file_is_one_message(tmp_path, data):
    path = put(tmp_path / "mail", data)
    assert read(path) == [(path, None, data)]


def test_empty_files_and_empty_messages_are_none(tmp_path):
    put(tmp_path / "a", b"")
    path = put(tmp_path / "b", ENVELOPE + b"\n" + box([7]))
    put(tmp_path / "c", gzip.compress(b""))
    assert read(tmp_path) == [(path, 1, mail(7))]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("size", [1 << 20, 1])
def test_compressed_files(tmp_path, pack, size):
    one = put(tmp_path / "a.eml", pack(mail(1)))
    many = put(tmp_path / "b", pack(box(range(50))) + pack(box(range(50, 99))) + bytes(4))
    expected = [(one, None, mail(1)), *((many, n, mail(n)) for n in range(99))]
    assert read(tmp_path) == expected
    assert in_chunks(tmp_path, size=size) == expected


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.slow
def test_damaged_compression_keeps_what_came_before(tmp_path, pack):
    noise = random.Random(1)
    whole = b"".join(ENVELOPE + mail(n) + noise.randbytes(3000).hex().encode() + b"\n\n" for n in range(250))
    packed = pack(whole)
    torn = packed[: len(packed) * 3 // 4]
    for damaged in (torn, torn + bytes(5000), packed + b"junk"):
        *messages, last = in_chunks(put(tmp_path / "x", damaged), size=500)
        assert last[1].startswith("damaged compression")
        assert len(messages) > 80
        # The last may be cut short, or end in what the library took the damage for.
        assert all(data.startswith(mail(n)) for n, (_, _, data) in enumerate(messages[:-1]))


def test_an_xz_file_cannot_ask_for_all_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(mail(1), filters=filters))
    size = packed.index(b"\x21\x01") + 2  # filter LZMA2, one byte of properties: the dictionary's size
    packed[size] = 40  # 4 GiB
    header = packed[12 : 12 + (packed[12] + 1) * 4]
    header[-4:] = binascii.crc32(header[:-4]).to_bytes(4, "little")
    packed[12 : 12 + len(header)] = header
    ((_, why),) = read(put(tmp_path / "x", bytes(packed)))
    assert "memory" in why.lower()


def zstd_asking_for(window, data):
    """Frames whose size is not known beforehand, so that the window stays as large."""
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window})
    return packer.compress(data) + packer.flush()


def test_a_zstd_file_cannot_ask_for_all_memory(tmp_path):
    """As much as `zstd -d` gives it without being asked, and no more."""
    path = put(tmp_path / "x", zstd_asking_for(27, mail(1)))
    assert read(path) == [(path, None, mail(1))]
    ((_, why),) = read(put(tmp_path / "x", zstd_asking_for(28, mail(1))))
    assert "too much memory" in why


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_members_of_next_to_nothing_end_the_reading(tmp_path, pack):
    """Each takes some microseconds, however little is in it."""
    path = put(tmp_path / "x", pack(box([1, 2])) + pack(b"") * MAX_MEMBERS)
    found = read(path)
    assert found[0][-1] == mail(1)
    assert "too many compressed parts" in found[-1][-1]
    members = pack(bytes(2 * MIN_MEMBER)) * (MAX_MEMBERS + 9)
    assert sum(map(len, decompressed(iter([members])))) == 2 * MIN_MEMBER * (MAX_MEMBERS + 9)


# Standard input and pipes


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("data", [mail(1), box(range(5)), b"just words"])
def test_standard_input_is_read_as_a_file_is(monkeypatch, tmp_path, pack, data):
    piped = pack(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
    sources.check(["-"])
    assert sources.total_size(["-"]) == 0
    as_file = in_chunks(put(tmp_path / "file", piped), size=100)
    assert in_chunks("-", size=100) == [("-", *message) for _, *message in as_file]


def test_standard_input_that_is_empty_is_no_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n")))
    with pytest.raises(NoInput, match="-: standard input is empty"):
        read("-")


def test_a_maildir(tmp_path):
    box = maildir(tmp_path / "Maildir")
    for name in ("new/2.x", "cur/1.x:2,S", "cur/3.x:2,", "tmp/4.x", "new/.nfs1", "cur/sub/5.x"):
        put(box / name)
    for name in "dovecot.index dovecot-uidlist maildirfolder subscriptions courierimapuiddb x".split():
        put(box / name)
    assert names(box) == ["cur/1.x:2,S", "new/2.x", "cur/3.x:2,"]
    assert names(tmp_path) == ["Maildir/cur/1.x:2,S", "Maildir/new/2.x", "Maildir/cur/3.x:2,"]
    assert names(box / "cur") == ["1.x:2,S", "3.x:2,", "sub/5.x"]


def test_folders_below_a_maildir(tmp_path):
    for folder in (".", ".Junk", ".a.b", "Archive/2020", "Archive/2020/.deep"):
        put(maildir(tmp_path / folder) / "cur" / "1.x:2,")
    put(tmp_path / ".hidden" / "x")
    put(tmp_path / "courierimapkeywords" / "x")
    folders = ["cur", ".Junk/cur", ".a.b/cur", "Archive/2020/cur", "Archive/2020/.deep/cur"]
    assert names(tmp_path) == [f"{folder}/1.x:2," for folder in folders]


def test_a_maildir_message_is_one_even_with_an_envelope_line(tmp_path):
    path = put(maildir(tmp_path) / "cur" / "1.x:2,", box([1, 2]))
    assert in_chunks(tmp_path) == in_chunks(tmp_path, size=1) == [(path, None, box([1, 2])[len(ENVELOPE) :])]


def test_a_plain_folder(tmp_path):
    for name in ("b", "a/2", "a/10", "c/d/e", "dovecot.mbox"):
        put(tmp_path / name)
    put(maildir(tmp_path / "c" / "box") / "new" / "1")
    put(maildir(tmp_path / "c" / ".box") / "new" / "1")
    for name in ".hidden .git/x .mh_sequences a/.mh_sequences dovecot.index.log a/subscriptions".split():
        put(tmp_path / name)
    assert names(tmp_path) == ["a/10", "a/2", "b", "c/.box/new/1", "c/box/new/1", "c/d/e", "dovecot.mbox"]


def test_links(tmp_path):
    put(tmp_path / "elsewhere" / "x")
    folder = tmp_path / "folder"
    put(folder / "a")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "x")
    (folder / "loop").symlink_to(folder)
    (folder / "up").symlink_to("..")
    (folder / "lost").symlink_to("nowhere")
    (folder / "self").symlink_to("self")
    assert names(folder) == ["a", "file", "self", "up/elsewhere/x"]
    assert "symbolic link" in dict(item for item in read(folder) if len(item) == 2)[str(folder / "self")]


def test_without(tmp_path):
    for folder in (".", ".Junk", ".Junk.old", ".Sent"):
        put(maildir(tmp_path / folder) / "cur" / "1.x")
    (tmp_path / "cur" / "2.x").symlink_to(tmp_path / ".Junk" / "cur" / "1.x")
    junk = str(tmp_path / ".Junk")
    rest = ["cur/1.x", ".Junk.old/cur/1.x", ".Sent/cur/1.x"]
    assert names(tmp_path, without=[junk]) == rest
    assert names(tmp_path, without=[junk + "/cur/.."]) == rest
    assert names(tmp_path, without=[junk, str(tmp_path / ".Sent" / "cur" / "1.x")]) == rest[:2]
    assert names(tmp_path, without=[str(tmp_path / "nowhere")]) == names(tmp_path)
    assert sources.total_size([str(tmp_path)], without=[junk]) == 3 * len(mail(1))
    link = tmp_path.parent / (tmp_path.name + "-link")
    link.symlink_to(tmp_path)
    assert names(link, without=[junk]) == rest
    # What is named is read, though it lies below what is skipped.
    assert names(tmp_path / ".Junk", without=[str(tmp_path)]) == ["cur/1.x"]


def test_messages_that_move_are_read_once(tmp_path):
    put(maildir(tmp_path / "both") / "new" / "1.x")
    os.link(tmp_path / "both" / "new" / "1.x", tmp_path / "both" / "cur" / "1.x:2,")
    assert names(tmp_path / "both") == ["cur/1.x:2,"]
    box = maildir(tmp_path / "moving")
    for n in range(6):
        put(box / "new" / f"{n}.x", mail(n))
    (chunk,) = sources.chunks([str(box)])
    found = chunk.messages()
    assert described(next(found))[2] == mail(0)
    for n in (0, 1, 2):
        os.rename(box / "new" / f"{n}.x", box / "cur" / f"{n}.x:2,S")
    assert next(found).path == str(box / "cur" / "1.x:2,S")
    os.rename(box / "cur" / "2.x:2,S", box / "cur" / "2.x:2,RS")
    os.rename(box / "new" / "3.x", box / "cur" / "3.x:2,")
    os.unlink(box / "new" / "4.x")
    assert [described(item)[2] for item in found] == [mail(2), mail(3), mail(5)]


def test_a_name_that_is_no_utf8(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    with open(path, "wb") as file:
        file.write(mail(1))
    assert read(tmp_path) == [(path, None, mail(1))]
