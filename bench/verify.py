"""`make verify`: all that this project promises, checked step by step, with a page of results.

What passed is not run again while nothing changes that decides about it: a run that was interrupted goes on.
Each step has its log in build/verify/; build/verify.json and build/verify.html are written again after each.
Several processes may work side by side, on steps that are named to each.
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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rows import machine

from spamnb.pages.elements import Markup, element
from spamnb.pages.parts import SHEETS, document, scrolling, section, small, table

ROOT = Path(__file__).parent.parent
PASSED, FAILED, VOID, NOT_RUN = "passed", "failed", "void", "not run"
STYLES = {PASSED: "green", FAILED: "red"}
LOGGED, ENOUGH = 80, 5  # last lines of a log on the page; and those that tell why a step failed
TESTS = r"[\d:] (passed|failed)|^coverage|^Python 3"
# Goals that are missed, and rows of spamnb's defaults.
FIGURES = r"\bNO \||^WARNING: the machine|^\| (spamnb|the default|none|all|20) "
DOUBTFUL = "^WARNING: the machine was too noisy|: not installed"
# Options of the outer make are not meant for those of the steps.
OUTER = ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
# What decides about a step, as git names it: all, all but pages, what is measured, or what is attacked.
ALL, BUT_PAGES = (".",), (".", ":!*.md", ":!man", ":!bench/records")
PACKAGE = tuple("spamnb corpora pyproject.toml requirements.txt hatch_build.py :!*.md".split())
MEASURED = (*PACKAGE, "bench", ":!bench/verify.py", ":!bench/figures.py", ":!bench/records")
FUZZED, SOAKED = (*PACKAGE, "tests/fuzz"), (*PACKAGE, "tests/faults", "tests/helpers")
TESTED = (
    *BUT_PAGES,
    *":!bench/verify.py :!debian :!Containerfile :!compose.yaml :!tests/debian :!tests/dists.py".split(),
)
PACKED = (*PACKAGE, "debian", "systemd", "Containerfile", "compose.yaml", "tests/debian", "tests/helpers")
Source = Callable[[Sequence[str]], tuple[str, bool]]


@dataclass(frozen=True)
class Step:
    """A command and what it proves, with patterns for the lines that tell its result or make it void.

    It is not run again where nothing has changed that decides about it: pages are written after measurements.
    """

    name: str
    proves: str
    needs: Sequence[str] = ()
    tells: str = ""
    void: str = ""
    command: str = ""
    decides: Sequence[str] = BUT_PAGES

    @property
    def run(self) -> str:
        return self.command or f"make {self.name}"

    @property
    def measures(self) -> bool:
        """Whether the tables it prints go on record, for the pages."""
        return self.decides in (MEASURED, FUZZED, SOAKED)


def measured(name: str, proves: str, command: str = "", needs: Sequence[str] = ()) -> Step:
    return Step(name, proves, needs, FIGURES, DOUBTFUL, command, MEASURED)


SOAK = {
    "kills": "killed at any moment, and before each call that changes the disk, it loses nothing",
    "crowds": "many learn and judge at once, some are killed: the counts are exact",
    "calls": "each call that fails is reported, and nothing is lost",
    "full": "a full disk is reported, and nothing is lost",
    "load": "ten minutes of hostile clients: the good ones hardly wait, and memory does not grow",
    "examples": "the tests that are given random examples, with new ones",
    "longer": "tests in their long forms",
}
SOAK_TELLS = "together|counts exact|went wrong"
PYTHONS = ("python3.11", "python3.12", "python3.13")
PEERS, SERVERS = ("bogofilter", "ifile"), ("bogofilter", "spamc", "spamd")
# Mail that is not in the repository, each variable as HAM,SPAM.
OTHER = " --corpus csdmc2010=$CSDMC2010" if "CSDMC2010" in os.environ else ""
TODAY = " --today $TODAY" if "TODAY" in os.environ else ""
OF_TODAY = " --corpus today=$TODAY" if "TODAY" in os.environ else ""
BESIDE = "--peers spamnb,bogofilter"
ACCURACY = f"--only halves --seeds 10 {BESIDE}{OTHER}"
VERDICTS = f"--only short,stream,crossed,first-week,on-base,ham-losses {BESIDE}{OTHER}{OF_TODAY}"
# Some seconds of each target, and minutes of those that read what anyone may send.
LONG = "--seconds 600 mailbox message words markup"
FUZZ = f"make fuzz ARGS='--seconds 30' && make fuzz ARGS='{LONG}'"
MISFILED = f"--only misfiled {BESIDE}"
QUICK = "--only halves --seeds 1 --peers all"
STEPS = (
    Step("lint", "style, types, and which module may import which", decides=ALL),
    Step(
        "docs",
        "the pages make a site; links, anchors, commands and options on them exist",
        tells=TESTS,
        command="make docs && .venv/bin/python -m pytest tests/test_docs.py tests/test_man.py",
        decides=ALL,
    ),
    Step(
        "checks",
        "requirements, wheels, image, figures and benches are as they should be",
        tells=TESTS,
        decides=ALL,
    ),
    Step("audit", "no known vulnerability in what is installed", void="nothing was audited"),
    Step("test", "all tests, with the real mail programs that are installed", tells=TESTS, decides=ALL),
    Step("test-pythons", "the fast tests on Python 3.11, 3.12 and 3.13", PYTHONS, TESTS, decides=TESTED),
    Step("dist", "wheels and source, built twice, are the same to the byte"),
    Step("dist-test", "they install and work on each Python, with and without a compiler", PYTHONS, TESTS),
    Step(
        "deb-test", "the Debian package works in a fresh Debian", ("debootstrap", "lintian"), decides=PACKED
    ),
    Step(
        "image-test",
        "the image is built and runs its services",
        ("debootstrap", "podman", "dovecot", "spamc"),
        decides=PACKED,
    ),
    Step("growth", "hostile mail is read in linear time", tells="[0-9] families", decides=FUZZED),
    Step(
        "fuzz", "no bytes break anything, with sanitizers", ("clang",), "^all: ", command=FUZZ, decides=FUZZED
    ),
    measured("charsets", "undeclared text is read rightly"),
    measured("lies", "accuracy on mail that is not as it says"),
    measured("sorting", "mailing lists are filed into their folders"),
    measured("attacks", "what known attacks gain", "make attacks && make attacks ARGS=--ham-heads"),
    measured("ablation", "what each setting and rule is worth", f'make ablation ARGS="--seeds 5{OTHER}"'),
    measured("accuracy", "accuracy beside bogofilter", f'make accuracy ARGS="{ACCURACY}"', PEERS[:1]),
    measured("verdicts", "verdicts on mail not met yet", f'make accuracy ARGS="{VERDICTS}"', PEERS[:1]),
    measured("misfiled", "accuracy with mail misfiled", f'make accuracy ARGS="{MISFILED}"', PEERS[:1]),
    measured("accuracy-peers", "accuracy beside other filters", f'make accuracy ARGS="{QUICK}"', PEERS),
    measured("bench", "speed and memory beside other filters", f'make bench ARGS="--all{TODAY}"', PEERS),
    measured("bench-serve", "the server's speed beside spamd", needs=SERVERS),
    measured("bench-cluster", "a cluster beside processes", 'make bench-cluster ARGS="--messages 12000"'),
    measured("bench-imap", "training from IMAP beside a Maildir", needs=("dovecot",)),
    *(
        Step(f"soak-{part}", proves, ("strace",), SOAK_TELLS, "cut short", command, decides)
        for part, proves in SOAK.items()
        for decides in [TESTED if part in ("examples", "longer") else SOAKED]
        for command in [f"make soak ARGS='{part} --minutes 600'"]
    ),
)


@dataclass
class Outcome:
    """How a step ended, on which commit, where and when."""

    result: str
    reported: list[str]  # the lines that matter, or why it was not run
    commit: str
    clean: bool  # no file differed from the commit, before and after
    machine: str
    began: str
    command: str = ""
    seconds: float = 0.0
    code: int | None = None
    log: list[str] = field(default_factory=list)

    def holds(self, commit: str, paths: Sequence[str]) -> bool:
        """Tell whether it passed, and the paths are the same in a later commit."""
        if self.result != PASSED or not self.clean:
            return False
        compared = "git", "diff", "--quiet", self.commit, commit, "--", *paths
        return self.commit == commit or not subprocess.run(compared, cwd=ROOT, capture_output=True).returncode


class Results:
    """The outcomes so far, in a file that several processes write, and on a page."""

    def __init__(self, folder: Path, steps: Sequence[Step], source: Source | None = None) -> None:
        self.logs = folder / "verify"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.file, self.page = folder / "verify.json", folder / "verify.html"
        self.steps = steps
        self.source = source or checked_out

    def outcomes(self) -> dict[str, Outcome]:
        if not self.file.exists():
            return {}
        return {name: Outcome(**one) for name, one in json.loads(self.file.read_text())["steps"].items()}

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def add(self, name: str, outcome: Outcome) -> None:
        with open(self.logs / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            outcomes = self.outcomes() | {name: outcome}
            kept = {step.name: asdict(outcomes[step.name]) for step in self.steps if step.name in outcomes}
            commit = self.source(ALL)[0]
            replace(self.file, json.dumps({"commit": commit, "steps": kept}, indent=1) + "\n")
            needed = {step.name: self.source(step.decides)[0] for step in self.steps}
            replace(self.page, page(self.steps, outcomes, commit, needed))


def replace(path: Path, text: str) -> None:
    """Write a file so that at any time there is a whole one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def checked_out(paths: Sequence[str]) -> tuple[str, bool]:
    """Return the last commit that changed one of the paths, and whether all of them are as in it."""

    def git(*command: str) -> str:
        done = subprocess.run(("git", *command, "--", *paths), cwd=ROOT, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    commit = git("log", "-1", "--format=%H")
    return commit, bool(commit) and not git("status", "--porcelain")


def verify(results: Results, steps: Sequence[Step], again: bool = False) -> int:
    """Run the steps one after the other; return 1 unless all of them passed, now or before."""
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    green = 0
    for step in steps:
        commit, clean = results.source(step.decides)
        outcome = results.outcomes().get(step.name)
        if again or not outcome or not (clean and outcome.holds(commit, step.decides)):
            with console.status(f"{step.name}: {step.proves}"):
                outcome = tried(step, results)
            results.add(step.name, outcome)
        green += outcome.result == PASSED
        name = Text(f"{step.name:17}")
        said = f"{outcome.result:8}{clock(outcome.seconds):>9}  {outcome.reported[-1]}"
        console.print(
            name.append(said, STYLES.get(outcome.result, "yellow")), no_wrap=True, overflow="ellipsis"
        )
    console.print(f"{green} of {len(steps)} passed: {results.page}")
    return 0 if green == len(steps) else 1


def tried(step: Step, results: Results) -> Outcome:
    """Run a step, unless a program that it needs is missing."""
    began, start = datetime.now(UTC).isoformat(" ", "seconds"), time.monotonic()
    commit, clean = results.source(step.decides)
    outcome = Outcome(NOT_RUN, [], commit, clean, machine(), began, step.run)
    if missing := [program for program in step.needs if not shutil.which(program)]:
        outcome.reported = [f"needs {', '.join(missing)}"]
        return outcome
    log = results.log(step.name)
    running = log.with_suffix(".running")  # until it ends, the log is that of the outcome on record
    with open(running, "w") as output:
        outcome.code = code_of(step.run, output.fileno())
    running.replace(log)
    lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    outcome.seconds = time.monotonic() - start
    outcome.clean = clean and results.source(step.decides) == (commit, True)
    outcome.log = lines[-LOGGED:]
    void = [line for line in lines if step.void and re.search(step.void, line)]
    telling = [line for line in lines if step.tells and re.search(step.tells, line)]
    outcome.result = FAILED if outcome.code else VOID if void else PASSED
    reported = lines[-ENOUGH:] if outcome.code else void or telling or lines[-1:]
    outcome.reported = [re.sub("  +", "  ", line) for line in reported] or ["nothing was said"]
    return outcome


def code_of(command: str, output: int) -> int:
    """Run a command to its end. An interrupt ends it, too, with all that it started."""
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


def page(steps: Sequence[Step], outcomes: dict[str, Outcome], commit: str, needed: dict[str, str]) -> str:
    """Make the page: a line that sums it up, what did not pass, and a table of all steps."""
    others: dict[str, list[str]] = {}
    for step in steps:
        outcome = outcomes.get(step.name)
        if not outcome or not outcome.holds(needed[step.name], step.decides):
            why = outcome.result if outcome and outcome.result != PASSED else "changed since"
            others.setdefault(why, []).append(step.name)
    green = len(steps) - sum(map(len, others.values()))
    spent = clock(sum(outcome.seconds for outcome in outcomes.values()))
    summary = f"{green} of {len(steps)} steps passed on commit {commit[:10]}, in {spent}"
    machines = sorted({outcome.machine for outcome in outcomes.values()})
    notes = [*machines, *(f"{why}: {', '.join(names)}" for why, names in others.items())]
    rows = [line(step, outcomes.get(step.name), commit) for step in steps]
    columns = ("step", "result", "time", "what it proves, and what it says")
    return document(
        "spamnb verified",
        element("header", element("h1", "spamnb verified"), element("p", summary, class_="intro")),
        element("section", [element("p", text) for text in notes]),
        section("Steps", None, scrolling("Steps", table(columns, rows))),
        sheets=SHEETS,
    )


def line(step: Step, outcome: Outcome | None, commit: str) -> Markup:
    name, proves = element("th", step.name, scope="row"), element("p", step.proves)
    left = "text-align: left; white-space: normal"
    if outcome is None:
        return element("tr", name, element("td", NOT_RUN), element("td"), element("td", proves, style=left))
    colour = {PASSED: "ham", FAILED: "spam"}.get(outcome.result, "quiet")
    doubts = [] if outcome.commit == commit else [f"on commit {outcome.commit[:10]}"]
    doubts += [] if outcome.clean else ["files had been changed"]
    reported = [element("div", text, class_="path") for text in outcome.reported]
    how = f"{outcome.command} · {outcome.began} · exit code {outcome.code}"
    log = element("div", [(text, Markup("\n")) for text in outcome.log], class_="path text")
    result = element("b", outcome.result, class_=colour), [small(doubt) for doubt in doubts]
    said = proves, reported, element("details", element("summary", how), log)
    took = element("td", clock(outcome.seconds))
    return element("tr", name, element("td", result), took, element("td", said, style=left))


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"all, or some of: {', '.join(names)}")
    parser.add_argument("--again", action="store_true", help="also what has passed")
    options = parser.parse_args()
    if unknown := set(options.steps) - set(names):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(1))
    chosen = [step for step in STEPS if step.name in (options.steps or names)]
    return verify(Results(ROOT / "build", STEPS), chosen, options.again)


if __name__ == "__main__":
    sys.exit(main())
