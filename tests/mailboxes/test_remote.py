"""Mail on addresses: read as the same mail on the disk is, through real servers, by real processes."""

import bz2
import gzip
import http.server
import lzma
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import fsspec
import pytest
from helpers.mailboxes import ENVELOPE, box, maildir, put, together
from helpers.mailboxes import mail as message
from helpers.samples import ham, spam

from spamnb.errors import NoInput, UsageError
from spamnb.mailboxes import sources
from spamnb.mailboxes.mbox import LEAD
from spamnb.mailboxes.ranges import Range, ranges
from spamnb.mailboxes.remote_folders import CHAIN
from spamnb.mailboxes.sources import Raw, Unreadable
from spamnb.mailboxes.streams import FIRST

# As another process sees it: what a fresh one finds at each address, and how much; then cut into ranges, and
# what these are.
ASK = """
import pickle, sys
from spamnb.mailboxes import ranges
from spamnb.mailboxes import remote
from spamnb.mailboxes import sources
from spamnb.mailboxes.sources import Raw
remote.AT_ONCE = 8
def told(items, before=0):
    return [(one.path, one.index if one.index is None else before + one.index, one.data)
            if isinstance(one, Raw) else (one.path, one.why) for one in items]
def work(chunk):
    return chunk, list(chunk.messages())
def answer(url):
    kept = list(ranges.joined(map(work, ranges.ranges([url], size=100_000)), work))
    again = [one for _, items, before in kept for one in told(items, before)]
    kinds = {type(chunk).__name__ for chunk, *_ in kept}
    return told(sources.messages([url])), sources.total_size([url]), again, kinds
pickle.dump([answer(url) for url in sys.argv[1:]], sys.stdout.buffer)
"""


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Mail of every kind, with what lies beside it."""
    root = tmp_path_factory.mktemp("tree")
    put(root / "boxes" / "a.mbox", box(range(40)))
    put(root / "boxes" / "b.mbox", box(range(40, 60)).replace(b"\n", b"\r\n"))
    for pack in (gzip, lzma, bz2):
        put(root / "boxes" / f"{pack.__name__}.mbox", pack.compress(box(range(60, 90))))
    put(root / "boxes" / "long.mbox", box([90], 30_000) + box(range(91, 94)))  # more than one request
    for n in range(20):
        put(root / "folder" / f"{n}.eml", message(100 + n))
    put(root / "folder" / "exact", message(170) + b"x" * (FIRST - len(message(170))))
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
    for name in ("dovecot.index", "dovecot-uidlist", "maildirfolder", "subscriptions", ".hidden/x"):
        put(root / "Maildir" / name)
    return root


FOLDERS = ["", "boxes", "folder", "Maildir", "Maildir/.Junk", "folder/a"]


@pytest.fixture(scope="session")
def memory(tree):
    """The same in memory; all folders, those without files too."""
    store = fsspec.filesystem("memory")
    for folder, _, names in os.walk(tree):
        where = "/tree/" + os.path.relpath(folder, tree)
        store.makedirs(os.path.normpath(where), exist_ok=True)
        for name in names:
            store.pipe(os.path.normpath(f"{where}/{name}"), Path(folder, name).read_bytes())
    yield "memory://tree"
    store.rm("/tree", recursive=True)


def told(items, root):
    """What was found, with paths as they are below a root."""
    root = str(root).rstrip("/") + "/"
    found = []
    for item in items:
        path, *rest = (
            item if isinstance(item, tuple)
            else (item.path, item.index, item.data) if isinstance(item, Raw) else (item.path, item.why)
        )  # fmt: skip
        assert path.startswith(root)
        found.append((path.removeprefix(root).lstrip("/"), *rest))
    return found


def read(root, path="", **options):
    return told(sources.messages([f"{root}/{path}"], **options), root)


def in_chunks(root, path="", **options):
    chunks = sources.chunks([f"{root}/{path}"], **options)
    return told([item for chunk in chunks for item in pickle.loads(pickle.dumps(chunk)).messages()], root)


def write(url, data):
    store, path = fsspec.core.url_to_fs(url)
    store.pipe(path, data)
    return url


# The same mail, the same order


@pytest.mark.parametrize("path", FOLDERS)
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_a_folder_elsewhere_has_the_messages_of_the_same_folder_here(tree, memory, kind, path):
    root = memory if kind == "memory" else f"file://{tree}"
    expected = read(tree, path)
    assert len(expected) >= 1
    assert read(root, path) == expected
    assert in_chunks(root, path) == expected
    assert in_chunks(root, path, size=500) == expected
    assert sources.total_size([f"{root}/{path}"]) == sources.total_size([str(tree / path)])
    for size in (700, 5000):
        chunks = ranges([f"{root}/{path}"], size=size)
        assert told(together(chunks), root) == [(*one, *[None] * (3 - len(one))) for one in expected]
    sources.check([f"{root}/{path}"])


@pytest.mark.parametrize("name", ["boxes/a.mbox", "boxes/gzip.mbox", "boxes/long.mbox", "folder/large"])
def test_a_file_elsewhere(tree, memory, name):
    for root in (memory, f"file://{tree}"):
        assert read(root, name) == read(tree, name)
        assert sources.total_size([f"{root}/{name}"]) == (tree / name).stat().st_size


def test_several_paths_come_in_their_order(tree, memory):
    names = ["folder/a", "boxes/a.mbox", "folder/a-b", "boxes/b.mbox"]
    here = [str(tree / name) for name in names]
    mixed = [f"{memory}/{names[0]}", here[1], f"file://{here[2]}", f"{memory}/{names[3]}"]
    for size in (1 << 20, 10):
        found = [item for chunk in sources.chunks(mixed, size=size) for item in chunk.messages()]
        assert [one.data for one in found] == [one.data for one in sources.messages(here)]
        assert {one.path for one in found} >= {mixed[1], mixed[3]}


def test_no_folder_is_read_twice(tree, memory):
    names = ["folder", "folder/a", "Maildir", "Maildir/.Junk", "folder/"]
    here = [one.data for one in sources.messages(f"{tree}/{name}" for name in names)]
    for root in (memory, f"file://{tree}"):
        assert [one.data for one in sources.messages(f"{root}/{name}" for name in names)] == here


def test_a_zip_file_is_a_folder(tree, tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "mail.zip", "w") as packed:
        for name in ("folder/0.eml", "folder/a/b/c/deep", "boxes/a.mbox"):
            packed.write(tree / name, name)
    chained = f"::file://{tmp_path}/mail.zip"
    found = list(sources.messages([f"zip://{chained}"]))
    assert [one.path for one in found] == [
        *[f"zip://boxes/a.mbox{chained}"] * 40,
        f"zip://folder/0.eml{chained}",
        f"zip://folder/a/b/c/deep{chained}",
    ]
    assert found[-1].data == message(174)
    without = [f"zip://folder/a{chained}", f"zip://boxes/*{chained}"]
    assert [one.data for one in sources.messages([f"zip://{chained}"], without=without)] == [message(100)]
    monkeypatch.chdir(tmp_path)
    assert [one.data for one in sources.messages(["zip://folder/0.eml::mail.zip"])] == [message(100)]
    for pattern, many in (("*/*.eml", 1), ("f*", 2), ("**/a*", 41), ("boxes/a.mbox", 40)):
        assert len(list(sources.messages([f"zip://{pattern}{chained}"]))) == many


def test_a_maildir_on_a_store_without_empty_folders():
    """As S3 has it: nothing new, nothing in tmp, and yet a Maildir."""
    write("memory://bare/cur/1.x:2,S", box([1, 2]))
    assert read("memory://bare") == [("cur/1.x:2,S", None, box([1, 2])[len(ENVELOPE) :])]


def test_links(tmp_path):
    put(tmp_path / "elsewhere" / "x")
    folder = tmp_path / "folder"
    put(folder / "a")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "x")
    (folder / "loop").symlink_to(folder)
    (folder / "lost").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    assert read(f"file://{folder}") == [("a", None, message(1)), ("file", None, message(1))]
    assert len(read(f"file://{folder}", "loop")) == 2  # named
    with pytest.raises(NoInput, match="neither a file nor a folder"):
        sources.check([f"file://{folder}/pipe"])


# Patterns


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("1/*", ["1/ham/a", "1/ham/b", "1/spam/c"]),
        ("*/ham", ["1/ham/a", "1/ham/b", "10/ham/d", "2/ham/e"]),
        ("*/ham/", ["1/ham/a", "1/ham/b", "10/ham/d", "2/ham/e"]),
        ("?/ham/?", ["1/ham/a", "1/ham/b", "2/ham/e"]),
        ("[12]/*am/[!a]", ["1/ham/b", "1/spam/c", "2/ham/e"]),
        ("1?/**", ["10/ham/d"]),
        ("**", ["1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", "z"]),
        ("**/ham", ["1/ham/a", "1/ham/b", "10/ham/d", "2/ham/e"]),
        ("**/[b-d]", ["1/ham/b", "1/spam/c", "10/ham/d"]),
        ("**/ham/**/[ae]", ["1/ham/a", "2/ham/e"]),
        ("**/**/**/e", ["2/ham/e"]),
        (".*/*", [".hidden/h"]),
        ("2/x[1]", ["2/x[1]"]),  # there is one of that name
        ("2/x[[]*", ["2/x[1]"]),
    ],
)
def test_patterns(pattern, found):
    for name in ("1/ham/a", "1/ham/b", "1/spam/c", "10/ham/d", "2/ham/e", "2/x[1]", ".hidden/h", "z"):
        write(f"memory://globs/{name}", name.encode())
    assert read("memory://globs", pattern) == [(name, None, name.encode()) for name in found]
    sources.check([f"memory://globs/{pattern}"])


@pytest.mark.parametrize("pattern", ["y*", "1/*/", "**/y", "**/1/**/1"])
def test_patterns_that_match_nothing(pattern):
    write("memory://few/1/ham", b"x")
    url = f"memory://few/{pattern}"
    with pytest.raises(NoInput) as caught:
        sources.check([url])
    assert str(caught.value) == f"{url}: nothing there matches"
    assert [(one.path, one.why) for one in sources.messages([url])] == [(url, "nothing there matches")]


def test_without(tree, memory):
    for path, *without in (
        ("Maildir", "Maildir/.Junk"),
        ("Maildir", "Maildir/.Junk/", "Maildir/Archive"),
        ("folder", "folder/a", "folder/1.eml", "nowhere"),
        ("folder", "boxes"),
    ):
        here = read(tree, path, without=[str(tree / one) for one in without])
        for root in (memory, f"file://{tree}"):
            assert read(root, path, without=[f"{root}/{one}" for one in without]) == here
    assert len(read(memory, "folder", without=[f"{memory}/folder/?.eml"])) == len(read(tree, "folder")) - 10
    # What is named is read, though it lies below what is passed over.
    assert read(memory, "folder/a", without=[f"{memory}/folder"]) == read(tree, "folder/a")


def test_patterns_of_two_labels_that_overlap(memory):
    with pytest.raises(UsageError, match=r"boxes/a\.mbox: named under two labels"):
        read(memory, "boxes/*", without=[f"{memory}/boxes/a*"])


def test_a_long_listing_takes_linear_time(monkeypatch):
    store = fsspec.filesystem("memory")
    monkeypatch.setattr(type(store), "store", {})

    def seconds(many):
        for n in range(many):
            store.pipe(f"/long/{n}", b"x")
        start = time.process_time()
        without = [f"memory://long/{n}" for n in range(many // 2)]
        assert sources.total_size(["memory://long", "memory://long/*9"], without=without[:1]) > many
        assert sources.total_size(["memory://long"], without=without) == many - many // 2
        taken = time.process_time() - start
        store.store.clear()  # its own way takes quadratic time
        return taken

    few = seconds(1000)
    assert seconds(6000) < 1 + 15 * few  # quadratic: 36 times


# Errors


def test_what_is_not_there():
    for url in ("memory://nowhere/x", "file:///nowhere/x", "memory://nowhere/", "memory://nowhere/x/*"):
        with pytest.raises(NoInput) as caught:
            sources.check([url])
        assert str(caught.value) == f"{url}: no such file or folder"
        assert [(one.path, one.why) for one in sources.messages([url])] == [(url, "no such file or folder")]


def test_what_goes_meanwhile_is_told():
    urls = [write(f"memory://goes/{n}", message(n)) for n in range(3)]
    (chunk,) = sources.chunks(["memory://goes"])
    fsspec.filesystem("memory").rm("/goes/1")
    found = list(chunk.messages())
    assert [one.path for one in found] == urls
    assert isinstance(found[1], Unreadable)
    assert found[1].why == "no such file or folder"


def test_names_that_would_be_taken_for_a_chain_of_addresses():
    write("memory://odd/a", b"a")
    store = fsspec.filesystem("memory")
    for name in ("/odd/a::b", "/odd/x::file:/y", "/odd/c"):
        store.pipe(name, b"c")
    for url in ("memory://odd", "memory://odd/*"):
        assert read("memory://odd", url.removeprefix("memory://odd")) == [
            ("a", None, b"a"),
            ("a%3A%3Ab", CHAIN),
            ("c", None, b"c"),
            ("x%3A%3Afile:", CHAIN),
        ]
    assert len(read("memory://odd", without=["memory://odd/a*"])) == 2


def test_nothing_in_a_name_moves_a_terminal(spamnb, tmp_path):
    put(tmp_path / "a\nb\x1b[31m", message(1))
    put(tmp_path / "c\r\x9b2J", gzip.compress(message(2))[:-9])
    done = spamnb("classify", f"file://{tmp_path}")
    assert (done.code, done.out.count(b"\n"), done.err.count(b"\n")) == (65, 1, 1)
    assert "a�b�[31m" in done.out.decode()
    assert "c��2J: damaged" in done.err.decode()


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("gs://bucket/ham", 64, "this needs another package: pip install gcsfs"),
        ("sftp://host/ham", 64, "this needs another package: pip install paramiko"),
        ("abfs://bucket/*", 64, "this needs another package: pip install adlfs"),
        ("smb://host/ham", 64, "smbprotocol"),
        ("nonsense://bucket/ham", 66, "nonsense"),
        ("memory://nothing", 66, "no such file or folder"),
        ("http://127.0.0.1:1/ham.mbox", 66, "connect call failed"),
    ],
)
def test_one_line_says_what_to_do(spamnb, mail, url, code, words):
    spamnb("train", "--model", "x", url, mail.spam).fails(code, f"{url}: ", words)


def test_every_command_says_so(spamnb, mail):
    for command in (("evaluate", mail.ham), ("classify", "-p"), ("inspect",)):
        spamnb(*command, "memory://nothing").fails(66, "memory://nothing: no such file or folder")


def test_a_model_is_here(spamnb, mail):
    here = "s3://mail/model: a model is a file on this machine"
    spamnb("train", "--model", "s3://mail/model", mail.ham, mail.spam).fails(64, here)
    spamnb("inspect", env=spamnb.environment | {"SPAMNB_MODEL": "s3://mail/model"}).fails(64, here)


def test_what_a_backend_logs_is_not_shown():
    code = """
import logging, pickle, sys
import spamnb.mailboxes.remote
logging.getLogger("paramiko.transport").error("Traceback")
pickle.dump(None, sys.stdout.buffer)
"""
    asked(code)


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("fsspec", "addresses with :// need an extra: pip install 'spamnb[cluster]'"),
        ("s3fs", "s3://bucket/ham: this needs another package: pip install s3fs"),
    ],
)
def test_what_is_not_installed(spamnb, mail, lacking, words):
    start = f"import sys; sys.modules['{lacking}'] = None; from spamnb.start import main; sys.exit(main())"
    without = [sys.executable, "-c", start]
    spamnb.run([*without, "train", "--model", "x", "s3://bucket/ham", mail.spam]).fails(64, words)
    if lacking == "fsspec":
        assert spamnb.run([*without, "classify", mail.spam]).code == 0


def test_evaluate(spamnb, mail):
    evaluate = ("evaluate", "--json", "--folds", "2", "--jobs", "1")
    here = spamnb(*evaluate, mail.ham, mail.spam).succeeds()
    root = mail.ham.removesuffix("/ham")
    there = spamnb(*evaluate, f"file://{root}/h*", f"file://{root}/sp?m/*").succeeds()
    assert there.out.replace(b"file://", b"") == here.out


def test_a_message_is_passed_through(spamnb, tree):
    done = spamnb("classify", "-p", f"file://{tree}/folder/0.eml").succeeds()
    assert done.out.startswith(b"X-Spamnb:")
    assert done.out.endswith(message(100))
    spamnb("classify", "-p", f"file://{tree}/folder").fails(64, "one message at a time")


# Web servers


class Whole(http.server.SimpleHTTPRequestHandler):
    """Python's own, which sends nothing but whole files."""

    def log_message(self, *_):
        pass


class Ranged(Whole):
    """And one that sends a part when asked for it, as all others do."""

    def send_head(self):
        wanted = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        path = Path(self.translate_path(self.path))
        if not wanted[0] or not path.is_file():
            return super().send_head()
        file, size = path.open("rb"), path.stat().st_size
        start, end = int(wanted[0]), min(int(wanted[2]), size - 1)
        file.seek(start)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end}/{size}")
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        self.wfile.write(file.read(end - start + 1))
        file.close()
        return None


class Closed(Whole):
    def send_head(self):
        self.send_error(403)


class Lasting(Whole):
    """Keeps connections open."""

    protocol_version = "HTTP/1.1"


class Slow(Whole):
    """Sends the end of a file after a while."""

    def copyfile(self, source, outputfile):
        data = source.read()
        outputfile.write(data[:-100])
        time.sleep(0.6)
        outputfile.write(data[-100:])


@contextmanager
def served(handler, folder):
    def serve(*arguments):
        return handler(*arguments, directory=str(folder))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


def asked(code, *arguments, seconds=60, **environment):
    """What a fresh process answers."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, timeout=seconds)
    assert (done.returncode, done.stderr) == (0, b"")
    return pickle.loads(done.stdout)


@pytest.mark.parametrize("kind", [Whole, Ranged])
def test_a_web_server(tree, kind):
    """Folders, with and without a slash, and files; mailboxes are cut if the server can."""
    paths = ["boxes", "Maildir/.Junk/", "boxes/long.mbox", "boxes/gzip.mbox", "folder/a*/**/d*"]
    paths += [""] if kind is Whole else []
    with served(kind, tree) as web:
        found = asked(ASK, *[f"{web}/{path}" for path in paths])
    for path, (items, size, again, kinds) in zip(paths, found, strict=True):
        here = str(tree / path) if "*" not in path else str(tree / "folder" / "a" / "b" / "c" / "deep")
        expected = told(sources.messages([here]), tree)
        assert told(items, web) == [(quote(name), *rest) for name, *rest in expected]
        assert again == items
        assert size == sources.total_size([here])
        if path == "boxes/long.mbox":
            assert kinds == {"Ready" if kind is Whole else "Range"}


def test_a_range_is_asked_for_at_once(tmp_path):
    asked_for = []

    class Noted(Ranged):
        def do_GET(self):
            asked_for.append(self.headers.get("Range", ""))
            super().do_GET()

    put(tmp_path / "box", box(range(100), 3000))  # 3 MB
    with served(Noted, tmp_path) as web:
        third = (1 << 20) + 1
        chunk = Range(f"{web}/box", 1 << 20, (1 << 20) + third)
        assert len(list(chunk.messages())) > 30
    start, first, more = (1 << 20) - LEAD, third + LEAD, FIRST
    assert asked_for == [
        f"bytes={start}-{start + first - 1}",
        f"bytes={start + first}-{start + first + more - 1}",
    ]


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
    with served(Lasting, tree) as web:
        assert asked(code, f"{web}/boxes/", seconds=30) == [len(read(tree, "boxes"))] * 5


def test_a_file_may_take_longer_than_the_five_minutes_of_aiohttp(tree):
    code = """
import pickle, sys
import aiohttp.client
from spamnb.mailboxes import sources
aiohttp.client.DEFAULT_TIMEOUT = aiohttp.ClientTimeout(total=0.3)
pickle.dump([getattr(one, "data", None) for one in sources.messages(sys.argv[1:])], sys.stdout.buffer)
"""
    with served(Slow, tree) as web:
        found = asked(code, f"{web}/boxes/long.mbox")
    assert found == [data for *_, data in read(tree, "boxes/long.mbox")]


def test_a_server_that_does_not_answer():
    code = """
import pickle, sys
from spamnb.errors import NoInput
from spamnb.mailboxes import remote
from spamnb.mailboxes import sources
remote.PATIENCE = 0.2
try:
    sources.check(sys.argv[1:])
except NoInput as error:
    pickle.dump(str(error), sys.stdout.buffer)
"""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}/ham.mbox"
        assert asked(code, url, seconds=30) == f"{url}: no answer"


def test_a_closed_web_server(spamnb, tree):
    with served(Closed, tree) as web:
        spamnb("classify", f"{web}/boxes/a.mbox").fails(66, "a.mbox: 403 Forbidden")


# S3


@pytest.fixture(scope="session")
def in_bucket(bucket, tree):
    bucket.put_all(tree, "tree")
    bucket.put("tree/folder/", b"")  # as some programs mark a folder
    return "s3://mail/tree"


def test_a_bucket_has_the_messages_of_the_same_folder(tree, bucket, in_bucket):
    paths = ["", "Maildir/.Junk", "boxes/long.mbox", "folder/large"]
    found = asked(ASK, *[f"{in_bucket}/{path}" for path in paths], **bucket.environment)
    for path, (items, size, again, kinds) in zip(paths, found, strict=True):
        assert told(items, in_bucket) == read(tree, path)
        assert again == items
        assert size == sources.total_size([str(tree / path)])
        assert ("Range" in kinds) == (path in ("", "boxes/long.mbox"))


@pytest.fixture(scope="session")
def labelled(tmp_path_factory, bucket):
    """Ham and spam on the disk and in the bucket, as small files and as mailboxes."""
    root = tmp_path_factory.mktemp("labelled")
    for n in range(20):
        put(root / "ham" / f"{n}", ham(n))
    put(root / "ham" / "box.mbox", b"".join(ENVELOPE + ham(n) + b"\n" for n in range(20, 500)))
    assert (root / "ham" / "box.mbox").stat().st_size > sources.CHUNK // sources.PACKING
    for part in range(3):
        many = b"".join(ENVELOPE + spam(n) + b"\n" for n in range(part * 100, part * 100 + 100))
        put(root / f"spam{part}.mbox.gz", gzip.compress(many))
    bucket.put_all(root, "labelled")
    return root


def test_a_model_trained_from_a_bucket_is_the_same_byte_for_byte(spamnb, bucket, labelled, tmp_path):
    here, there = str(tmp_path / "here"), str(tmp_path / "there")
    spam_here = [word for part in range(3) for word in ("--spam", f"{labelled}/spam{part}.mbox.gz")]
    trained = spamnb(
        "train", "--jobs", "1", "--model", here, "--ham", f"{labelled}/ham", *spam_here
    ).succeeds()
    environment = spamnb.environment | bucket.environment
    root = "s3://mail/labelled"
    urls = (f"{root}/ham/", f"{root}/spam*.mbox.gz")
    done = spamnb.afresh("train", "--jobs", "2", "--model", there, *urls, env=environment).succeeds()
    assert done.lines[:3] == ["ham: 500 learned", "spam: 300 learned", "unreadable: 0"]
    assert done.lines[:3] == trained.lines[:3]
    assert Path(there).read_bytes() == Path(here).read_bytes()

    classify = ("classify", "--jobs", "1", "--model", here)
    local = spamnb(*classify, str(labelled)).succeeds()
    remote = spamnb(*classify, root, env=environment).succeeds()
    assert len(remote.lines) == 800
    assert [line.replace(root, str(labelled)) for line in remote.lines] == local.lines


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
    with served(Closed, tree) as web:
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
