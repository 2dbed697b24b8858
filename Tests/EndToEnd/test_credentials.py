"""Tokens from a scripted OAuth2 endpoint."""

import base64
import json
import signal
import threading
import time
import unittest
import urllib.parse

from caller import ask
from durable import again
from relay import RelayTest, eventually, route
from upstream import answer, as_json

REFRESH = [{"name": "stale", "on": ["401"], "refresh_credentials": {"max_times": 1}}]


class Endpoint:
    """Issues t1, t2, …; the upstream beside it takes the newest only."""

    def __init__(self, upstream):
        self.upstream, self.issued, self.lifetime, self.forms = upstream, 0, 3600, []
        self.lock = threading.Lock()
        upstream.on("/token", self.issue)
        upstream.on("/api", self.serve)

    def issue(self, got):
        with self.lock:
            self.issued += 1
            self.forms.append(dict(urllib.parse.parse_qsl(got.body.decode())))
            token = {"access_token": f"t{self.issued}", "token_type": "Bearer", "expires_in": self.lifetime,
                     "refresh_token": f"r{self.issued}"}
        return as_json(200, json.dumps(token))

    def serve(self, got):
        with self.lock:
            good = got["Authorization"] == f"Bearer t{self.issued}" and not self.revoked()
        return answer(200, "welcome") if good else answer(401, "who?")

    def revoked(self):
        return self.issued < self.wanted

    wanted = 1


class Credentials(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        self.endpoint = Endpoint(self.upstream)

    def relay_with(self, grant, rules=REFRESH, of_route=None, **members):
        relay = self.new_relay({})
        settings = {
            "token_url": self.upstream.url + "token", "client_id": "shop", "allow_addresses": ["127.0.0.0/8"],
            "client_secret": relay.secret("client", "s3cret"), "failure_cooldown": "300ms", **members}
        if grant == "oauth2_refresh_token":
            settings["refresh_token"] = relay.secret("refresh", "r0")
            relay.members["credentials"] = {"books": {"type": grant, **settings}}
            auth = {"type": "bearer", "credential": "books"}
        else:
            del settings["allow_addresses"]
            auth = {"type": grant, **settings}
        relay.write({"up": route(self.upstream.url, auth=auth, recovery=rules, concurrency={"max_requests": 100}, **of_route or {})})
        return relay.start()

    def check_refresh(self, grant):
        relay = self.relay_with(grant)
        got = relay.curl("/r/up/api")
        self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"))
        self.endpoint.wanted = 2
        got = relay.curl("/r/up/api", "-d", "paid once")
        self.assertEqual((got.status, got.body), (200, b"welcome"))
        job = self.assert_timeline(relay, got, (401, "refresh_credentials"), (200, None))
        self.assertEqual(job["attempts"][0]["rule"], "stale")
        self.assertEqual(self.endpoint.issued, 2)
        version = ask(relay.control, "GET", "/v1/version").json()["version"]
        self.assertEqual([asked.all("User-Agent") for asked in self.upstream.seen("/token")], [[f"waystation/{version}"]] * 2)
        relay.errors.wait("credential", "refreshed, valid for")
        for line in "s3cret", "Bearer", "t1", "r0":
            # The directory's name is made by chance, and may hold any two letters.
            told = relay.errors.text().replace(str(relay.directory), "")
            self.assertNotIn(line, told.replace("attempt1", ""))
        return relay

    def test_a_401_fetches_the_token_anew_on_a_route_that_names_no_rule_for_it(self):
        for rules in [], [{"name": "stop", "on": ["4xx"], "fail": {}}], None:
            with self.subTest(rules=rules):
                members = {} if rules is None else {"recovery": rules}
                relay = self.relay_with("oauth2_refresh_token", rules=[])
                relay.stop()
                (relay.directory / "notify").unlink()
                relay.notices.wait("(gone)")
                relay.notices.items.clear()
                relay.write({
                    "up": route(self.upstream.url, auth={"type": "bearer", "credential": "books"}, **members),
                    "off": route(self.upstream.url, auth={
                        "type": "bearer", "credential": "books", "refresh_on_401": False}, **members)})
                relay.start()
                self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
                self.endpoint.wanted = self.endpoint.issued + 1
                self.assertEqual(relay.ask("GET", "/r/off/api").status, 401)
                got = relay.ask("POST", "/r/up/api", [("Prefer", "respond-async, wait=10")], b"paid once")
                self.assertEqual((got.status, got.body), (200, b"welcome"), got)
                self.endpoint.wanted = self.endpoint.issued + 1
                got = relay.curl("/r/up/api", "-d", "paid once")
                job = self.assert_timeline(relay, got, (401, "refresh_credentials"), (200, None))
                self.assertEqual(job["attempts"][0]["rule"], "stale-token")
                relay.stop()

    def test_a_401_leads_to_a_new_client_credentials_token_and_then_200(self):
        self.check_refresh("oauth2_client_credentials")
        self.assertEqual(self.endpoint.forms[0]["grant_type"], "client_credentials")
        seen = self.upstream.seen("/token")[0]
        self.assertEqual(seen["Authorization"], "Basic " + base64.b64encode(b"shop:s3cret").decode())

    def test_a_401_leads_to_a_new_token_by_refresh_token_and_then_200(self):
        relay = self.check_refresh("oauth2_refresh_token")
        self.assertEqual([(f["grant_type"], f["refresh_token"]) for f in self.endpoint.forms],
                         [("refresh_token", "r0"), ("refresh_token", "r1")], "a rotated refresh token is used")
        self.assertEqual(relay.status()["credentials"][0]["state"], "valid")

    def check_single_flight(self, grant):
        relay = self.relay_with(grant)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.endpoint.wanted = 2
        gate = threading.Barrier(50)
        plain = self.endpoint.serve

        def together(got):
            # The first fifty answers wait for each other: fifty 401s at once.
            if got["Authorization"] == "Bearer t1":
                gate.wait(10)
                return answer(401, "who?")
            return plain(got)
        self.upstream.on("/api", together)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(relay.ask("GET", "/r/up/api"))) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual([a.status for a in answers], [200] * 50)
        self.assertEqual(self.endpoint.issued, 2, "one request for a token for fifty 401s")

    def test_fifty_401s_at_once_are_one_client_credentials_request(self):
        self.check_single_flight("oauth2_client_credentials")

    def test_fifty_401s_at_once_are_one_refresh_token_request(self):
        self.check_single_flight("oauth2_refresh_token")

    def test_fifty_first_requests_at_once_are_one_request_for_a_token(self):
        relay = self.relay_with("oauth2_client_credentials")
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(relay.ask("GET", "/r/up/api").status)) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual((answers, self.endpoint.issued), ([200] * 50, 1))

    def test_a_401_that_a_new_token_does_not_heal_is_passed_on(self):
        relay = self.relay_with("oauth2_client_credentials")
        self.upstream.on("/api", answer(401, "never"))
        got = relay.ask("GET", "/r/up/api")
        self.assertEqual((got.status, got.body, got["Waystation-Attempts"]), (401, b"never", "2"))

    def test_a_route_that_always_answers_401_costs_few_tokens_and_recovers_when_a_newer_one_is_taken(self):
        relay = self.relay_with(
            "oauth2_client_credentials", rules=[*REFRESH, again("100ms", attempts=100)], of_route={"max_attempts": 100})
        self.endpoint.wanted = 1000
        began = time.monotonic()
        ids = [relay.ask("POST", "/r/up/api", [("Prefer", "respond-async")], b"kept")["Waystation-Job"]
               for _ in range(50)]
        eventually(lambda: len(self.upstream.seen("/api")) > 250, "every job is tried again and again", 20)
        self.assertLess(self.endpoint.issued, 8, "tokens are fetched ever more rarely, not once a job")
        # A newer one counts as good until its first answer.
        eventually(
            lambda: [(c["state"], c.get("refused_by")) for c in relay.status()["credentials"]] == [("refused", ["up"])],
            "the credential is told to be refused")

        def reasons():
            return [held["reason"] for id in ids for tried in ask(relay.control, "GET", f"/v1/jobs/{id}").json()["attempts"]
                    for held in tried.get("held_back", [])]
        self.assertTrue([r for r in reasons() if r.startswith("a fresh token was refused, and no other is fetched")])
        self.endpoint.wanted = self.endpoint.issued + 1
        # Each pause between two tokens is twice the one before: the next is no longer than all of them were, and a second.
        pause = time.monotonic() - began + 1
        for id in ids:
            eventually(lambda: ask(relay.control, "GET", f"/v1/jobs/{id}").json()["state"] == "succeeded",
                       "the job succeeds with a newer token", 20 + pause)
        self.assertEqual(self.endpoint.issued, self.endpoint.wanted, "one token was fetched for all of them")
        told = relay.status()["credentials"][0]
        self.assertEqual((told["state"], told.get("refused_by")), ("valid", None))

    def test_a_failed_refresh_is_remembered_and_tried_again_after_the_cooldown(self):
        self.upstream.on("/token", answer(500, "t0ken server down"), self.endpoint.issue)
        relay = self.relay_with("oauth2_client_credentials", rules=[])
        for _ in range(2):
            got = relay.ask("GET", "/r/up/api")
            self.assert_problem(got, 502, "credentials_failed")
            self.assertNotIn(b"t0ken server down", got.body)
        self.assertEqual(len(self.upstream.seen("/token")), 1)
        self.assertEqual(self.upstream.seen("/api"), [])
        eventually(lambda: relay.ask("GET", "/r/up/api").status == 200, "the token is fetched again")
        self.assertEqual(len(self.upstream.seen("/token")), 2)

    def test_a_token_is_replaced_before_it_expires(self):
        self.endpoint.lifetime = 1
        relay = self.relay_with("oauth2_client_credentials", refresh_before_expiry="900ms")
        self.upstream.on("/api", lambda got: answer(200, got["Authorization"]))
        self.assertEqual(relay.ask("GET", "/r/up/api").body, b"Bearer t1")
        eventually(lambda: relay.ask("GET", "/r/up/api").body != b"Bearer t1", "a newer token is used")

    def test_a_token_endpoint_that_redirects_or_talks_nonsense_is_a_failure(self):
        for bad in answer(302, "", ("Location", self.upstream.url + "api")), answer(200, "<html>"), as_json(200, "{}"), \
                as_json(200, '{"access_token":"a\\r\\nb","token_type":"Bearer"}'):
            self.upstream.forget()
            self.upstream.on("/token", bad)
            relay = self.relay_with("oauth2_client_credentials", rules=[])
            self.assert_problem(relay.ask("GET", "/r/up/api"), 502, "credentials_failed")
            self.assertEqual(self.upstream.seen("/api"), [])

    def test_a_rotated_refresh_token_outlives_a_crash_and_nothing_but_its_owner_reads_it(self):
        relay = self.relay_with("oauth2_refresh_token")
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.forms(), ["r0"])
        self.assertEqual(relay.stop(signal.SIGKILL), -signal.SIGKILL)
        kept = relay.directory / "state" / "refresh-tokens"
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertIn(b"r1".hex(), kept.read_text())
        self.again(relay)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.forms(), ["r0", "r1"])
        self.assertNotIn(b"r2".hex(), relay.errors.text())
        relay.stop(signal.SIGKILL)
        # Another configured token, another client: begin anew.
        relay.secret("refresh", "fresh")
        self.again(relay)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.forms(), ["r0", "r1", "fresh"])

    def test_a_file_of_tokens_that_is_damaged_is_told_of_and_the_configured_one_is_used(self):
        relay = self.relay_with("oauth2_refresh_token")
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        relay.stop()
        (relay.directory / "state" / "refresh-tokens").write_text("nonsense\n")
        self.again(relay)
        relay.errors.wait("refresh-tokens", "damaged")
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.forms(), ["r0", "r0"])

    def test_a_token_that_cannot_be_kept_is_not_used_and_the_access_token_is(self):
        relay = self.relay_with("oauth2_refresh_token")
        # Nothing can be put in the place of a directory.
        (relay.directory / "state" / "refresh-tokens").mkdir()
        (relay.directory / "state" / "refresh-tokens" / "x").touch()
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        relay.errors.wait("cannot keep a refresh token")
        self.endpoint.wanted = 2
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 502)
        self.assertEqual(self.forms(), ["r0"])
        (relay.directory / "state" / "refresh-tokens" / "x").unlink()
        (relay.directory / "state" / "refresh-tokens").rmdir()
        eventually(lambda: relay.ask("GET", "/r/up/api").status == 200, "the token is kept and used")
        self.assertEqual(self.forms(), ["r0", "r1"])

    def forms(self):
        return [form["refresh_token"] for form in self.endpoint.forms]

    def again(self, relay):
        relay.notices.wait("(gone)")
        relay.notices.items.clear()
        (relay.directory / "notify").unlink(missing_ok=True)
        relay.start()

    def test_a_reload_keeps_a_token_that_is_good_and_the_refresh_token_that_was_rotated(self):
        relay = self.relay_with("oauth2_refresh_token")
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.endpoint.issued, 1)
        self.endpoint.wanted = 2
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(self.endpoint.forms[-1]["refresh_token"], "r1")


if __name__ == "__main__":
    unittest.main()
