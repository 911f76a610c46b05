"""`make verify`: all that this project promises, checked step by step, with a page of results.

What passed on this very commit is not run again: a run that was interrupted goes on. Each step has its log in
build/verify/, and build/verify.json and build/verify.html are written anew after each. Several processes may
work side by side, on steps that are named to each.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rows import machine

from spamnb.pages.elements import Child, Markup, element
from spamnb.pages.parts import SHEETS, document, scrolling, section, table

ROOT = Path(__file__).parent.parent
PASSED, FAILED, VOID, NOT_RUN = "passed", "failed", "void", "not run"
STYLES = {PASSED: "green", FAILED: "red"}
LOGGED = 80  # last lines of a log that are on the page
TESTS = r"\d (passed|failed)|^coverage|^Python 3"
GOALS = r"\bNO \||^WARNING"
NOISY = "^WARNING: the machine was too noisy"
# What the outer make was told is not meant for those of the steps.
OUTER = ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")


@dataclass(frozen=True)
class Step:
    """A command and what it proves, with patterns for the lines that tell its result or make it void."""

    name: str
    proves: str
    needs: Sequence[str] = ()
    tells: str = ""
    void: str = ""
    command: str = ""

    @property
    def run(self) -> str:
        return self.command or f"make {self.name}"


PYTHONS = ("python3.11", "python3.12", "python3.13")
PEERS = ("bogofilter", "ifile")
STEPS = (
    Step("lint", "style, types, and which module may import which"),
    Step(
        "docs",
        "the pages make a site; links, anchors, commands and options on them exist",
        tells=TESTS,
        command="make docs && .venv/bin/python -m pytest tests/test_docs.py tests/test_man.py",
    ),
    Step("audit", "no known vulnerability in what is installed", void="nothing was audited"),
    Step("test", "all tests, with the real mail programs that are installed", tells=TESTS),
    Step("test-interpreted", "the core as plain Python gives the same", tells=TESTS),
    Step("test-pythons", "the fast tests on Python 3.11, 3.12 and 3.13", PYTHONS, TESTS),
    Step("dist", "wheels and source, built twice, are the same to the byte"),
    Step("dist-test", "they install and work on each Python, with and without a compiler", PYTHONS, TESTS),
    Step(
        "deb-test",
        "the Debian package works in a fresh Debian",
        ("debootstrap", "dpkg-buildpackage", "lintian"),
    ),
    Step("image", "the image is built"),
    Step("growth", "hostile mail of every kind is read in linear time", tells="^[0-9]+ families"),
    Step("fuzz", "no bytes break anything, with sanitizers", ("clang",), tells="^all "),
    Step("charsets", "undeclared text is read rightly", tells=r"^\|"),
    Step("lies", "accuracy on mail that is not as it says", tells=r"^\|"),
    Step("sorting", "mailing lists are filed into their folders", tells=r"^\|"),
    Step("layers", "what a base is worth to a model with little mail", PEERS[:1], r"^\|"),
    Step("attacks", "what known attacks gain", tells=r"^\|"),
    Step("ablation", "what each setting and each rule of the tokenizer is worth", tells=r"^\|"),
    Step("accuracy", "accuracy beside other filters", PEERS, r"^\|"),
    Step("bench", "speed and memory beside other filters", PEERS, GOALS, NOISY, "make bench ARGS=--all"),
    Step("bench-serve", "the server's speed beside spamd", ("bogofilter", "spamc", "spamd"), GOALS, NOISY),
    Step("bench-cluster", "workers of a cluster beside processes", tells=r"^\|"),
    Step("bench-imap", "training from IMAP beside a Maildir", ("dovecot",), r"^\|"),
    Step(
        "soak",
        "kills, crowds, failing disks, ten minutes of hostile clients, long forms of tests: nothing is lost",
        ("strace",),
        "together|counts exact|went wrong",
        "cut short",
        "make soak ARGS='--minutes 600'",
    ),
)


@dataclass
class Outcome:
    """How a step ended, on which commit, where and when."""

    result: str
    told: list[str]  # the lines that matter, or why it was not run
    commit: str
    clean: bool  # no file differed from the commit, before and after
    machine: str
    began: str
    seconds: float = 0.0
    code: int | None = None
    log: list[str] = field(default_factory=list)

    def holds(self, commit: str) -> bool:
        return self.result == PASSED and self.clean and self.commit == commit


class Results:
    """The outcomes so far, in a file that several processes write, and on a page."""

    def __init__(self, folder: Path, steps: Sequence[Step]) -> None:
        self.logs = folder / "verify"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.file, self.page = folder / "verify.json", folder / "verify.html"
        self.steps = steps

    def outcomes(self) -> dict[str, Outcome]:
        if not self.file.exists():
            return {}
        return {name: Outcome(**one) for name, one in json.loads(self.file.read_text())["steps"].items()}

    def add(self, name: str, outcome: Outcome) -> None:
        with open(self.logs / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            outcomes = self.outcomes() | {name: outcome}
            kept = {step.name: asdict(outcomes[step.name]) for step in self.steps if step.name in outcomes}
            whole = {"commit": outcome.commit, "steps": kept}
            replace(self.file, json.dumps(whole, indent=1) + "\n")
            replace(self.page, page(self.steps, outcomes, outcome.commit))


def replace(path: Path, text: str) -> None:
    """Write a file so that at any time there is a whole one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def source() -> tuple[str, bool]:
    """Return the commit that is checked out, and whether all files are as it has them."""

    def git(*command: str) -> str:
        return subprocess.run(("git", *command), cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()

    commit = git("rev-parse", "HEAD")
    return commit, bool(commit) and not git("status", "--porcelain")


def verify(
    results: Results,
    steps: Sequence[Step],
    again: bool = False,
    source: Callable[[], tuple[str, bool]] = source,
) -> int:
    """Run the steps one after the other; return 1 unless all of them passed, now or before."""
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    green = 0
    for step in steps:
        commit, clean = source()
        outcome = results.outcomes().get(step.name)
        if again or not outcome or not (clean and outcome.holds(commit)):
            with console.status(f"{step.name}: {step.proves}"):
                outcome = tried(step, results.logs / f"{step.name}.log", source)
            results.add(step.name, outcome)
        green += outcome.result == PASSED
        name = Text(f"{step.name:17}")
        said = f"{outcome.result:8}{clock(outcome.seconds):>9}  {outcome.told[-1]}"
        console.print(
            name.append(said, STYLES.get(outcome.result, "yellow")), no_wrap=True, overflow="ellipsis"
        )
    console.print(f"{green} of {len(steps)} passed: {results.page}")
    return 0 if green == len(steps) else 1


def tried(step: Step, log: Path, source: Callable[[], tuple[str, bool]]) -> Outcome:
    """Run a step, unless a program that it needs is missing."""
    began, start = datetime.now(UTC).isoformat(" ", "seconds"), time.monotonic()
    commit, clean = source()
    outcome = Outcome(NOT_RUN, [], commit, clean, machine(), began)
    if missing := [program for program in step.needs if not shutil.which(program)]:
        outcome.told = [f"needs {', '.join(missing)}"]
        return outcome
    with open(log, "w") as output:
        outcome.code = code_of(step.run, output.fileno())
    lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    outcome.seconds = time.monotonic() - start
    outcome.clean = clean and source() == (commit, True)
    outcome.log = lines[-LOGGED:]
    void = [line for line in lines if step.void and re.search(step.void, line)]
    telling = [line for line in lines if step.tells and re.search(step.tells, line)]
    outcome.result = FAILED if outcome.code else VOID if void else PASSED
    told = void or telling or lines[-1:] or ["nothing was said"]
    outcome.told = [re.sub("  +", "  ", line) for line in told]
    return outcome


def code_of(command: str, output: int) -> int:
    """Run a command to its end; who interrupts this ends it, too, with all that it started."""
    environment = {name: value for name, value in os.environ.items() if name not in OUTER}
    process = subprocess.Popen(
        command,
        shell=True,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def page(steps: Sequence[Step], outcomes: dict[str, Outcome], commit: str) -> str:
    """Make the page: a line that sums it up, and a table of all steps."""
    count = Counter(outcomes[step.name].holds(commit) for step in steps if step.name in outcomes)
    seconds = sum(outcomes[step.name].seconds for step in steps if step.name in outcomes)
    summary = f"{count[True]} of {len(steps)} steps passed on commit {commit[:10]}, in {clock(seconds)}"
    others = [
        f"{step.name} {outcomes[step.name].result if step.name in outcomes else NOT_RUN}"
        for step in steps
        if step.name not in outcomes or not outcomes[step.name].holds(commit)
    ]
    machines = sorted({outcome.machine for outcome in outcomes.values()})
    rows = [line(step, outcomes.get(step.name), commit) for step in steps]
    columns = ("step", "result", "time", "what it proves, and what it says")
    masthead = element("header", element("h1", "spamnb verified"), element("p", summary, class_="intro"))
    return document(
        "spamnb verified",
        masthead,
        element("section", [element("p", text) for text in machines], element("p", ", ".join(others))),
        section("Steps", None, scrolling("Steps", table(columns, rows))),
        sheets=SHEETS,
    )


def line(step: Step, outcome: Outcome | None, commit: str) -> Markup:
    left = "text-align: left; white-space: normal"
    name = element("th", step.name, scope="row")
    proves = element("p", step.proves)
    if outcome is None:
        cells: list[Child] = [
            element("td", NOT_RUN, class_="quiet"),
            element("td"),
            element("td", proves, style=left),
        ]
        return element("tr", name, cells)
    colour = {PASSED: "ham", FAILED: "spam"}.get(outcome.result, "quiet")
    doubt = [] if outcome.commit == commit else [f"on commit {outcome.commit[:10]}"]
    doubt += [] if outcome.clean else ["files had been changed"]
    told = [element("div", text, class_="path") for text in outcome.told]
    how = f"{step.run} · {outcome.began} · exit code {outcome.code}"
    log = element("div", [(text, Markup("\n")) for text in outcome.log], class_="path text")
    return element(
        "tr",
        name,
        element(
            "td",
            element("b", outcome.result, class_=colour),
            [element("span", text, class_="span") for text in doubt],
        ),
        element("td", clock(outcome.seconds)),
        element("td", proves, told, element("details", element("summary", how), log), style=left),
    )


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"all, or some of: {', '.join(names)}")
    parser.add_argument("--again", action="store_true", help="also what passed on this commit")
    options = parser.parse_args()
    if unknown := set(options.steps) - set(names):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    chosen = [step for step in STEPS if step.name in (options.steps or names)]
    return verify(Results(ROOT / "build", STEPS), chosen, options.again)


if __name__ == "__main__":
    sys.exit(main())
