"""Several daemons on one PostgreSQL database."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from caller import Caller, ask, request
from database import FleetTest, command, free_port
from durable import kept
from relay import eventually, route
from upstream import answer


class Fleet(FleetTest):
    def routes(self, **members):
        return {"app": kept(self.upstream.url, **members), "plain": route(self.upstream.url)}

    def test_a_daemon_on_a_database_accepts_delivers_and_stops(self):
        self.upstream.on("/x", answer(200, b"done"))
        one = self.node("one", self.routes(delivery={"keep_responses": "always"})).start()
        job = self.wait_until(one, self.hand_over(one, "/r/app/x"), state="succeeded")
        self.assertEqual(len(job["attempts"]), 1, job)
        self.assertEqual(len(self.upstream.seen("/x")), 1)
        self.assertEqual(one.status()["storage"]["state"], "ok")
        self.assertEqual(one.stop(), 0, one.errors.text())

    def test_the_jobs_of_a_daemon_that_is_killed_are_delivered_by_another_after_its_lease(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        one, two = self.node("one", self.routes()).start(), self.node("two", self.routes()).start()
        # The taker has renewed its own for one lease by then.
        began = time.monotonic()
        ids = [self.hand_over(one, "/r/app/x", method="PUT") for _ in range(5)]
        eventually(lambda: len(self.upstream.seen("/x")) == 5, "all are under way")
        time.sleep(max(0, began + 5 - time.monotonic()))
        self.kill(one)
        killed = time.monotonic()
        door.open()
        for id in ids:
            self.wait_until(two, id, seconds=30, state="succeeded")
        self.assertLess(time.monotonic() - killed, self.within(5 + 1))

    def test_a_daemon_that_is_started_again_goes_on_with_its_jobs_at_once(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        one = self.node("one", self.routes(), lease="600s").start()
        id = self.hand_over(one, "/r/app/x", method="PUT")
        eventually(lambda: self.upstream.seen("/x"), "it is under way")
        self.kill(one)
        door.open()
        self.forget_life(one)
        one.start()
        began = time.monotonic()
        self.wait_until(one, id, state="succeeded")
        self.assertLess(time.monotonic() - began, self.within(1))

    def test_a_name_that_another_daemon_holds_is_refused_and_says_where(self):
        one = self.node("one", self.routes(), lease="600s").start()
        empty = self.node("one", self.routes())
        copied = self.node("one", self.routes())
        shutil.copytree(one.directory / "state", copied.directory / "state")
        self.kill(one)
        for other in empty, copied:
            other.launch()
            self.assertEqual(other.process.wait(20), 69, other.errors.text())
            other.errors.wait("cannot take the node's name one in the database: a daemon on the machine", "has it")
        self.forget_life(one)
        one.start()

    def test_a_start_without_its_database_is_ready_in_time_and_heals(self):
        self.database.stop()
        try:
            began = time.monotonic()
            one = self.node("one", self.routes()).start()
            self.assertLess(time.monotonic() - began, self.within(6))
            self.upstream.on("/y", answer(200, b"at once"))
            self.assertEqual(one.ask("GET", "/r/plain/y").body, b"at once")
            refused = one.ask("POST", "/r/app/x", [("Prefer", "respond-async")], b"")
            self.assert_problem(refused, 503, "storage_unavailable")
            self.assertTrue(refused["Retry-After"], refused)
            self.assertEqual(one.status()["storage"]["state"], "unavailable")
            found = ask(one.control, "GET", "/v1/troubles").json()
            self.assertIn("store_unavailable", str(found))
            self.assertEqual(ask(one.jobs, "GET", "/v1/health/ready").status, 200)
        finally:
            self.database.start()
        self.upstream.on("/x", answer(200))
        eventually(lambda: one.status()["storage"]["state"] == "ok", "the store is open")
        eventually(lambda: one.ask("POST", "/r/app/x", [("Prefer", "respond-async")], b"").status == 202, "it accepts")
        eventually(lambda: self.upstream.seen("/x"), "it delivers")

    def test_of_several_hosts_the_one_that_takes_writes_is_used(self):
        self.upstream.on("/x", answer(200))
        two = f"postgresql://127.0.0.1:{free_port()},127.0.0.1:{self.database.port}/waystation"
        one = self.node("one", self.routes(), url=two).start()
        self.wait_until(one, self.hand_over(one, "/r/app/x"), state="succeeded")

    def test_a_password_that_was_replaced_is_used_from_the_next_connection_on(self):
        self.database.sql("ALTER ROLE waystation PASSWORD 'first'")
        one = self.node("one", self.routes())
        one.members["storage"]["postgresql"]["password"] = one.secret("password", "first")
        one.write(self.routes())
        with self.database.asking("waystation"):
            one.start()
            self.assertEqual(one.status()["storage"]["state"], "ok", one.errors.text())
            one.secret("password", "second")
            self.database.sql("ALTER ROLE waystation PASSWORD 'second'")
            self.assertEqual(ask(one.control, "POST", "/v1/reload").json()["needs_restart"], [])
            self.database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'waystation'")
            self.upstream.on("/x", answer(200))
            eventually(lambda: one.ask("POST", "/r/app/x", [("Prefer", "respond-async")], b"").status == 202,
                       "it accepts")

    def test_an_outage_is_told_and_what_was_under_way_is_settled_after_it(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        one = self.node("one", self.routes(), lease="600s").start()
        id = self.hand_over(one, "/r/app/x")
        eventually(lambda: self.upstream.seen("/x"), "it is under way")
        self.database.stop("immediate")
        try:
            door.open()
            eventually(lambda: one.status()["storage"]["state"] == "unavailable", "the outage is told")
            self.assert_problem(
                one.ask("POST", "/r/app/x", [("Prefer", "respond-async")], b""), 503, "storage_unavailable")
        finally:
            self.database.start()
        eventually(lambda: one.status()["storage"]["state"] == "ok", "the store is back")
        job = self.wait_until(one, id, state="succeeded")
        self.assertEqual((len(job["attempts"]), len(self.upstream.seen("/x"))), (1, 1), job)

    def test_a_schema_that_is_missing_is_told_with_what_makes_it_and_needs_no_restart(self):
        self.database.sql("DROP SCHEMA waystation CASCADE")
        one = self.node("one", self.routes()).start()
        line = one.errors.wait("waystation store migrate")
        self.assertRegex(line, "^<2>")
        self.assertEqual(len(one.errors.having("waystation store migrate")), 1, one.errors.text())
        self.assertIn("waystation store migrate", one.status()["storage"]["reason"])
        self.database.prepare()
        eventually(lambda: one.status()["storage"]["state"] == "ok", "the store is open")

    def test_what_waits_at_a_node_without_room_is_taken_at_once_by_one_that_has_some(self):
        door = self.new_door()
        self.upstream.on("/held", door)
        self.upstream.on("/x", answer(200))
        routes = self.routes(concurrency={"max_requests": 1})
        one, two = self.node("one", routes).start(), self.node("two", routes).start()
        self.hand_over(one, "/r/app/held")
        eventually(lambda: self.upstream.seen("/held"), "it is under way")
        listeners = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
        eventually(lambda: self.database.sql(listeners) == "2", "both listen")
        waits = []
        for number in range(10):
            began = time.monotonic()
            self.hand_over(one, "/r/app/x")
            eventually(lambda: len(self.upstream.seen("/x")) > number, "it is sent")
            waits.append(time.monotonic() - began)
        # A node that only looks does so each 0.4 to 0.8 s.
        self.assertLess(sorted(waits)[7], self.within(0.2), waits)

    def test_a_user_of_one_node_is_another_at_the_other_unless_users_are_shared(self):
        self.upstream.on("/x", answer(200))
        for shared in False, True:
            nodes = [self.node(name, self.routes()) for name in ("one", "two")]
            for node in nodes:
                node.members["storage"]["shared_users"] = shared
                node.write(self.routes())
                node.start()
            id = self.hand_over(nodes[0], "/r/app/x")
            job = self.wait_until(nodes[1], id, state="succeeded")
            self.assertIn(job["attempts"][0]["node"], ("one", "two"))
            self.assertEqual(job["client"].get("node"), None if shared else "one")
            seen = [ask(node.jobs, "GET", f"/v1/jobs/{id}").status for node in nodes]
            self.assertEqual(seen, [200, 200 if shared else 404])
            listed = [[job["id"] for job in ask(node.jobs, "GET", "/v1/jobs").json()["jobs"]] for node in nodes]
            self.assertEqual(listed, [[id], [id] if shared else []])
            for node in nodes:
                self.assertEqual(node.stop(), 0, node.errors.text())
            self.database.prepare()

    def test_a_route_that_no_node_has_is_told_and_its_jobs_go_on_once_one_has_it(self):
        one = self.node("one", self.routes()).start()
        two = self.node("two", {"plain": route(self.upstream.url)}).start()
        id = self.hand_over(one, "/r/app/x", ("Waystation-Delay", "1h"))
        kinds = lambda: {found["kind"] for found in ask(two.control, "GET", "/v1/troubles").json()["troubles"]}
        time.sleep(2)
        self.assertNotIn("route_unconfigured", kinds())
        self.assertEqual(one.stop(), 0, one.errors.text())
        job = self.wait_until(two, id, seconds=30, state="held")
        self.assertEqual((job["reason"], job["blocker"]["reason"]), ("route_removed", "route_removed"))
        eventually(lambda: "route_unconfigured" in kinds(), "it is told")
        self.forget_life(one)
        one.start()
        self.wait_until(one, id, seconds=30, state="scheduled")

    def test_a_cancel_at_one_node_reaches_the_other_within_a_second(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        one, two = self.node("one", self.routes()).start(), self.node("two", self.routes()).start()
        id = self.hand_over(one, "/r/app/x")
        eventually(lambda: self.upstream.seen("/x"), "it is under way")
        began = time.monotonic()
        self.act(two, id, "cancel")
        self.wait_until(two, id, state="cancelled")
        self.assertLess(time.monotonic() - began, self.within(1))
        self.assertEqual(self.look(one, id)["state"], "cancelled")

    def test_a_pause_at_one_node_holds_at_the_other_and_ends_there(self):
        self.upstream.on("/x", answer(200))
        one, two = self.node("one", self.routes()).start(), self.node("two", self.routes()).start()
        paused = ask(one.control, "POST", "/v1/routes/app/pause")
        self.assertEqual(paused.status, 200, paused)
        eventually(lambda: self.condition(two) == "paused", "the other node knows", 2)
        id = self.hand_over(two, "/r/app/x")
        time.sleep(1)
        self.assertEqual(self.upstream.seen("/x"), [])
        self.assertEqual(ask(two.control, "POST", "/v1/routes/app/resume").status, 200)
        self.wait_until(one, id, state="succeeded")
        eventually(lambda: self.condition(one) != "paused", "the first node knows", 2)

    def test_the_status_names_the_lease_and_the_session_that_keeps_an_old_snapshot(self):
        one = self.node("one", self.routes()).start()
        with self.database.session("report", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class"):
            eventually(lambda: "oldest_snapshot" in one.status()["database"], "it is seen", 40)
            found = one.status()["database"]
            held = found["oldest_snapshot"]
            self.assertEqual(held["application"], "report", found)
            self.assertEqual(str(held["pid"]), self.database.sql(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'report'"), found)
            self.assertEqual(found["node"], "one")
            self.assertLessEqual(found["lease_age_seconds"], 5)
            metrics = ask(one.control, "GET", "/metrics").body.decode()
            self.assertRegex(metrics, r"\nwaystation_store_snapshot_age_seconds [1-9]")
            self.assertRegex(metrics, r"\nwaystation_store_lease_age_seconds [0-4][.]?")
        eventually(lambda: "oldest_snapshot" not in one.status()["database"], "it is gone", 40)

    def test_a_list_may_be_of_the_jobs_of_one_node(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        routes = self.routes(concurrency={"max_requests": 1})
        one = self.node("one", routes).start()
        ids = [self.hand_over(one, "/r/app/x", method="PUT") for _ in range(3)]
        eventually(lambda: self.upstream.seen("/x"), "the first is under way")
        two = self.node("two", routes).start()
        eventually(lambda: len(self.upstream.seen("/x")) == 2, "another is under way at the other node")

        def listed(relay, node):
            done = subprocess.run(
                [command(), "jobs", "--node", node, "--output", "json"], capture_output=True, text=True, timeout=30,
                env={"PATH": os.environ["PATH"], "WAYSTATION_CONTROL_SOCKET": relay.control})
            self.assertEqual(done.returncode, 0, done)
            return sorted(job["id"] for job in json.loads(done.stdout)["jobs"])

        for relay in one, two:
            self.assertEqual(listed(relay, "one"), sorted(ids))
            self.assertEqual([id in ids[1:] for id in listed(relay, "two")], [True])
            self.assertEqual(listed(relay, "three"), [])
        door.open()
        for id in ids:
            self.wait_until(one, id, state="succeeded")

    def test_a_database_that_is_silent_is_told_by_what_may_have_been_done(self):
        self.upstream.on("/x", answer(200))
        one = self.node("one", self.routes()).start()
        self.wait_until(one, self.hand_over(one, "/r/app/x"), state="succeeded")
        with self.database.silent():
            tried = {
                "accept": lambda: one.ask("POST", "/r/app/x", [
                    ("Prefer", "respond-async"), ("Idempotency-Key", "k")], b""),
                "pause": lambda: Caller(one.control, 40).ask("POST", "/v1/routes/app/pause"),
                "read": lambda: Caller(one.control, 40).ask("GET", "/v1/jobs")}
            with ThreadPoolExecutor() as pool:
                got = dict(zip(tried, pool.map(lambda call: call(), tried.values())))
            # The first may be there, so may the second be; nobody has lost anything with the third.
            self.assert_problem(got["accept"], 504, "acceptance_unknown")
            detail = self.assert_problem(got["pause"], 503, "storage_stalled")["detail"]
            self.assertIn("the database of the job store takes no writes", detail)
            self.assertIn("may be carried out; look before you ask again", detail)
            self.assert_problem(got["read"], 503, "storage_unavailable")
            eventually(lambda: one.status()["storage"]["state"] == "unavailable", "the status tells of it", 20)
        eventually(lambda: one.status()["storage"]["state"] == "ok", "it goes on", 30)
        ask(one.control, "POST", "/v1/routes/app/resume")
        again = one.ask("POST", "/r/app/x", [("Prefer", "respond-async"), ("Idempotency-Key", "k")], b"")
        self.assertIn(again.status, (200, 202), again)
        self.wait_until(one, again.json()["id"], state="succeeded")

    def test_events_at_any_node_tell_of_all_jobs_those_before_a_reader_came_too(self):
        self.upstream.on("/x", answer(200))
        one, two = self.node("one", self.routes()).start(), self.node("two", self.routes()).start()

        def told(relay, after, wanted):
            """The events of the stream until each of these has been told to have succeeded."""
            found, left = [], set(wanted)
            with Caller(relay.control) as caller:
                caller.send(request("GET", f"/v1/events?after={after}&type=waystation.job.succeeded", [
                    ("Accept", "application/x-ndjson")]))
                caller.head()
                end = time.monotonic() + 20
                while left and time.monotonic() < end:
                    lines = caller._exactly(int(caller._until(b"\r\n"), 16))
                    caller._exactly(2)
                    found += [event for event in map(json.loads, lines.splitlines()) if "id" in event]
                    left -= {event.get("subject") for event in found}
            self.assertEqual(left, set(), found)
            return found

        before = self.hand_over(one, "/r/app/x")
        self.wait_until(one, before, state="succeeded")
        found = told(two, 0, [before])
        self.assertEqual([(event["subject"], event["source"]) for event in found], [(before, "/waystationd/one")])
        self.assertEqual((found[0]["data"]["route"], found[0]["data"]["status"]), ("app", 200))
        # A reader that connects again misses none of what happened at either meanwhile, and is told none twice.
        ids = [self.hand_over(relay, "/r/app/x") for relay in (one, two) * 20]
        for id in ids:
            self.wait_until(one, id, state="succeeded")
        again = told(two, found[-1]["id"], ids)
        self.assertEqual(sorted(event["subject"] for event in again), sorted(ids))
        self.assertEqual({event["source"] for event in again}, {"/waystationd/one", "/waystationd/two"})
        # A node that stops tells of its last events first.
        door = self.new_door()
        self.upstream.on("/x", door)
        last = self.hand_over(one, "/r/app/x")
        eventually(lambda: len(self.upstream.seen("/x")) == 42, "it is under way")
        one.process.send_signal(signal.SIGTERM)
        one.notices.wait("STOPPING=1")
        door.open()
        self.assertEqual(one.process.wait(20), 0, one.errors.text())
        again = told(two, again[-1]["id"], [last])
        self.forget_life(one)
        one.start()
        # Events that a killed node has not told of are gone; those of its next start are told.
        self.kill(one)
        self.forget_life(one)
        one.start()
        last = self.hand_over(one, "/r/app/x")
        self.assertEqual([event["subject"] for event in told(two, again[-1]["id"], [last])], [last])

    def condition(self, relay):
        return ask(relay.control, "GET", "/v1/routes/app").json()["state"]

    def test_two_daemons_cannot_share_a_directory(self):
        one = self.node("one", self.routes()).start()
        two = self.node("two", self.routes())
        two.members["storage"]["directory"] = str(one.directory / "state")
        two.write(self.routes())
        two.launch()
        self.assertEqual(two.process.wait(20), 69)
        two.errors.wait(f"process {one.process.pid} has it open")


if __name__ == "__main__":
    unittest.main()
