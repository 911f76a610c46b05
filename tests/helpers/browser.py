"""Pages in a real browser."""

import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), "chromium")


def browse(folder, text, *options, seconds=120):
    """What Chromium makes of a page: its document, after scripts had their chance."""
    file = folder / "page.html"
    file.write_text(text)
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
    quiet += ["--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}"]
    command = [BROWSER, "--headless", *quiet, *options, "--dump-dom", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True).stdout
