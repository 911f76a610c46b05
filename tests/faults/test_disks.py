"""A disk that is full, broken or read-only: it is said, and the old model stays as it was."""

import os
from pathlib import Path
from random import Random

import pytest
from faults import disks, failures, straced
from faults.operations import LONG, MAILBOXES, READING, WRITING, Operation, letter
from faults.worlds import ENVELOPE, named, state
from helpers.homes import AS_ANYBODY
from helpers.programs import needs

BOTH = WRITING | READING | {"learn much": Operation("train --spam -", stdin=LONG)}


# Calls made to fail


@needs("strace")
@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("learn", "open read pread truncate write sync lock"),
        ("classify -p", "open read pread write"),
        ("train more", "rename"),
    ],
)
def test_calls_that_fail(world, name, calls):
    chance = Random(name)
    assert all(failures.at_each_call(world, BOTH[name], call, chance, most=3) for call in calls.split())


@needs("strace")
def test_who_judges_changes_nothing(world):
    made = straced.calls(world, READING["classify -p"])
    assert made["read"]
    assert not any(made[call] for call in ("truncate", "sync", "rename", "unlink", "lock"))


@needs("strace")
def test_mail_that_cannot_be_read(world):
    """What was read of it before is learned, but no message by half; and it can be done once more."""
    mail = [letter("ham", number) for number in range(7000, 7200)]
    box = world.mail / "long.ham"
    box.write_bytes(b"".join(ENVELOPE + raw + b"\n" for raw in mail))
    operation = Operation("train --ham {mail}/long.ham --spam {mail}/later.spam --jobs 2")
    known = world.before(operation).learned | {named(raw): "spam" for raw in MAILBOXES["later.spam"][1]}
    everything = known | {named(raw): "ham" for raw in mail}
    model = world.place(operation)
    second_block = "4"  # the first is read three times
    done, struck = straced.run(world, operation, model, "read", "error=EIO", second_block, [str(box)])
    assert struck
    assert done.code == 65
    assert done.err.startswith(f"spamnb: {box}: input/output error\n")
    assert known.items() < state(model).learned.items() < everything.items()
    assert world.again(operation, model).learned == everything
    world.leave(model)


# Disks that are


@pytest.fixture(scope="module")
def disk():
    with disks.a_disk(4096) as disk:
        yield disk


@pytest.mark.parametrize(
    ("name", "rooms"),
    [
        ("learn a first message", (0,)),
        ("learn much", (20_000,)),
        ("train more", (100_000,)),
        ("fold", (100_000,)),  # enough for the journal; the fold can wait
    ],
)
def test_a_full_disk(world, disk, name, rooms):
    reported = [failures.without_room(world, BOTH[name], disk, room).err for room in rooms]
    assert "No space left on device" in reported[0] or BOTH[name].aside


def test_a_full_disk_hinders_nobody_from_reading(world, disk):
    for operation in (READING["classify"], READING["export"]):
        model = world.place(operation, disk.folder)
        disk.fill(0)
        done = failures.attempt(world, operation, disk.inside(model), *disk.prefix)
        disk.empty()
        assert (done.code, done.out, done.err) == (0, world.answer(operation, disk.inside(model)), "")
        world.leave(model)


@pytest.mark.parametrize("name", ["learn", "classify"])
def test_a_disk_mounted_read_only(world, disk, name):
    operation = BOTH[name]
    model = world.place(operation, disk.folder)
    before = failures.contents(model)
    disk.remount("ro")
    done = failures.attempt(world, operation, disk.inside(model), *disk.prefix)
    disk.remount("rw")
    assert "Read-only file system" in done.err or not operation.changes
    model = world.brought_here(model)
    failures.check(world, operation, model, before, done, failures.CANNOT_CREATE, str(done))
    world.leave(model)


@needs("setpriv")
@pytest.mark.parametrize(
    ("name", "locks"), [("learn a first message", False), ("learn", True), ("classify", False)]
)
def test_a_folder_that_is_closed(world, name, locks):
    """With the locks there from earlier on, more is possible: a journal can be added to."""
    operation = BOTH[name]
    model = world.place(operation)
    for lock in (Path(model + ".lock"), Path(model + ".training")):
        lock.touch() if locks else lock.unlink(missing_ok=True)
    before = failures.contents(model)
    os.chmod(os.path.dirname(model), 0o555)
    done = failures.attempt(world, operation, model, *AS_ANYBODY)
    os.chmod(os.path.dirname(model), 0o755)
    assert "Permission denied" in done.err or not operation.changes or locks
    failures.check(world, operation, model, before, done, failures.CANNOT_CREATE, str(done))
    world.leave(model)
