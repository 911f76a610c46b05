"""Weeks of one user: mail, corrections, nights, upgrades and mishaps; at the end all must agree.

Mail comes to this machine by procmail, and to a mailbox elsewhere that `spamnb imap watch` looks after. Both
have one model and one history. A day is some seconds long.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import time
import urllib.error
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from random import Random

from faults.agreement import (
    HERE,
    THERE,
    Letter,
    found_here,
    found_there,
    hold_history,
    hold_mail,
    hold_model,
)
from faults.kills import CHANGING
from faults.machines import DAY, Machine
from faults.operations import WORDS
from faults.worlds import named, settle, state
from helpers.imap_accounts import move
from helpers.imap_mailbox import as_on_the_wire, make_maildir
from helpers.imap_servers import DovecotImap
from helpers.paths import ROOT
from helpers.reviewing import Forms
from helpers.waiting import until

from spamnb.imap.state import head_of, key_of

OLD = "511e4712827fa7a2562a0b566461711bbb6bad47"  # the first that did all that is done here
FIRST = 30  # messages of each label, in each mailbox, to begin with
EACH_DAY = 5  # messages in each mailbox
WHEN = 1_700_000_000
LABELS = ("ham", "spam")
POWER = ("power fails", "power fails at a write of watch", "power fails at a write of review")
BY_NIGHT = "power fails by night"
FULL, FORWARD, BACK = "disk full", "an hour forward", "an hour back"
MISHAPS = (*POWER, BY_NIGHT, FULL, FORWARD, BACK)
UPGRADE = "upgrade"
MOST_CALLS = {"open": 20, "write": 20, "sync": 8}  # before which a program is killed; 2 of other kinds


class Weeks:
    """Goes through the days."""

    def __init__(self, folder: Path, server: DovecotImap, days: int, seed: int) -> None:
        self.machine, self.server, self.days = Machine(folder), server, days
        self.chance = Random(f"weeks {seed}")
        self.letters: list[Letter] = []
        self.struck: Counter[str] = Counter()  # how often a program was killed as it wrote
        self.versions = self.made_versions()
        mishaps = [*self.chance.sample(MISHAPS, len(MISHAPS)), *self.chance.choices(MISHAPS, k=days)]
        upgrades = {1 + days // 7: UPGRADE, 1 + 2 * days // 7: UPGRADE} if len(self.versions) > 1 else {}
        first = max(upgrades, default=0) + 1
        self.plan = upgrades | dict(zip(range(first, days), mishaps, strict=False))

    def made_versions(self) -> list[Path | None]:
        """Those that are installed one after the other; None for this tree."""
        known = subprocess.run(["git", "cat-file", "-e", OLD], cwd=ROOT, capture_output=True)
        return [] if known.returncode else [self.machine.wheel(OLD), self.machine.wheel("HEAD~1"), None]

    def write(self, truth: str, is_here: bool, clear: bool = False) -> Letter:
        """A new letter, with words of both kinds, and some that no other has."""
        number, other = len(self.letters), LABELS[truth == "ham"]
        share = 30 if clear else self.chance.randint(8, 30)
        words = self.chance.choices(WORDS[truth], k=share) + self.chance.choices(WORDS[other], k=30 - share)
        words += [f"{truth}{number}x{each}" for each in range(10)]
        self.chance.shuffle(words)
        head = f"From: {self.chance.choice(words)}@example.org\nSubject: letter{number} {words[0]}\n"
        raw = f"{head}Message-ID: <{number}@example.org>\n\n{' '.join(words)}\n".encode()
        self.letters.append(letter := Letter(number, truth, is_here, raw))
        return letter

    def begin(self) -> None:
        """Mail that is there already is learned by an old version."""
        for name in HERE.values():
            make_maildir(self.machine.mail.folder / name)
        self.server.create("Unsure")
        for label, place in (("ham", "Archive"), ("spam", "Junk")):
            here, there = (
                [self.write(label, is_here, True) for _ in range(FIRST)] for is_here in (True, False)
            )
            for letter in (*here, *there):
                letter.came, letter.is_seen, letter.label = True, True, label
            for letter in here:
                path = self.machine.mail.folder / HERE[label] / "cur" / f"{letter.number}.host:2,S"
                path.write_bytes(letter.raw)
            self.server.fill(place, [letter.raw for letter in there])
        self.machine.set_clock(-DAY * (self.days + 1))
        self.machine.install(next(iter(self.versions), None))
        assert self.machine.by_night()
        self.machine.set_up(self.server)
        self.machine.spamnb("imap", "train")
        self.machine.start_all()

    # A day

    def live(self, day: int) -> None:
        """Let a day go by, with what is planned for it."""
        machine, event = self.machine, self.plan.get(day, "")
        machine.set_clock(DAY * (day - self.days - 1))
        self.think()
        today = [
            self.write(self.chance.choice(LABELS), is_here)
            for is_here in (True, False)
            for _ in range(EACH_DAY)
        ]
        jobs = [self.post(today), self.send(today), self.correct]
        if event == UPGRADE:
            self.at_once(*jobs[:2], self.upgrade)
        elif event in (FORWARD, BACK):
            self.at_once(*jobs)
            self.settled()
            machine.set_clock(machine.shift + (3600 if event == FORWARD else -3600))
            self.think()
        elif event == FULL:
            machine.fill(self.chance.randrange(0, 200_000))
            self.at_once(*jobs)
            machine.by_night()
            machine.empty()
        if event in POWER:
            self.cut_short(event, jobs)
        self.at_once(*jobs)
        self.settled()
        machine.set_clock(DAY * (day - self.days - 1) + DAY // 2)
        late = [self.write(self.chance.choice(LABELS), is_here=True)]
        if event == BY_NIGHT:
            killing, machine.may_fail = self.killing(), True
            self.at_once(self.post(late), lambda: self.struck.update({event: not machine.by_night(*killing)}))
            self.fail()
        self.at_once(self.post(late), self.sleep)
        machine.date_files()

    def at_once(self, *jobs: Callable[[], object]) -> None:
        with ThreadPoolExecutor(len(jobs)) as pool:
            for job in [pool.submit(job) for job in jobs]:
                job.result()

    def cut_short(self, event: str, jobs: Iterable[Callable[[], None]]) -> None:
        """The power fails while jobs are being done, at any moment or as a program writes."""
        machine, self.machine.may_fail = self.machine, True
        killing = self.killing()
        if event != POWER[0]:
            machine.stop_all()
            below = [killing if event.endswith(name) else [] for name in ("watch", "review")]
            machine.start_all(*below)
        moment = self.chance.uniform(0, 3)
        with ThreadPoolExecutor() as pool:
            running: list[Future[None]] = [pool.submit(job) for job in jobs]
            if event == POWER[0]:
                wait(running, moment)
            else:
                until(
                    lambda: machine.one_ended or (all(job.done() for job in running) and not self.unsettled())
                )
                self.struck[event] += machine.one_ended
            machine.kill_all()
        for job in running:
            job.result()
        self.fail()

    def killing(self) -> list[str]:
        """At any of the calls that a program makes."""
        call = self.chance.choice(CHANGING)
        return self.machine.killing(call, self.chance.randint(1, MOST_CALLS.get(call, 2)))

    def fail(self) -> None:
        """All is killed, often with what the disk has not written. What was acknowledged must be there."""
        self.machine.kill_all()
        if is_lost := self.chance.random() < 0.6:
            self.machine.lose_power()
        learned = state(self.machine.model).learned
        for letter in self.letters:
            assert letter.marked in (None, learned.get(named(letter.raw))), letter
            letter.is_missed |= is_lost and letter.came and not letter.is_kept
        self.machine.start_all()

    def sleep(self) -> None:
        assert self.machine.by_night(), self.machine.log.read_text()

    def upgrade(self) -> None:
        """While mail is judged; what runs all day is started anew."""
        self.machine.install(self.versions[1])
        del self.versions[0]
        self.machine.stop_all()
        self.machine.start_all()

    def post(self, letters: list[Letter]) -> Callable[[], None]:
        """Have procmail deliver what it has not yet, two at a time."""

        def deliver(letter: Letter) -> None:
            if self.machine.is_off:
                return
            letter.tries += 1
            letter.is_missed |= self.machine.is_full
            letter.came = self.machine.deliver(letter.raw)
            assert letter.came or self.machine.may_fail, self.machine.log.read_text()

        def work() -> None:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(deliver, [each for each in letters if each.is_here and not each.came]))

        return work

    def send(self, letters: list[Letter]) -> Callable[[], None]:
        """Have others put letters into the mailbox at the server."""

        def work() -> None:
            for letter in letters:
                if not letter.is_here and not letter.came:
                    letter.is_missed |= self.machine.is_full
                    self.server.append("INBOX", letter.raw, when=WHEN + letter.number)
                    letter.came = True

        return work

    # The owner

    def think(self) -> None:
        """Look at the mail of the days before, and plan what to do about it."""
        here, there = found_here(self.machine.mail.folder), found_there(self.server, self.letters)
        for letter in self.letters:
            if letter.is_here and letter.tries:
                copies = here.get(letter.number, [])
                assert len(copies) <= letter.tries
                for _, extra in copies[1:]:
                    extra.unlink()  # it came twice, as power failed
            if letter.is_seen or not letter.came:
                continue
            letter.is_seen = True
            place = here[letter.number][0][0] if letter.is_here else there[letter.number]
            homes = HERE if letter.is_here else THERE
            if place != homes[letter.truth]:
                letter.plans = [(self.chance.choice(("mark", "move")), letter.truth)]
                if letter.is_here and place != HERE["unsure"] and letter.plans[0][0] == "mark":
                    letter.plans.append(("move", letter.truth))  # or the next night would take it back
            elif self.chance.random() < 0.1:
                letter.plans = [("mark", LABELS[letter.truth == "ham"]), ("mark", None)]

    def correct(self) -> None:
        """Do what is planned, on the page or by moving mail. What fails is tried again later."""
        try:
            forms = self.machine.forms()
            for letter in self.letters:
                while letter.plans:
                    self.do(forms, letter, *letter.plans[0])
                    del letter.plans[0]
        except (OSError, ValueError) as error:  # no answer, half of one, or one that says why not
            told = error.read().decode() if isinstance(error, urllib.error.HTTPError) else repr(error)
            assert self.machine.may_fail, told

    def do(self, forms: Forms, letter: Letter, way: str, label: str | None) -> None:
        if way == "mark" and forms.mark(letter.subject, label):
            letter.label = letter.marked = label
        elif label:
            self.move(letter, label)

    def move(self, letter: Letter, label: str) -> None:
        if letter.is_here:
            for _, path in found_here(self.machine.mail.folder)[letter.number]:
                name = path.name if ":2," in path.name else f"{path.name}:2,"
                path.rename(self.machine.mail.folder / HERE[label] / "cur" / name)
        else:
            place = found_there(self.server, self.letters)[letter.number]
            if place != THERE[label]:
                move(self.server, letter.raw, place, THERE[label])
        letter.label = label

    # What must be so

    def settled(self) -> None:
        """In the evening all that came is judged, and where it belongs; the page shows it."""
        until(lambda: not self.unsettled(), lambda: f"{self.unsettled()}\n{self.machine.log.read_text()}")
        self.machine.forms()
        for letter in self.letters:
            letter.is_kept = letter.came

    def unsettled(self) -> list[tuple[Letter, object]]:
        names = "folder, verdict, target, flag, label"
        with closing(sqlite3.connect(self.machine.state)) as database:
            rows = {key: row for key, *row in database.execute(f"SELECT key, {names} FROM message")}
        found = []
        for letter in self.letters[4 * FIRST :]:
            if letter.is_here or not letter.came:
                continue
            row, label = rows.get(key_of(head_of(as_on_the_wire(letter.raw)))), letter.label or ""
            if not row or row != [THERE[label or row[1]], row[1], "", "", label]:
                found.append((letter, row))
        return found

    def end(self) -> None:
        """Counts, history, mailbox and model agree to the last message."""
        machine = self.machine
        machine.stop_all()
        machine.spamnb("imap", "run")
        self.sleep()
        settle(machine.model)
        until(lambda: not machine.there(), lambda: f"processes {machine.there()} are left")
        here = found_here(machine.mail.folder)
        hold_mail(self.letters, here, self.server)
        hold_model(self.letters, here, machine.model)
        hold_history(self.letters[4 * FIRST :], here, machine.history)
        told = machine.log.read_text()
        assert not re.search("unexpected|Traceback|damaged", told), told


def lived(folder: Path, days: int, seed: int, tell: Callable[[str, tuple[object, ...]], None]) -> None:
    """Weeks, from the first to the last day."""
    with DovecotImap() as server:
        weeks = Weeks(folder, server, days, seed)
        try:
            weeks.begin()
            for day in range(1, days + 1):
                begun = time.monotonic()
                weeks.live(day)
                took = f"{time.monotonic() - begun:.1f} s"
                tell(f"day {day}", (len(weeks.letters), took, weeks.plan.get(day, "")))
            weeks.end()
            struck = ", ".join(f"{event}: {times}" for event, times in weeks.struck.items())
            tell("struck", ("", "", struck))
        finally:
            weeks.machine.end()
