"""Answers of a real daemon against the document, in which no object may have a member that it does not tell of."""

import datetime
import json
import pathlib
import tempfile
import unittest

from caller import Caller, ask
from contract import Contract, properties
from database import Database
from relay import UNBOUNDED, Relay, eventually, route
from world import JSON, STATES, World

LINES = [("Content-Type", "application/x-ndjson")]
# Members that take what this daemon does not go through: damage, crashes, want of memory, TLS, other processes' faults.
RARE = {
    "resent", "damaged", "crashes", "sent_once_because", "not_kept_because", "in_doubt", "past_deadline", "api_code",
    "api_title", "ports", "refused_by", "expires_in_seconds", "lost", "next_upstream", "own_kinds", "held_until",
    "permit_wait_ms", "credential", "next_turn_at", "unit",
    "oldest_snapshot", "application", "seconds", "certificate_days",
}


def names(value):
    """Of all members, however deep; what callers and upstreams have sent does not count."""
    if isinstance(value, list):
        for element in value:
            yield from names(element)
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name != "json":
                yield from names(inner)


def schema_of_data(schema):
    return schema["properties"]["data"]["contentSchema"]


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.close)
        document = cls.world.document("/v1/openapi.json")
        cls.contract = Contract(document, strict=True)
        cls.called, cls.seen = set(), set()

    def call(self, operation_id, /, fields=(), body=None, *, status=200, query="", socket=None, **names):
        """Calls an operation, and holds what comes against what the document tells of it."""
        path, method, operation = self.contract.find(operation_id)
        target = path.format(**names) + query
        got = ask(socket or self.world.relay.control, method.upper(), target, fields, body)
        self.assertEqual(got.status, status, got)
        if str(got.status) not in operation["responses"] and "default" not in operation["responses"]:
            self.fail(f"{method} {target}: {got.status} is not told of")
        reply, media = self.contract.media(operation, got.status, got["Content-Type"])
        for name, field in reply.get("headers", {}).items():
            field = self.contract.resolved(field)
            if got[name] is None:
                self.assertFalse(field["required"], f"{method} {target}: {name} is missing")
            else:
                self.assertEqual(self.contract.faults(got[name], field["schema"]), [], f"{method} {target}: {name}")
        if got.body:
            self.assertTrue(media or "*/*" in reply["content"], f"{method} {target}: {got['Content-Type']}")
        if got.body and media and got["Content-Type"] in ("application/json", "application/problem+json"):
            self.check(got.json(), media["schema"], f"{method} {target}")
        if status < 400 or operation_id == "getResponse":
            self.called.add(operation_id)
        return got

    def check(self, value, schema, what):
        self.assertEqual(self.contract.faults(value, schema), [], f"{what}: {value}")
        # The document itself names everything.
        if "openapi" not in value:
            self.seen.update(names(value))

    def test_the_daemon(self):
        with Caller(self.world.relay.jobs) as caller:
            self.assertEqual(caller.ask("GET", "/v1/version").status, 200)
            for id in ("getVersion", "getLive", "getReady", "getStatus", "getConstrained", "getContract", "reload"):
                self.call(id)
        for accepted in ("*/*", "application/openmetrics-text"):
            self.assertIn(b"waystation_build_info", self.call("getMetrics", [("Accept", accepted)]).body)
        self.assertNotIn("cause", self.call("checkEndpoints", query="?timeout=10s&strict=true").json())
        self.call("checkEndpoints", query="?timeout=1h", status=400)
        self.call("setConstrained", JSON, b'{"state": "on"}')
        self.call("setConstrained", JSON, b'{"state": "auto"}')
        self.call("setConstrained", JSON, b'{"state": "later"}', status=400)
        self.call("setConstrained", [("Content-Type", "text/plain")], b"on", status=415)
        text = self.world.relay.file.read_text()
        try:
            self.world.relay.write({}, text.replace('"routes"', '"rootes"'))
            self.call("reload", status=422)
            self.assertIn("last_reload_error", self.call("getStatus").json()["config"])
            deaf = {"upstreams": [{"name": "deaf", "unix": "/nonexistent/deaf.sock"}]}
            self.world.relay.write({}, text.replace('"routes": {', '"routes": {"deaf": ' + json.dumps(deaf) + ",", 1))
            self.call("reload")
            self.assertIn("advice", self.call("checkEndpoints").json()["cause"])
        finally:
            self.world.relay.write({}, text)
        self.call("reload")

    def test_a_daemon_of_a_fleet(self):
        database = Database()
        self.addCleanup(database.close)
        database.prepare()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="contract-"))
        relay = Relay({"kept": route(self.world.peer.url, **UNBOUNDED)}, directory=folder, storage={
            "directory": str(folder / "state"), "postgresql": {"url": database.url, "node": "east"}})
        self.addCleanup(relay.clean)
        relay.start()
        got = ask(relay.jobs, "PUT", "/r/kept/x", [("Prefer", "respond-async")], b"")
        self.assertEqual(got.status, 202, got)
        id = got["Waystation-Job"]
        look = lambda: self.call("getJob", socket=relay.control, id=id).json()
        eventually(lambda: look()["state"] == "succeeded", "it is over")
        job = look()
        self.assertEqual((job["client"]["node"], job["attempts"][0]["node"]), ("east", "east"), job)
        self.call("listJobs", socket=relay.control)
        status = lambda: self.call("getStatus", socket=relay.control).json()
        eventually(lambda: "lease_age_seconds" in str(status()), "its lease is told of")
        self.call("pauseRoute", socket=relay.control, route="kept")
        self.assertEqual(self.call("getRoute", socket=relay.control, route="kept").json()["pause"]["by"]["node"], "east")

    def test_a_daemon_that_asks_follows_closes_and_reports(self):
        url, folder = self.world.peer.url, pathlib.Path(tempfile.mkdtemp(prefix="contract-"))
        today = datetime.datetime.now(datetime.timezone.utc).date()
        days = [str(today + datetime.timedelta(days=each)) for each in range(3)]
        relay = Relay({
            "asking": route(url + "bad", recovery=[], verify={
                "request": {"path": "still"}, "found": {"status": ["200"]}, "absent": {"status": ["404"]},
                "settle_after": "10ms", "attempts": 1}, **UNBOUNDED),
            "begun": route(url + "begun", recovery=[], follow={"interval": "10ms", "below": "/"}, **UNBOUNDED),
            "shut": route(url, closed=[{"dates": days, "zone": "UTC"}]),
            "told": route(url + "bad", recovery=[
                {"name": "again", "mode": "report", "on": ["any"], "retry": {"max_attempts": 2}}], **UNBOUNDED),
        }, directory=folder, limits={"shedding": {"mode": "report"}})
        self.addCleanup(relay.clean)
        relay.start()
        for name in "asking", "begun", "shut", "told":
            id = ask(relay.jobs, "POST", f"/r/{name}/x", JSON, b"{}")["Waystation-Job"]
            self.call("getJob", socket=relay.control, id=id)
            self.call("getRoute", socket=relay.control, route=name)
        self.call("getStatus", socket=relay.control)

    def test_a_daemon_that_tells_how_jobs_end(self):
        url, folder = self.world.peer.url, pathlib.Path(tempfile.mkdtemp(prefix="contract-"))
        relay = Relay({
            "noting": route(url + "bad", recovery=[], delivery={"mode": "durable", "notify": {"route": "heard"}}, **UNBOUNDED),
            "heard": route(url, delivery={"mode": "durable"}, **UNBOUNDED)}, directory=folder)
        self.addCleanup(relay.clean)
        relay.start()
        look = lambda id: self.call("getJob", socket=relay.control, id=id).json()
        id, later = [ask(relay.jobs, "PUT", "/r/noting/x", fields, b"")["Waystation-Job"]
                     for fields in ([], [("Waystation-Delay", "1h")])]
        eventually(lambda: look(id)["state"] == "dead", "it is dead")
        self.assertEqual(look(look(id)["notice"]["job"])["notice_of"], id)
        ask(relay.control, "POST", f"/v1/jobs/{id}/retry")
        eventually(lambda: "supersedes" in look(id).get("notice", {}), "it is dead again")
        relay.write({"heard": route(url, **UNBOUNDED)})
        ask(relay.control, "POST", "/v1/reload")
        ask(relay.control, "POST", f"/v1/jobs/{later}/cancel")
        self.assertTrue(look(later)["notice"]["owed"])
        status = lambda: self.call("getStatus", socket=relay.control).json()
        eventually(lambda: status()["jobs"].get("owed_notices") == 1, "it is owed")

    def test_routes(self):
        self.call("listRoutes")
        for route in ("good", "bad", "still", "standing"):
            for _ in range(3):
                self.world.ask("POST", f"/r/{route}/x", [("Prefer", "wait=0")], b"{}")
            self.call("getRoute", route=route)
        self.call("getRoute", route="none", status=404)
        self.call("pauseRoute", route="good")
        self.call("pauseRoute", JSON, b'{"reason": "tea", "for": "1h"}', route="good")
        self.call("pauseRoute", JSON, b'{"reason": "", "for": 1, "why": 2}', route="good", status=400)
        self.call("getStatus")
        # One that expires within the hour, as the troubles tell once it was counted.
        kept = ask(self.world.relay.jobs, "PUT", "/r/good/x", [("Prefer", "respond-async"), ("Waystation-Expires-After", "30m")])
        self.assertEqual(kept.status, 202, kept)
        eventually(lambda: any(one["expiring"] for one in self.call("getTroubles").json()["troubles"]), "it is counted")
        kinds = {one["kind"] for one in self.call("getTroubles").json()["troubles"]}
        self.assertLessEqual({"route_paused", "upstream_failing", "jobs_dead"}, kinds)
        self.call("resumeRoute", route="good")
        self.call("setBreaker", JSON, b'{"state": "open", "for": "1m"}', route="good")
        self.call("getRoute", route="good")
        table = self.call("getTable").json()
        [row] = [row for row in table["routes"] if row["name"] == "good"]
        self.assertEqual(set(row["breakers"].values()), {"forced_open"})
        self.assertIn("hour", {member for row in table["routes"] for member in row})
        self.call("getTable", query=f"?since={table['next']}")
        for since in ("", "1.5", "-1", "1" * 19):
            self.call("getTable", query=f"?since={since}", status=400)
        self.call("setBreaker", JSON, b'{"state": "auto"}', route="good")
        self.call("setBreaker", JSON, b'{"state": "ajar"}', route="good", status=400)
        # Both kinds of requests hold themselves back, and nothing else.
        for path in ["bad"] * 20 + ["patient"]:
            self.world.ask("GET", f"/r/wary/{path}/x")
        [upstream] = self.call("getRoute", route="wary").json()["upstreams"]
        self.assertEqual([hold["requests"] for hold in upstream["holds"]], ["GET /patient/x"])
        self.call("clearLimits", JSON, b'{"requests": "GET /patient/x"}', route="wary")
        self.call("clearLimits", JSON, b'{"upstream": "nowhere"}', route="wary", status=400)
        [upstream] = self.call("clearLimits", route="wary").json()["upstreams"]
        self.assertEqual(upstream.keys() & {"holds", "failing"}, set())
        for by in ("route", "state", "failure_kind"):
            self.call("getShape", query=f"?by={by}")
        self.call("getHistory")
        self.call("getHistory", query="?route=good")
        self.call("getHistory", query="?route=good,kept")
        self.call("getHistory", query="?route=", status=404)
        self.call("getHistory", query="?route=none", status=404)
        self.call("getShape", query="?by=colour", status=400)
        self.call("getShape", query="?route=none", status=404)
        self.call("getShape", socket=self.world.relay.jobs, status=403)

    def test_jobs_in_every_state(self):
        for state in STATES:
            with self.subTest(state):
                got = self.call("listJobs", query=f"?state={state}&limit=3").json()
                self.assertTrue(got["jobs"])
                for job in got["jobs"]:
                    self.assertEqual(job["state"], state)
                    self.call("getJob", id=job["id"], query="?include=body")
                    self.call("listAttempts", id=job["id"])
                    self.call("getRequestBody", id=job["id"])
                    if "finished_at" in job and "response" in job["links"]:
                        status = self.world.document(f"/v1/jobs/{job['id']}")["status"]
                        self.call("getResponse", id=job["id"], status=status)
                        self.call("getResponseBody", id=job["id"])
        self.call("listJobs", query="?limit=0", status=400)
        self.call("listJobs", query="?rout=good", status=400)
        self.call("listJobs", query="?route=none", status=404)
        got = self.call("listJobs", query="?limit=1")
        self.assertIn('rel="next"', got["Link"])
        none = "01K9ZQ3V7N4T0C8R5B2M6XW1HD"
        for id in ("getJob", "listAttempts", "getResponse", "getRequestBody", "getResponseBody"):
            self.call(id, id=none, status=404)
        waiting = self.world.ids("scheduled")[0]
        self.call("getResponseBody", id=waiting, status=409)
        self.call("getResponse", id=waiting, status=409)

    def test_versions_of_a_job(self):
        [id] = self.world.submit("kept", delay="10d")
        tag = self.call("getJob", id=id)["ETag"]
        self.call("getJob", [("If-None-Match", tag)], id=id, status=304)
        self.call("getJob", [("If-None-Match", tag), ("Prefer", "wait=1")], id=id, status=304)
        self.call("holdJob", [("If-Match", '"v77"')], id=id, status=412)
        self.call("holdJob", [("If-Match", tag)], id=id)

    def test_actions(self):
        [id] = self.world.submit("kept", delay="10d")
        self.call("holdJob", id=id)
        self.call("holdJob", id=id, status=409)
        self.call("releaseJob", id=id)
        self.call("cancelJob", id=id)
        self.call("retryJob", id=id)
        self.world.ask("GET", f"/v1/jobs/{id}?wait=10s")
        self.call("expungeJob", id=id)
        self.call("getJob", id=id, query="?include=body")
        self.call("getRequestBody", id=id, status=410)
        self.call("retryJob", id=id, status=410)
        self.call("dropJob", id=id, status=204)
        self.call("dropJob", id=id, status=404)
        # That its end was asked for shows only until it has ended, which may be before the answer.
        while "cancel_asked" not in self.seen:
            [running] = self.world.ids("running")[:1]
            self.assertTrue(self.call("cancelJob", id=running).json())
        for action in ("retry", "cancel", "hold", "release", "drop", "expunge"):
            self.call("actOnJobs", JSON, json.dumps({"action": action, "filter": {}}).encode())
        slowly = {"action": "retry", "filter": {"state": ["dead"]}, "limit": 1, "dry_run": False, "rate": "5/h"}
        self.call("actOnJobs", JSON, json.dumps(slowly).encode())
        [held] = self.world.submit("kept", delay="10d", labels={"made": "for bulk"})
        hold = {"action": "hold", "filter": {"ids": [held]}, "dry_run": False}
        self.call("actOnJobs", JSON, json.dumps(hold).encode())
        self.call("getJob", id=held)
        self.call("actOnJobs", JSON, b'{"action": "paint", "filtre": {}}', status=422)
        slowly = {"action": "retry", "filter": {"state": ["dead"]}, "rate": "1/h", "unknown": True, "superseded": True, "reason": "it is back"}
        number = self.call("beginRun", JSON, json.dumps(slowly).encode(), status=202).json()["number"]
        self.call("getRun", number=number)
        self.call("stopRun", number=number)
        self.call("stopRun", number=number)
        self.call("getRun", number=999, status=404)
        self.call("beginRun", JSON, b'{"action": "hold", "filter": {"ids": ["01K9ZQ3V7N4T0C8R5B2M6XW1HD"], "state": ["queued", "held"], "status": 503}}', status=202)
        self.call("beginRun", JSON, b'{"action": "hold", "filter": {}, "seen": 9999}', status=409)
        self.call("beginRun", JSON, b'{"action": "hold", "filter": {}, "limit": 1}', status=422)
        self.call("beginRun", JSON, b'{"action": "drop", "filter": {"route": "none"}}', status=404)
        self.call("listRuns")
        self.call("actOnJobs", JSON, b'{"action": "drop", "filter": {"route": "none"}}', status=404)

    def submission(self, route, path="charges", **members):
        return json.dumps({"route": route, "request": {"path": path, "json": {"a": 1}}, **members}).encode()

    def test_submissions(self):
        for path in ("charges", "text", "bytes", "large"):
            got = self.call("submitJobs", JSON, self.submission("good", path)).json()
            self.call("getJob", id=got["id"])
            self.call("getJob", id=self.call("submitJobs", JSON, self.submission("tried")).json()["id"])
            self.call("listAttempts", id=got["id"])
            self.call("getRequestBody", id=got["id"], status=410)
            self.call("submitJobs", [*JSON, ("Prefer", "wait=10")], self.submission("kept", path))
        self.call("submitJobs", JSON, self.submission("bad"))
        self.call("submitJobs", JSON, self.submission("standing"))
        self.call("submitJobs", JSON, self.submission("lost"), status=202)
        self.call("submitJobs", [*JSON, ("Prefer", "wait=10")], self.submission("lost"))
        options = {
            "ordering_key": "a", "supersede_key": "b", "priority": 1, "expires_after": "1h", "labels": {"a": "b"}}
        self.call("submitJobs", JSON, self.submission("kept", options=options), status=202)
        key = [*JSON, ("Idempotency-Key", '"one"')]
        got = self.call("submitJobs", key, self.submission("kept"), status=202).json()
        self.call("submitJobs", key, self.submission("kept"))
        self.call("submitJobs", key, self.submission("kept", "other"), status=422)
        self.world.ask("GET", f"/v1/jobs/{got['id']}?wait=10s")
        self.call("dropJob", id=got["id"], status=204)
        self.assertTrue(self.call("submitJobs", key, self.submission("kept")).json()["dropped"])
        self.call("submitJobs", JSON, b'{"route": "kept", "options": {"delay": "no", "nap": 1}}', status=422)
        self.call("submitJobs", JSON, self.submission("none"), status=404)
        self.call("submitJobs", [*JSON, ("Waystation-Nap", "1")], self.submission("kept"), status=400)
        self.call("submitJobs", [("Content-Type", "text/plain")], b"x", status=415)
        self.call("submitJobs", JSON, b" " * 1_048_577, status=413)
        again = {"route": "kept", "request": {"headers": {"Idempotency-Key": "two"}}}
        several = [
            again, again, {"id": "a", "route": "kept"}, {"route": "good"}, {"id": "c", "route": "none"}, 4, {"nap": 1}]
        self.call("submitJobs", JSON, json.dumps(several).encode())

    def test_a_stream(self):
        lines = [
            self.submission("good"), self.submission("good", "bytes"), self.submission("tried"),
            self.submission("standing"), self.submission("kept", id="five"), self.submission("none"), b"{",
            b'{"nap": 1, "id": "eight"}']
        got = self.call("streamJobs", LINES, b"\n".join(lines))
        schema = self.contract.media(self.contract.find("streamJobs")[2], 200, LINES[0][1])[1]["schema"]
        outcomes = [json.loads(line) for line in got.body.splitlines()]
        self.assertEqual(len(outcomes), len(lines))
        for outcome in outcomes:
            self.check(outcome, schema["x-waystation-lines"], "a line of the stream")
        self.call("streamJobs", LINES, b"", query="?order=any", status=400)
        self.call("streamJobs", JSON, b"", status=415)

    def test_events(self):
        for route in ("lost", "kept", "standing", "bad"):
            self.world.ask("POST", f"/r/{route}/x", [], b"{}")
        self.world.ask("POST", "/v1/routes/kept/pause", JSON, b"{}")
        self.world.ask("POST", "/v1/routes/kept/resume")
        for state in "open", "auto":
            self.call("setBreaker", JSON, json.dumps({"state": state}).encode(), route="good")
        self.world.ask("POST", "/v1/reload")
        types = set()
        schema = self.contract.media(self.contract.find("readEvents")[2], 200, LINES[0][1])[1]["schema"]
        with Caller(self.world.relay.control) as caller:
            caller.send(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: relay\r\nAccept: application/x-ndjson\r\n\r\n")
            self.assertEqual(caller.head().status, 200)
            while "waystation.config.reloaded" not in types:
                size = int(caller._until(b"\r\n"), 16)
                for line in caller._exactly(size).splitlines():
                    event = json.loads(line)
                    self.check(event, schema["x-waystation-lines"], "an event")
                    types.add(event["type"])
                caller._exactly(2)
        self.check_event_stream()
        self.called.add("readEvents")
        self.assertGreaterEqual(len(types), 10, types)
        self.call("readEvents", [("Accept", "text/html")], status=406)
        self.call("readEvents", query="?job=1", status=400)
        self.call("readEvents", query="?after=x", status=400)

    def check_event_stream(self):
        with Caller(self.world.relay.control) as caller:
            caller.send(b"GET /v1/events?after=0 HTTP/1.1\r\nHost: relay\r\n\r\n")
            type = caller.head()["Content-Type"]
            schema = self.contract.media(self.contract.find("readEvents")[2], 200, type)[1]["schema"]
            events = caller._exactly(int(caller._until(b"\r\n"), 16)).decode().split("\n\n")[:-1]
        self.assertGreater(len(events), 5)
        for event in events:
            event = dict(line.split(": ", 1) for line in event.splitlines())
            self.check(event, schema, "an event of a stream")
            self.check(json.loads(event["data"]), schema_of_data(self.contract.resolved(schema)), "its data")

    def test_zz_every_operation_was_called(self):
        operations = self.contract.operations()
        ids = {operation["operationId"] for path, _, operation in operations if not path.startswith("/r/")}
        self.assertEqual(ids - self.called, set())

    def test_zz_no_member_is_made_up(self):
        asked = ("Submission", "SubmissionRequest", "SubmissionOptions", "BulkAction", "Filter", "Order")
        told = {
            member for schema, member in properties(self.contract.document) if not schema.endswith(asked)
            and not member.startswith(("limits.", "concurrency."))}
        self.assertEqual(told - self.seen - RARE, set())
        self.assertEqual(RARE - told, set(), "no longer told of")
        self.assertEqual(RARE & self.seen, set(), "not rare")

    def test_other_methods_are_told_which_there_are(self):
        for path, item in self.contract.document["paths"].items():
            if path.startswith("/r/"):
                continue
            told = {method.upper() for method in item if method != "parameters"}
            told |= {"HEAD"} if "GET" in told else set()
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PAINT"} - told:
                got = self.world.ask(method, path.format(id="01K9ZQ3V7N4T0C8R5B2M6XW1HD", route="good", number=1))
                self.assertEqual(got.status, 405, got)
                self.assertEqual(set(got["Allow"].split(", ")), told)
                self.check(got.json(), {"$ref": "#/components/schemas/Problem"}, f"{method} {path}")


if __name__ == "__main__":
    unittest.main()
