"""`waystation mcp`: what an agent reads is what the commands of those names say, and nothing that it sends ends it."""

import json
import pathlib
import socket
import subprocess
import unittest

from durable import DurableTest, again, kept
from relay import daemon, eventually
from caller import ask
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")
BEGIN = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}
BEGUN = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def calls(*tools):
    return [{"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(tools, 1)]


class Agent(DurableTest):
    def setUp(self):
        if not COMMAND.exists():
            self.skipTest("the command is not built")
        super().setUp()
        self.upstream.on("/a", answer(503, b"the upstream's own words"))
        self.relay = self.new_relay({"orders": kept(self.upstream.url, recovery=[again("1ms", 2)])}).start()
        self.id = self.hand_over(self.relay, "/r/orders/a?token=hidden", ("X-Key", "hidden"), body=b"hidden")
        eventually(lambda: ask(self.relay.control, "GET", f"/v1/jobs/{self.id}").json()["state"] == "dead", "it is dead")

    def speak(self, *messages, raw=b"", control=None):
        """The answers to messages, which are lines, by their ids."""
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in (BEGIN, BEGUN, *messages)) + raw
        done = subprocess.run(
            [COMMAND, "mcp", "--config", self.relay.file, "--socket", control or self.relay.control], input=lines,
            capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def said(self, *words):
        done = subprocess.run(
            [COMMAND, *words], capture_output=True, text=True, timeout=60, env={
                "WAYSTATION_CONTROL_SOCKET": self.relay.control, "WAYSTATION_SOCKET": self.relay.control, "COLUMNS": "160"})
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_each_tool_says_what_its_command_says(self):
        tools = (
            ("explain", {"subject": self.id}, ["explain", self.id]),
            ("explain", {"subject": self.id, "format": "json"}, ["explain", self.id, "-o", "json"]),
            ("explain", {"subject": "exhausted"}, ["explain", "exhausted"]),
            ("dead", {"by": "route", "format": "json"}, ["dead", "--by", "route", "-o", "json"]),
            ("shape", {"format": "json"}, ["shape", "-o", "json"]),
            ("what-if", {"route": "orders", "failures": ["503"], "durable": True, "format": "json"},
             ["what-if", "--config", self.relay.file, "orders", "503", "--durable", "-o", "json"]),
            ("events", {"format": "json", "limit": 500}, ["events", "-o", "ndjson"]),
        )
        _, *answers = self.speak(*calls(*[(name, arguments) for name, arguments, _ in tools]))
        self.assertEqual([each["id"] for each in answers], [*range(1, len(tools) + 1)])
        for (name, _, words), each in zip(tools, answers):
            result = each["result"]
            self.assertFalse(result["isError"], (name, result))
            text, said = result["content"][0]["text"], self.said(*words)
            if "json" in words:
                text, said = self.plain(text), self.plain(said)
            if name != "explain" or "json" in words or words[1] != self.id:
                self.assertEqual(text, said, name)
            self.assertNotIn("hidden", text, name)
        # Ages differ, and the first line does not.
        self.assertEqual(answers[0]["result"]["content"][0]["text"].split("\n")[0], self.said("explain", self.id).split("\n")[0])
        status = self.speak(*calls(("status", {})))[1]["result"]
        self.assertIn("orders", status["content"][0]["text"])

    def plain(self, text):
        """Documents without their moments."""
        found = [json.loads(line) for line in text.splitlines()]
        for each in found:
            if isinstance(each.get("shortest"), dict):
                return each["series"], each["shortest"]["job"]["state"], each["shortest"]["length_ms"]
        return found

    def test_a_few_events_are_the_last_ones(self):
        _, few, all = self.speak(*calls(("events", {"format": "json", "limit": 2}), ("events", {"format": "json"})))
        few, all = (each["result"]["content"][0]["text"].splitlines() for each in (few, all))
        self.assertEqual(few, all[-2:])
        self.assertGreater(len(all), 2)

    def test_what_fails_is_a_tools_result_with_the_words_of_the_command(self):
        _, missing, unknown, nobody = self.speak(*calls(
            ("explain", {"subject": "0" * 26}), ("what-if", {"route": "none", "failures": ["503"]}),
            ("dead", {"format": "json", "by": "host"})))
        for each, words in (missing, "404"), (unknown, "no route"), (nobody, "by is one of"):
            self.assertTrue(each["result"]["isError"], each)
            self.assertIn(words, each["result"]["content"][0]["text"])
        nowhere = self.speak(*calls(("status", {})), control=f"{self.relay.directory}/none.sock")[1]["result"]
        self.assertTrue(nowhere["isError"] and "none.sock" in nowhere["content"][0]["text"], nowhere)
        # The jobs socket tells a user of its own jobs, and of no routes.
        own = self.speak(*calls(("status", {}), ("explain", {"subject": self.id})), control=self.relay.jobs)
        self.assertEqual([each["result"]["isError"] for each in own[1:]], [True, False], own)

    def test_a_call_under_way_ends_with_it_whatever_ends_it(self):
        path = f"{self.relay.directory}/silent.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            listener.settimeout(20)
            session = subprocess.Popen([COMMAND, "mcp", "--socket", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                for each in (BEGIN, *calls(("status", {}))):
                    session.stdin.write(json.dumps(each).encode() + b"\n")
                session.stdin.flush()
                asked, _ = listener.accept()
                asked.settimeout(20)
                self.assertIn(b"HTTP/1.1", asked.recv(65536))
                session.kill()
                # The end of the command closes its connection.
                self.assertEqual(asked.recv(65536), b"")
                asked.close()
            finally:
                session.kill()
                session.communicate()

    def test_events_of_nothing_are_told_as_none(self):
        told = self.speak(*calls(("events", {"job": "0" * 26})))[1]["result"]["content"][0]["text"]
        self.assertEqual(told, "no events\n")

    def test_no_line_ends_it(self):
        long = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"' + b"x" * 1100000 + b'"}}\n'
        raw = b"\n\r\n\0\n\xff\xfe\nnull\n[[[[\n" + long + b'{"jsonrpc":"2.0","id":"last","method":"ping"}'
        answers = self.speak(raw=raw)[1:]
        self.assertEqual([each.get("error", {}).get("code") for each in answers],
                         [-32700, -32700, -32600, -32700, -32700, None])
        self.assertEqual(answers[-1], {"jsonrpc": "2.0", "id": "last", "result": {}})


if __name__ == "__main__":
    unittest.main()
