"""Many routes keep no other caller waiting: documents of all of them, and what is made for each."""

import select
import time
import unittest

from caller import Caller, ask, request
from relay import RelayTest, route
from upstream import answer

ROUTES = 1_000


class ManyRoutes(RelayTest):
    def setUp(self):
        upstream = self.new_upstream()
        upstream.on("/x", answer(200, "x"))
        # On one loop all callers are with the one who asks.
        routes = {f"svc-{number}": route(upstream.url) for number in range(ROUTES)}
        self.relay = self.new_relay(routes, loops=1).start()

    def test_others_are_answered_while_a_document_of_all_routes_is_composed(self):
        with self.relay.caller() as other:
            for path in ("/v1/routes", "/v1/status", "/v1/history"):
                with self.subTest(path), Caller(self.relay.control) as asker:
                    self.assertEqual(other.ask("GET", "/r/svc-0/x").status, 200)
                    asker.send(request("GET", path))
                    meanwhile = 0
                    while not select.select([asker.socket], [], [], 0)[0]:
                        self.assertEqual(other.ask("GET", "/r/svc-0/x").status, 200)
                        meanwhile += 1
                    document = asker.answer()
                    self.assertEqual((document.status, len(document.json()["routes"])), (200, ROUTES))
                    # The first may have come before the document was begun, and the last while it was sent.
                    self.assertGreaterEqual(meanwhile, 4, path)

    def test_the_first_request_after_a_reload_waits_for_what_its_own_route_needs(self):
        first, next = [], []
        with self.relay.caller() as caller:
            for _ in range(3):
                self.assertEqual(ask(self.relay.control, "POST", "/v1/reload").status, 200)
                for number, times in enumerate((first, next)):
                    began = time.monotonic()
                    self.assertEqual(caller.ask("GET", f"/r/svc-{number}/x").status, 200)
                    times.append(time.monotonic() - began)
        self.assertLess(min(first), 20 * min(next), "it is prepared as the next one is")


if __name__ == "__main__":
    unittest.main()
