"""What was done, as Prometheus reads it."""

import http.client
import json
import os
import re
import shutil
import subprocess

import pytest
from helpers.load import GET
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.serving import LOOPBACK, request
from helpers.waiting import PATIENCE, until

GAUGES = tuple(f"spamnb_{name}" for name in ("models", "model_", "journal_", "learned_"))
MONITORING = ROOT / "docs" / "monitoring"


@pytest.fixture
def server(serving, own):
    return serving(model=own, workers=2, metrics=LOOPBACK, allow_tell=True)


def get(server, path="/metrics"):
    host, _, port = server.metrics.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def figures(server):
    """By name and labels; every line is a comment or a figure."""
    status, text = get(server)
    assert status == 200
    lines = [line for line in text.splitlines() if not line.startswith(("# HELP spamnb_", "# TYPE spamnb_"))]
    return {name: float(value) for name, value in (line.split(" ") for line in lines)}


def test_everything_is_counted_whoever_did_it(server, mail):
    """Both workers are asked, and either one tells of both."""
    before = figures(server)
    gauges = {name: before.pop(name) for name in list(before) if name.startswith(GAUGES)}
    assert set(before.values()) == {0.0, 1.0}
    assert gauges['spamnb_models{kind="shared"}'] == 1
    assert gauges['spamnb_models{kind="user"}'] == 0
    assert gauges['spamnb_learned_messages{kind="shared"}'] == 28
    assert gauges['spamnb_journal_bytes{kind="shared"}'] == 0
    assert 1e9 < gauges['spamnb_model_changed_seconds{kind="shared"}'] < 1e11
    for _ in range(30):
        server.ask(request("CHECK", mail.messages["spam"]))
        server.ask(request("PROCESS", mail.messages["ham"]))
    server.ask(request("SYMBOLS", mail.messages["unsure"]))
    server.ask(request("TELL", mail.messages["spam"], Set="local", Message_class="spam"))
    server.ask(request("TELL", mail.messages["spam"], Remove="local"))
    server.ask(b"nonsense\r\n")
    server.ask(request("CHECK", b"x", Content_length=10**12))
    for _ in range(4):
        after = figures(server)
        assert after['spamnb_messages_total{verdict="spam"}'] == 30
        assert after['spamnb_messages_total{verdict="ham"}'] == 30
        assert after['spamnb_messages_total{verdict="unsure"}'] == 1
        assert after['spamnb_lessons_total{outcome="learned"}'] == 1
        assert after['spamnb_lessons_total{outcome="forgotten"}'] == 1
        assert after['spamnb_errors_total{kind="protocol"}'] == 1
        assert after['spamnb_errors_total{kind="refused"}'] == 1
        assert after['spamnb_errors_total{kind="timeout"}'] == 0
        assert after["spamnb_judging_seconds_count"] == 61
        assert after['spamnb_judging_seconds_bucket{le="+Inf"}'] == 61
        assert after["spamnb_judging_seconds_sum"] > 0
        buckets = [value for name, value in after.items() if "_bucket" in name]
        assert buckets == sorted(buckets)


def test_counts_outlive_a_worker(server, mail):
    server.ask(request("CHECK", mail.messages["spam"]))
    for worker in server.workers:
        os.kill(worker, 9)
    server.wait_for("worker 1 died")
    after = figures(server)
    assert after['spamnb_messages_total{verdict="spam"}'] == 1
    assert after["spamnb_restarted_total"] == 2


def test_nothing_but_metrics(server):
    assert get(server, "/")[0] == 404
    assert get(server, "/metrics?x=y")[0] == 200
    assert server.ask(b"POST /checkv2 HTTP/1.1\r\n\r\n", address=server.metrics).startswith(b"HTTP/1.1 404 ")
    for asked in (b"\r\n\r\n", b"\xff" * 10_000, b"GET /metrics\r\n\r\n"):
        assert server.ask(asked, address=server.metrics).startswith(b"HTTP/1.1 400 ")


def test_a_silent_one_is_timed_out(serving):
    server = serving(metrics=LOOPBACK, timeout=0.5)
    silent = server.ask(b"GET /metrics HTTP/1.1\r\n", end=False, address=server.metrics)
    assert silent.startswith(b"HTTP/1.1 408 ")
    assert b"Timeout" in server.ask(b"CHECK", end=False)
    counted = re.compile(rb'spamnb_errors_total{kind="timeout"} (?![01]\n)')
    until(lambda: counted.search(server.ask(GET, address=server.metrics)))  # again, if this is late as well


def test_models_of_users(serving, own, mail, tmp_path):
    """One kind, whatever their number; and one that cannot be judged by is counted."""
    for user in ("ann", "bob"):
        (tmp_path / "homes" / user).mkdir(parents=True)
        shutil.copy(own, tmp_path / "homes" / user / "model.msgpack")
    (tmp_path / "homes" / "bob" / "model.msgpack").write_text("a letter")
    (tmp_path / "homes" / "ann" / "model.msgpack.journal").write_bytes(bytes(100))
    server = serving(model=own, user_models=str(tmp_path / "homes"), metrics=LOOPBACK, workers=1)
    server.ask(request("CHECK", mail.messages["spam"], User="bob"))
    found = figures(server)
    assert found["spamnb_fallback_total"] == 1
    assert found['spamnb_models{kind="user"}'] == 1
    assert found['spamnb_learned_messages{kind="user"}'] == 28
    assert found['spamnb_journal_bytes{kind="user"}'] == 100


def test_rules_and_dashboard_name_what_is_served(server):
    served = set(re.findall(r"^# TYPE (\w+)", get(server)[1], re.MULTILINE))
    rules = (MONITORING / "spamnb.rules.yml").read_text()
    board = json.loads((MONITORING / "spamnb.dashboard.json").read_text())
    drawn = " ".join(target["expr"] for panel in board["panels"] for target in panel["targets"])
    for text in (rules, drawn):
        named = {name.removesuffix("_bucket") for name in re.findall(r"\bspamnb_\w+", text)}
        assert named
        assert named <= served
    assert served - set(re.findall(r"\bspamnb_\w+", drawn.replace("_bucket", ""))) == {"spamnb_info"}


@pytest.mark.slow
@needs("promtool")
def test_prometheus_takes_metrics_and_rules(server):
    def promtool(*arguments, text=""):
        done = subprocess.run(
            ["promtool", *arguments], input=text, capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.returncode, done.stderr) == (0, ""), done

    promtool("check", "metrics", text=get(server)[1])
    promtool("check", "rules", MONITORING / "spamnb.rules.yml")
