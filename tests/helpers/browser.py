"""Pages in a real browser."""

import shutil
import subprocess

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_a_browser = pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")


def browse(folder, text, *options):
    """What Chromium makes of a page: its document, after scripts had their chance."""
    file = folder / "page.html"
    file.write_text(text)
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()
    quiet += ["--disable-component-update", "--disable-sync", f"--user-data-dir={folder / 'profile'}"]
    command = [BROWSER, "--headless", *quiet, *options, "--dump-dom", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
