"""Several requests of one caller on the wire at once."""

import threading
import unittest

from caller import request
from relay import RelayTest, route
from upstream import answer


class Pipelining(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()

    def test_each_has_its_own_answer_whatever_the_kept_connection_carried_before(self):
        """The long answers leave the connection to the upstream as it is right after a read that filled its buffer."""
        self.upstream.on("/long", answer(200, b"l" * 300_000))
        for name in "ab":
            self.upstream.on(f"/{name}", answer(200, name * 2_000))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        with relay.caller() as caller:
            for _ in range(200):
                caller.send(request("GET", "/r/up/long"))
                self.assertEqual(len(caller.answer().body), 300_000)
                caller.send(request("GET", "/r/up/a") + request("GET", "/r/up/b") + request("GET", "/r/up/a"))
                self.assertEqual([caller.answer().body[:1] for _ in range(3)], [b"a", b"b", b"a"])
        self.assertEqual(len(self.upstream.seen("/b")), 200)

    def test_thousands_that_end_at_once_are_answered_in_order_and_others_have_their_turn(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.upstream.on("/hold", lambda got: hold.wait(100) and answer(200, "held"))
        relay = self.new_relay({"up": route(
            self.upstream.url, concurrency={"max_requests": 1, "max_pending_requests": 0},
            timeouts={name: "120s" for name in ("attempt", "idle", "total")})}).start()
        with relay.caller() as first, relay.caller() as many, relay.caller() as other:
            first.send(request("GET", "/r/up/hold"))
            self.upstream.wait_for("/hold")
            count = 5_000
            sender = threading.Thread(
                target=many.send_quietly, args=[request("GET", "/r/up/x") * (count - 1) + request("GET", "/r/none/x")])
            sender.start()
            got = [many.answer().status]
            self.assertEqual(other.ask("GET", "/v1/version").status, 200)
            got += [many.answer().status for _ in range(count - 1)]
            sender.join(10)
            self.assertEqual(got, [503] * (count - 1) + [404])
            self.assertEqual(relay.status()["routes"][0]["failed"], count - 1)
            hold.set()
            self.assertEqual(first.answer().body, b"held")


if __name__ == "__main__":
    unittest.main()
