"""A request that is late and is sent a second time, beside the first."""

import pathlib
import subprocess
import threading
import unittest

from caller import ask
from durable import DurableTest
from relay import daemon, eventually, route
from upstream import answer


class Hedge(DurableTest):
    def hedging(self, *upstreams, **members):
        members = {"hedge": {"least": "50ms"}, **members}
        relay = self.new_relay({"up": route(*(upstreams or [self.upstream.url]), **members)}).start()
        self.upstream.on("/x", answer(200, "soon"))
        with relay.caller() as caller:
            for _ in range(20):
                self.assertEqual(caller.ask("GET", "/r/up/x").status, 200)
        return relay

    def given_up(self):
        """A step that waits until the relay closes its connection, and the event that it has."""
        over = threading.Event()

        def step(request):
            if request.connection.wait_for_end():
                over.set()
        return step, over

    def ends(self, relay, got):
        return [(a["number"], a["result"], a.get("kind"), a.get("next"), a.get("cause"))
                for a in relay.job(got)["attempts"]]

    def counts(self, relay):
        metrics = ask(relay.control, "GET", "/metrics").body.decode()
        return [int(line.split()[-1]) for word in ("won", "lost", "withheld") for line in metrics.splitlines()
                if line.startswith(f'waystation_hedges_total{{route="up",outcome="{word}"}}')]

    def explain(self, relay, got):
        program = pathlib.Path(daemon()).with_name("waystation")
        return subprocess.run(
            [program, "explain", got["Waystation-Job"], "--socket", relay.control], capture_output=True, text=True,
            check=True, timeout=30).stdout

    def test_the_second_answers_and_the_first_is_closed(self):
        relay = self.hedging()
        step, over = self.given_up()
        self.upstream.on("/x", step, answer(200, "second"))
        got = relay.ask("GET", "/r/up/x")
        self.assertEqual((got.status, got.body, got["Waystation-Attempts"]), (200, b"second", "2"), got)
        self.assertTrue(over.wait(10), "the relay keeps the connection of the one that lost")
        self.assertEqual(self.ends(relay, got), [(1, "cancelled", "cancelled", "hedge", None),
                                                 (2, "success", None, None, None)])
        self.assertIn("go on with the other sending (hedge)", self.explain(relay, got))
        self.assertEqual(self.counts(relay), [1, 0, 0])
        self.assertNotIn("recovered", got["Waystation-Outcome"])

    def test_the_first_answers_and_the_second_is_closed(self):
        relay = self.hedging()
        step, over = self.given_up()
        door = self.new_door()
        self.upstream.on("/x", door, step)
        ended = []
        asking = threading.Thread(target=lambda: ended.append(relay.ask("GET", "/r/up/x")))
        asking.start()
        self.upstream.wait_for("/x", 22)
        door.open()
        asking.join()
        self.assertEqual(ended[0].status, 200)
        timing = [entry.split(";")[0] for entry in ended[0]["Server-Timing"].split(", ")]
        self.assertEqual(timing, ["attempt-1", "attempt-2"])
        self.assertTrue(over.wait(10))
        self.assertEqual(self.ends(relay, ended[0]), [(1, "success", None, None, None),
                                                      (2, "cancelled", "cancelled", "hedge", None)])
        self.assertEqual(self.counts(relay), [0, 1, 0])

    def test_a_post_without_a_key_is_sent_once_and_one_with_a_key_twice(self):
        relay = self.hedging(retry_budget={"budget_percent": 50})
        key = ("Idempotency-Key", '"k"')
        self.upstream.on("/p", answer(200))
        for _ in range(20):
            self.assertEqual(relay.ask("POST", "/r/up/p", [key], b"p").status, 200)
        self.upstream.forget()
        door = self.new_door()
        self.upstream.on("/p", door, door, answer(200))
        got = {}

        def post(*fields):
            got[len(fields)] = relay.ask("POST", "/r/up/p", fields, b"p")
        asking = [threading.Thread(target=post), threading.Thread(target=post, args=[key])]
        asking[0].start()
        self.upstream.wait_for("/p", 1)
        asking[1].start()
        # The one without a key has waited longer when the other is sent a second time.
        seen = self.upstream.wait_for("/p", 3)
        asking[1].join()
        door.open()
        asking[0].join()
        self.assertEqual([request["Idempotency-Key"] for request in seen], [None, '"k"', '"k"'])
        self.assertEqual([(got[n].status, got[n]["Waystation-Attempts"]) for n in (0, 1)], [(200, "1"), (200, "2")])
        self.assertEqual(len(self.upstream.seen("/p")), 3)

    def test_the_budget_withholds_the_second_and_the_record_says_so(self):
        relay = self.hedging(retry_budget={"budget_percent": 1})
        step, _ = self.given_up()
        self.upstream.on("/x", step, answer(200))
        self.assertEqual(relay.ask("GET", "/r/up/x")["Waystation-Attempts"], "2")
        door = self.new_door()
        self.upstream.on("/x", door)
        opening = threading.Thread(target=lambda: (
            eventually(lambda: self.counts(relay)[2] == 1, "a second sending withheld"), door.open()))
        opening.start()
        got = relay.ask("GET", "/r/up/x")
        opening.join()
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"))
        self.assertIn("  hedge: not sent a second time: second sendings have half", self.explain(relay, got))

    def test_the_second_goes_to_another_upstream_that_is_named(self):
        other = self.new_upstream()
        other.on("/x", answer(200, "other"))
        relay = self.hedging(self.upstream.url, other.url, hedge={"least": "50ms", "upstream": "u2"})
        step, over = self.given_up()
        self.upstream.on("/x", step)
        got = relay.ask("GET", "/r/up/x")
        self.assertEqual((got.status, got.body), (200, b"other"))
        self.assertTrue(over.wait(10))


if __name__ == "__main__":
    unittest.main()
