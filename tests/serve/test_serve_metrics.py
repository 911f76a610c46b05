"""What was done, as Prometheus reads it."""

import http.client
import json
import re
import subprocess

import pytest
from helpers.paths import ROOT
from helpers.programs import needs
from helpers.serving import LOOPBACK, request
from helpers.waiting import PATIENCE

GAUGES = tuple(f"spamnb_{name}" for name in ("models", "model_", "journal_", "learned_"))
MONITORING = ROOT / "docs" / "monitoring"


@pytest.fixture
def server(serving, own):
    return serving(model=own, http=(LOOPBACK,), allow_tell=True)


def get(server, path="/metrics"):
    host, _, port = server.http.rpartition(":")
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


def test_everything_is_counted(server, mail):
    before = figures(server)
    gauges = {name: before.pop(name) for name in list(before) if name.startswith(GAUGES)}
    assert set(before.values()) == {0.0, 1.0}
    assert gauges["spamnb_models"] == 1
    assert gauges["spamnb_learned_messages"] == 28
    assert gauges["spamnb_journal_bytes"] == 0
    assert 1e9 < gauges["spamnb_model_changed_seconds"] < 1e11
    for _ in range(3):
        server.ask(request("CHECK", mail.messages["spam"]))
        server.ask(request("PROCESS", mail.messages["ham"]))
    server.ask(request("SYMBOLS", mail.messages["unsure"]))
    server.ask(request("TELL", mail.messages["spam"], Set="local", Message_class="spam"))
    server.ask(request("TELL", mail.messages["spam"], Remove="local"))
    server.ask(b"nonsense\r\n")
    server.ask(request("CHECK", b"x", Content_length=10**12))
    after = figures(server)
    assert after['spamnb_messages_total{verdict="spam"}'] == 3
    assert after['spamnb_messages_total{verdict="ham"}'] == 3
    assert after['spamnb_messages_total{verdict="unsure"}'] == 1
    assert after['spamnb_lessons_total{outcome="learned"}'] == 1
    assert after['spamnb_lessons_total{outcome="forgotten"}'] == 1
    assert after['spamnb_errors_total{kind="protocol"}'] == 1
    assert after['spamnb_errors_total{kind="refused"}'] == 1
    assert after['spamnb_errors_total{kind="timeout"}'] == 0
    assert after["spamnb_judging_seconds_count"] == 7
    assert after['spamnb_judging_seconds_bucket{le="+Inf"}'] == 7
    assert after["spamnb_judging_seconds_sum"] > 0
    buckets = [value for name, value in after.items() if "_bucket" in name]
    assert buckets == sorted(buckets)


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
