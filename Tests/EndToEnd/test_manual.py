"""The manual's words on answers, and on who is told what."""

import json
import os
import socket
import tempfile
import unittest

from caller import Caller, ask, request
from durable import DurableTest, kept
from peers import free_ports
from relay import eventually, route
from upstream import answer


class Manual(DurableTest):
    def test_a_document_shows_no_value_of_a_redacted_header_and_the_answer_itself_every_one(self):
        self.upstream.on("/x", answer(200, "done", ("Set-Cookie", "sid=1"), ("X-Own", "2")))
        relay = self.new_relay(
            {"up": kept(self.upstream.url, request={"headers": {"set": {"X-Added": "by the relay"}}})},
            log={"redact_headers": ["set-cookie", "x-api-key"]}).start()
        sent = [("Prefer", "respond-async, wait=9"), ("X-Api-Key", "k1"), ("X-Shop", "7"), ("Proxy-Authorization", "p1")]
        got = relay.ask("POST", "/r/up/x", sent, b"x")
        self.assertEqual((got.status, got["Set-Cookie"]), (200, "sid=1"), got)
        document = relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}?include=body").json()
        asked, shown = document["request"]["headers"], document["response"]["headers"]
        self.assertIn(["X-Api-Key", "(redacted)"], asked)
        self.assertIn(["X-Shop", "7"], asked)
        for hidden in "k1", "p1", "by the relay", "sid=1":
            self.assertNotIn(hidden, json.dumps([asked, shown]))
        self.assertNotIn("headers", relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}").json()["request"])
        self.assertIn(["Set-Cookie", "(redacted)"], shown)
        self.assertIn(["X-Own", "2"], shown)
        self.assertEqual(relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}/response")["Set-Cookie"], "sid=1")
        fields = [("Prefer", "respond-async, wait=9"), ("Content-Type", "application/json")]
        handed = relay.ask("POST", "/v1/jobs", fields, b'{"route": "up", "request": {"path": "x"}}')
        self.assertIn(["Set-Cookie", "sid=1"], handed.json()["response"]["headers"])

    def test_callers_of_a_port_learn_nothing_by_a_key_but_the_id(self):
        self.upstream.on("/x", answer(200, "hers"))
        relay = self.new_relay({})
        port, = free_ports(1)
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0666"}, {"name": "local", "tcp": f"127.0.0.1:{port}"}]
        relay.write({"up": kept(self.upstream.url)})
        relay.start()

        def send(address, target="/r/up/x", body=b"x", *fields):
            fields = [("Idempotency-Key", "k"), ("Prefer", "respond-async, wait=9"), *fields]
            with Caller(address) as caller:
                caller.send(request("POST", target, fields, body).replace(b"Host: relay.of.tests", b"Host: localhost"))
                return caller.answer()
        known, tcp = send(relay.jobs), ("127.0.0.1", port)
        self.assertEqual((known.status, known.body), (200, b"hers"), known)
        self.assertEqual(send(relay.jobs).body, b"hers")
        job = b'{"route": "up", "request": {"path": "x", "text": "x"}}'
        self.assertEqual(send(tcp).body, b"hers")
        for target, body, *fields in ("/r/up/x", b"x"), ("/v1/jobs", job, ("Content-Type", "application/json")):
            with self.subTest(target=target):
                again_it = send(tcp, target, body, *fields)
                self.assertEqual(again_it["Waystation-Replayed"], "true")
                self.assertEqual(again_it.json(), {
                    "id": again_it["Waystation-Job"], "route": "up", "durable": True}, again_it)

    def test_who_waits_for_an_answer_that_is_not_kept_is_told_what_became_of_the_job(self):
        self.upstream.on("/bad", answer(400, "no"))
        relay = self.new_relay({"up": kept(
            self.upstream.url, recovery=[], delivery={"mode": "durable", "keep_responses": "never"})}).start()
        got = relay.ask("POST", "/r/up/bad", [("Prefer", "respond-async, wait=9")], b"x")
        self.assertEqual((got.status, got["Location"]), (202, f"/v1/jobs/{got['Waystation-Job']}"), got)
        self.assertEqual((got.json()["state"], got.json()["last_failure"]["status"]), ("dead", 400), got)

    def test_a_rule_that_pauses_the_route_does_so_after_a_request_that_waits(self):
        self.upstream.on("/gone", answer(410, "gone"))
        relay = self.new_relay({"up": route(self.upstream.url, recovery=[
            {"name": "gone", "on": ["410"], "pause_route": {"reason": "the receiver is gone"}}])}).start()
        self.assertEqual(relay.ask("POST", "/r/up/gone", [], b"x").status, 410)

        def pause():
            return ask(relay.control, "GET", "/v1/routes/up").json().get("pause")
        eventually(lambda: pause() is not None, "the route is paused")
        self.assertEqual((pause()["reason"], pause()["rule"]), ("the receiver is gone", "gone"))
        self.assert_problem(relay.ask("POST", "/r/up/gone", [], b"x"), 503, "route_paused")
        self.assertEqual(len(self.upstream.seen("/gone")), 1)

    def test_a_delay_of_nothing_is_no_schedule(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        for delay, state in ("0s", "queued"), ("1h", "scheduled"):
            got = relay.ask("POST", "/r/up/x", [("Waystation-Delay", delay)], b"x")
            self.assertEqual((got.status, got.json()["state"]), (202, state), got)

    def test_only_the_relay_says_which_preferences_were_heeded(self):
        self.upstream.on("/x", answer(200, "fine", ("Preference-Applied", "respond-async")))
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        got = relay.ask("GET", "/r/up/x", [("Prefer", "handling=strict")])
        self.assertEqual((got.status, got["Preference-Applied"]), (200, None), got)

    def test_the_calls_of_one_bulk_retry_keep_its_rate_together(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        for _ in range(5):
            relay.ask("POST", "/r/up/x", [("Waystation-Delay", "1h")], b"x")

        def act(**members):
            got = ask(relay.control, "POST", "/v1/jobs/actions", [("Content-Type", "application/json")],
                      json.dumps(members).encode())
            self.assertEqual(got.status, 200, got)
            return got.json()
        self.assertEqual(ask(relay.control, "POST", "/v1/routes/up/pause").status, 200)
        act(action="cancel", filter={}, dry_run=False)
        cursor, calls = None, 0
        while calls == 0 or cursor is not None:
            cursor = act(action="retry", filter={}, dry_run=False, rate="1/m", limit=2, cursor=cursor)["next"]
            calls += 1
        self.assertGreaterEqual(calls, 3)
        jobs = ask(relay.control, "GET", "/v1/jobs?order=oldest").json()["jobs"]
        due = [int(job["due_at"][14:16]) * 60 + float(job["due_at"][17:23]) for job in jobs]
        gaps = [(later - earlier) % 3600 for earlier, later in zip(due, due[1:])]
        self.assertTrue(all(58 < gap < 62 for gap in gaps), due)


class Overridden(DurableTest):
    """Of what the service manager gives, the configuration says nothing, and the journal says so."""

    def start(self, folder, mode, path=None, **environment):
        relay = self.new_relay({"up": route(self.upstream.url)}, listeners=[])
        relay.members["listeners"] = [
            {"name": "jobs", "unix": relay.jobs, "mode": "0600"}, {"name": "control", "unix": relay.control}]
        relay.write({"up": route(self.upstream.url)})
        with socket.socket(socket.AF_UNIX) as passed:
            passed.bind(path or relay.jobs)
            os.chmod(path or relay.jobs, mode)
            passed.listen(8)
            relay.pass_fds = [passed.fileno()]
            relay.environment |= {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "jobs", **environment}
            relay.before = ["bash", "-c", f'exec 3<&{passed.fileno()}; export LISTEN_PID=$$; exec "$@"', "pass"]
            relay.start()
        return relay

    def test_each_is_told_once(self):
        with tempfile.TemporaryDirectory() as folder:
            relay = self.start(folder, 0o600, folder + "/elsewhere", STATE_DIRECTORY=folder + "/state")
            relay.errors.wait("<5>jobs are in " + folder + "/state", "STATE_DIRECTORY", "(storage.directory)")
            relay.errors.wait("<5>the socket of the listener jobs stands where its unit says", relay.jobs)
            relay = self.start(folder, 0o666)
            relay.errors.wait("<5>the socket of the listener jobs has the mode 0666 of its unit", "not 0600")

    def test_what_agrees_is_not_told(self):
        with tempfile.TemporaryDirectory() as folder:
            relay = self.start(folder, 0o600)
            self.assertEqual(relay.errors.having("the socket of the listener") + relay.errors.having("jobs are in"), [])


if __name__ == "__main__":
    unittest.main()
