"""`make verify`: checks all promises of this project step by step, and writes a page of results.

A step that passed is not run again if only pages have changed since: so an interrupted run can be continued.
Measured figures hold until code changes: tests, docstrings and messages do not change them. Each step has a
log in build/verify/; build/verify.json and build/verify.html are written after each step. A step that takes
longer than its limit is ended and has failed, so that the run as a whole also ends.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tokenize
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from html import escape
from pathlib import Path

from rows import machine

ROOT = Path(__file__).parent.parent
LOGS, RESULTS, PAGE = (ROOT / "build" / name for name in ("verify", "verify.json", "verify.html"))
PASSED, FAILED, VOID, NOT_RUN = "passed", "failed", "void", "not run"
SHOWN = 60  # last lines of a log on the page
EVERYTHING, BUT_PAGES = (".",), (".", ":!*.md", ":!man", ":!bench/records")
# What makes or checks pages measures nothing, and what measures time no accuracy.
PAGES = "docs budget.toml .ci *.js bench/verify.py bench/*ures.py tests/**/test_*.py".split()
TIMING = "tests/debian bench/beside.py bench/clock.py bench/cluster.py bench/serve.py bench/speed.py".split()
SERVING = "spamnb/serve bench/serve.py tests/faults tests/helpers".split()
BY_TIMING = (*BUT_PAGES, *(f":!{name}" for name in PAGES))
BY_SPEED = (*BY_TIMING, *(f":!{name}" for name in SERVING))
BY_TESTS = (*BY_TIMING, *(f":!{name}" for name in TIMING))
BY_BENCH = (*BY_TESTS, ":!tests", ":!spamnb/serve")
# All that `make ablation` measures, which takes an hour.
JUDGING = "core bayes evaluation mailboxes reading store training workers model.py".split()
ABLATION = "ablation.py trial.py rules.py attacks.py corpora.py".split()
BY_ABLATION = (*(f"spamnb/{name}" for name in JUDGING), *(f"bench/{name}" for name in ABLATION))
# Options of the outer make are not meant for the makes of the steps.
OUTER = ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")
# Mail that is not in the repository, each variable as HAM,SPAM.
OTHER = " --corpus csdmc2010=$CSDMC2010" if "CSDMC2010" in os.environ else ""
TODAY = " --today $TODAY" if "TODAY" in os.environ else ""
OF_TODAY = " --corpus today=$TODAY" if "TODAY" in os.environ else ""
BESIDE = "--peers spamnb,bogofilter"
VERDICTS = f"--only short,stream,crossed,first-week,on-base,ham-losses {BESIDE}{OTHER}{OF_TODAY}"
VARIANTS = f"--only variants{OTHER}{OF_TODAY}"
STYLE = (
    "body{font:15px sans-serif;margin:2em}td{vertical-align:top;padding:.3em 1em}pre{white-space:pre-wrap}"
)


@dataclass(frozen=True)
class Step:
    """A command, what it proves, and its time limit in minutes."""

    name: str
    proves: str
    minutes: int
    needs: Sequence[str] = ()
    arguments: str = ""
    target: str = ""
    measures: bool = False  # the tables it prints go on record, for the pages
    depends: Sequence[str] = BUT_PAGES  # the files whose change has it run again
    void: str = "the machine was too noisy|(?<!terminator): not installed|nothing was audited|cut short"

    @property
    def command(self) -> str:
        return f"make {self.target or self.name}" + (f' ARGS="{self.arguments}"' if self.arguments else "")


def measured(
    name: str,
    proves: str,
    minutes: int,
    arguments: str = "",
    target: str = "",
    needs: Sequence[str] = (),
    depends: Sequence[str] = BY_BENCH,
) -> Step:
    return Step(name, proves, minutes, needs, arguments, target, measures=True, depends=depends)


timed = partial(measured, depends=BY_SPEED)


def soaked(part: str, proves: str) -> Step:
    return measured(f"soak-{part}", proves, 25, f"{part} --minutes 20", "soak", ("strace",), BY_TESTS)


STEPS = (
    Step("lint", "style, types, and which module may import which", 10, depends=EVERYTHING),
    Step("docs", "the pages make a site", 5, depends=EVERYTHING),
    Step("checks", "requirements, wheels, image, figures and benches agree", 10, depends=EVERYTHING),
    Step("test", "all tests, with the real mail programs that are installed", 15, depends=EVERYTHING),
    Step("audit", "no known vulnerability in what is installed", 5),
    Step("test-pythons", "the fast tests on each Python that is installed", 20),
    Step("dist", "wheels and source, built twice, are the same to the byte", 10),
    Step("dist-test", "they install and work on each Python, with and without a compiler", 25),
    Step("first-hour", "they do in a bare Debian what README says", 20, ("debootstrap",)),
    Step("deb-test", "the Debian package works in a fresh Debian", 20, ("debootstrap", "lintian")),
    Step("image-test", "the image is built and runs its services", 20, ("debootstrap", "podman")),
    measured("growth", "hostile mail is read in linear time", 20, depends=BY_TESTS),
    measured(
        "fuzz", "no bytes break anything, with sanitizers", 30, "--seconds 30", "", ("clang",), BY_TESTS
    ),
    measured("charsets", "undeclared text is read rightly", 5),
    measured("sorting", "mailing lists are filed into their folders", 10),
    measured("attacks", "what known attacks gain", 20),
    measured(
        "ablation", "what each setting and rule is worth", 150, f"--seeds 5{OTHER}", depends=BY_ABLATION
    ),
    measured("accuracy", "accuracy beside bogofilter", 15, f"--only halves --seeds 10 {BESIDE}{OTHER}"),
    measured("verdicts", "verdicts on mail not met yet", 30, VERDICTS, "accuracy"),
    measured("variants", "spam marked once is known when it comes again", 30, VARIANTS, "accuracy"),
    measured("misfiled", "accuracy with mail misfiled", 15, f"--only misfiled {BESIDE}", "accuracy"),
    timed("peers", "every other filter, on the same mail", 40),
    timed("bench", "speed and memory beside bogofilter", 30, f"--all{TODAY}", needs=("bogofilter",)),
    measured("bench-serve", "the server's speed beside spamd", 10, "", "", ("spamc", "spamd"), BY_TIMING),
    timed("bench-cluster", "a cluster beside threads", 10, "--messages 12000"),
    soaked("kills", "killed at any moment, and before each call that changes the disk, it loses nothing"),
    soaked("crowds", "many learn and judge at once, some are killed: the counts are exact"),
    soaked("calls", "each call that fails is reported, and nothing is lost"),
    soaked("full", "a full disk is reported, and nothing is lost"),
    soaked("load", "ten minutes of hostile clients: the good ones hardly wait, and memory does not grow"),
)


@dataclass
class Outcome:
    """How a step ended, on which commit and machine, and when."""

    result: str
    reported: str  # the line that matters, or why it was not run
    commit: str
    is_clean: bool  # no file differed from the commit, before and after
    machine: str
    began: str
    command: str
    seconds: float = 0.0

    def holds(self, step: Step) -> bool:
        """Return whether the step passed, and nothing that it depends on has changed since."""
        changed = ("git", "diff", "--name-only", "--no-renames", self.commit, "--", *step.depends)
        names = subprocess.run(changed, cwd=ROOT, capture_output=True, text=True)
        return (
            self.result == PASSED
            and self.is_clean
            and not names.returncode
            and all(step.measures and is_same_code(self.commit, name) for name in names.stdout.splitlines())
        )


class WithoutWords(ast.NodeTransformer):
    """Leaves docstrings and the texts of errors out of Python code."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        return ast.Raise(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)


def is_same_code(commit: str, name: str) -> bool:
    """Return whether a source file differs from a commit only in comments, docstrings and texts of errors."""
    file = ROOT / name
    code_of = {".py": python_code, ".pyx": cython_code, ".pxd": cython_code}.get(file.suffix)
    if code_of is None or not file.exists():
        return False
    try:
        return code_of(git("show", f"{commit}:{name}")) == code_of(file.read_text())
    except (tokenize.TokenError, SyntaxError):  # newer Pythons split up less of what is Cython alone
        return False


def python_code(source: str) -> str:
    return ast.dump(WithoutWords().visit(ast.parse(source)))


def cython_code(source: str) -> list[str]:
    """Return the tokens of a source text, without comments, docstrings, texts of errors and empty lines."""
    found, is_start, raises = [], True, False  # at the start of a statement, a string is a docstring
    for token in tokenize.generate_tokens(io.StringIO(source + "\n").readline):
        raises = token.string == "raise" or (raises and not is_start)
        skipped = (tokenize.STRING, tokenize.NEWLINE) if is_start else (tokenize.STRING,) if raises else ()
        if token.type not in (tokenize.COMMENT, tokenize.NL, *skipped):
            found.append(token.string)
            is_start = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return found


def outcomes() -> dict[str, Outcome]:
    if not RESULTS.exists():
        return {}
    return {name: Outcome(**one) for name, one in json.loads(RESULTS.read_text()).items()}


def log_of(name: str) -> Path:
    return LOGS / f"{name}.log"


def git(*command: str) -> str:
    return subprocess.run(("git", *command), cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()


def is_clean(depends: Sequence[str]) -> bool:
    return not git("status", "--porcelain", "--", *depends)


def verify(steps: Sequence[Step], again: bool) -> int:
    """Run the steps one after the other; return 1 unless all of them passed, now or before."""
    LOGS.mkdir(parents=True, exist_ok=True)
    passed = 0
    for step in steps:
        outcome = outcomes().get(step.name)
        if again or not outcome or not outcome.holds(step):
            print(f"{step.name:15} …", end="\r", flush=True)
            outcome = run(step)
            found = outcomes() | {step.name: outcome}
            RESULTS.write_text(
                json.dumps({name: asdict(one) for name, one in found.items()}, indent=1) + "\n"
            )
            PAGE.write_text(page(found))
        passed += outcome.result == PASSED
        print(
            f"{step.name:15} {outcome.result:8}{clock(outcome.seconds):>9}  {outcome.reported[:110]}",
            flush=True,
        )
    print(f"{passed} of {len(steps)} passed: {PAGE}")
    return 0 if passed == len(steps) else 1


def run(step: Step) -> Outcome:
    """Run a step to its end or limit, unless a program that it needs is missing."""
    began = datetime.now(UTC).isoformat(" ", "seconds")
    about = (git("rev-parse", "HEAD"), is_clean(step.depends), machine(), began, step.command)
    if missing := [program for program in step.needs if not shutil.which(program)]:
        return Outcome(NOT_RUN, f"needs {', '.join(missing)}", *about)
    start, log = time.monotonic(), log_of(step.name)
    environment = {name: value for name, value in os.environ.items() if name not in OUTER}
    with log.open("w") as output:
        process = subprocess.Popen(
            step.command,
            shell=True,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late = ""
        try:
            process.wait(60 * step.minutes)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGTERM)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            late = f"ended after {step.minutes} minutes"
            process.wait()
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    doubts = [line for line in lines if re.search(step.void, line)]
    result = FAILED if process.returncode else VOID if doubts else PASSED
    telling = doubts if result == VOID else lines[-1:]
    outcome = Outcome(result, late or "".join(telling[:1]), *about)
    outcome.seconds = time.monotonic() - start
    outcome.is_clean &= git("rev-parse", "HEAD") == outcome.commit and is_clean(step.depends)
    return outcome


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def page(found: dict[str, Outcome]) -> str:
    """Return the HTML page: a line that sums up the results, and a table of all steps with their logs."""
    holding = [step.name for step in STEPS if step.name in found and found[step.name].holds(step)]
    spent = clock(sum(outcome.seconds for outcome in found.values()))
    rows = [line(step, found.get(step.name), step.name in holding) for step in STEPS]
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>spamnb verified</title>'
        f"<style>{STYLE}</style>"
        f"<h1>spamnb verified</h1><p>{len(holding)} of {len(STEPS)} steps passed on commit "
        f"{git('rev-parse', 'HEAD')[:10]}, in {spent}</p><table>{''.join(rows)}</table></html>\n"
    )


def line(step: Step, outcome: Outcome | None, holds: bool) -> str:
    if outcome is None:
        return f"<tr><th>{step.name}<td>{NOT_RUN}<td><td>{escape(step.proves)}"
    doubt = "" if holds or outcome.result != PASSED else ", but files have changed since"
    log = log_of(step.name)
    tail = log.read_text(errors="replace").splitlines()[-SHOWN:] if log.exists() else []
    how = f"{outcome.command} · {outcome.began} · commit {outcome.commit[:10]} · {outcome.machine}"
    return (
        f"<tr><th>{step.name}<td><b>{outcome.result}</b>{doubt}<td>{clock(outcome.seconds)}<td>{escape(step.proves)}"
        f"<br>{escape(outcome.reported)}<details><summary>{escape(how)}</summary>"
        f"<pre>{escape(chr(10).join(tail))}</pre></details>"
    )


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"all, or some of: {', '.join(names)}")
    parser.add_argument("--again", action="store_true", help="also run the steps that have passed")
    options = parser.parse_args()
    if unknown := set(options.steps) - set(names):
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return verify([step for step in STEPS if step.name in (options.steps or names)], options.again)


if __name__ == "__main__":
    sys.exit(main())
