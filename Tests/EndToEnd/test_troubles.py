"""A trouble is told once, by its cause and its host, with what the relay does and a command that helps."""

import pathlib
import subprocess
import unittest

from caller import ask
from durable import kept
from relay import RelayTest, daemon, eventually, route
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class Troubles(RelayTest):
    def troubles(self, relay):
        got = ask(relay.control, "GET", "/v1/troubles")
        self.assertEqual(got.status, 200, got.body)
        return got.json()

    def test_nothing_is_wrong_where_all_is_well(self):
        upstream = self.new_upstream()
        upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(upstream.url)}).start()
        self.assertEqual(relay.ask("GET", "/r/up/x").status, 200)
        told = self.troubles(relay)
        self.assertEqual((told["trouble_count"], told["troubles"]), (0, []))
        self.assertEqual((told["glance"]["state"], told["glance"]["routes"]), ("ok", 1))
        self.assertNotIn("since", told["glance"])

    def test_sixty_routes_of_a_dead_host_are_one_trouble(self):
        gone, upstream = self.new_upstream(), self.new_upstream()
        upstream.on("/x", answer(200), answer(422))
        url = gone.url
        gone.close()
        relay = self.new_relay({**{f"dead-{n}": route(url) for n in range(60)}, "up": route(upstream.url)}).start()
        for n in range(60):
            self.assertEqual(relay.ask("GET", f"/r/dead-{n}/x").status, 502)
        self.assertEqual([relay.ask("GET", "/r/up/x").status for _ in range(2)], [200, 422])
        told = self.troubles(relay)
        first, second = told["troubles"]
        self.assertEqual((first["kind"], first["route_count"], first["state"]), ("upstream_unreachable", 60, "failing"))
        self.assertIn("refused the connection", first["cause"])
        self.assertEqual(first["last_failure"]["kind"], "connection_refused")
        self.assertLessEqual(told["glance"]["since"], told["as_of"])
        self.assertEqual((second["kind"], second["routes"]), ("requests_refused", ["up"]))
        self.assertEqual((told["glance"]["state"], told["glance"]["routes_wrong"]), ("failing", 61))
        self.assertEqual(first["id"], self.troubles(relay)["troubles"][0]["id"])

    def test_the_cause_is_what_failed_most_and_not_what_failed_last(self):
        upstream = self.new_upstream()
        upstream.on("/x", *[answer(503)] * 8, answer(410))
        relay = self.new_relay({"up": route(upstream.url)}).start()
        self.assertEqual([relay.ask("GET", "/r/up/x").status for _ in range(9)], [503] * 8 + [410])
        [told] = self.troubles(relay)["troubles"]
        self.assertEqual((told["kind"], told["subject"]["type"]), ("upstream_failing", "upstream"))
        self.assertIn("The upstream answers 503.", told["cause"])
        self.assertEqual(told["failures"][0], {"kind": "http_status", "status": 503, "count": 8})
        self.assertNotIn("last_failure", told)

    def test_the_command_of_a_trouble_ends_it(self):
        upstream = self.new_upstream()
        upstream.on("/x", answer(503), answer(200))
        relay = self.new_relay({"up": kept(
            upstream.url, recovery=[{"name": "later", "on": ["5xx"], "retry": {"max_attempts": 5, "schedule": ["1h"]}}])}).start()

        def first():
            return next(iter(self.troubles(relay)["troubles"]), None)

        def run(command):
            done = subprocess.run(
                [str(COMMAND), *command.split()[1:], "--socket", str(relay.control)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ask(relay.control, "POST", "/v1/routes/up/pause", [("Content-Type", "application/json")], b'{"reason": "tests"}')
        got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")])
        self.assertEqual(got.status, 202)
        eventually(lambda: first()["waiting"] == 1, "the job is counted")
        self.assertEqual((first()["kind"], first()["state"]), ("route_paused", "paused"))
        self.assertIn("tests", first()["cause"])
        run(first()["action"]["command"])
        eventually(lambda: (first() or {}).get("kind") == "upstream_failing", "the upstream fails")
        eventually(lambda: "action" in first(), "the job is to be tried again")
        call = first()["action"]
        self.assertEqual(
            call["document"], {"action": "retry", "filter": {"route": "up", "state": ["retrying"]}, "dry_run": False})
        run(call["command"] + " --yes")
        eventually(
            lambda: ask(relay.control, "GET", f"/v1/jobs/{got['Waystation-Job']}").json()["state"] == "succeeded",
            "the job is delivered")

    def test_jobs_that_are_over_within_the_hour_are_counted_and_their_trouble_stands_before_older_ones(self):
        gone = self.new_upstream()
        url, other = gone.url, "http://127.0.0.2:9/"
        gone.close()
        later = [{"name": "later", "on": ["connection"], "retry": {"max_attempts": 3, "schedule": ["10m"]}}]
        relay = self.new_relay({
            "old": kept(other, recovery=[{"name": "later", "on": ["connection"], "retry": {"max_attempts": 9, "schedule": ["1h"]}}]),
            "soon": kept(url, recovery=later)}).start()
        self.assertEqual(relay.ask("PUT", "/r/old/x", [("Prefer", "respond-async")]).status, 202)
        for _ in range(2):
            self.assertEqual(relay.ask("PUT", "/r/soon/x", [("Prefer", "respond-async")]).status, 202)
        self.assertEqual(
            relay.ask("PUT", "/r/soon/x", [("Prefer", "respond-async"), ("Waystation-Expires-After", "30m")]).status, 202)
        eventually(lambda: [one["dying"] for one in self.troubles(relay)["troubles"]] == [2, 0], "the jobs are counted", 20)
        told = self.troubles(relay)["troubles"]
        self.assertEqual([(one["routes"], one["expiring"], one["dying"]) for one in told], [(["soon"], 1, 2), (["old"], 0, 0)])
        self.assertNotIn("ends_at", told[1])
        done = subprocess.run([str(COMMAND), "status", "--socket", str(relay.control)], capture_output=True, text=True)
        self.assertRegex(" ".join(done.stdout.split()), r"1 job expires and 2 jobs die within the hour, the first in (19|20|18)m")

    def test_dead_letters_are_told_and_found_by_their_upstream(self):
        upstream = self.new_upstream()
        upstream.on("/a/x", answer(410))
        upstream.on("/b/x", answer(410))
        rules = [{"name": "gone", "on": ["410"], "dead_letter": {}}]
        relay = self.new_relay({
            name: kept({"name": place, "url": f"{upstream.url}{path}/"}, recovery=rules)
            for name, place, path in (("hooks", "eu", "a"), ("mails", "us", "b"))}).start()
        for name in "hooks", "hooks", "mails":
            self.assertEqual(relay.ask("PUT", f"/r/{name}/x", [("Prefer", "respond-async")]).status, 202)

        def dead(query=""):
            return ask(relay.control, "GET", "/v1/jobs?state=dead" + query).json()["jobs"]
        eventually(lambda: len(dead()) == 3, "they are dead")
        self.assertEqual([job["last_failure"]["upstream"] for job in dead("&order=oldest")].count("eu"), 2)
        self.assertEqual([job["route"] for job in dead("&upstream=us")], ["mails"])

        def run(*words):
            done = subprocess.run([str(COMMAND), *words, "--socket", str(relay.control)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        told = run("dead", "--by", "upstream")
        for words in r"hooks/eu +2 ", r"mails/us +1 ", r"jobs retry --where state=dead,route=hooks,upstream=eu,end=rejected":
            self.assertRegex(told, words)
        run("jobs", "drop", "--where", "state=dead,route=hooks,upstream=eu", "--yes")
        self.assertEqual([job["route"] for job in dead()], ["mails"])


if __name__ == "__main__":
    unittest.main()
