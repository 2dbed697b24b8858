"""HTTP as real APIs and stock clients need it: paths as they are, redirects that come back, connections that end."""

import http.client
import json
import os
import socket
import subprocess
import unittest
import urllib.parse

from relay import RelayTest, route
from upstream import Close, answer


def followed(address, path, method="GET"):
    """The answer that Python's own resolution of Location leads to, over the relay's socket: status, body and paths."""
    paths = []
    for _ in range(6):
        paths.append(path)
        connection = http.client.HTTPConnection("relay", timeout=10)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(address)
        connection.request(method, path)
        got = connection.getresponse()
        body, location = got.read(), got.headers.get("Location")
        connection.close()
        if location is None or got.status not in (201, 301, 302, 303, 307, 308):
            return got.status, body, paths
        url = urllib.parse.urlsplit(urllib.parse.urljoin("http://relay" + path, location))
        if url.netloc != "relay":
            return got.status, location, paths
        method, path = "GET", url.path + ("?" + url.query if url.query else "")
    raise AssertionError(f"too many redirects: {paths}")


class Paths(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        base = self.upstream.url + "api/"
        self.relay = self.new_relay({
            "up": route(base), "loose": route(base, request={"allow_empty_segments": True})}).start()

    def test_encoded_octets_reach_the_upstream_as_they_are(self):
        for path in ("projects/group%2Fproject/issues", "@scope%2fname", "objects/a%2F%2Fb%2f", "a%5Cb", "100%25",
                     "a%252Fb", "caf%C3%A9/%F0%9F%9A%82", "%2F", "a%20b;c=d,e", "a?b=%2F..%2F.."):
            target = "/api/" + path
            self.upstream.on(target.split("?")[0], answer(200, path))
            got = self.relay.ask("GET", "/r/up/" + path)
            self.assertEqual((got.status, got.body.decode()), (200, path), got)
            self.assertEqual(self.upstream.requests[-1].target, target)
            kept = self.relay.ask("POST", "/v1/jobs", body=json.dumps(
                {"route": "up", "request": {"method": "GET", "path": path}}).encode())
            self.assertEqual(kept.status, 200, kept)
            self.assertEqual(self.upstream.requests[-1].target, target)

    def test_empty_segments_are_the_routes_to_allow(self):
        for path in ("a//b", "a//", "/a"):
            self.upstream.on("/api/" + path, answer(200, "here"))
            self.assertEqual(self.relay.ask("GET", "/r/loose/" + path).body, b"here")
            self.assertEqual(self.upstream.requests[-1].target, "/api/" + path)
            problem = self.assert_problem(self.relay.ask("GET", "/r/up/" + path), 400, "bad_target")
            self.assertIn("request.allow_empty_segments", problem["detail"])
        for path in ("a//../b", "//..", "a%2F../b"):
            self.assert_problem(self.relay.ask("GET", "/r/loose/" + path), 400, "bad_target")

    def test_a_whole_url_as_the_path_is_told_that_a_path_is_wanted(self):
        got = self.relay.ask("GET", "/r/up/https://api.example/v1/things")
        self.assertIn("not a whole URL", self.assert_problem(got, 400, "bad_target")["detail"])
        command = os.path.join(os.path.dirname(os.environ["WAYSTATIOND"]), "waystation")
        said = subprocess.run(
            [command, "send", "up", "https://api.example/v1/things", "--socket", self.relay.jobs],
            capture_output=True, text=True, timeout=30)
        self.assertEqual(said.returncode, 2, said)
        self.assertIn("no whole URL", said.stderr)


class References(RelayTest):
    """The upstream's base is /api/; /other is on its origin and outside."""

    def setUp(self):
        self.upstream = self.new_upstream()
        self.second = self.new_upstream()
        base = self.upstream.url + "api/"
        both = [base, {"name": "second", "url": self.second.url, "use": "failover_only"}]
        self.relay = self.new_relay({
            "up": route(*both), "raw": route(*both, response={"rewrite_location": False}),
            "kept": route(base, delivery={"mode": "durable"}), "shut": route(base, allow_users=["nobody"])}).start()
        self.upstream.on("/api/end", answer(200, "the end"))
        self.second.on("/end", answer(200, "the second end"))

    def lead(self, location, status=302, path="/api/deep/start"):
        self.upstream.on(path, answer(status, "", ("Location", location)))

    def test_stock_clients_that_follow_redirects_come_back_through_the_relay(self):
        own = self.upstream.url
        for location in (own + "api/end", "/api/end", "../end", "//" + own.split("/")[2] + "/api/end", "/api/x/../end",
                         "/api/middle"):
            self.upstream.on("/api/middle", answer(307, "", ("Location", "end?q=1#top")))
            for status in (301, 302, 303, 307, 308):
                self.lead(location, status)
                self.assertEqual(followed(self.relay.jobs, "/r/up/deep/start")[:2], (200, b"the end"), location)
            done = subprocess.run(
                ["curl", "-sS", "-L", "--max-redirs", "5", "--unix-socket", self.relay.jobs,
                 "http://relay/r/up/deep/start"], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.stdout, "the end", (location, done))
        self.lead(self.second.url + "end")
        answered = followed(self.relay.jobs, "/r/up/deep/start")
        # The second upstream's paths are the route's too; where a request goes the route decides.
        self.assertEqual(answered[2][-1], "/r/up/end")

    def test_what_was_created_is_found_where_the_answer_says(self):
        self.lead("/api/end", 201, "/api/things")
        self.upstream.on("/api/end", answer(200, "created"))
        self.assertEqual(followed(self.relay.jobs, "/r/up/things", "POST")[:2], (200, b"created"))

    def test_other_fields_that_lead_somewhere_are_rewritten_alike(self):
        self.upstream.on("/api/page", answer(
            200, "", ("Content-Location", "/api/page.en"), ("Refresh", "5; url='/api/end'"), ("Link", "</api/end>")))
        got = self.relay.ask("GET", "/r/up/page")
        self.assertEqual(got["Content-Location"], "/r/up/page.en")
        self.assertEqual(got["Refresh"], "5; url='/r/up/end'")
        self.assertEqual(got["Link"], "</api/end>")

    def test_elsewhere_stays_elsewhere_and_the_404_says_what_happened(self):
        for location in ("https://other.example/end", "/other", "/apiary", "mailto:a@b.example"):
            self.lead(location)
            self.assertEqual(self.relay.ask("GET", "/r/up/deep/start")["Location"], location)
        self.lead("/other")
        status, body, paths = followed(self.relay.jobs, "/r/up/deep/start")
        self.assertEqual((status, paths[-1]), (404, "/other"))
        problem = json.loads(body)
        self.assertEqual(problem["code"], "path_not_found")
        self.assertIn("following a redirect", problem["detail"])
        self.assertIn("response.rewrite_location", problem["detail"])

    def test_no_redirect_leads_into_another_route(self):
        for location in ("/r/shut/x", "../../r/shut/x", "/v1/jobs"):
            self.lead(location)
            path = "/r/shut/x" if "shut" in location else "/v1/jobs"
            self.assertEqual(self.relay.ask("GET", "/r/up/deep/start")["Location"], self.upstream.url[:-1] + path)

    def test_a_route_that_says_so_passes_references_on_as_they_are(self):
        for location in ("/api/end", self.upstream.url + "api/end", "../end"):
            self.lead(location)
            self.assertEqual(self.relay.ask("GET", "/r/raw/deep/start")["Location"], location)

    def test_kept_jobs_and_streams_lead_back_too(self):
        self.lead("/api/end", 201, "/api/things")
        got = self.relay.ask("POST", "/r/kept/things", [("Prefer", "respond-async, wait=10")], b"x")
        self.assertEqual((got.status, got["Location"]), (201, "/r/kept/end"), got)
        stored = self.relay.ask("GET", f"/v1/jobs/{got['Waystation-Job']}/response")
        self.assertEqual(stored["Location"], "/r/kept/end", stored)
        line = json.dumps({"route": "up", "request": {"path": "things"}}).encode() + b"\n"
        outcome = json.loads(self.relay.ask("POST", "/v1/stream", body=line).body)
        told = {name.lower(): value for name, value in outcome["headers"]}
        self.assertEqual(told["location"], "/r/up/end", outcome)


class EndingConnections(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        # One loop, so that the second request meets the first one's connection.
        self.relay = self.new_relay({"up": route(self.upstream.url, recovery=[])}, loops=1).start()

    def ends_on_second(self, then=answer(200, "again")):
        self.upstream.on("/x", answer(200, "first"), Close(), then)
        self.assertEqual(self.relay.ask("GET", "/r/up/x").body, b"first")

    def test_what_may_be_repeated_goes_out_once_more_and_the_timeline_tells(self):
        for method, fields in ("GET", []), ("PUT", []), ("DELETE", []), ("POST", [("Idempotency-Key", '"a"')]):
            self.upstream.forget()
            self.ends_on_second()
            got = self.relay.ask(method, "/r/up/x", fields, None if method == "GET" else b"body")
            self.assertEqual((got.status, got["Waystation-Attempts"]), (200, "1"), (method, got))
            self.assertEqual(len(self.upstream.seen("/x")), 3)
            attempt = self.relay.job(got)["attempts"][0]
            self.assertIs(attempt["resent"], True)
            command = os.path.join(os.path.dirname(os.environ["WAYSTATIOND"]), "waystation")
            told = subprocess.run(
                [command, "explain", got["Waystation-Job"], "--socket", self.relay.control],
                capture_output=True, text=True, timeout=30)
            self.assertIn("sent once more", told.stdout, told)

    def test_a_post_without_a_key_goes_out_once(self):
        self.ends_on_second()
        got = self.relay.ask("POST", "/r/up/x", body=b"charge")
        self.assertEqual(got.status, 502, got)
        self.assertEqual([request.method for request in self.upstream.seen("/x")], ["GET", "POST"])
        attempt = self.relay.job(got)["attempts"][0]
        self.assertEqual((attempt["kind"], attempt["sent"]), ("connection_terminated", "unknown"))
        self.assertNotIn("resent", attempt)

    def test_it_is_once_more_and_not_for_ever(self):
        self.ends_on_second(Close())
        got = self.relay.ask("GET", "/r/up/x")
        self.assertEqual((got.status, len(self.upstream.seen("/x"))), (502, 3), got)


class Answers(RelayTest):
    """The relay's words on answers that are broken, too large or coded."""

    def setUp(self):
        self.upstream = self.new_upstream()
        plain = self.upstream.url
        self.relay = self.new_relay({
            "up": route(plain, recovery=[], timeouts={"attempt": "1s", "idle": "5s"}),
            "slow": route(plain, recovery=[], timeouts={"idle": "200ms"}),
            "json": route(plain, recovery=[], response={"expect": "json"}, success={"inspect_limit": "1KiB"})}).start()

    def detail(self, route, step, status, code, *fields):
        self.upstream.on("/x", step)
        problem = self.assert_problem(self.relay.ask("GET", f"/r/{route}/x", fields), status, code)
        self.assertNotIn("could not be reached", problem["title"])
        return problem["detail"]

    def test_a_broken_answer_is_not_called_unreachable(self):
        for data in (b"garbage\r\n\r\n", b"HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 200 OK\r\nA b\r\n\r\n"):
            self.assertIn("not valid HTTP/1.1", self.detail("up", Close(data), 502, "invalid_response"))

    def test_a_time_limit_is_told_by_its_name_and_value(self):
        def silence(request):
            request.connection.wait_for_end()

        said = self.detail("up", silence, 504, "upstream_timeout")
        self.assertIn("within timeouts.attempt (1s)", said)
        self.assertIn("within timeouts.idle (200ms)", self.detail("slow", silence, 504, "upstream_timeout"))
        said = self.detail("up", silence, 504, "upstream_timeout", ("Waystation-Attempt-Timeout", "100ms"))
        self.assertIn("within the caller's attempt timeout (100ms)", said)
        said = self.detail("up", silence, 504, "deadline_exceeded", ("Waystation-Timeout", "150ms"))
        self.assertIn("within the caller's timeout (150ms)", said)

    def test_the_limit_that_struck_is_the_one_that_is_named(self):
        said = self.detail("json", answer(200, b" " * 2000), 502, "invalid_response")
        self.assertIn("larger than 1024 bytes; raise success.inspect_limit", said)

    def test_a_coding_that_cannot_be_looked_into_is_named_and_not_asked_for(self):
        said = self.detail(
            "json", answer(200, b"\x0b\x02\x80{}\x03", ("Content-Encoding", "br")), 502, "invalid_response",
            ("Accept-Encoding", "br"))
        self.assertIn("the answer is in the coding br, which the relay cannot look into", said)
        self.assertEqual(self.upstream.requests[-1]["Accept-Encoding"], "gzip, deflate")

    def test_an_urgency_that_is_none_is_refused(self):
        for value in ("u=9", "u=-1", "u=10", "i, u=8"):
            problem = self.assert_problem(self.relay.ask("GET", "/r/up/x", [("Priority", value)]), 400, "bad_header")
            self.assertIn("from 0 to 7", problem["detail"])

    def test_a_command_says_who_it_is_and_a_caller_speaks_for_itself(self):
        self.upstream.on("/x", answer(200, "x"))
        command = os.path.join(os.path.dirname(os.environ["WAYSTATIOND"]), "waystation")
        version = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=30).stdout.split()[1]
        for options, expected in ([], f"waystation/{version}"), (["-H", "User-Agent: mine"], "mine"):
            done = subprocess.run(
                [command, "send", "up", "x", "--socket", self.relay.jobs, *options], capture_output=True, timeout=30)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(self.upstream.requests[-1].all("User-Agent"), [expected])
        self.relay.ask("GET", "/r/up/x")
        self.assertEqual(self.upstream.requests[-1].all("User-Agent"), [])


class RouteQuery(RelayTest):
    def setUp(self):
        self.upstream = self.new_upstream()
        self.upstream.on("/x", answer(200, "x"), answer(500, "x"))
        self.relay = self.new_relay({})
        self.relay.write({"up": route(self.upstream.url, request={"query": {"set": {
            "api-version": "2026 01", "code": self.relay.secret("code", "s3cr/et")}}})})
        self.relay.start()

    def test_a_routes_parameters_go_with_every_request_and_stand_nowhere_else(self):
        wanted = "api-version=2026%2001&code=s3cr%2Fet"
        for asked, sent in ("", "?"), ("?a=1&code=mine&b=%2F", "?a=1&b=%2F&"), ("?api%2Dversion=1", "?"):
            got = self.relay.ask("GET", "/r/up/x" + asked)
            self.assertEqual(self.upstream.requests[-1].target, "/x" + sent + wanted)
            job = self.relay.job(got)
            self.assertNotIn("s3cr", json.dumps(job) + repr(got) + self.relay.errors.text())
        shown = subprocess.run(
            [os.environ["WAYSTATIOND"], "--check", "--effective", str(self.relay.file)],
            capture_output=True, text=True, timeout=30)
        self.assertEqual(shown.returncode, 0, shown)
        self.assertIn("/routes/up/request/query/set", shown.stdout)
        for word in ("s3cr", "2026 01"):
            self.assertNotIn(word, shown.stdout + shown.stderr)

    def test_no_reference_of_an_answer_tells_a_routes_secret(self):
        fields = [
            ("Location", "/x?page=2&code=s3cr%2Fet"), ("Content-Location", "/x/s3cr%2fet"), ("Refresh", "1; url=/x?c=s3cr/et"),
            ("Link", '</x?page=2&code=s3cr%2Fet>; rel="next"'), ("Link", '</y>; rel="up"')]
        self.upstream.on("/links", answer(201, "x", *fields))
        got = self.relay.ask("GET", "/r/up/links")
        self.assertNotIn("s3cr", repr(got.fields).lower())
        self.assertEqual(got.all("Link"), ['</x?page=2&code=>; rel="next"', '</y>; rel="up"'])


if __name__ == "__main__":
    unittest.main()
