"""Mail on addresses: read as the same mail on the disk is, through real servers, by real processes."""

import gzip
import http.server
import lzma
import os
import pickle
import socket
import subprocess
import sys
import time
import zipfile
from urllib.parse import quote

import fsspec
import pytest
from helpers.mailboxes import ENVELOPE, box, described, maildir, put, together
from helpers.mailboxes import mail as message
from helpers.waiting import PATIENCE
from helpers.web import served

from spamnb.errors import NoInput, UsageError
from spamnb.mailboxes import sources

# As a fresh process sees an address: its messages, the same put together from chunks, their size, and the
# kinds of chunks.
ASK = """
import pickle, sys
from helpers.mailboxes import described, together
from spamnb.mailboxes import remote, sources
remote.FILES_AT_ONCE = 8
def answer(url):
    chunks = list(sources.chunks([url], size=100_000))
    kinds = {type(chunk).__name__ for chunk in chunks}
    return [*map(described, sources.messages([url]))], together(chunks), sources.total_size([url]), kinds
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


# Folders and patterns


@pytest.mark.parametrize("path", ["", "boxes", "boxes/gzip.mbox", "folder/large", "Maildir/.Junk"])
def test_a_folder_elsewhere_has_the_messages_of_the_same_folder_here(tree, path):
    root = f"file://{tree}"
    expected = read(tree, path)
    assert len(expected) >= 1
    assert read(root, path) == expected
    for size in (1 << 20, 5000, 500):
        assert below(root, together(sources.chunks([f"{root}/{path}"], size=size))) == expected
    assert sources.total_size([f"{root}/{path}"]) == sources.total_size([str(tree / path)])
    sources.check([f"{root}/{path}"])


def test_several_paths_come_in_their_order_and_no_folder_twice(tree):
    here = [f"{tree}/{name}" for name in ("folder/a", "boxes/a.mbox", "folder/a-b", "boxes/gzip.mbox")]
    mixed = [f"file://{here[0]}", here[1], f"file://{here[2]}", here[3], f"file://{here[0]}/"]
    for size in (1 << 20, 10):
        found = together(sources.chunks(mixed, size=size))
        assert [data for *_, data in found] == [described(one)[2] for one in sources.messages(here)]


def test_a_file_in_an_archive(tree, tmp_path):
    with zipfile.ZipFile(tmp_path / "mail.zip", "w") as packed:
        packed.write(tree / "boxes" / "a.mbox", "boxes/a.mbox")
    archive = f"::file://{tmp_path}/mail.zip"
    for size in (1 << 20, 500):
        found = together(sources.chunks([f"zip://boxes/a.mbox{archive}"], size=size))
        assert [data for *_, data in found] == [*map(message, range(40))]
    missing = "no such file"
    for name, why in (("boxes", "name a file in it"), ("nothing", missing), ("boxes/*", missing)):
        with pytest.raises(NoInput, match=why):
            sources.check([f"zip://{name}{archive}"])


def test_links_and_pipes_are_not_followed(tmp_path):
    put(tmp_path / "elsewhere" / "x")
    folder = tmp_path / "folder"
    put(folder / "a")
    for name, target in (("file", "../elsewhere/x"), ("loop", "."), ("lost", "nowhere")):
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe")
    assert read(f"file://{folder}") == [("a", None, message(1))]
    assert len(read(f"file://{folder}", "loop")) == 1  # named
    with pytest.raises(NoInput, match="neither a file nor a folder"):
        sources.check([f"file://{folder}/pipe"])


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("*/ham/", ["1/ham/a", "1/ham/b", "10/ham/d", "2/ham/e"]),
        ("[12]/*am/[!a]", ["1/ham/b", "1/spam/c", "2/ham/e"]),
        ("**", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("**/[b-d]", ["1/ham/b", "1/spam/c", "10/ham/d"]),
        (".*/*", [".hidden/h"]),
        ("2/x[1]", ["2/x[1]"]),  # there is one of that name
    ],
)
def test_patterns(pattern, found):
    for name in ("1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", ".hidden/h", "z"):
        fsspec.filesystem("memory").pipe(f"/globs/{name}", name.encode())
    assert read("memory://globs", pattern) == [(name, None, name.encode()) for name in found]
    sources.check([f"memory://globs/{pattern}"])


def test_without(tree):
    there = f"file://{tree}"
    for path, *without in (
        ("Maildir", "Maildir/.Junk/", "Maildir/Archive"),
        ("folder", "folder/a", "folder/1.eml", "nowhere"),
        ("folder/a", "folder"),  # what is named is read, though it lies below what is passed over
    ):
        here = read(tree, path, without=[str(tree / one) for one in without])
        assert read(there, path, without=[f"{there}/{one}" for one in without]) == here
    assert len(read(there, "folder", without=[f"{there}/folder/?.eml"])) == len(read(tree, "folder")) - 10
    with pytest.raises(UsageError, match=r"boxes/a\.mbox: given under two labels: choose one"):
        read(there, "boxes/*", without=[f"{there}/boxes/a*"])


# Errors


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("memory://nowhere/x", "no such file or folder"),
        ("file:///nowhere/x/", "no such file or folder"),
        ("memory://nowhere/x/*", "no such file or folder"),
        ("memory://few/y*", "nothing there matches"),
        ("memory://few/1/*/", "nothing there matches"),
    ],
)
def test_what_is_not_there(url, why):
    fsspec.filesystem("memory").pipe("/few/1/ham", b"x")
    with pytest.raises(NoInput) as caught:
        sources.check([url])
    assert str(caught.value) == f"{url}: {why}"
    assert [described(one) for one in sources.messages([url])] == [(url, why)]


@pytest.mark.parametrize("path", ["", "*"])
def test_a_name_is_not_taken_for_an_address_in_an_address(path):
    for name in ("/odd/a", "/odd/a::b", "/odd/x::file:/y", "/odd/c"):
        fsspec.filesystem("memory").pipe(name, b"c")
    (_, *one), (name, why), (_, *two), (other, reason) = read("memory://odd", path)
    assert one == two == [None, b"c"]
    assert (name, other) == ("a%3A%3Ab", "x%3A%3Afile:")
    assert why == reason == "no such file or folder"


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("gs://bucket/ham", 64, "install gcsfs"),
        ("sftp://host/ham", 64, "paramiko"),
        ("nonsense://bucket/ham", 66, "nonsense"),
        ("memory://nothing", 66, "no such file or folder"),
        ("http://127.0.0.1:1/ham.mbox", 66, "connect call failed"),
    ],
)
def test_one_line_says_what_to_do(spamnb, mail, url, code, words):
    spamnb("train", "--model", "x", url, mail.spam).fails(code, f"{url}: ", words)


def test_a_model_is_here(spamnb, mail):
    here = "s3://mail/model: a model must be a local file"
    spamnb("train", "--model", "s3://mail/model", mail.ham, mail.spam).fails(64, here)
    spamnb("inspect", env=spamnb.environment | {"SPAMNB_MODEL": "s3://mail/model"}).fails(64, here)


def test_without_fsspec(spamnb, mail):
    start = "import sys; sys.modules['fsspec'] = None; from spamnb.start import main; sys.exit(main())"
    without = [sys.executable, "-c", start]
    words = "addresses with :// need an extra: pip install 'spamnb[cluster]'"
    spamnb.run([*without, "train", "--model", "x", "s3://bucket/ham", mail.spam]).fails(64, words)
    assert spamnb.run([*without, "classify", mail.spam]).code == 0


def test_evaluate_and_classify(spamnb, mail, tree):
    evaluate = ("evaluate", "--json", "--folds", "2", "--jobs", "1")
    here = spamnb(*evaluate, mail.ham, mail.spam).succeeds()
    root = mail.ham.removesuffix("/ham")
    there = spamnb(*evaluate, f"file://{root}/h*", f"file://{root}/sp?m/*").succeeds()
    assert there.out.replace(b"file://", b"") == here.out
    done = spamnb("classify", "-p", f"file://{tree}/folder/0.eml").succeeds()
    assert done.out.startswith(b"X-Spamnb:")
    assert done.out.endswith(message(100))
    spamnb("classify", "-p", f"file://{tree}/folder").fails(64, "one message at a time")


# Web servers


class Files(http.server.SimpleHTTPRequestHandler):
    """Sends nothing but whole files, and keeps connections open."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Closed(Files):
    def send_head(self):
        self.send_error(403)


class Slow(Files):
    """Sends the end of a file after a while."""

    def copyfile(self, source, outputfile):
        data = source.read()
        outputfile.write(data[:-100])
        time.sleep(0.6)
        outputfile.write(data[-100:])


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
    """Folders, with and without a slash, and files."""
    paths = ["", "boxes", "Maildir/.Junk/", "boxes/long.mbox", "boxes/gzip.mbox", "folder/a*/**/d*"]
    with served(Files, directory=str(tree)) as web:
        found = asked(ASK, *[f"{web}/{path}" for path in paths])
    for path, (items, in_chunks, _, _) in zip(paths, found, strict=True):
        here = str(tree / path) if "*" not in path else str(tree / "folder" / "a" / "b" / "c" / "deep")
        expected = below(tree, [described(one) for one in sources.messages([here])])
        assert below(web, items) == [(quote(name), *rest) for name, *rest in expected]
        assert in_chunks == items


def test_a_process_leaves_the_connections_of_its_parent_alone(tree):
    code = """
import gc, pickle, sys
from spamnb.workers.processes import in_parallel
from spamnb.mailboxes import sources
def count():
    gc.collect()
    return len(list(sources.messages(sys.argv[1:])))
pickle.dump([count(), *in_parallel(count, [(), (), ()], 2), count()], sys.stdout.buffer)
"""
    with served(Files, directory=str(tree)) as web:
        assert asked(code, f"{web}/boxes/") == [len(read(tree, "boxes"))] * 5


def test_a_file_may_take_longer_than_the_five_minutes_of_aiohttp(tree):
    code = """
import pickle, sys
import aiohttp.client
from spamnb.mailboxes import sources
aiohttp.client.DEFAULT_TIMEOUT = aiohttp.ClientTimeout(total=0.3)
pickle.dump([getattr(one, "data", None) for one in sources.messages(sys.argv[1:])], sys.stdout.buffer)
"""
    with served(Slow, directory=str(tree)) as web:
        found = asked(code, f"{web}/boxes/long.mbox")
    assert found == [data for *_, data in read(tree, "boxes/long.mbox")]


def test_a_server_that_does_not_answer():
    code = """
import pickle, sys
from spamnb.errors import NoInput
from spamnb.mailboxes import addresses, sources
addresses.TIMEOUT = 0.2
try:
    sources.check(sys.argv[1:])
except NoInput as error:
    pickle.dump(str(error), sys.stdout.buffer)
"""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/ham.mbox"
        assert asked(code, url) == f"{url}: no answer"


def test_a_closed_web_server(spamnb, tree):
    with served(Closed, directory=str(tree)) as web:
        spamnb("classify", f"{web}/boxes/a.mbox").fails(66, "a.mbox: 403 Forbidden")


# S3


def test_a_bucket_has_the_messages_of_the_same_folder(tree, bucket):
    bucket.put_all(tree, "tree")
    bucket.put("tree/folder/", b"")  # as some programs mark a folder
    root, paths = "s3://mail/tree", ["", "Maildir/.Junk", "boxes/long.mbox"]
    found = asked(ASK, *[f"{root}/{path}" for path in paths], **bucket.environment)
    for path, (items, in_chunks, size, kinds) in zip(paths, found, strict=True):
        assert below(root, items) == read(tree, path)
        assert in_chunks == items
        assert size == sources.total_size([str(tree / path)])
        assert ("MailboxRange" in kinds) == (path in ("", "boxes/long.mbox"))


def test_what_a_bucket_refuses(bucket, tree):
    code = """
import os, pickle, sys
import s3fs
from spamnb.errors import NoInput
from spamnb.mailboxes.sources import check
def refusal(url, **changes):
    os.environ.update(changes)
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        check([url])
    except NoInput as error:
        return str(error)
said = [refusal(url) for url in ("s3://nobody/ham/", "s3://mail/*.nothing")]
said.append(refusal("s3://mail/tree", AWS_ENDPOINT_URL=sys.argv[1]))
del os.environ["AWS_ACCESS_KEY_ID"]
said.append(refusal("s3://mail/tree"))
pickle.dump(said, sys.stdout.buffer)
"""
    with served(Closed, directory=str(tree)) as web:
        assert asked(code, web, **bucket.environment) == [
            "s3://nobody/ham/: no such file or folder",
            "s3://mail/*.nothing: nothing there matches",
            "s3://mail/tree: permission denied",
            "s3://mail/tree: Unable to locate credentials",
        ]


def test_an_object_that_goes_meanwhile_is_told_and_the_others_are_read(bucket, tree):
    for name in ("0.eml", "1.eml", "2.eml", "large"):
        bucket.put(f"going/{name}", (tree / "folder" / name).read_bytes())
    code = """
import pickle, sys
import fsspec
from spamnb.mailboxes import sources
chunks = list(sources.chunks(["s3://mail/going/"]))
fsspec.filesystem("s3").rm(["mail/going/1.eml", "mail/going/large"])
items = [one for chunk in chunks for one in chunk.messages()]
pickle.dump([(one.path, getattr(one, "why", "")) for one in items], sys.stdout.buffer)
"""
    found = asked(code, **bucket.environment)
    gone = "no such file or folder"
    reasons = {"0.eml": "", "1.eml": gone, "2.eml": "", "large": gone}
    assert found == [(f"s3://mail/going/{name}", why) for name, why in reasons.items()]
