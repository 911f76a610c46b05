"""Mail on addresses: read as the same mail on the disk is, through real servers, by real processes."""

import gzip
import http.server
import lzma
import os
import pickle
import subprocess
import sys

import fsspec
import pytest
from helpers.mailboxes import ENVELOPE, box, described, maildir, put, together
from helpers.mailboxes import mail as message
from helpers.waiting import PATIENCE
from helpers.web import served

from spamnb.errors import NoInput
from spamnb.mailboxes import sources

# As a fresh process sees an address: its messages, the same put together from chunks, and their size.
ASK = """
import pickle, sys
from helpers.mailboxes import described, together
from spamnb.mailboxes import sources
def answer(url):
    chunks = list(sources.chunks([url], size=100_000))
    return [*map(described, sources.messages([url]))], together(chunks), sources.total_size([url])
pickle.dump([answer(url) for url in sys.argv[1:]], sys.stdout.buffer)
"""


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Mail of every kind, with what lies beside it."""
    root = tmp_path_factory.mktemp("tree")
    put(root / "boxes" / "a.mbox", box(range(40)))
    put(root / "boxes" / "gzip.mbox", gzip.compress(box(range(60, 90))))
    put(root / "boxes" / "lzma.mbox", lzma.compress(box(range(60, 90))))
    put(root / "boxes" / "long.mbox", box([90], 30_000) + box(range(91, 94)))  # more than one request
    for n in range(12):
        put(root / "folder" / f"{n}.eml", message(100 + n))
    put(root / "folder" / "large", message(171, 20_000))
    put(root / "folder" / "ünï cödé #1 [x]", message(172))
    put(root / "folder" / "empty", b"")
    put(root / "folder" / ".hidden", message(173))
    put(root / "folder" / "a" / "b" / "c" / "deep", message(174))
    put(root / "folder" / "a-b" / "beside", message(175))
    for name in (".", ".Junk", "Archive/2020"):
        mailbox = maildir(root / "Maildir" / name)
        put(mailbox / "cur" / "1.x:2,S", ENVELOPE + message(180))
        put(mailbox / "cur" / "3.x:2,", message(181))
        put(mailbox / "new" / "2.x", message(182))
        put(mailbox / "new" / "3.x", message(183))
        put(mailbox / "tmp" / "4.x", message(184))
    for name in ("dovecot.index", "maildirfolder", ".hidden/x"):
        put(root / "Maildir" / name)
    return root


def below(root, items):
    """What was found, with paths as they are below a root."""
    root = str(root).rstrip("/") + "/"
    assert all(path.startswith(root) for path, *_ in items)
    return [(path.removeprefix(root).lstrip("/"), *rest) for path, *rest in items]


def read(root, path="", **options):
    return below(root, [described(item) for item in sources.messages([f"{root}/{path}"], **options)])


@pytest.mark.parametrize("path", ["", "boxes/gzip.mbox", "Maildir/.Junk"])
def test_a_folder_elsewhere_has_the_messages_of_the_same_folder_here(tree, path):
    root = f"file://{tree}"
    expected = read(tree, path)
    assert len(expected) >= 1
    assert read(root, path) == expected
    for size in (1 << 20, 500):
        assert below(root, together(sources.chunks([f"{root}/{path}"], size=size))) == expected
    assert sources.total_size([f"{root}/{path}"]) == sources.total_size([str(tree / path)])
    sources.check([f"{root}/{path}"])


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("*/ham/", ["1/ham/a", "1/ham/b", "10/ham/d", "2/ham/e"]),
        ("**", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("**/[b-d]", ["1/ham/b", "1/spam/c", "10/ham/d"]),
        (".*/*", [".hidden/h"]),
    ],
)
def test_patterns(pattern, found):
    for name in ("1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", ".hidden/h", "z"):
        fsspec.filesystem("memory").pipe(f"/globs/{name}", name.encode())
    assert read("memory://globs", pattern) == [(name, None, name.encode()) for name in found]
    sources.check([f"memory://globs/{pattern}"])


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("memory://nowhere/x", "no such file or folder"),
        ("file:///nowhere/x/", "no such file or folder"),
        ("memory://few/y*", "no file or folder matches this pattern"),
    ],
)
def test_what_is_not_there(url, why):
    fsspec.filesystem("memory").pipe("/few/1/ham", b"x")
    with pytest.raises(NoInput) as caught:
        sources.check([url])
    assert str(caught.value) == f"{url}: {why}"
    assert [described(one) for one in sources.messages([url])] == [(url, why)]


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("gs://bucket/ham", 64, "install gcsfs"),
        ("nonsense://bucket/ham", 66, "nonsense"),
        ("http://127.0.0.1:1/ham.mbox", 66, "connect call failed"),
    ],
)
def test_one_line_says_what_to_do(spamnb, mail, url, code, words):
    spamnb("train", "--model", "x", url, mail.spam).fails(code, f"{url}: ", words)


def test_a_model_is_here(spamnb, mail):
    here = "a model must be a local file"
    spamnb("train", "--model", "s3://mail/model", mail.ham, mail.spam).fails(64, here)
    spamnb("inspect", env=spamnb.environment | {"SPAMNB_MODEL": "s3://mail/model"}).fails(64, here)


def test_without_fsspec(spamnb, mail):
    start = "import sys; sys.modules['fsspec'] = None; from spamnb.__main__ import main; sys.exit(main())"
    without = [sys.executable, "-c", start]
    done = spamnb.run([*without, "train", "--model", "x", "s3://bucket/ham", mail.spam])
    missing = "mail at an address with :// needs a package that is missing; install it with: "
    done.fails(64, missing, "pip install", "[cluster]")
    assert spamnb.run([*without, "classify", mail.spam]).code == 0


class Files(http.server.SimpleHTTPRequestHandler):
    """Sends nothing but whole files, and keeps connections open."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Closed(Files):
    def send_head(self):
        self.send_error(403)


def asked(code, *arguments, **environment):
    """What a fresh process answers."""
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return pickle.loads(done.stdout)


def test_a_web_server(tree):
    """One that sends nothing but whole files."""
    paths = ["boxes/long.mbox", "boxes/gzip.mbox", "folder/1.eml"]
    with served(Files, directory=str(tree)) as web:
        found = asked(ASK, *[f"{web}/{path}" for path in paths])
    for path, (items, in_chunks, _) in zip(paths, found, strict=True):
        assert below(web, items) == below(
            tree, [described(one) for one in sources.messages([str(tree / path)])]
        )
        assert in_chunks == items


# S3


def test_a_bucket_has_the_messages_of_the_same_folder(tree, bucket):
    bucket.put_all(tree, "tree")
    bucket.put("tree/folder/", b"")  # as some programs mark a folder
    root, paths = "s3://mail/tree", ["", "Maildir/.Junk", "boxes/long.mbox"]
    found = asked(ASK, *[f"{root}/{path}" for path in paths], **bucket.environment)
    for path, (items, in_chunks, size) in zip(paths, found, strict=True):
        assert below(root, items) == read(tree, path)
        assert in_chunks == items
        assert size == sources.total_size([str(tree / path)])


def test_commands(spamnb, bucket, mail, tmp_path):
    """Train from a folder and a pattern; classify, by number, too; pass a message through."""
    where = spamnb.environment | bucket.environment | {"SPAMNB_MODEL": str(tmp_path / "model")}
    bucket.put_all(mail.ham, "shop/ham")
    bucket.put("shop/spam.mbox", box(range(30)))
    spamnb("train", "s3://mail/shop/ham", "s3://mail/shop/s*.mbox", env=where).succeeds()
    whole = spamnb("classify", "s3://mail/shop/spam.mbox", env=where)
    assert len(whole.lines) == 30
    assert spamnb("classify", "s3://mail/shop/spam.mbox:7", env=where).lines == [whole.lines[7]]
    spamnb("classify", "s3://mail/shop/spam.mbox:30", env=where).fails(66, "no such message")
    spamnb("classify", "--passthrough", "s3://mail/shop", env=where).fails(64)


def test_what_servers_refuse(spamnb, bucket, tree):
    where = spamnb.environment | bucket.environment
    spamnb("classify", "s3://nobody/ham/", env=where).fails(66, "s3://nobody/ham/: no such file or folder")
    with served(Closed, directory=str(tree)) as web:
        spamnb("classify", f"{web}/boxes/a.mbox").fails(66, "a.mbox: 403 Forbidden")
        closed = where | {"AWS_ENDPOINT_URL": web}
        spamnb("classify", "s3://mail/tree", env=closed).fails(66, "s3://mail/tree: permission denied")
