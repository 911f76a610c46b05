"""A spam filter as in scikit-learn's tutorials. Usage: train KIND MODEL HAM SPAM, or score MODEL < list."""

from __future__ import annotations

import os
import pickle
import sys
from email import message_from_bytes
from typing import TYPE_CHECKING, Any

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message


def subject_and_body(path: str) -> str:
    message = parsed(path)
    return f"{message['subject'] or ''}\n{body(message)}".lower()


def headers_and_body(path: str) -> str:
    """Return the text of a message, where words of headers have the header's name as a prefix."""
    message = parsed(path)
    tagged = (f"{name}_{word}" for name, value in message.items() for word in str(value).split())
    return f"{' '.join(tagged)}\n{body(message)}".lower()


def parsed(path: str) -> Message:
    with open(path, "rb") as file:
        return message_from_bytes(file.read())


def body(message: Message) -> str:
    texts = []
    for part in message.walk():
        if part.get_content_maintype() == "text":
            payload: Any = part.get_payload(decode=True)
            texts.append((payload or b"").decode("latin-1"))
    return "\n".join(texts)


KINDS = {
    "multinomial": lambda: make_pipeline(CountVectorizer(preprocessor=subject_and_body), MultinomialNB()),
    "sgd": lambda: make_pipeline(
        TfidfVectorizer(preprocessor=headers_and_body, ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0),
    ),
}


def train(kind: str, model: str, ham: str, spam: str) -> None:
    folders = [[os.path.join(folder, name) for name in sorted(os.listdir(folder))] for folder in (ham, spam)]
    fitted = KINDS[kind]().fit(folders[0] + folders[1], [0] * len(folders[0]) + [1] * len(folders[1]))
    with open(model, "wb") as file:
        pickle.dump(fitted, file)


def score(model: str) -> None:
    with open(model, "rb") as file:
        fitted = pickle.load(file)
    paths = sys.stdin.read().splitlines()
    vectors, classifier = fitted[:-1].transform(paths), fitted[-1]
    if isinstance(classifier, SGDClassifier):
        scores = classifier.decision_function(vectors)
    else:
        logs = classifier.predict_joint_log_proba(vectors)
        scores = logs[:, 1] - logs[:, 0]
    sys.stdout.writelines(f"{value!r}\n" for value in scores.tolist())


if __name__ == "__main__":
    commands: dict[str, Callable[..., None]] = {"train": train, "score": score}
    commands[sys.argv[1]](*sys.argv[2:])
