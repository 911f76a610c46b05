"""How the page looks to a screen reader."""

from importlib.resources import files

import pytest
from helpers.programs import needs
from helpers.reviewing import remembered
from helpers.samples import ham, spam

from spamnb.history.queries import History

pytestmark = needs("chromedriver")
AXE = "const done = arguments[0]; axe.run().then(found => done(found.violations))"


PATHS = ("/", "/?verdict=folder", "/?text=nobody", "/message/9", "/course", "/cutoff")
NARROW = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": True}


@pytest.mark.parametrize("labels", ["two labels", "three labels"])
def test_nothing_is_in_the_way_of_a_screen_reader(shared, spamnb, three, eyes, labels):
    """On any page, all of it unfolded, on the narrowest screen that pages must fit."""
    script = files("axe_core_python").joinpath("axe.min.js").read_text()
    shared.renew(three if labels == "three labels" else spamnb.model)
    page = spam(1).replace(b"Date:", b"Content-Type: text/html\nDate:").replace(b"\n\n", b"\n\n<p>")
    eyes.open(shared.page.address)  # while there is no mail yet
    eyes.command("Emulation.setDeviceMetricsOverride", **NARROW)
    for path in ("", *PATHS):
        if path == PATHS[0]:
            remembered(
                shared.history, shared.model, [*map(spam, range(20, 24)), *map(ham, range(20, 24)), page]
            )
            with History.open(str(shared.history)) as history:
                history.correct([2], "ham")
        eyes.open(shared.page.base + path)
        assert eyes.run("return document.documentElement.scrollWidth") == NARROW["width"], path
        eyes.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        eyes.run("document.querySelectorAll('mark').forEach(each => each.style.setProperty('--tint', '.6'))")
        eyes.run(script)
        found = eyes.driver.execute_async_script(AXE)
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == [], path
    eyes.command("Emulation.clearDeviceMetricsOverride")
