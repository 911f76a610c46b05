"""A bucket on a server of S3 that runs while a test needs it."""

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import boto3
from botocore.config import Config

from helpers.waiting import PATIENCE

SERVER = """
import logging, os, sys
from moto.server import ThreadedMotoServer
from werkzeug.serving import WSGIRequestHandler
logging.getLogger("werkzeug").setLevel(logging.ERROR)
WSGIRequestHandler.protocol_version = "HTTP/1.1"  # connections stay open, as those of Amazon
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
os._exit(0)
"""


class Bucket:
    """A server of S3 with one bucket, `s3://mail`."""

    def __init__(self, port):
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "ann",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }
        self.client = boto3.client(
            "s3",
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            aws_access_key_id="ann",
            aws_secret_access_key="secret",
            region_name="us-east-1",
            config=Config(proxies={}, read_timeout=PATIENCE, retries={"total_max_attempts": 1}),
        )
        self.client.create_bucket(Bucket="mail")

    def put(self, name, data):
        self.client.put_object(Bucket="mail", Key=name, Body=data)

    def put_all(self, folder, below):
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                self.put(f"{below}/{path.relative_to(folder)}", path.read_bytes())


@contextmanager
def served_bucket() -> Iterator[Bucket]:
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout
    try:
        assert select.select([server.stdout], [], [], PATIENCE)[0], "the server does not start"
        yield Bucket(int(server.stdout.readline()))
    finally:
        try:
            server.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate(timeout=PATIENCE)
