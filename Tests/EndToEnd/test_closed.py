"""Routes that are closed as planned."""

import datetime
import json
import pathlib
import subprocess
import unittest

from caller import ask
from durable import DurableTest, again
from relay import daemon, eventually, route
from upstream import answer

UTC = datetime.timezone.utc
TODAY = datetime.datetime.now(UTC).date()
# Long enough for any test, and not for ever.
ALL_DAY = [{"dates": [str(TODAY + datetime.timedelta(days=day)) for day in range(3)]}]


def until_next_minute(seconds):
    """A window of today, or from yesterday on, that ends with a minute so many seconds from now at the least."""
    end = datetime.datetime.now(UTC) + datetime.timedelta(seconds=seconds + 60)
    begin = end - datetime.timedelta(hours=2)
    return [{"from": begin.strftime("%H:%M"), "to": end.strftime("%H:%M")}], end.replace(second=0, microsecond=0)


class Closed(DurableTest):
    def setUp(self):
        super().setUp()
        self.upstream.on("/x", *[answer(200, "fine")] * 20)

    def start(self, **routes):
        relay = self.new_relay({name: route(self.upstream.url, **members) for name, members in routes.items()})
        return relay.start()

    def say(self, relay, *words):
        command = pathlib.Path(daemon()).parent / "waystation"
        if not command.exists():
            self.skipTest("the command is not built")
        socket = ["--socket", relay.control] if relay else []
        done = subprocess.run([command, *words, *socket], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def reload(self, relay, status=200, **routes):
        relay.write({name: route(self.upstream.url, **members) for name, members in routes.items()})
        got = ask(relay.control, "POST", "/v1/reload")
        self.assertEqual(got.status, status, got)
        return got

    def test_requests_have_a_stand_in_or_hear_when_the_route_opens(self):
        stand_in = {"name": "p", "on": ["any"], "respond": {"as": "placeholder", "status": 200, "json": {"later": True}}}
        relay = self.start(
            plain={"closed": ALL_DAY}, rules={"closed": ALL_DAY, "recovery": [again("1ms", 5), stand_in]},
            open={"closed": [{"dates": ["2020-02-29"]}]})
        before = datetime.datetime.now(UTC)
        problem = self.assert_problem(relay.ask("GET", "/r/plain/x"), 503, "route_closed")
        self.assertIn("the route is closed and opens in ", problem["detail"])
        got = relay.ask("GET", "/r/plain/x")
        told = ask(relay.control, "GET", "/v1/routes/plain").json()
        end = datetime.datetime.fromisoformat(told["closed_until"])
        self.assertEqual((told["state"], end > before), ("route_closed", True), told)
        self.assertAlmostEqual(int(got["Retry-After"]), (end - before).total_seconds(), delta=30)
        self.assertIn("error=route_closed", got["Proxy-Status"])
        self.assertEqual(got["Waystation-Source"], "relay")
        got = relay.ask("GET", "/r/rules/x")
        self.assertEqual((got.status, got.json(), got["Waystation-Source"]), (200, {"later": True}, "placeholder"))
        self.assertEqual(self.upstream.requests, [])
        self.assertEqual(relay.ask("GET", "/r/open/x").body, b"fine")
        state = {each["name"]: each for each in relay.status()["routes"]}
        self.assertEqual(state["plain"]["closed_until"], told["closed_until"])
        self.assertNotIn("closed_until", state["open"])
        metrics = ask(relay.control, "GET", "/metrics").body.decode()
        self.assertIn('waystation_route_closed{route="plain"} 1\n', metrics)
        self.assertIn('waystation_route_closed{route="open"} 0\n', metrics)
        self.assertNotIn('waystation_route_closed{route="none"', metrics)

    def test_kept_jobs_wait_until_the_minute_in_which_it_opens(self):
        window, end = until_next_minute(5)
        relay = self.start(r={"closed": window})
        job = self.hand_over(relay, "/r/r/x")
        told = self.look(relay, job)
        self.assertEqual((told["state"], told["attempt_count"], told["reason"]), ("queued", 0, "route_closed"), told)
        self.assertEqual(datetime.datetime.fromisoformat(told["blocker"]["until"]), end, told)
        for query, found in ("reason=route_closed", [job]), ("reason=route_paused", []):
            listed = ask(relay.control, "GET", f"/v1/jobs?{query}").json()["jobs"]
            self.assertEqual([each["id"] for each in listed], found, query)
        self.assertIn("The route is closed, as planned (closed)", self.say(relay, "explain", job))
        self.assertRegex(self.say(relay, "resume", "r"), r"stays closed until [0-9:]{8} \(planned window\)")
        for words in ("routes", "r"), ("limits", "r"), ("routes",):
            self.assertIn("closed until", self.say(relay, *words))
        self.assertIn("The route is closed at this time, as planned", self.say(None, "explain", "route_closed"))
        relay.errors.wait("route r is closed until ", "as planned")
        eventually(
            lambda: 'waystation_jobs_waiting{route="r",reason="route_closed"} 1'
            in ask(relay.control, "GET", "/metrics").body.decode(), "the job counts as one that waits for it")
        done = self.wait_for_end(relay, job, seconds=140)
        self.assertEqual((done["state"], done["attempt_count"]), ("succeeded", 1), done)
        sent = datetime.datetime.fromisoformat(done["attempts"][0]["started_at"])
        self.assertGreaterEqual(sent, end)
        self.assertLess((sent - end).total_seconds(), 10)
        relay.errors.wait("route r is open again, as planned")

    def test_a_reload_closes_and_opens_what_waits(self):
        relay = self.start(r={})
        self.assertEqual(relay.ask("GET", "/r/r/x").status, 200)
        self.reload(relay, r={"closed": ALL_DAY})
        self.assert_problem(relay.ask("GET", "/r/r/x"), 503, "route_closed")
        job = self.hand_over(relay, "/r/r/x")
        self.restart(relay)
        self.assertEqual(self.look(relay, job)["blocker"]["reason"], "route_closed")
        self.reload(relay, r={"closed": [{"dates": ["2020-02-29"], "from": "22:00", "to": "06:00"}]})
        self.assertEqual(self.wait_for_end(relay, job)["attempt_count"], 1)

    def test_zones_are_read_from_the_system_and_a_fault_keeps_the_old_configuration(self):
        relay = self.start(r={"closed": [{"dates": ["2020-02-29"], "zone": "Europe/Berlin"}]})
        for closed, words in (
                ([{"zone": "Europe/Nowhere"}], "this machine knows no time zone"), ([{}], "leave no time"),
                ([{"zone": "../../etc/passwd"}], "no time zone")):
            got = self.reload(relay, 422, r={"closed": closed})
            self.assertIn(words, json.dumps(got.json()), closed)
        self.assertEqual(relay.ask("GET", "/r/r/x").status, 200)


if __name__ == "__main__":
    unittest.main()
