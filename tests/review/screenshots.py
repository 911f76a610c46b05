"""Take the pictures of docs/review.md: `make screenshots`."""

import base64
import sys
from pathlib import Path

from helpers.paths import ROOT
from helpers.program import Spamnb
from helpers.reviewing import Eyes, new_browser, served

FORMS = {"light": ("light", 1000, 750), "dark": ("dark", 1000, 750), "phone": ("light", 390, 844)}
QUALITY = 40  # of 100: under 70 KB a picture


def take(folder: Path, driver: object) -> None:
    spamnb, eyes = Spamnb(str(folder), str(folder / "model.msgpack")), Eyes(driver)
    with served(spamnb, "--history-folder", folder / "history") as page:
        eyes.open(page.address)
        why = eyes.find(".rows .subject").get_attribute("href").removeprefix(page.base)
        views = {"inbox": "/", "why": why, "course": "/course", "cutoff": "/cutoff"}
        for form, (scheme, width, height) in FORMS.items():
            scheme_now = {"name": "prefers-color-scheme", "value": scheme}
            eyes.command("Emulation.setEmulatedMedia", features=[scheme_now])
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": form == "phone"}
            eyes.command("Emulation.setDeviceMetricsOverride", **size)
            for name, path in views.items():
                eyes.open(page.base + path)
                taken = eyes.command("Page.captureScreenshot", format="webp", quality=QUALITY)
                picture = ROOT / "docs" / "review" / f"{name}-{form}.webp"
                picture.parent.mkdir(exist_ok=True)
                picture.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    browser = new_browser()
    try:
        take(Path(sys.argv[1]).absolute(), browser)
    finally:
        browser.quit()
