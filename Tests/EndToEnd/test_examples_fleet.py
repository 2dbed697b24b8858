"""config/examples/fleet.json and the commands of its section, on a database of the test's own."""

import os
import pathlib
import subprocess
import unittest

from caller import ask
from database import Database, command
from durable import FINISHED
from examples import FOLDER, ExampleTest
from relay import eventually
from upstream import answer


class FleetExample(ExampleTest):
    @classmethod
    def setUpClass(cls):
        cls.database = Database()
        cls.addClassCleanup(cls.database.close)
        cls.database.prepare()

    def test_two_daemons_with_the_file_share_their_jobs(self):
        place = {"postgresql://waystation@127.0.0.1:5432/": f"postgresql://waystation@127.0.0.1:{self.database.port}/"}
        self.first.on("/good", answer(200, b'{"title": "Dune"}'))
        one = self.example("fleet", place)
        two = self.example("fleet", {**place, "one": "two"}, ["node"])
        found = one.ask("POST", "/r/orders/good", [("Prefer", "respond-async")], b"amount=17")
        self.assertEqual(found.status, 202, found)
        # A user of one node is another than the same number at the other: its operator may see the job.
        path = f"/v1/jobs/{found['Waystation-Job']}"
        self.assertEqual(two.ask("GET", path).status, 404)
        eventually(lambda: ask(two.control, "GET", path).json()["state"] in FINISHED, "the other node knows its end")
        self.assertEqual(ask(two.control, "GET", path).json()["state"], "succeeded")

    def test_the_commands_print_what_the_readme_shows(self):
        place = {"postgresql://waystation@127.0.0.1:5432/": f"postgresql://waystation@127.0.0.1:{self.database.port}/"}
        self.first.on("/good", answer(200, b'{"title": "Dune"}'))
        relay = self.example("fleet", place)
        text = (FOLDER / "README.md").read_text()
        lines = [line[4:] for line in text.split("\n## fleet.json")[1].split("\n## ")[0].splitlines()
                 if line.startswith("    ")]
        ask = text[text.index("    ask() {"):].split("\n    }\n")[0] + "\n}\n"
        script = "\n".join([ask, *lines]).replace("127.0.0.1:5432", f"127.0.0.1:{self.database.port}")
        done = subprocess.run(
            ["bash", "-c", script.replace("/tmp/relay/", f"{relay.directory}/")], capture_output=True, text=True,
            timeout=30, env={"PATH": f"{pathlib.Path(command()).parent}:{os.environ['PATH']}",
                             "WAYSTATION_CONTROL_SOCKET": relay.control})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        rest = done.stdout
        for line in lines:
            if line.startswith("# "):
                self.assertIn(line[2:], rest)
                rest = rest.split(line[2:], 1)[1]


if __name__ == "__main__":
    unittest.main()
