"""How the program starts and ends: what a delivery imports, and what its exit code means."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from helpers.programs import needs
from helpers.screens import ESCAPES, on_a_terminal
from helpers.waiting import PATIENCE, pipe_to_reader
from rich.cells import cell_len

# Each costs a delivery 3 to 100 ms.
HEAVY = (
    "click numpy rich email re json typing dataclasses collections hashlib msgpack enum functools pathlib "
    "contextlib html sqlite3 string subprocess tempfile tomllib"
).split()
START = "import sys; from spamnb.__main__ import main; sys.exit(main())"  # what the start script does
DELIVERIES = ["classify -p -e", "classify -p --reasons", "classify -e FILE", "train --spam FILE"]


def imported(spamnb, *arguments, **options):
    done = spamnb.run([sys.executable, "-X", "importtime", "-c", *arguments], **options)
    assert done.code in (0, 1, 2), done.err.decode()
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.err.decode().splitlines()}


@pytest.fixture(scope="module")
def already(spamnb):
    """What the interpreter itself loads."""
    return imported(spamnb, "pass")


@pytest.mark.parametrize("line", DELIVERIES)
def test_a_delivery_loads_nothing_heavy(spamnb, own, mail, already, line):
    """With a journal, too."""
    spamnb("train", "--spam", "-", "--model", own, stdin=b"Subject: one more\n\nviagra\n").succeeds()
    arguments = line.replace("FILE", f"{mail.spam}/03").split()
    loaded = imported(spamnb, START, *arguments, "--model", own, stdin=mail.messages["spam"])
    assert "spamnb" in loaded
    assert loaded.isdisjoint(set(HEAVY) - already)


def test_a_core_that_cannot_be_loaded_is_no_verdict(spamnb, tmp_path):
    """As where memory is short. Python's own exit code, 1, would read as ham."""
    (tmp_path / "native.so").touch()
    broken = f"import spamnb.core; spamnb.core.__path__ = ['{tmp_path}']; "
    done = spamnb.run([sys.executable, "-c", broken + START, "classify", "--exit-code"], PLAIN)
    done.fails(75, "spamnb: cannot start: ")


PLAIN = b"Subject: viagra\n\nbuy now\n"
ENVELOPE = b"From ann@example.org Mon Nov 15 01:02:03 2026\n"


@pytest.mark.parametrize("way", ["<", "cat |"])
def test_a_mailbox_on_standard_input_is_learned_whole(spamnb, own, tmp_path, way):
    """More than a pipe holds, and more than is read at once to see whether it is one message."""
    box = tmp_path / "box.mbox"
    body = b"word " * 10_000
    box.write_bytes(b"".join(ENVELOPE + b"Subject: %d\n\n%d %s\n\n" % (n, n, body) for n in range(50)))
    train = f'"$0" train --model {own} --spam -'
    done = spamnb.shell(f"{train} < {box}" if way == "<" else f"cat {box} | {train}").succeeds()
    assert b"spam: 50 learned" in done.out
    assert b"50 already learned" in spamnb("train", "--spam", box, "--model", own).succeeds().out


@pytest.mark.parametrize("message", ["ham", "spam", "unsure"])
@pytest.mark.parametrize("flags", [[], ["-p"], ["-e"], ["--json", "--exit-code"]], ids=" ".join)
def test_both_ways_to_classify_are_one(spamnb, mail, flags, message):
    """Plainly it is a delivery; with `-` it comes through the command line."""
    plain = spamnb.afresh("classify", *flags, stdin=mail.messages[message])
    assert spamnb("classify", *flags, "-", stdin=mail.messages[message]) == plain
    assert plain.code == (["spam", "ham", "unsure"].index(message) if {"-e", "--exit-code"} & {*flags} else 0)


@pytest.mark.parametrize("flags", [[], ["-p"], ["-e"], ["--json"]], ids=" ".join)
def test_both_ways_to_classify_a_file_are_one(spamnb, mail, tmp_path, flags):
    """With --jobs it comes through the command line. A message, a mailbox of one, one of two, and no mail."""
    message = mail.messages["spam"]
    files = {"one": message, "box": ENVELOPE + message, "two": 2 * (ENVELOPE + message + b"\n"), "none": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name in (*files, ".", "missing"):
        command = "classify", *flags, tmp_path / name
        assert spamnb.afresh(*command) == spamnb(*command, "--jobs", "1"), name


def test_both_ways_to_learn_are_one(spamnb, own, mail):
    """One message after the other, through the journal, by one way and by the other."""
    written = []
    for run, extra in ((spamnb.afresh, []), (spamnb, ["--jobs", "2"])):
        answers = [
            run("train", *extra, label, "-", "--model", own, stdin=mail.messages["spam"])
            for label in ("--spam", "--spam", "--ham")
        ]
        with open(own + ".journal", "rb") as journal:
            written.append((answers, journal.read()))
        os.unlink(own + ".journal")
    assert written[0] == written[1]
    assert [answer.code for answer in written[0][0]] == [0, 0, 0]


# What follows `"$0"` in a shell, and the exit code.
STREAMS = {
    "classify > /dev/full": 74,
    "classify <&-": 74,
    "classify - <&-": 74,
    "inspect > /dev/full": 74,
    "forget - > /dev/full": 74,
}


@pytest.mark.parametrize("line", STREAMS)
def test_output_that_cannot_be_written_is_an_error(spamnb, mail, line):
    """A mail program must not take half an answer for a whole one."""
    spamnb.shell(f'"$0" {line}', mail.messages["spam"]).fails(STREAMS[line])


def left_alone(spamnb, command, stdin=b"Subject: x\n\n"):
    """Return the error and exit code of a program whose reader closes before it has written anything."""
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [spamnb.program, *command],
            input=stdin,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=spamnb.environment,
            timeout=PATIENCE,
        )
    finally:
        os.close(theirs)
    return done.stderr.decode(), done.returncode


PRINTING = [
    "classify",
    "classify HAM --jobs 2",
    "train --model OWN --spam -",
    "evaluate --folds 2 --jobs 2 HAM SPAM",
    "export",
]


@pytest.mark.parametrize("line", PRINTING)
def test_a_reader_that_has_enough_is_no_error(spamnb, mail, own, line):
    """`spamnb export | head` ends as other programs do: by SIGPIPE, without a word."""
    named = {"OWN": own, "HAM": mail.ham, "SPAM": mail.spam, "WORK": mail.work}
    command = [named.get(word, word) for word in line.split()]
    assert left_alone(spamnb, command) == ("", -signal.SIGPIPE)


@pytest.mark.parametrize("extra", [[], ["-"]], ids=["delivery", "command line"])
def test_mail_that_nobody_takes_is_an_error(spamnb, mail, extra):
    said, code = left_alone(spamnb, ["classify", "-p", *extra], mail.messages["spam"])
    assert (said, code) == ("spamnb: cannot write to standard output: Broken pipe\n", 74)


@pytest.mark.parametrize("closed", ["2>&-", "2> /dev/full"])
@pytest.mark.parametrize("command", ["classify -e", "classify -p", "classify -e nosuch"])
def test_an_error_that_cannot_be_told_is_still_no_verdict(spamnb, mail, command, closed):
    """1 would be ham, 2 unsure; and what belongs on standard error must not become part of the mail."""
    done = spamnb.shell(f'SPAMNB_MODEL=/nosuch "$0" {command} {closed}', mail.messages["spam"])
    assert done.code in (66, 75)
    assert done.out == b""


# The program itself, only less patient than its thirty seconds.
IMPATIENT = "from spamnb.lock import WRITING, Lock; Lock.__init__.__defaults__ = (0.2, WRITING); " + START
HOLDER = (
    "import sys; from spamnb.lock import Lock\n"
    "with Lock(sys.argv[1], kind=sys.argv[2]): print('held', flush=True); input()"
)


@contextlib.contextmanager
def held(model, kind):
    """A lock of another process, which releases it on request."""
    command = [sys.executable, "-c", HOLDER, model, kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        try:
            yield holder
        finally:
            holder.kill()


def waits(spamnb, holder, arguments, stdin):
    """What the program says that had to wait for a lock."""
    with subprocess.Popen(
        [spamnb.program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=spamnb.environment
    ) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.communicate(stdin, timeout=0.4)
        holder.communicate(b"\n")
        said, _ = waiting.communicate()
    assert waiting.returncode == 0
    return said


def test_a_locked_model_is_waited_for_and_then_given_up(spamnb, own, mail):
    learn = ["train", "--spam", "-", "--model", own]
    with held(own, ".lock") as holder:
        for arguments in (learn, ["train", "--ham", mail.work, "--model", own]):
            program = [sys.executable, "-c", IMPATIENT, *arguments]
            spamnb.run(program, mail.messages["spam"]).fails(75, own, "try again")
        # Readers need no lock, and a longer wait is rewarded.
        spamnb("classify", "--model", own, stdin=mail.messages["spam"]).succeeds()
        assert waits(spamnb, holder, learn, mail.messages["spam"]) == b"spam: 1 learned\n"


def test_while_a_model_is_trained_messages_are_learned_but_no_other_is_trained(spamnb, own, mail):
    train = ["train", "--ham", mail.work, "--model", own]
    with held(own, ".training") as holder:
        spamnb.run([sys.executable, "-c", IMPATIENT, *train]).fails(75, own, "try again")
        learn = ("train", "--spam", "-", "--model", own)
        assert spamnb(*learn, stdin=mail.messages["spam"]).succeeds().out == b"spam: 1 learned\n"
        assert spamnb(*learn, stdin=mail.messages["spam"]).succeeds().out == b"spam: 1 already learned\n"
        assert waits(spamnb, holder, train, b"").startswith(b"ham: 14 learned\n")
    assert spamnb(*learn, stdin=mail.messages["spam"]).succeeds().out == b"spam: 1 already learned\n"


BODY = b" ".join(b"word%d" % (n * n) for n in range(4000))
MAIL = b"".join(
    b"From a@example.org Mon Nov 15 01:02:03 2026\nSubject: %d\n\n%s\n\n" % (n, BODY) for n in range(100)
)


@contextlib.contextmanager
def started(spamnb, *command, **options):
    """A program in a session of its own, of which no process is left at the end."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=spamnb.environment,
        start_new_session=True,
        **options,
    ) as running:
        try:
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def interrupted(running):
    """Press Ctrl-C until a program ends; return what it wrote to standard output and standard error.

    Python does not see a signal that arrives just before it begins to wait for input, until the next one.
    """
    for _ in range(10):
        os.killpg(running.pid, signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return running.communicate(timeout=PATIENCE / 10)
    raise AssertionError("Ctrl-C does not end it")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_leaves_the_model_as_it_was(spamnb, own, mail, tmp_path, jobs):
    """When it has begun to read a mailbox, and waits for the rest."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    with open(own, "rb") as file:
        before = file.read()
    train = (spamnb.program, "train", "--jobs", jobs, "--model", own, pipe, mail.spam)
    with started(spamnb, *train) as running, pipe_to_reader(pipe) as box:
        box.write(MAIL)  # more than a pipe holds: most of it is read by now
        box.flush()
        out, err = interrupted(running)
    assert (out, err.decode().strip(), running.returncode) == (b"", "spamnb: stopped", -signal.SIGINT)
    with open(own, "rb") as file:
        assert file.read() == before
    assert not [name for name in os.listdir(os.path.dirname(own)) if name.endswith((".new", ".journal"))]


# Goes on with its loop, unless the program died of the signal.
LOOP = 'for round in 1 2; do "$@" <&3; echo "went on after $?"; done'


@needs("bash")
@pytest.mark.parametrize("command", [["classify", "-p"]], ids=" ".join)
def test_ctrl_c_ends_a_loop_of_deliveries(spamnb, command):
    shell = ("bash", "-c", f"exec 3<&0; {LOOP}", "bash", spamnb.program, *command)
    with started(spamnb, *shell, stdin=subprocess.PIPE) as running:
        running.stdin.write(b"Subject: x\n\n" + bytes(1 << 20))  # more than a pipe holds: it reads by now
        running.stdin.flush()
        out, err = interrupted(running)
    assert (out, err.decode().strip(), running.returncode) == (b"", "spamnb: stopped", -signal.SIGINT)


def test_progress_on_a_terminal(spamnb, own, mail):
    train = ("train", "--model", own, "--spam", mail.work)
    seen, code = on_a_terminal(spamnb, *train, patience=-1)
    assert code == 0
    assert "training" in seen
    assert "100%" in seen
    assert "14 messages" in seen
    assert "/s" in seen  # rate
    assert "0:00:00" in seen  # time left
    summary = seen.rpartition("\x1b")[2]
    assert f"model: {own}\r\n" in summary  # the bar is gone, the summary stays
    seen, _ = on_a_terminal(spamnb, *train, patience=3600)
    assert "training" not in seen  # what takes no time needs no bar


def test_a_terminal_gets_a_table_of_verdicts_without_progress_in_it(spamnb, mail):
    """Both streams are one there: a verdict must stand at the start of its own line."""
    seen, code = on_a_terminal(spamnb, "classify", f"{mail.ham}/03", f"{mail.spam}/03", f"{mail.spam}/04")
    assert code == 0
    heading, *verdicts, gap, totals = ESCAPES.sub("", seen).replace("\r", "").splitlines()
    assert heading.split() == ["verdict", "score", "from", "subject", "path"]
    assert [line.split()[0] for line in verdicts] == ["ham", "spam", "spam"]
    for line, subject in zip(verdicts, ("meeting notes 3", "cheap pills 3", "cheap pills 4"), strict=True):
        assert subject in line
        assert len(line) <= 120
    assert (gap, totals) == ("", "3 messages: 1 ham, 2 spam")


@pytest.mark.parametrize("width", [20, 80])
def test_the_table_of_verdicts_fits_a_narrow_terminal(spamnb, mail, tmp_path, width):
    hostile = tmp_path / ("long" * 30)
    hostile.write_bytes(
        "Subject: \x1b[31m你好你好你好你好你好你好你好你好你好你好\nFrom: \x07@\x9b\n\n".encode()
    )
    seen, code = on_a_terminal(spamnb, "classify", hostile, f"{mail.spam}/03", COLUMNS=str(width))
    assert code == 0
    shown = ESCAPES.sub("", seen).replace("\r", "").splitlines()[:-2]
    assert len(shown) == 3
    assert all(cell_len(line) <= width and "\x1b" not in line for line in shown)


def test_as_a_module(spamnb, mail):
    done = spamnb.run([sys.executable, "-m", "spamnb", "classify"], mail.messages["spam"])
    assert done == spamnb.afresh("classify", stdin=mail.messages["spam"])
