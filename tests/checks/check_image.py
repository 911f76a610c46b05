"""The image and its services: compose.yaml asks for what there is."""

import runpy

import click
import pytest
import yaml
from helpers.paths import ROOT

from spamnb.cli import main

IMAGE = runpy.run_path(str(ROOT / "debian" / "image.py"))
CONFIG = IMAGE["CONFIG"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


def test_the_image_runs_as_nobody_special():
    assert int(CONFIG["User"].partition(":")[0]) > 0


def test_compose_has_the_three_services():
    assert sorted(SERVICES) == ["imap", "review", "serve"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_write_to_the_volumes_of_the_image_only(name):
    service = SERVICES[name]
    assert service["image"] == IMAGE["NAME"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    mounted = [volume.split(":") for volume in service["volumes"]]
    assert {path for _, path, *mode in mounted if mode != ["ro"]} == CONFIG["Volumes"].keys()
    assert {source for source, _, *mode in mounted if not mode} == COMPOSE["volumes"].keys()


@pytest.mark.parametrize(
    "command",
    [CONFIG["Cmd"], *(service["command"] for service in SERVICES.values())],
    ids=["image", *SERVICES],
)
def test_commands_and_their_options_exist(command):
    ctx, words = click.Context(main), command
    while isinstance(ctx.command, click.Group):
        name, found, words = ctx.command.resolve_command(ctx, words)
        assert found
        ctx = click.Context(found, info_name=name, parent=ctx)
    ctx.command.parse_args(ctx, list(words))  # or it says what is wrong


def test_the_server_is_published_to_this_machine_only():
    (port,) = CONFIG["ExposedPorts"]
    number = port.removesuffix("/tcp")
    assert SERVICES["serve"]["ports"] == [f"127.0.0.1:{number}:{number}"]
    assert f"0.0.0.0:{number}" in CONFIG["Cmd"]
    assert f"0.0.0.0:{number}" in SERVICES["serve"]["command"]
    assert SERVICES["serve"]["healthcheck"]["test"] == CONFIG["Healthcheck"]["Test"]


def test_the_password_is_a_secret():
    assert SERVICES["imap"]["secrets"] == [*COMPOSE["secrets"]]
