"""An operator's action that says what was seen does nothing where something else is so by now."""

import json
import threading
import unittest

from caller import ask
from durable import kept
from relay import RelayTest, eventually
from upstream import answer


class Seen(RelayTest):
    def setUp(self):
        upstream = self.new_upstream()
        upstream.on("/x", answer(500))
        self.routes = {"up": kept(upstream.url, recovery=[{"name": "gone", "on": ["500"], "dead_letter": {}}])}
        self.relay = self.new_relay(self.routes).start()

    def act(self, method, path, document=None, seen=None):
        fields = [("Content-Type", "application/json")] if document is not None else []
        if seen is not None:
            fields.append(("If-Match", f'"{seen}"'))
        return ask(self.relay.control, method, path, fields, None if document is None else json.dumps(document).encode())

    def refused(self, answered, status, code, *words):
        self.assertEqual((answered.status, answered.json()["code"]), (status, code), answered.body)
        for word in words:
            self.assertIn(word, answered.json()["detail"])

    def route(self):
        return self.act("GET", "/v1/routes/up").json()

    def test_a_route_that_somebody_else_paused_is_not_paused_again(self):
        before = self.route()["revision"]
        self.assertEqual(self.act("POST", "/v1/routes/up/pause", {"reason": "first"}, before).status, 200)
        self.refused(self.act("POST", "/v1/routes/up/pause", {"reason": "second"}, before), 412, "precondition_failed",
                     "nothing was done: it is paused: first")
        self.refused(self.act("POST", "/v1/routes/up/resume", None, before), 412, "precondition_failed")
        now = self.route()
        self.assertEqual(now["pause"]["reason"], "first")
        self.assertEqual(self.act("POST", "/v1/routes/up/resume", None, now["revision"]).status, 200)
        self.assertEqual(self.route()["revision"], before, "as before the pause")

    def test_a_breaker_that_somebody_else_ordered_is_not_ordered_anew(self):
        before = self.route()["revision"]
        self.assertEqual(self.act("PUT", "/v1/routes/up/breaker", {"state": "open"}, before).status, 200)
        self.refused(self.act("PUT", "/v1/routes/up/breaker", {"state": "closed"}, before), 412, "precondition_failed", "forced_open")
        self.refused(self.act("POST", "/v1/routes/up/limits/clear", None, before), 412, "precondition_failed")
        self.assertEqual(self.route()["upstreams"][0]["breaker"], "forced_open")
        self.assertEqual(self.act("PUT", "/v1/routes/up/breaker", {"state": "auto"}, "*").status, 412, "a tag of that name is none")
        kept = self.route()["revision"]
        self.assertEqual(self.act("PUT", "/v1/routes/up/breaker", {"state": "open", "for": "1d"}, kept).status, 200)
        self.refused(self.act("PUT", "/v1/routes/up/breaker", {"state": "open"}, kept), 412, "precondition_failed", "forced_open")
        self.assertEqual(self.act("PUT", "/v1/routes/up/breaker", {"state": "auto"}).status, 200)
        self.assertEqual(self.route()["revision"], before)

    def test_of_many_who_pause_a_route_as_it_is_one_does(self):
        before, answers = self.route()["revision"], []
        threads = [threading.Thread(target=lambda number=number: answers.append(self.act(
            "POST", "/v1/routes/up/pause", {"reason": f"number {number}"}, before).status)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual(sorted(answers), [200] + [412] * 7)

    def test_a_route_that_is_not_there_is_not_there_whatever_was_seen(self):
        for method, path in ("POST", "pause"), ("POST", "resume"), ("PUT", "breaker"), ("POST", "limits/clear"):
            document = {"state": "open"} if path == "breaker" else None
            self.refused(self.act(method, f"/v1/routes/none/{path}", document, "x"), 404, "route_not_found")

    def test_the_call_of_a_trouble_says_what_it_is_for(self):
        self.assertEqual(self.act("POST", "/v1/routes/up/pause", {"reason": "first"}).status, 200)
        trouble = next(one for one in self.act("GET", "/v1/troubles").json()["troubles"] if one["kind"] == "route_paused")
        seen = trouble["action"]["seen"]
        self.assertEqual(seen, self.route()["revision"])
        self.act("POST", "/v1/routes/up/resume")
        self.act("POST", "/v1/routes/up/pause", {"reason": "data loss, do not resume"})
        self.refused(self.act("POST", trouble["action"]["path"], None, seen), 412, "precondition_failed", "data loss")
        self.assertEqual(self.route()["pause"]["reason"], "data loss, do not resume")

    def test_requests_leave_the_revision_of_their_route_as_it_is(self):
        before = self.route()["revision"]
        for _ in range(5):
            self.relay.ask("GET", "/r/up/x")
        self.assertEqual(self.route()["revision"], before)

    def test_a_configuration_that_was_replaced_is_not_read_again(self):
        digest = self.act("GET", "/v1/status").json()["config"]["digest"]
        self.relay.write({"up": {**self.routes["up"], "max_attempts": 7}})
        revision = self.route()["revision"]
        self.assertEqual(self.act("POST", "/v1/reload", None, digest).status, 200)
        self.assertNotEqual(self.route()["revision"], revision, "a route's revision has the configuration in it")
        self.refused(self.act("POST", "/v1/reload", None, digest), 412, "precondition_failed", "nothing was done")

    def test_jobs_that_somebody_else_has_retried_are_not_acted_on_unseen(self):
        for _ in range(3):
            self.assertEqual(self.relay.ask("POST", "/r/up/x", [("Prefer", "respond-async")], b"b").status, 202)
        eventually(lambda: self.relay.status()["jobs"]["dead"] == 3, "all are dead")
        order = {"action": "drop", "filter": {"state": ["dead"]}, "dry_run": False}
        for seen in 0, 2, 4:
            self.refused(self.act("POST", "/v1/jobs/actions", {**order, "seen": seen}), 409, "selection_changed",
                         f"3 jobs match now, and not {seen}: nothing was done")
        self.assertEqual(self.relay.status()["jobs"]["dead"], 3)
        self.assertEqual(self.act("POST", "/v1/jobs/actions", {**order, "seen": -1}).status, 422)
        done = self.act("POST", "/v1/jobs/actions", {**order, "seen": 3, "limit": 1})
        self.assertEqual((done.status, done.json()["changed"]), (200, 1), done.body)


if __name__ == "__main__":
    unittest.main()
