"""Debian's Alertmanager with the configuration as it is shipped, and somebody who takes down what it tells."""

import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import urllib.request

import yaml

from rules import ROOT
from world import Peer, free_port

FILE = ROOT / "deploy/prometheus/alertmanager.example.yml"


def load():
    return yaml.safe_load(FILE.read_text())


class Alertmanager(Peer):
    """`told` has the labels of each alert that it has told of, once.

    Its waits are shorter than they are shipped, but longer than a busy machine takes to evaluate all groups of rules;
    without `inhibits` it has no inhibit rules.
    """

    name = "alertmanager"

    def __init__(self, inhibits=True):
        self.told, self.lock = [], threading.Lock()
        self.operator = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.taker())
        threading.Thread(target=self.operator.serve_forever, daemon=True).start()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="alertmanager-"))
        document = load()
        document["route"].update(group_wait="4s", group_interval="1s")
        document["receivers"][0]["webhook_configs"] = [
            {"url": f"http://127.0.0.1:{self.operator.server_port}/", "send_resolved": False}]
        if not inhibits:
            del document["inhibit_rules"]
        (self.directory / "alertmanager.yml").write_text(yaml.safe_dump(document))
        self.target = f"127.0.0.1:{free_port()}"
        self.said = (self.directory / "said").open("w")
        self.process = subprocess.Popen(
            ["prometheus-alertmanager", f"--config.file={self.directory}/alertmanager.yml",
             f"--storage.path={self.directory}/data", f"--web.listen-address={self.target}",
             "--cluster.listen-address="],
            stdin=subprocess.DEVNULL, stdout=self.said, stderr=subprocess.STDOUT)

    def taker(manager):
        class Taker(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with manager.lock:
                    for alert in told["alerts"]:
                        if alert["status"] == "firing" and alert["labels"] not in manager.told:
                            manager.told.append(alert["labels"])
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        return Taker

    def close(self):
        self.end()
        self.operator.shutdown()
        self.operator.server_close()

    def is_ready(self):
        with urllib.request.urlopen(f"http://{self.target}/-/ready", timeout=10):
            pass

    def raise_(self, alerts):
        """Has it know these alerts, each as its labels, as if Prometheus had told it."""
        request = urllib.request.Request(
            f"http://{self.target}/api/v2/alerts", json.dumps([{"labels": labels} for labels in alerts]).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10):
            pass

    def names(self, **labels):
        """The names of the alerts told of that have those labels."""
        with self.lock:
            return {told["alertname"] for told in self.told if labels.items() <= told.items()}
