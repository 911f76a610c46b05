"""One browser for all tests of the page in this process; each starts with no cookies and one tab."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.program import Spamnb
from helpers.programs import require
from helpers.reviewing import Eyes, Page, served, shared_browser

from spamnb.history.queries import History


class SharedPage(NamedTuple):
    """A page that keeps nothing in memory: each test makes its model and its history again."""

    page: Page
    model: str
    history: Path

    def renew(self, model: str) -> str:
        """Copy a model into the place of the page's own, with a history of nothing."""
        for old in Path(self.model).parent.glob("model.msgpack*"):
            old.unlink()
        shutil.rmtree(self.history, ignore_errors=True)
        with History.open(str(self.history)):
            pass  # the page makes none
        return shutil.copy(model, self.model)


@pytest.fixture(scope="session")
def driver() -> Any:
    require("chromedriver")
    return shared_browser()


@pytest.fixture(scope="session")
def shared(spamnb: Spamnb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedPage]:
    folder = tmp_path_factory.mktemp("review")
    model, history = folder / "model.msgpack", folder / "history"
    with served(spamnb, "--model", model, "--history-folder", history) as page:
        yield SharedPage(page, str(model), history)


@pytest.fixture
def eyes(driver: Any) -> Iterator[Eyes]:
    driver.delete_all_cookies()
    driver.get_log("performance")
    driver.get_log("browser")
    yield Eyes(driver)
    for tab in driver.window_handles[1:]:
        driver.switch_to.window(tab)
        driver.close()
    driver.switch_to.window(driver.window_handles[0])
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    driver.get("about:blank")
