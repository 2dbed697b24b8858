"""config/examples as a whole: every file is good, shown in its README, and held by a test."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from caller import Caller
from examples import FOLDER, SECRETS, ExampleTest, document, names
from peers import free_ports
from relay import daemon, eventually

HERE = pathlib.Path(__file__).resolve().parent
CAPABILITIES = """
    prepare idempotency-key date quick_recovery $header $status api_error error_types treat_as_status
    refresh_credentials require fail content_type unwrap wrap empty redirects:return redirects:follow cache_last_good
    as:stale as:placeholder as:fallback failover cooldown when_constrained file_exists control
    constrained:wait constrained:refuse thumbnails
    oauth2_client_credentials credential honor_retry_after max_retry_after backoff pins enforce:true enforce:false until
    never_fails retry respond each:job each:attempt
    mode:durable expires_after ordering:key ordering:route keep_requests:on_failure retention max_queued_jobs window
    standard_webhooks secrets schedule jitter_percent dead_letter pause_route hold
    memory spool per_user refresh_on_401 query allow_empty_segments rewrite_location:false
    methods:any methods:idempotent_or_keyed format:json postgresql lease
    verify found absent settle_after check stream commit_after keep_alive
    follow below result interval max_interval timeout cancel hedge percentile least
    notify include
"""


def sections():
    """Each file's section of the README, with its commands: (command, what its output shows)."""
    found = {}
    # A comment is what the command above prints; a line that ends with a backslash goes on.
    for part in (FOLDER / "README.md").read_text().split("\n## ")[1:]:
        title, text = part.split("\n", 1)
        commands = []
        for line in (line[4:] for line in text.splitlines() if line.startswith("    ")):
            if line.startswith("# "):
                commands[-1][1].append(line[2:])
            elif commands and commands[-1][0].endswith("\\"):
                commands[-1] = (f"{commands[-1][0]}\n{line}", [])
            else:
                commands.append((line, []))
        found[title.removesuffix(".json")] = commands
    return found


def words(value):
    """Every key, every string, and every pair of a key and a plain value."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            if not isinstance(member, (dict, list)):
                yield f"{key}:{str(member).lower() if isinstance(member, bool) else member}"
            yield from words(member)
    elif isinstance(value, list):
        for element in value:
            yield from words(element)
    elif isinstance(value, str):
        yield value


class Documents(ExampleTest):
    def test_every_file_passes_the_check_as_it_stands_without_a_warning(self):
        secrets = self.new_relay({})
        for name, text in SECRETS.items():
            secrets.secret(name, text)
        for name in names():
            file = secrets.directory / f"{name}.json"
            # The directory of the sockets is to be made first, and is not this test's to make.
            file.write_text((FOLDER / f"{name}.json").read_text().replace("/tmp/relay/", f"{secrets.directory}/"))
            file.chmod(0o644)
            done = subprocess.run(
                [daemon(), "--check", "--strict", str(file)], capture_output=True, text=True,
                timeout=20, env={"CREDENTIALS_DIRECTORY": str(secrets.directory)})
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_every_file_names_the_schema_and_describes_its_routes(self):
        for name in names():
            found = document(name)
            self.assertTrue((FOLDER / found["$schema"]).resolve().is_file(), name)
            for route, rules in found["routes"].items():
                self.assertGreater(len(rules.get("description", "")), 40, (name, route))

    def test_every_file_is_in_the_readme_and_in_a_test(self):
        text = (FOLDER / "README.md").read_text()
        tests = "".join(path.read_text() for path in HERE.glob("test_examples*.py"))
        self.assertEqual(sorted(sections()), names())
        for name in names():
            self.assertIn(f"| [{name}.json]({name}.json) |", text)
            self.assertIn(f'.example("{name}"', tests)

    def test_every_capability_is_in_some_file(self):
        found = {word.lower() for name in names() for word in words(document(name))}
        self.assertEqual([word for word in CAPABILITIES.split() if word not in found], [])


class Commands(ExampleTest):
    """The README's commands, with the upstream that stands beside it."""

    def setUp(self):
        super().setUp()
        self.ports = free_ports(2)
        upstream = subprocess.Popen(
            [sys.executable, str(FOLDER / "upstream"), *map(str, self.ports)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(upstream.stdout.close)
        self.addCleanup(upstream.wait, 10)
        self.addCleanup(upstream.terminate)
        for port in self.ports:
            eventually(lambda: self.listens(port), f"{port} is listened on")

    def listens(self, port):
        try:
            Caller(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    def check(self, name):
        if not pathlib.Path(daemon()).with_name("waystation").exists():
            self.skipTest("the command is not built")
        more = {f"http://127.0.0.1:900{at}/": f"http://127.0.0.1:{port}/" for at, port in enumerate(self.ports, 1)}
        relay = self.example(name, more)
        readme = (FOLDER / "README.md").read_text()
        function = re.search(r"^    ask\(\) \{\n(.*\n)*?    \}\n", readme, re.M)[0]
        # Files that commands name lead to the same upstreams.
        tree = relay.directory / "tree"
        shutil.copytree(FOLDER, tree / "config" / "examples")
        for file in (tree / "config" / "examples").glob("*.json"):
            text = file.read_text()
            for url, other in more.items():
                text = text.replace(url, other)
            file.write_text(text)
        for command, shown in sections()[name]:
            script = (function + command).replace("/tmp/relay/", f"{relay.directory}/")
            done = subprocess.run(
                ["bash", "-c", script], capture_output=True, text=True, timeout=30, cwd=tree, env={
                    "PATH": f"{pathlib.Path(daemon()).parent}:/usr/bin:/bin",
                    "WAYSTATION_CONTROL_SOCKET": relay.control})
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertTrue(shown, command)
            rest = done.stdout
            for piece in shown:
                self.assertIn(piece, rest, command)
                rest = rest.split(piece, 1)[1]


def commands(name):
    def test(self):
        self.check(name)
    return test


for each in names():
    # The section on pins builds its own server, and that on fleets needs a database; test_examples_pins.py and
    # test_examples_fleet.py have the same in other words.
    if each not in ("pins", "fleet"):
        setattr(Commands, f"test_the_commands_of_{each.replace('-', '_')}_print_what_the_readme_shows", commands(each))


if __name__ == "__main__":
    unittest.main()
