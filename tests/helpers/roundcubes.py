"""Run Debian's Roundcube by PHP's built-in server, with settings and a database made for the test."""

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from helpers.ports import answers, free_ports
from helpers.waiting import PATIENCE, until

PAGES = Path("/var/lib/roundcube/public_html")
CONFIG = Path("/etc/roundcube")
SETTINGS = """<?php
$config['db_dsnw'] = 'sqlite:///{folder}/mail.db?mode=0640';
$config['log_dir'] = $config['temp_dir'] = '{folder}';
$config['imap_host'] = '127.0.0.1:{imap}';
$config['des_key'] = '{key}';
$config['language'] = 'en_US';
$config['plugins'] = [];
"""


@contextmanager
def roundcube(folder, imap=1, settings=""):
    """Run Roundcube for the IMAP server at port `imap` of this machine; yield Roundcube's address."""
    (port,) = free_ports(1)
    config = folder / "roundcube"
    config.mkdir()
    for name in ("defaults.inc.php", "mimetypes.php"):
        (config / name).symlink_to(CONFIG / name)
    base = SETTINGS.format(folder=config, imap=imap, key="k" * 24)
    (config / "config.inc.php").write_text(base + settings)
    command = ["php", "-S", f"127.0.0.1:{port}", "-t", str(PAGES)]
    env = os.environ | {"ROUNDCUBE_CONFIG_DIR": str(config)}
    with (config / "php.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=env, start_new_session=True)
    try:
        until(lambda: answers(port) or process.poll() is not None)
        with urlopen(f"http://127.0.0.1:{port}", timeout=PATIENCE) as page:
            assert b"rcmloginuser" in page.read(), (config / "php.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
