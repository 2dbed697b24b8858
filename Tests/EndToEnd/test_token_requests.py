"""Token endpoints that want more than RFC 6749 names, and answer in their own words."""

import json
import signal
import unittest
import urllib.parse

from caller import ask
from relay import RelayTest, eventually, route
from upstream import answer, as_json


class TokenRequests(RelayTest):
    """An endpoint that wants an audience and a tenant's header, and whose tokens live for milliseconds."""

    def setUp(self):
        self.upstream = self.new_upstream()
        self.asked, self.lifetime = [], 3_600_000
        self.upstream.on("/token", self.issue)
        self.upstream.on("/api", self.serve)

    def issue(self, got):
        form = dict(urllib.parse.parse_qsl(got.body.decode()))
        self.asked.append((form, got["X-Tenant"], got["X-Signed"]))
        if form.get("audience") != "https://api.example/ü" or got["X-Tenant"] != "shop":
            return answer(403, "no audience, no token")
        issued = len(self.asked)
        return as_json(200, json.dumps(
            {"data": {"jwt": f"t{issued}", "ttl": self.lifetime, "next": f"r{issued}"}, "access_token": "not this"}))

    def serve(self, got):
        return answer(200 if got["Authorization"] == f"Bearer t{len(self.asked)}" else 401)

    ANSWER = {"token": "/data/jwt", "lifetime": "/data/ttl", "lifetime_unit": "ms", "refresh_token": "/data/next"}

    def configured(self, relay, grant="oauth2_client_credentials", **members):
        settings = {
            "type": grant, "token_url": self.upstream.url + "token", "client_id": "shop",
            "client_secret": relay.secret("client", "s3cret"),
            "token_request": {
                "parameters": {"audience": "https://api.example/ü", "pin": relay.secret("pin", "p1n&more")},
                "headers": {"X-Tenant": "shop", "X-Signed": relay.secret("signed", "s1gned\n")}},
            "answer": self.ANSWER, **members}
        if grant == "oauth2_refresh_token":
            settings["refresh_token"] = relay.secret("refresh", "r0")
        return {"up": route(self.upstream.url, auth=settings)}

    def start(self, *words, **members):
        relay = self.new_relay({})
        relay.write(self.configured(relay, *words, **members))
        return relay.start()

    def test_both_grants_ask_with_what_is_configured_and_read_the_endpoints_own_answer(self):
        for grant in "oauth2_client_credentials", "oauth2_refresh_token":
            with self.subTest(grant):
                self.asked.clear()
                relay = self.start(grant)
                self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
                form, tenant, signed = self.asked[0]
                self.assertEqual((form["pin"], tenant, signed), ("p1n&more", "shop", "s1gned"))
                self.assertEqual(form["grant_type"], grant.removeprefix("oauth2_"))
                told = relay.status()["credentials"][0]
                self.assertEqual(told["state"], "valid")
                self.assertLess(3500, told["expires_in_seconds"])
                self.assertLessEqual(told["expires_in_seconds"], 3600)
                relay.errors.wait("credential", "refreshed, valid for")
                told = relay.errors.text() + json.dumps(relay.status())
                for secret in "p1n", "s1gned", "s3cret":
                    self.assertNotIn(secret, told)

    def test_a_refresh_token_is_taken_from_its_place(self):
        self.lifetime = 1
        relay = self.start("oauth2_refresh_token")
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)

        def again():
            relay.ask("GET", "/r/up/api")
            return len(self.asked) > 1
        eventually(again, "a token of a second is fetched anew")
        self.assertEqual([form["refresh_token"] for form, _, _ in self.asked[:2]], ["r0", "r1"])

    def test_another_secret_is_asked_for_anew_after_a_reload(self):
        relay = self.start()
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        relay.secret("pin", "an0ther")
        relay.process.send_signal(signal.SIGHUP)
        eventually(lambda: relay.ask("GET", "/r/up/api").status == 200 and len(self.asked) == 2, "it is asked with the new one")
        self.assertEqual(self.asked[1][0]["pin"], "an0ther")

    def test_whatever_of_it_changes_a_reload_asks_anew_with_it(self):
        """Plain values and places in the answer as much as secrets; and what stays as it was is not asked for."""
        relay = self.start()
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        routes = self.configured(relay)
        auth = routes["up"]["auth"]
        terms = auth["token_request"]
        changes = [
            lambda: terms["parameters"].update(resource="urn:shop"),
            lambda: terms["headers"].update({"X-Signed": "plainly"}),
            lambda: auth.update(answer={**self.ANSWER, "lifetime_unit": "s"}),
        ]
        for number, change in enumerate(changes, 2):
            with self.subTest(number):
                change()
                relay.write(routes)
                self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
                self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
                self.assertEqual(len(self.asked), number)
        form, _, signed = self.asked[-1]
        self.assertEqual((form["resource"], signed), ("urn:shop", "plainly"))
        self.assertEqual(ask(relay.control, "POST", "/v1/reload").status, 200)
        self.assertEqual(relay.ask("GET", "/r/up/api").status, 200)
        self.assertEqual(len(self.asked), len(changes) + 1)

    def test_a_secret_that_no_header_can_have_is_named_and_not_sent(self):
        relay = self.new_relay({})
        routes = self.configured(relay)
        relay.secret("signed", "a\nb")
        relay.write(routes)
        relay.start()
        problem = self.assert_problem(relay.ask("GET", "/r/up/api"), 502, "credentials_failed")
        self.assertIn("the secret for X-Signed is none that a header can have", problem["detail"])
        self.assertEqual(self.asked, [])

    def test_an_answer_without_a_token_in_its_place_says_which(self):
        relay = self.start(answer={"token": "/data/token"})
        problem = self.assert_problem(relay.ask("GET", "/r/up/api"), 502, "credentials_failed")
        self.assertIn("without a usable token at /data/token", problem["detail"])


if __name__ == "__main__":
    unittest.main()
