"""The treatment of requests and kept jobs while the network is constrained."""

import json
import os
import subprocess
import threading
import unittest

from caller import ask, request
from durable import DurableTest, again
from relay import daemon, eventually, route
from test_constrained import JSON
from upstream import answer
from users import caller_as


class Use(DurableTest):
    def setUp(self):
        super().setUp()
        for path in "/x", "/k", "/w", "/p/7.png", "/z", "/low/k":
            self.upstream.on(path, answer(200, "fine"))

    def relay_of(self, **routes):
        relay = self.new_relay(
            {name: route(self.upstream.url, **members) for name, members in routes.items()},
            constrained={"when": [{"control": True}]})
        return relay.start()

    def say(self, relay, state):
        got = ask(relay.control, "PUT", "/v1/constrained", JSON, json.dumps({"state": state}).encode())
        self.assertEqual(got.status, 200, got)

    def reload(self, relay, **routes):
        relay.write({name: route(self.upstream.url, **members) for name, members in routes.items()})
        got = ask(relay.control, "POST", "/v1/reload")
        self.assertEqual(got.status, 200, got)

    def aside(self, relay, target, *fields):
        """A request in a thread of its own; returns what has its answer."""
        got = []
        thread = threading.Thread(target=lambda: got.append(relay.ask("GET", target, fields)), daemon=True)
        thread.start()

        def end():
            thread.join(30)
            self.assertTrue(got, f"{target} has no answer")
            return got[0]
        return end

    def waits(self, relay, count=1):
        eventually(lambda: relay.status()["in_flight"] >= count, f"{count} requests are let in")

    # Refusing.

    def test_a_refused_request_is_never_sent_and_rules_may_answer_it(self):
        relay = self.relay_of(
            no={"constrained": "refuse"}, plain={},
            stand_in={"constrained": "refuse", "recovery": [
                {"name": "p", "on": ["network_constrained"],
                 "respond": {"as": "placeholder", "status": 200, "json": {"low": True}}}]})
        self.assertEqual(relay.ask("GET", "/r/no/x").status, 200)
        self.say(relay, "on")
        problem = self.assert_problem(relay.ask("GET", "/r/no/x"), 503, "network_constrained")
        self.assertIn("the route's constrained refuses", problem["detail"])
        job = relay.job(relay.ask("GET", "/r/no/x"))
        self.assertEqual(
            [(a["kind"], a["sent"]) for a in job["attempts"]], [("network_constrained", "never_sent")], job)
        got = relay.ask("GET", "/r/stand_in/x")
        self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (200, {"low": True}, "placeholder"))
        self.assert_problem(relay.ask("POST", "/r/no/x", [("Prefer", "respond-async")], b"x"), 503, "network_constrained")
        self.assertEqual(relay.ask("GET", "/r/plain/x").status, 200, "a route that says nothing sends as ever")
        self.assertEqual(len(self.upstream.seen("/x")), 2)

    def test_a_kept_job_that_is_refused_when_its_turn_comes_is_dead_and_can_be_replayed(self):
        relay = self.relay_of(no={"constrained": "refuse"})
        job = self.hand_over(relay, "/r/no/x", ("Waystation-Delay", "1s"))
        self.say(relay, "on")
        told = self.wait_for_end(relay, job, "dead")
        self.assertEqual((told["last_failure"]["kind"], self.upstream.seen("/x")), ("network_constrained", []))
        self.say(relay, "off")
        self.act(relay, job, "retry")
        self.wait_for_end(relay, job)

    def test_a_jobs_word_counts_where_it_sends_less(self):
        relay = self.relay_of(send={}, no={"constrained": "refuse"}, wait={"constrained": "wait"})
        self.say(relay, "on")
        for name, word, code in (
                ("send", "refuse", "network_constrained"), ("no", "send", "network_constrained"),
                ("no", "wait", "network_constrained"), ("wait", "refuse", "network_constrained"),
                ("wait", "send", "network_constrained")):
            fields = [("Waystation-Constrained", word), ("Waystation-Timeout", "400ms")]
            with self.subTest(name, word=word):
                self.assert_problem(relay.ask("GET", f"/r/{name}/x", fields), 503, code)
        self.assertEqual(relay.ask("GET", "/r/send/x", [("Waystation-Constrained", "send")]).status, 200)
        for word in "SEND", "light", "", "later":
            self.assert_problem(relay.ask("GET", "/r/send/x", [("Waystation-Constrained", word)]), 400, "bad_header")
        got = ask(relay.jobs, "POST", "/v1/jobs", JSON, json.dumps({
            "route": "send", "request": {"method": "GET", "path": "x"}, "options": {"constrained": "refuse"}}).encode())
        self.assertEqual(got.json()["attempts"][0]["kind"], "network_constrained", got)
        self.assertEqual(len(self.upstream.seen("/x")), 1)

    def test_the_command_says_so_too(self):
        command = os.path.join(os.path.dirname(daemon()), "waystation")
        if not os.path.exists(command):
            self.skipTest("the command is not built")
        relay = self.relay_of(send={})
        self.say(relay, "on")
        done = subprocess.run(
            [command, "send", "send", "x", "--constrained", "refuse", "--socket", relay.jobs],
            capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("network_constrained (503)", done.stderr)
        for word, told in (("network_constrained", "The network counts as constrained"),):
            said = subprocess.run([command, "explain", word], capture_output=True, text=True, timeout=20).stdout
            self.assertIn(told, said)

    # Waiting.

    def test_a_request_waits_until_the_network_is_not_constrained(self):
        relay = self.relay_of(wait={"constrained": "wait"}, send={})
        self.say(relay, "on")
        ends = [self.aside(relay, "/r/wait/x"), self.aside(relay, "/r/send/x", ("Waystation-Constrained", "wait"))]
        self.waits(relay, 2)
        self.assertEqual(self.upstream.seen("/x"), [])
        self.say(relay, "off")
        for end in ends:
            got = end()
            self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"), got)

    def test_at_its_deadline_it_is_refused_as_one_that_the_network_kept(self):
        relay = self.relay_of(wait={"constrained": "wait", "timeouts": {"total": "700ms"}}, send={"timeouts": {"total": "700ms"}})
        self.say(relay, "on")
        for name in "wait", "send":
            problem = self.assert_problem(
                relay.ask("GET", f"/r/{name}/x", [("Waystation-Constrained", "wait")]), 503, "network_constrained")
            self.assertIn("for all of its time", problem["detail"])
        self.assertEqual(self.upstream.seen("/x"), [])

    def test_a_retry_waits_too_and_spends_no_attempt(self):
        relay = self.relay_of(wait={"constrained": "wait", "max_attempts": 2, "recovery": [again("1s", 2)]})
        first = threading.Event()

        def fail(got):
            first.set()
            return answer(500, "no")
        self.upstream.on("/x", fail, answer(200, "fine"))
        end = self.aside(relay, "/r/wait/x")
        first.wait(20)
        self.say(relay, "on")
        eventually(lambda: relay.status()["constrained"], "it is constrained")
        threading.Event().wait(1.5)
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        self.say(relay, "off")
        got = end()
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "2"), got)

    def test_a_change_during_an_attempt_changes_nothing_of_it(self):
        relay = self.relay_of(no={"constrained": "refuse"}, wait={"constrained": "wait"})
        door = self.new_door()
        self.upstream.on("/x", door, door)
        ends = [self.aside(relay, "/r/no/x"), self.aside(relay, "/r/wait/x")]
        self.upstream.wait_for("/x", 2)
        self.say(relay, "on")
        door.open()
        self.assertEqual([end().status for end in ends], [200, 200])

    @unittest.skipUnless(os.geteuid() == 0, "to be another user takes root")
    def test_those_who_wait_take_no_permit_from_another_user(self):
        relay = self.relay_of(one={"concurrency": {"max_requests": 1, "max_pending_requests": 4}})
        self.say(relay, "on")
        mine = [caller_as(1001, relay.jobs) for _ in range(6)]
        others = [caller_as(1002, relay.jobs) for _ in range(2)]
        for caller in mine + others:
            caller.send(request("GET", "/r/one/w", [("Waystation-Constrained", "wait")]))
        # Of the room for four each user has a share, also where the first has taken all of it.
        refused = [caller for caller in mine if self.is_answered(caller)]
        self.assertEqual([caller.answer().status for caller in refused], [503] * len(refused))
        self.assertEqual([self.is_answered(caller) for caller in others], [False, False])
        with caller_as(1002, relay.jobs) as quick:
            self.assertEqual(quick.ask("GET", "/r/one/x").status, 200)
        self.say(relay, "off")
        for caller in [caller for caller in mine if caller not in refused] + others:
            got = caller.answer()
            self.assertEqual(got.status, 200, got)
        for caller in mine + others:
            caller.close()

    def test_who_is_let_go_while_the_route_is_full_is_not_refused(self):
        relay = self.relay_of(one={"concurrency": {"max_requests": 1, "max_pending_requests": 2}})
        self.say(relay, "on")
        door = self.new_door()
        self.upstream.on("/x", door, answer(200, "fine"))
        ends = [self.aside(relay, "/r/one/x")]
        self.upstream.wait_for("/x")
        ends += [self.aside(relay, "/r/one/x") for _ in range(2)]
        self.waits(relay, 3)
        ends += [self.aside(relay, "/r/one/w", ("Waystation-Constrained", "wait")) for _ in range(2)]
        self.waits(relay, 5)
        self.say(relay, "off")
        threading.Event().wait(0.6)
        door.open()
        self.assertEqual([end().status for end in ends], [200] * 5)

    @unittest.skipUnless(os.geteuid() == 0, "to be another user takes root")
    def test_those_who_are_let_go_take_turns_by_user(self):
        relay = self.relay_of(one={"concurrency": {"max_requests": 1, "max_pending_requests": 40}})
        self.say(relay, "on")
        door = self.new_door()
        self.upstream.on("/w", door, answer(200, "fine"))
        callers = [(caller_as(user, relay.jobs), user) for user in [1001] * 8 + [1002] * 2]
        for caller, user in callers:
            caller.send(request("GET", "/r/one/w", [("Waystation-Constrained", "wait"), ("X-Who", str(user))]))
        self.waits(relay, len(callers))
        self.assertEqual(self.upstream.seen("/w"), [])
        self.say(relay, "off")
        self.upstream.wait_for("/w")
        # Each looks four times a second; by then all but the first want the one permit.
        threading.Event().wait(1.5)
        self.assertEqual(len(self.upstream.seen("/w")), 1)
        door.open()
        for caller, _ in callers:
            self.assertEqual(caller.answer().status, 200)
            caller.close()
        order = [seen["X-Who"] for seen in self.upstream.seen("/w")]
        # The user with two is not behind all of the user with eight.
        self.assertLessEqual(max(place for place, user in enumerate(order) if user == "1002"), 5, order)

    @staticmethod
    def is_answered(caller):
        import select
        return bool(select.select([caller.socket], [], [], 0.3)[0])

    # Kept jobs.

    def test_a_kept_job_is_held_and_goes_on_by_itself(self):
        relay = self.relay_of(wait={"constrained": "wait"}, send={})
        self.say(relay, "on")
        jobs = [self.hand_over(relay, "/r/wait/k"),
                self.hand_over(relay, "/r/send/k", ("Waystation-Constrained", "wait"))]
        for job in jobs:
            told = self.wait_until(relay, job, state="held", reason="network_constrained")
            self.assertEqual(told["attempt_count"], 0, told)
            self.assertEqual(told["blocker"]["reason"], "network_constrained", told)
        listed = ask(relay.control, "GET", "/v1/jobs?state=held&reason=network_constrained").json()
        self.assertEqual({job["id"] for job in listed["jobs"]}, set(jobs))
        self.assertEqual(self.upstream.seen("/k"), [])
        # An operator's release brings it back while the network is constrained.
        self.act(relay, jobs[0], "release")
        self.wait_until(relay, jobs[0], state="held", reason="network_constrained")
        self.say(relay, "off")
        for job in jobs:
            self.assertEqual(self.wait_for_end(relay, job)["attempt_count"], 1)

    def test_held_jobs_survive_a_restart_and_go_on_after_it(self):
        routes = {"wait": route(self.upstream.url, constrained="wait"), "send": route(self.upstream.url)}
        relay = self.new_relay(routes, constrained={"when": []})
        file = relay.directory / "constrained"
        relay.members["constrained"]["when"].append({"file_exists": str(file)})
        relay.write(routes)
        file.touch()
        relay.start()
        jobs = [self.hand_over(relay, "/r/wait/k") for _ in range(2)]
        # A job's own word is on disk with it, beside its other bounds.
        jobs.append(self.hand_over(
            relay, "/r/send/k", ("Waystation-Constrained", "wait"), ("Waystation-Max-Attempts", "3")))
        for job in jobs:
            self.wait_until(relay, job, state="held", reason="network_constrained")
        self.restart(relay)
        for job in jobs:
            self.wait_until(relay, job, state="held", reason="network_constrained")
        self.assertEqual(self.upstream.seen("/k"), [])
        relay.stop()
        self.forget_life(relay)
        file.unlink()
        relay.start()
        self.assertEqual([self.wait_for_end(relay, job)["max_attempts"] for job in jobs], [10, 10, 3])
        self.assertEqual(len(self.upstream.seen("/k")), 3)

    def test_a_reload_applies_to_what_waits(self):
        relay = self.relay_of(wait={"constrained": "wait"}, never={"constrained": "wait"})
        self.say(relay, "on")
        job = self.hand_over(relay, "/r/wait/k")
        self.wait_until(relay, job, state="held", reason="network_constrained")
        sent, refused = self.aside(relay, "/r/wait/x"), self.aside(relay, "/r/never/x")
        self.waits(relay, 2)
        self.reload(relay, wait={}, never={"constrained": "refuse"})
        self.assertEqual(sent().status, 200)
        self.assert_problem(refused(), 503, "network_constrained")
        self.wait_for_end(relay, job)

    # Lighter requests.

    def test_a_lighter_request_is_the_same_one(self):
        relay = self.new_relay({}, constrained={"when": [{"control": True}]})
        token = relay.secret("token", "s3cret")
        relay.write({"images": route(
            self.upstream.url, auth={"type": "bearer", "token": token}, idempotency={"generate": True},
            recovery=[again("20ms", 3)], max_attempts=3, constrained={
                "path": "low/{path}", "query": {"size": "small"}, "headers": {"Accept": "image/webp"}})})
        relay.start()
        fields = [("Accept", "image/png"), ("Waystation-Label", "a=b")]
        full, low = "/p/7.png?size=full&x=1", "/low/p/7.png?x=1&size=small"
        self.assertEqual(relay.ask("PUT", "/r/images" + full, fields, b"body").status, 200)
        self.say(relay, "on")
        self.upstream.on("/low/p/7.png", answer(503, "busy"), answer(200, "low"))
        got = relay.ask("PUT", "/r/images" + full, fields, b"body")
        self.assertEqual((got.status, got.body, got["Waystation-Attempts"]), (200, b"low", "2"), got)
        first, (second, third) = self.upstream.seen("/p/7.png")[0], self.upstream.seen("/low/p/7.png")
        self.assertEqual((first.target, second.target, third.target), (full, low, low))
        self.assertEqual((first["Accept"], second["Accept"]), ("image/png", "image/webp"))
        for seen in first, second, third:
            self.assertEqual((seen.method, seen.body, seen["Authorization"]), ("PUT", b"body", "Bearer s3cret"))
        self.assertEqual(second["Idempotency-Key"], third["Idempotency-Key"])
        self.assertTrue(second["Idempotency-Key"])
        # Its own word sends less yet, and a change between two attempts counts.
        self.assert_problem(
            relay.ask("GET", "/r/images/q", [("Waystation-Constrained", "refuse")]), 503, "network_constrained")

        def off(got):
            self.say(relay, "off")
            return answer(503, "busy")
        self.upstream.on("/low/z", off)
        self.assertEqual(relay.ask("GET", "/r/images/z").status, 200)
        self.assertEqual(len(self.upstream.seen("/z")), 1)
        job = self.hand_over(relay, "/r/images/k")
        self.wait_for_end(relay, job)
        self.say(relay, "on")
        job = self.hand_over(relay, "/r/images/k")
        self.wait_for_end(relay, job)
        self.assertEqual((len(self.upstream.seen("/k")), len(self.upstream.seen("/low/k"))), (1, 1))

    def test_the_check_refuses_what_would_be_another_request(self):
        def said(constrained, signal=True, **members):
            listed = [{"name": "u", "url": "https://u.example/"}, *members.pop("more", [])]
            relay = self.new_relay(
                {"r": {"upstreams": listed, "constrained": constrained, **members}},
                **({"constrained": {"when": [{"control": True}]}} if signal else {}))
            done = subprocess.run([daemon(), "--check", str(relay.file)], capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr
        for word in "send", "refuse", "wait", {"path": "low/{path}"}, {"query": {"a": "b"}}, {"headers": {"Accept": "x"}}, {}:
            self.assertEqual(said(word)[0], 0, word)
        light = {"name": "l", "url": "https://l.example/", "use": "when_constrained"}
        for constrained, part, members in (
                ("later", 'expected "send" or "wait" or "refuse"', {}),
                ({"path": "../x"}, "stays below the upstream's base", {}),
                ({"path": "a/%2e%2E/x"}, "stays below the upstream's base", {}),
                ({"path": "a?b=c"}, "visible ASCII without", {}),
                ({"path": "{path}/{path}"}, "{path} stands once", {}),
                ({"headers": {"authorization": "x"}}, "a credential may not stand here", {}),
                ({"headers": {"Idempotency-Key": "x"}}, "keeps the Idempotency-Key", {}),
                ({"headers": {"X-Key": "x"}}, "keeps the X-Key", {"idempotency": {"header": "X-Key"}}),
                ({"headers": {"X-Token": "x"}}, "keeps the X-Token", {
                    "auth": {"type": "header", "name": "X-Token", "value": {"file": "/x"}}}),
                ({"headers": {"Host": "x"}}, "Host", {}), ({"method": "GET"}, "unknown key", {}),
                ("wait", "nothing would ever be sent", {"more": [light]}),
                ("refuse", "nothing would ever be sent", {"more": [light]})):
            with self.subTest(constrained):
                code, text = said(constrained, **members)
                self.assertEqual(code, 78, text)
                self.assertIn(part, text)
        code, text = said("wait", signal=False)
        self.assertEqual(code, 78, text)
        self.assertIn("nothing tells when the network is constrained", text)

    def test_without_a_signal_it_never_is(self):
        relay = self.new_relay({"up": route(self.upstream.url)}).start()
        got = relay.ask("GET", "/r/up/x", [("Waystation-Constrained", "refuse")])
        self.assertEqual(got.status, 200, got)


if __name__ == "__main__":
    unittest.main()
