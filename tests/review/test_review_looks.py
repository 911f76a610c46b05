"""How the page looks to a screen reader."""

from importlib.resources import files

from helpers.programs import needs
from helpers.reviewing import remembered
from helpers.samples import ham, spam

from spamnb.history.queries import History

pytestmark = needs("chromedriver")
AXE = "const done = arguments[0]; axe.run().then(found => done(found.violations))"


def test_nothing_is_in_the_way_of_a_screen_reader(shared, spamnb, eyes):
    script = files("axe_core_python").joinpath("axe.min.js").read_text()
    shared.renew(spamnb.model)
    page = spam(1).replace(b"Date:", b"Content-Type: text/html\nDate:").replace(b"\n\n", b"\n\n<p>")
    remembered(shared.history, shared.model, [*map(spam, range(20, 24)), *map(ham, range(20, 24)), page])
    with History.open(str(shared.history)) as history:
        history.correct([2], "ham")
    eyes.open(shared.page.address)
    for path in ("/", "/message/9", "/course"):
        eyes.open(shared.page.base + path)
        eyes.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        eyes.run(script)
        found = eyes.driver.execute_async_script(AXE)
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == [], path
