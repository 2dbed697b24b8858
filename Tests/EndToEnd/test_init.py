"""waystation init: what it writes, what it leaves alone, and what it asks."""

import json
import os
import pathlib
import pty
import stat
import subprocess
import tempfile
import unittest

from relay import daemon

COMMAND = pathlib.Path(daemon()).with_name("waystation")
SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "config" / "waystation.json"


class InitTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "waystation.json"

    def init(self, *words, **options):
        done = subprocess.run(
            [COMMAND, "init", *map(str, words)], capture_output=True, text=True, timeout=20,
            stdin=subprocess.DEVNULL, **options)
        return done.returncode, done.stdout, done.stderr

    def ask(self, answers, *words):
        """Answers on a terminal; what was said, in one text."""
        process, terminal = pty.fork()
        if process == 0:
            os.execv(COMMAND, [COMMAND, "init", "--output", str(self.file), *words])
        said = b""
        # Each answer is typed when it is asked for, so that what is asked stands before it.
        for answer in answers:
            while not said.endswith((b"]: ", b"/v1/: ", b"name: ", b"endpoint: ", b"client: ")):
                said += os.read(terminal, 1)
            os.write(terminal, answer.encode() + (b"" if answer == "\x04" else b"\n"))
            said += os.read(terminal, 1)
        try:
            while piece := os.read(terminal, 4096):
                said += piece
        except OSError:
            pass
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), said.decode().replace("\r\n", "\n")

    def written(self):
        (_, route), = json.loads(self.file.read_text())["routes"].items()
        return route

    def test_what_it_writes_is_whole_and_accepted_by_the_daemon(self):
        code, said, errors = self.init(
            "https://api.billing.example/v1/", "--auth", "bearer", "--output", self.file, umask=0o77)
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("waystation send billing\n", said)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o644)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["waystation.json"])
        (self.folder / "billing-token").write_text("secret")
        done = subprocess.run(
            [daemon(), "--check", self.file], capture_output=True, text=True, timeout=20,
            env={**os.environ, "CREDENTIALS_DIRECTORY": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_came_with_the_installation_is_replaced_and_anything_else_is_not(self):
        self.file.write_bytes(SHIPPED.read_bytes())
        self.assertEqual(self.init("https://one.example/", "-o", self.file)[0], 0)
        one = self.file.read_text()
        self.assertIn("one.example", one)
        code, said, errors = self.init("https://two.example/", "-o", self.file)
        self.assertEqual((code, said, self.file.read_text()), (1, "", one))
        self.assertIn("--force replaces it and keeps a backup", errors)
        for number, host in enumerate(("two", "three")):
            code, said, _ = self.init(f"https://{host}.example/", "-o", self.file, "--force")
            self.assertEqual(code, 0)
            self.assertIn(f"is kept: {self.file}.old", said)
            self.assertIn(f"{host}.example", self.file.read_text())
        self.assertEqual((self.folder / "waystation.json.old").read_text(), one)
        self.assertIn("two.example", (self.folder / "waystation.json.old-2").read_text())

    def test_nothing_is_written_over_or_through_what_is_no_file(self):
        (self.folder / "dangling").symlink_to(self.folder / "elsewhere")
        os.mkfifo(self.folder / "pipe")
        for name in "dangling", "pipe", ".", "none/such":
            for force in [], ["--force"]:
                with self.subTest(name, force=force):
                    code, _, errors = self.init("https://one.example/", "-o", self.folder / name, *force)
                    self.assertEqual(code, 1, errors)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["dangling", "pipe"])

    @unittest.skipUnless(os.geteuid() == 0, "to become another user takes root")
    def test_who_may_not_write_is_told_before_anything_is_asked(self):
        code, _, errors = self.init("-o", "/etc/waystation.json", user=65534, group=65534, extra_groups=[])
        self.assertEqual(code, 5, errors)
        self.assertIn("Run it as root, or name another file: --output FILE", errors)

    def test_without_a_terminal_it_asks_nothing(self):
        code, said, errors = self.init("-o", self.file)
        self.assertEqual((code, said, self.file.exists()), (2, "", False))
        self.assertIn("which upstream? waystation init URL", errors)

    def test_a_terminal_is_asked_until_each_answer_can_stand(self):
        code, said = self.ask([
            "ftp://x", "http://10.1.2.3/api/", "maybe", "y", "Mine", "mine", "digest", "basic", "a:b", "shop", "", "y",
            "n"])
        self.assertEqual(code, 0, said)
        for reason in ("the URL must begin with https://", "y or n", "a name has only lower-case letters",
                       "one of these words", "a user name has no colon"):
            self.assertEqual(said.count("Not that: " + reason), 1, said)
        route = self.written()
        self.assertEqual(route["upstreams"][0]["url"], "http://10.1.2.3/api/")
        self.assertEqual(route["allow_addresses"], ["10.0.0.0/8"])
        self.assertEqual(
            route["auth"], {"type": "basic", "username": "shop", "password": {"credential": "mine-password"}})
        self.assertEqual((route["delivery"], route["idempotency"]), ({"mode": "durable"}, {"generate": False}))

    def test_what_an_option_says_is_not_asked_and_enter_takes_what_is_usual(self):
        code, said = self.ask(
            ["https://api.shop.example/", "", "https://l.example/t", "", "n"], "--auth", "oauth2_client_credentials",
            "--client-id", "me")
        self.assertEqual(code, 0, said)
        self.assertEqual(self.written()["auth"], {
            "type": "oauth2_client_credentials", "token_url": "https://l.example/t", "client_id": "me",
            "client_secret": {"credential": "shop-client-secret"}})

    def test_who_leaves_the_questions_has_written_nothing(self):
        code, said = self.ask(["https://api.shop.example/", "\x04"])
        self.assertEqual((code, list(self.folder.iterdir())), (1, []), said)
        self.assertIn("nothing was written: the questions were left", said)
