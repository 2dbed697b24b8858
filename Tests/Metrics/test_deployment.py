"""The files that deploy/prometheus ships beside the rules work as they are described there."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request

import yaml

import exposed
import rules
from world import everything, free_port

PROMETHEUS = rules.ROOT / "deploy/prometheus"
EXAMPLE = PROMETHEUS / "prometheus.example.yml"


def read_soon(target, seconds=20):
    """The text at `target`, as soon as somebody answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(target, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def series(name, labels):
    """The name and labels that tell a series from others; the end of a bucket is a number, however it is written."""
    return name, tuple(sorted((label, float(value) if label == "le" else value) for label, value in labels.items()))


class Deployment(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.relay = everything(cls)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, text):
        path = self.folder / "prometheus.yml"
        path.write_text(text)
        done = subprocess.run(
            ["promtool", "check", "config", "--syntax-only", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return yaml.safe_load(text)

    def test_the_example_is_a_configuration_of_prometheus(self):
        document = self.check(EXAMPLE.read_text())
        self.assertEqual([job["job_name"] for job in document["scrape_configs"]], ["waystation", "node"])

    def test_the_way_by_the_socket_takes_the_place_of_the_one_by_the_port(self):
        """A name before a colon, as in __unix_socket__, is kept whole."""
        text = EXAMPLE.read_text()
        begin, end = text.index("  # - job_name"), text.index("\n\n  # Or without")
        other = self.check("scrape_configs:\n" + re.sub("^  # ", "  ", text[begin:end], flags=re.MULTILINE) + "\n")
        labels = other["scrape_configs"][0]["static_configs"][0]["labels"]
        unit = (PROMETHEUS / "waystationd-metrics.socket").read_text()
        self.assertIn(f"\nListenStream={labels['__unix_socket__']}\n", unit)

    def test_the_node_exporter_takes_the_textfile(self):
        """It leaves out what a file has and it has itself, and says so at each scrape."""
        (self.folder / "waystation.prom").write_text(self.relay.command("metrics").stdout)
        port = free_port()
        exporter = subprocess.Popen(
            ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
             f"--collector.textfile.directory={self.folder}", f"--web.listen-address=127.0.0.1:{port}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            text = read_soon(f"http://127.0.0.1:{port}/metrics")
        finally:
            exporter.terminate()
            said = exporter.communicate(timeout=20)[1]
        found, own = ({series(name, labels): value for name, labels, value, _ in exposed.samples(read)}
                      for read in (text, (self.folder / "waystation.prom").read_text()))
        self.assertEqual({name: found.get(name) for name in own}, own)
        self.assertEqual(found["node_textfile_scrape_error", ()], 0)
        self.assertIn(("node_textfile_mtime_seconds", (("file", str(self.folder / "waystation.prom")),)), found)
        self.assertNotIn("level=error", said)

    def test_listeners_that_are_told_of_are_listeners(self):
        told = [found for path in sorted(PROMETHEUS.iterdir())
                for found in re.findall(r'\{ "name": .* \}', path.read_text())]
        self.assertEqual(len(told), 2)
        for listener in told:
            path = self.folder / "waystation.json"
            path.write_text(json.dumps({"listeners": [json.loads(listener)], "routes": {}}))
            done = self.relay.command("check", str(path))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_is_installed_is_where_the_example_looks(self):
        stage = self.folder / "stage"
        binaries = self.folder / "binaries"
        binaries.mkdir()
        for name in ("waystationd", "waystation"):
            shutil.copy("/bin/true", binaries / name)
        done = subprocess.run(
            [rules.ROOT / "deploy/install", stage], env={"PATH": "/usr/bin:/bin:/usr/sbin", "BINARIES": str(binaries)},
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for path in yaml.safe_load(EXAMPLE.read_text())["rule_files"]:
            self.assertTrue((stage / path.lstrip("/")).exists(), path)
        self.assertTrue((stage / "usr/share/waystation/grafana/waystation.json").exists())

    def test_the_manual_page_knows_the_alerts(self):
        page = (rules.ROOT / "deploy/man/waystationd-metrics.7").read_text()
        self.assertEqual(
            re.findall(r"^\.It Cm (Waystation\w+) Pq (\w+)$", page, re.MULTILINE),
            [(rule["alert"], rule["labels"]["severity"]) for rule in rules.each(rules.load())])

    def test_the_changelog_counts_the_alerts(self):
        """The first number is that of the newest version."""
        text = (rules.ROOT / ".github/CHANGELOG.md").read_text()
        told = re.search(r"(\d+) alerts", text)
        self.assertEqual(told and int(told[1]), len(rules.each(rules.load())))

    def test_the_units_are_units(self):
        units = sorted(path for path in PROMETHEUS.iterdir() if path.suffix in (".service", ".timer"))
        done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
        # Programs and pages that are not installed here are none of their faults.
        said = [line for line in done.stderr.splitlines()
                if not re.search(r"Command 'man |waystation is not executable", line)]
        self.assertEqual(said, [])

    def test_the_textfile_is_written_whole_or_left(self):
        unit = (PROMETHEUS / "waystation-metrics.service").read_text()
        command = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", unit, re.MULTILINE)[1]
        command = command.replace("${DIRECTORY}", str(self.folder))
        self.assertIn("/usr/bin/waystation metrics", command)

        def write(program):
            (self.folder / "program").write_text(program)
            (self.folder / "program").chmod(0o755)
            return subprocess.run(
                ["/bin/sh", "-c", command.replace("/usr/bin/waystation", str(self.folder / "program"))],
                capture_output=True, text=True)

        text = self.relay.command("metrics").stdout
        (self.folder / "figures").write_text(text)
        self.assertEqual(write(f"#!/bin/sh\n[ $1 = metrics ] && cat {self.folder}/figures\n").returncode, 0)
        self.assertEqual((self.folder / "waystation.prom").read_text(), text)
        self.assertNotEqual(write("#!/bin/sh\necho waystation_half 1\nexit 4\n").returncode, 0)
        self.assertEqual((self.folder / "waystation.prom").read_text(), text)
        # The file that the alert about old figures looks for.
        stale = next(rule for rule in rules.each(rules.load()) if rule["alert"] == "WaystationFiguresStale")
        pattern = re.search(r'file=~"([^"]+)"', stale["expr"])[1]
        self.assertRegex(str(self.folder / "waystation.prom"), f"^(?:{pattern})$")
        self.assertNotRegex(str(self.folder / "waystation.prom.new"), f"^(?:{pattern})$")


if __name__ == "__main__":
    unittest.main()
