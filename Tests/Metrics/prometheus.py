"""Debian's Prometheus, scraping daemons of a test, with the rules as they are shipped in a shorter time."""

import json
import pathlib
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

import yaml

import rules
from world import Peer, free_port

# An hour of the rules is a minute of the test.
FACTOR = 60
# Seconds in expressions, and what comes in so many; the time that a disk takes is what it is.
BOUNDS = {
    "WaystationFiguresStale": [("> 300", "> 5")],
    "WaystationCredentialExpiring": [("< 300", "< 5")],
    "WaystationBacklogGrowing": [("* 900", "* 15")],
    "WaystationJobTooOld": [("> 3600", "> 60")],
    "WaystationStoreFilling": [("[1h], 4 * 3600", "[1h], 4 * 60"), ("[15m], 4 * 3600", "[15m], 4 * 60")],
    "WaystationStoreDiskFilling": [("[1h], 4 * 3600", "[1h], 4 * 60"), ("[15m], 4 * 3600", "[15m], 4 * 60")],
    "WaystationJobsExpired": [("< 900", "< 15")],
    "WaystationDeadLetters": [("< 900", "< 15")],
    "WaystationStoreSlow": [("> 0.5", "> 30")],
}
# Of scrapes and evaluations; the rules are written for 15 s and more, and this is half a minute of theirs.
INTERVAL = "500ms"


class Prometheus(Peer):
    """Scrapes each daemon as an instance of the name it is given, and tells each Alertmanager what fires."""

    name = "prometheus"

    def __init__(self, daemons, managers=()):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="prometheus-"))
        self.port = free_port()
        (self.directory / "rules.yml").write_text(
            yaml.safe_dump(rules.scaled(rules.load(), FACTOR, BOUNDS), sort_keys=False))
        (self.directory / "prometheus.yml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL, "evaluation_interval": INTERVAL},
            "rule_files": ["rules.yml"],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [one.target for one in managers]}]}]},
            "scrape_configs": [{"job_name": "waystation", "static_configs": [
                {"targets": [daemon.target], "labels": {"instance": name}} for name, daemon in daemons.items()]}]}))
        self.said = (self.directory / "said").open("w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.directory}/prometheus.yml",
             f"--storage.tsdb.path={self.directory}/data", f"--web.listen-address=127.0.0.1:{self.port}",
             "--enable-feature=exemplar-storage", "--query.lookback-delta=5s"],
            stdin=subprocess.DEVNULL, stdout=self.said, stderr=subprocess.STDOUT)

    def close(self):
        self.end()

    def get(self, path, **query):
        target = f"http://127.0.0.1:{self.port}{path}"
        if query:
            target += "?" + urllib.parse.urlencode(query)
        with urllib.request.urlopen(target, timeout=10) as answer:
            return answer.read().decode()

    def api(self, path, **query):
        return json.loads(self.get("/api/v1/" + path, **query))["data"]

    def is_ready(self):
        self.get("/-/ready")

    def firing(self):
        """The alerts that fire: each as its labels and annotations."""
        return [
            (alert["labels"], alert["annotations"]) for alert in self.api("alerts")["alerts"]
            if alert["state"] == "firing"]
