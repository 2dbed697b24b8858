"""A name server that never answers, in a mount namespace with an /etc/resolv.conf, hosts and nsswitch.conf of its own."""

import os
import random
import socket
import subprocess
import threading
import time
import unittest

from relay import RelayTest, eventually, route
from upstream import answer

ZONES = 8


class DeadNameServer(RelayTest):
    def setUp(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            self.skipTest("a mount namespace needs root")
        self.upstream = self.new_upstream()
        self.upstream.on("/x", answer(200, "x", ("Connection", "close")))
        # resolv.conf has no ports, and the loopback has many addresses.
        address = f"127.{random.randint(1, 250)}.{random.randint(1, 250)}.{random.randint(2, 250)}"
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(self.server.close)
        self.server.bind((address, 53))
        self.asked = set()
        threading.Thread(target=self.listen, daemon=True).start()
        port = self.upstream.port
        routes = {f"dead{number}": route(f"http://api.dead{number}.example:{port}/", timeouts={"connect": "4s"})
                  for number in range(ZONES)}
        routes["healthy"] = route(f"http://api.healthy.example:{port}/", timeouts={"connect": "2s"})
        self.relay = self.new_relay(routes)
        files = {
            "resolv.conf": f"nameserver {address}\noptions timeout:5 attempts:2\n", "nsswitch.conf": "hosts: files dns\n",
            "hosts": "127.0.0.1 localhost\n127.0.0.1 api.healthy.example\n"}
        mounts = []
        for name, text in files.items():
            (self.relay.directory / name).write_text(text)
            mounts.append(f"mount --bind '{self.relay.directory / name}' /etc/{name}")
        self.relay.before = ["unshare", "-m", "sh", "-c", " && ".join(mounts) + ' && exec "$0" "$@"']
        self.relay.start()

    def listen(self):
        while True:
            try:
                query = self.server.recv(512)
            except OSError:
                return
            # The first label of the question and the second, which is the zone.
            start = 13 + query[12]
            self.asked.add(query[start + 1:start + 1 + query[start]])

    def test_a_healthy_name_is_found_in_milliseconds_while_eight_names_are_looked_up(self):
        answers = []
        threads = [threading.Thread(target=lambda n=n: answers.append(self.relay.ask("GET", f"/r/dead{n}/x")))
                   for n in range(ZONES)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(self.asked) == ZONES, "all dead names are being looked up")
        began = time.monotonic()
        got = self.relay.ask("GET", "/r/healthy/x")
        took = time.monotonic() - began
        self.assertEqual((got.status, answers), (200, []), got)
        timing = self.relay.job(got)["attempts"][0]["timing_ms"]
        print(f"the healthy name took {timing['dns']} ms, its request {took * 1000:.1f} ms")
        self.assertLess(timing["dns"], self.within(0.5) * 1000)
        for thread in threads:
            thread.join(15)
        self.assertEqual([got.status for got in answers], [504] * ZONES)
        self.assertIn("within timeouts.connect (4s)", answers[0].json()["detail"])


if __name__ == "__main__":
    unittest.main()
