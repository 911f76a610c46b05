"""The services of compose.yaml ask for what there is, and may do little."""

import click
import pytest
import yaml
from helpers.paths import ROOT

from spamnb.cli import main

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_write_to_volumes_only(name):
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    mounted = [volume.split(":") for volume in service["volumes"]]
    assert {source for source, _, *mode in mounted if not mode} == COMPOSE["volumes"].keys()


@pytest.mark.parametrize("name", SERVICES)
def test_its_command_and_options_exist(name):
    ctx, words = click.Context(main), SERVICES[name]["command"]
    while isinstance(ctx.command, click.Group):
        called, found, words = ctx.command.resolve_command(ctx, words)
        assert found
        ctx = click.Context(found, info_name=called, parent=ctx)
    ctx.command.parse_args(ctx, list(words))  # or it says what is wrong


def test_the_server_is_published_to_this_machine_only():
    assert SERVICES["serve"]["ports"] == ["127.0.0.1:7830:7830"]
