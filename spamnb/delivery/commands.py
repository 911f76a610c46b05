"""Judge or learn one message, on standard input or in a file: what procmail runs for each mail.

Most of the time is spent starting the process (14 ms for Python alone), so few modules are imported, each
where it is needed. Type hints are quoted, since importing even `__future__` takes 0.2 ms.
"""

import os

from spamnb.configuration import Configuration, load, model_path
from spamnb.errors import (
    CannotCreate,
    InputOutputError,
    NoInput,
    NoModel,
    ReaderGone,
    SpamnbError,
    UsageError,
)
from spamnb.files import (
    STDIN,
    STDOUT,
    announce_stdin,
    complain,
    model_file,
    printable,
    read_all,
    state_folder,
    write_all,
)
from spamnb.labels import HAM, LABELS, SPAM, UNSURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.history.log import HistoryLog
    from spamnb.model import Model
    from spamnb.reading.envelope import Envelope

    Option = tuple[str, str, str]  # its names, the name of its value ("" for a flag), its help

# The options that procmail recipes use. A call with only these, for one message on standard input or in a
# file, is run directly; click, which has the same table, handles every other call.
HAM_HELP = "Mail that is not spam; may be repeated. - is standard input."
SPAM_HELP = "Spam; may be repeated."
MODEL_HELP = "Model file, if not $SPAMNB_MODEL or the configured one."
CLASSIFY: "tuple[Option, ...]" = (
    ("-p --passthrough", "", "Print the message with an X-Spamnb header added."),
    ("-e --exit-code", "", "Exit with 0 for spam, 2 for unsure, else 1."),
    ("--header-style", "STYLE", "Header that -p adds: spamnb, bogofilter or spamassassin."),
    ("--reasons", "", "With -p: add a header X-Spamnb-Reason with the reasons in plain words."),
    ("--history", "", "Keep each verdict, and the message for some days; see: spamnb history."),
    ("--json", "", "Print JSON."),
    ("--model", "PATH", MODEL_HELP),
    ("--fallback", "PATH", "Model to use if the other is missing or damaged."),
)
TRAIN: "tuple[Option, ...]" = (
    ("--ham", "PATH", HAM_HELP),
    ("--spam", "PATH", SPAM_HELP),
    ("--model", "PATH", MODEL_HELP),
)
# Outcomes of learning, as the command line reports them.
OUTCOME_TEXTS = {
    "learned": "learned",
    "moved": "moved here from another label",
    "known": "already learned",
    "forgotten": "forgotten",
    "unknown": "never learned",
    "duplicate": "repeated",
    "conflicting": "skipped, because they are also under another label",
}


class ClassifyCommand:
    """`spamnb classify` for one message; it uses --fallback if the model is missing or damaged."""

    def __init__(
        self,
        model: str | None = None,
        passthrough: bool = False,
        exit_code: bool = False,
        json: bool = False,
        header_style: str | None = None,
        reasons: bool = False,
        history: bool = False,
        fallback: str | None = None,
    ) -> None:
        if passthrough and json:
            raise UsageError("-p and --json cannot be combined")
        if header_style and not passthrough:
            raise UsageError("--header-style needs -p")
        if reasons and not passthrough:
            raise UsageError("--reasons needs -p")
        if header_style:
            from spamnb.passthrough import check_style

            check_style(header_style, "--header-style")
        self.configuration = load()
        self.model = model_file(model or model_path(self.configuration))
        self.fallback = fallback and model_file(fallback)
        self.header_style = header_style or self.configuration["header_style"]
        self.passthrough = passthrough
        self.gives_reasons = passthrough and (reasons or self.configuration["reasons"])
        self.exit_code = exit_code
        self.json = json
        self.history = open_history(history, self.configuration)

    def run(self, path: str = "-") -> int | None:
        """Judge the message at a path; return the exit code, or None if click's commands have to do this."""
        raw = read_stdin() if path == "-" else self.read_file(path)
        return None if raw is None else self.answer(*self.judged(raw), raw, path)

    def judged(self, raw: bytes) -> "tuple[Verdict, Envelope | None]":
        """Judge a message with the model, else with the fallback; if neither exists, by its sender alone."""
        from spamnb.model import Model

        try:
            try:
                return self.judge(Model.open(self.model), raw)
            except SpamnbError as error:
                self.fall_back(error)
                return self.judge(Model.open(self.model), raw)
        except NoModel:
            from spamnb.reading.envelope import read_envelope

            envelope = read_envelope(raw)
            verdict = verdict_without_model(self.configuration, envelope)
            if verdict is None:
                raise
            return verdict, envelope

    def read_file(self, path: str) -> bytes | None:
        """Read the only message of a file; return None if click's commands have to handle the file."""
        from spamnb.delivery.only_message import read_only_message

        needs_command_line = self.passthrough or (os.isatty(STDOUT) and not self.json)
        return None if needs_command_line else read_only_message(path)

    def fall_back(self, error: SpamnbError) -> None:
        """After an error, switch to the fallback model and report `error`; without a fallback, raise `error`.

        A missing model is not reported, since most users of a machine may have none of their own.
        """
        if not self.fallback or isinstance(error, UsageError):
            raise error
        if not isinstance(error, NoModel):
            complain(f"{error} (judging with {self.fallback})")
        self.model, self.fallback = self.fallback, None

    def classify(self, model: "Model", raw: bytes, path: str = "-", index: int | None = None) -> int:
        return self.answer(*self.judge(model, raw), raw, path, index)

    def judge(self, model: "Model", raw: bytes) -> "tuple[Verdict, Envelope | None]":
        """Judge a message by `model` and lists of senders; also return the envelope if it was read."""
        from spamnb.core.native import read

        message = read(raw)
        features = model.features(message)
        score = model.score(features)
        verdict, envelope = model.decide(score), None
        configuration = self.configuration
        if configuration["syslog"] or configuration.may_decide(verdict, model.stored):
            from spamnb.reading.envelope import envelope_of

            envelope = envelope_of(message)
            configuration.decide(verdict, envelope, model.stored)
        if self.gives_reasons:
            from spamnb.inspection.in_words import header_reasons

            verdict.why = header_reasons(model, message, features, score, verdict)
        return verdict, envelope

    def answer(
        self,
        verdict: "Verdict",
        envelope: "Envelope | None",
        raw: bytes,
        path: str,
        index: int | None = None,
    ) -> int:
        """Print the verdict in the requested form, record it as configured, and return the exit code."""
        if self.passthrough:
            from spamnb.passthrough import passed_through

            header, tag = self.configuration["header"], self.configuration["subject_tag"]
            write_stdout(passed_through(raw, verdict, self.header_style, header, tag), is_mail=True)
        else:
            write_stdout(self.line_of(verdict, path, index))
        if self.history:
            self.history.append(raw, verdict, self.model, "classify")
        if self.configuration["syslog"] and envelope:
            from spamnb.delivery.log_line import write_syslog

            write_syslog(verdict, len(raw), envelope)
        return verdict_exit_code(verdict) if self.exit_code else 0

    def line_of(self, verdict: "Verdict", path: str, index: int | None) -> bytes:
        """Return the line to print for a verdict: label, score and path, or a JSON object."""
        if self.json:
            import json

            return json.dumps({"path": path, "index": index, **verdict.as_map()}).encode() + b"\n"
        from spamnb.bayes.verdict import score_text

        name = printable(path) if index is None else f"{printable(path)}:{index}"
        return f"{verdict.label}\t{score_text(verdict.score)}\t{name}\n".encode()


def open_history(wanted: bool, configuration: Configuration) -> "HistoryLog | None":
    """Open the history for new verdicts if the option (`wanted`) or configuration asks for it; else None."""
    if not (wanted or configuration["history"]):
        return None
    from spamnb.history.log import DAYS, SIZE, HistoryLog

    return HistoryLog(str(configuration["history_days"] or DAYS), configuration["history_size"] or SIZE)


def has_history() -> bool:
    """Return whether this user has a history."""
    try:
        return os.path.isdir(state_folder("history"))
    except NoInput:
        return False  # no home folder


def verdict_without_model(configuration: Configuration, envelope: "Envelope") -> "Verdict | None":
    """Judge a message by its sender alone, if that is allowed or blocked; otherwise return None."""
    from spamnb.bayes.verdict import Verdict

    verdict = configuration.decide(Verdict(UNSURE, 0.0, 0.5, {HAM: 0.5, SPAM: 0.5}, ()), envelope)
    return verdict if verdict.reason else None


def verdict_exit_code(verdict: "Verdict") -> int:
    """Return the exit code: 0 only for spam, as scripts may delete mail then; 2 for unsure, else 1."""
    return {True: 0, False: 1, None: 2}[verdict.is_spam]


ANY_LABEL = "messages"  # stands for the label of messages to forget, which may have any label


class LearnCommand:
    """Learns one message, as `spamnb train --ham|--spam|--label NAME=` does, or forgets it."""

    def __init__(
        self,
        label: str,
        model: str | None = None,
        forget: bool = False,
        base: str | None = None,
        is_correction: bool = False,
    ) -> None:
        """`base` is given to a model created here; `is_correction`: a person corrects an earlier verdict."""
        self.label = label
        self.base = base
        self.configuration = load()
        self.model = model_file(model or model_path(self.configuration))
        self.forget = forget
        self.is_correction = is_correction

    @property
    def fits_journal(self) -> bool:
        """Whether learning needs only a record in the journal; a new label needs a new model file."""
        from spamnb.store.stored_model import labels_of

        try:
            return self.forget or self.label in labels_of(self.model)
        except NoModel:
            return self.label in LABELS
        except SpamnbError:
            return True  # learning reports the error

    def run_on(self, path: str) -> int | None:
        """Learn a file's only message; return None if there are several, or a new model file is needed."""
        from spamnb.delivery.only_message import read_only_message

        raw = read_only_message(path) if self.fits_journal else None
        return None if raw is None else self.run(raw)

    def run(self, raw: bytes) -> int:
        outcome = self.learn_and_note(raw)
        write_stdout(f"{self.label}: 1 {OUTCOME_TEXTS[outcome]}\n".encode())
        return 0

    def learn_and_note(self, raw: bytes) -> str:
        """Learn or forget the message, note this in the history if there is one, and return the outcome."""
        if not has_history():
            return self.learn(raw)
        from spamnb.history.log import append_lessons, hash_of_raw
        from spamnb.training.learn import learned_label

        try:
            before = learned_label(self.model, raw)
        except SpamnbError:
            before = None  # there is no model yet, or learning reports the error
        outcome = self.learn(raw)
        if outcome in ("learned", "moved", "forgotten"):
            lesson = before, None if self.forget else self.label, hash_of_raw(raw).to_bytes(8, "little")
            append_lessons(self.model, [lesson])
        return outcome

    def learn(self, raw: bytes) -> str:
        """Learn or forget the message; create a model to learn in if none exists. Return the outcome."""
        from spamnb.training.learn import learn

        if self.forget:
            return learn(self.model, raw, None)
        try:
            return learn(self.model, raw, self.label, self.is_correction)
        except NoModel:
            from spamnb.bayes.verdict import HAM_LOSS
            from spamnb.configuration.quantities import parse_percentage
            from spamnb.training.train import create

            configured = self.configuration["ham_loss"]
            ham_loss = parse_percentage(configured) if configured else HAM_LOSS
            try:
                create(self.model, self.label, ham_loss=ham_loss, base=self.base)
            except CannotCreate as error:
                raise CannotCreate(f"{error}; the message was not learned") from error
            return learn(self.model, raw, self.label)


def parse(arguments: list[str]) -> "Callable[[], int | None] | None":
    """Return a function that judges or learns one message; None if only click can parse the arguments."""
    command = arguments[0] if arguments else ""
    if command == "classify":
        options = options_of(CLASSIFY, arguments[1:])
        if options is not None:
            path = options.pop("path", "-")
            message = ClassifyCommand(**options)
            return lambda: message.run(path)
    elif command == "train":
        options = options_of(TRAIN, arguments[1:]) or {}
        for label in LABELS:
            if label in options and options.keys() <= {label, "model"}:
                lesson, source = LearnCommand(label, options.get("model")), options[label]
                return lambda: lesson.run_on(source)
    return None


def options_of(table: "tuple[Option, ...]", arguments: list[str]) -> "dict[str, Any] | None":
    """Parse one path and the options in `table`; return None for any other argument or a repeated option."""
    options: dict[str, Any] = {}
    known = {name: (names.rpartition("--")[2], value) for names, value, _ in table for name in names.split()}
    rest = arguments[::-1]
    while rest:
        word = rest.pop()
        if word[:1] != "-":
            if not word or "path" in options:
                return None
            options["path"] = word
            continue
        name, equals, given = word.partition("=")
        option, value = known.get(name, ("", ""))
        option = option.replace("-", "_")
        if not option or option in options or (equals and not (value and name.startswith("--"))):
            return None
        if value and not equals and not rest:
            return None
        options[option] = (given if equals else rest.pop()) if value else True
    return options


def read_stdin(what: str = "a message") -> bytes:
    announce_stdin(what)
    try:
        return read_all(STDIN)
    except OSError as error:
        raise InputOutputError(f"cannot read standard input: {error.strerror}") from error


def write_stdout(data: bytes, is_mail: bool = False) -> None:
    """Write `data`. If it is mail, a pipe closed by its reader is an error, too, so that no mail is lost."""
    try:
        write_all(STDOUT, data)
    except OSError as error:
        raise output_error(error, is_mail) from error


def output_error(error: OSError, is_mail: bool = False) -> InputOutputError:
    """Return the error to raise: ReaderGone if a reader such as `head` closed the pipe, except for mail."""
    kind = ReaderGone if isinstance(error, BrokenPipeError) and not is_mail else InputOutputError
    return kind(f"cannot write to standard output: {error.strerror}")
