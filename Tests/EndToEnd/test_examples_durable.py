"""config/examples: jobs that are on disk before they are answered, and what is signed."""

import base64
import hashlib
import hmac
import http.server
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

from caller import ask
from examples import FOLDER, SECRETS, ExampleTest
from upstream import answer

spec = importlib.util.spec_from_file_location("webhook_receiver", FOLDER / "webhook-receiver.py")
receiving = importlib.util.module_from_spec(spec)
spec.loader.exec_module(receiving)
NEW, OLD = SECRETS["webhook-secret"], SECRETS["webhook-secret-before"]


class DurableTest(ExampleTest):
    def hand_over(self, relay, target, *fields, body=b"{}"):
        got = relay.ask("POST", target, list(fields), body)
        self.assertEqual(got.status, 202, got)
        self.assertEqual(got["Location"], "/v1/jobs/" + got["Waystation-Job"])
        return got["Waystation-Job"]

    def control(self, relay, method, target):
        got = ask(relay.control, method, target)
        self.assertEqual(got.status, 200, got)
        return got.json()

    def restart(self, relay):
        self.assertEqual(relay.stop(), 0)
        (relay.directory / "notify").unlink()
        relay.notices.wait("(gone)")
        with relay.notices.changed:
            relay.notices.items.clear()
        relay.start()

    def until(self, relay, job, *states, reason=None):
        """The job as soon as it is in one of those states."""
        deadline = time.monotonic() + 20
        while True:
            got = self.control(relay, "GET", f"/v1/jobs/{job}")
            if got["state"] in states and reason in (None, got.get("reason")):
                return got
            self.assertLess(time.monotonic(), deadline, got)
            time.sleep(0.02)


class Later(http.server.BaseHTTPRequestHandler):
    """Answers 200 to everything and remembers it; listens only when it is told to."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, body, self.headers["Idempotency-Key"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Keep(DurableTest):
    def test_a_job_taken_while_the_upstream_is_down_outlives_a_restart_and_is_delivered(self):
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Later, bind_and_activate=False)
        upstream.seen = []
        upstream.server_bind()
        self.addCleanup(upstream.server_close)
        relay = self.example("keep", {"http://127.0.0.1:9001/": f"http://127.0.0.1:{upstream.server_address[1]}/"})
        job = self.hand_over(relay, "/r/orders/8841", ("Prefer", "respond-async"), body=b"17")
        waiting = self.until(relay, job, "retrying", reason="backoff")
        self.assertEqual(waiting["attempts"][0]["sent"], "never_sent")
        self.restart(relay)
        self.assertEqual(self.until(relay, job, "retrying", "running")["id"], job)
        upstream.server_activate()
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.addCleanup(upstream.shutdown)
        done = self.until(relay, job, "succeeded")
        self.assertEqual(upstream.seen, [("/8841", b"17", job)], "once, with the job's id as its key")
        self.assertGreater(done["attempt_count"], 1)
        self.assertEqual(done["spent_attempts"], 1, "those that never reached the wire cost none")

    def test_a_placeholder_comes_at_once_and_the_order_later(self):
        relay = self.example("answer-now")
        self.first.on("/8841", answer(503), answer(503), answer(200))
        got = relay.ask("POST", "/r/orders/8841", [], b"17")
        self.assertEqual((got.status, got.json(), got["Waystation-Kept"]), (202, {"order": "received"}, "true"))
        done = self.until(relay, got["Waystation-Job"], "succeeded", "dead")
        self.assertEqual([each.get("next") for each in done["attempts"]], ["retry", "respond_and_keep", None], done)
        keys = [(each.body, each["Idempotency-Key"]) for each in self.first.seen("/8841")]
        self.assertEqual(keys, [(b"17", got["Waystation-Job"])] * 3)
        self.first.on("/8842", answer(404))
        got = relay.ask("POST", "/r/orders/8842", [], b"17")
        self.assertEqual((got.status, got["Waystation-Kept"]),
                         (202, 'false; reason="no rule of the route would send it again"'))

    def test_an_upstream_says_when_to_stop(self):
        relay = self.example("stop")
        stop = answer(503, "", ("X-Should-Retry", "false"))
        self.first.on("/a", stop)
        for _ in range(30):
            got = relay.ask("PUT", "/r/messages/a", [], b"1")
            self.assertEqual((got.status, got["Waystation-Attempts"]), (503, "1"))
        upstream = self.control(relay, "GET", "/v1/routes/messages")["upstreams"][0]
        self.assertEqual(upstream["breaker"], "closed", "a stop is no trouble of the upstream's")
        got = relay.ask("PUT", "/r/messages/a", [("Prefer", "respond-async, wait=9")], b"1")
        self.assertEqual(self.control(relay, "GET", f"/v1/jobs/{got['Waystation-Job']}")["state"], "dead")
        for status, attempts in (410, "1"), (503, "3"):
            self.first.on("/b", answer(status))
            self.assertEqual(relay.ask("PUT", "/r/messages/b", [], b"1")["Waystation-Attempts"], attempts)

    def test_a_caller_that_prefers_nothing_is_answered(self):
        relay = self.example("keep")
        self.first.on("/8841", answer(201, "made"))
        got = relay.curl("/r/orders/8841", "-d", "17")
        self.assertEqual((got.status, got.body), (201, b"made"))


class Queue(DurableTest):
    def setUp(self):
        super().setUp()
        self.relay = self.example("queue")

    def test_letters_of_one_key_go_in_order_and_wait_for_their_time(self):
        self.first.on("/letters", answer(503), answer(200))
        key = ("Waystation-Ordering-Key", "anna")
        self.first.on("/late", answer(200))
        began = time.monotonic()
        late = self.hand_over(self.relay, "/r/mail/late", key, ("Waystation-Delay", "1s"), body=b"0")
        jobs = [self.hand_over(self.relay, "/r/mail/letters", ("Waystation-Ordering-Key", "bert"), body=body)
                for body in (b"1", b"2", b"3")]
        for job in [late, *jobs]:
            self.until(self.relay, job, "succeeded")
        self.assertEqual([seen.body for seen in self.first.seen("/letters")], [b"1", b"1", b"2", b"3"])
        self.assertEqual([seen["Idempotency-Key"] for seen in self.first.seen("/letters")], [jobs[0], *jobs])
        self.assertEqual(len(self.first.seen("/late")), 1)
        self.assertGreaterEqual(time.monotonic() - began, 1)

    def test_a_letter_that_is_refused_is_a_dead_letter_with_its_request_and_one_that_went_out_has_none(self):
        self.first.on("/refused", answer(422, "no such address"))
        dead = self.until(self.relay, self.hand_over(self.relay, "/r/mail/refused", body=b"hello"), "dead")
        self.assertEqual((dead["end"], dead["attempts"][0]["rule"]), ("rejected", "refused"))
        kept = ask(self.relay.control, "GET", dead["links"]["request_body"])
        self.assertEqual((kept.status, kept.body), (200, b"hello"))
        self.first.on("/sent", answer(200))
        sent = self.until(self.relay, self.hand_over(self.relay, "/r/mail/sent", body=b"hello"), "succeeded")
        self.assertEqual(ask(self.relay.control, "GET", f"/v1/jobs/{sent['id']}/request/body").status, 410)

    def test_a_conflict_is_put_aside_and_what_comes_after_it_waits_or_is_let_go(self):
        self.first.on("/customers/7", answer(409), answer(200))
        self.first.on("/customers/8", answer(200))
        first = self.hand_over(self.relay, "/r/crm/customers/7", body=b"a")
        self.until(self.relay, first, "held", reason="operator_hold")
        second = self.hand_over(self.relay, "/r/crm/customers/8", body=b"b")
        self.control(self.relay, "POST", f"/v1/jobs/{first}/release")
        self.until(self.relay, first, "succeeded")
        self.until(self.relay, second, "succeeded")
        self.assertEqual([seen.body for seen in self.first.seen("/customers/7")], [b"a", b"a"])


    def test_a_caller_that_waits_is_told_once_which_job_it_was_and_never_that_a_delivered_one_failed(self):
        self.first.on("/sent", answer(200, "fine"))
        got = self.relay.ask("POST", "/r/mail/sent", [("Prefer", "wait=9")], b"{}")
        self.assertEqual((got.status, got.body, len(got.all("Waystation-Job"))), (200, b"fine", 1), got)
        changed = json.loads(self.relay.file.read_text())
        changed["routes"]["mail"]["delivery"]["keep_responses"] = "never"
        self.relay.write(None, json.dumps(changed))
        self.assertEqual(ask(self.relay.control, "POST", "/v1/reload").status, 200)
        got = self.relay.ask("POST", "/r/mail/sent", [("Prefer", "wait=9")], b"{}")
        self.assertEqual((got.status, got.json()["state"]), (202, "succeeded"), got)

    def test_a_reload_moves_the_limits_and_says_what_waits_for_a_restart(self):
        changed = json.loads(self.relay.file.read_text())
        changed["limits"]["max_queued_jobs"] = 1
        changed["storage"].update(sync="off", max_size="64MiB", retention={"succeeded": "1h"})
        self.relay.write(None, json.dumps(changed))
        got = ask(self.relay.control, "POST", "/v1/reload")
        self.assertEqual((got.status, got.json()["needs_restart"]), (200, ["storage.sync"]), got)
        self.relay.errors.wait("202 then does not mean that a job survives a power cut")
        later = ("Waystation-Delay", "1h")
        self.hand_over(self.relay, "/r/mail/later", later)
        self.assert_problem(self.relay.ask("POST", "/r/mail/later", [later], b"{}"), 503, "queue_full")


class Notify(DurableTest):
    def test_the_application_hears_signed_how_each_job_ended(self):
        relay = self.example("notify")
        self.first.on("/fine", answer(200, "thanks"))
        self.first.on("/missing", answer(404))
        self.first.on("/outcomes/", answer(200))
        ended = [self.until(relay, self.hand_over(relay, f"/r/orders/{path}"), state)
                 for path, state in (("fine", "succeeded"), ("missing", "dead"))]
        for job in ended:
            self.until(relay, job["notice"]["job"], "succeeded")
        heard = {seen["Webhook-Id"]: json.loads(seen.body) for seen in self.first.seen("/outcomes/")}
        self.assertEqual({id: one["id"] for id, one in heard.items()}, {job["notice"]["job"]: job["id"] for job in ended})
        self.assertEqual(heard[ended[0]["notice"]["job"]]["response"]["body"]["text"], "thanks")


class Webhooks(DurableTest):
    def receiver(self, *secrets):
        """A receiver with those secrets, on a port of its own; what it was asked is in `messages`."""
        found = receiving.Receiver(0, [receiving.key(secret) for secret in secrets])
        found.messages = []
        threading.Thread(target=found.serve_forever, daemon=True).start()
        self.addCleanup(found.server_close)
        self.addCleanup(found.shutdown)
        return found

    def at(self, receiver):
        return {"http://127.0.0.1:9001/": f"http://127.0.0.1:{receiver.server_address[1]}/"}

    def test_a_receiver_that_knows_either_secret_takes_the_message(self):
        for secrets in (NEW,), (OLD,), (OLD, NEW):
            receiver = self.receiver(*secrets)
            relay = self.example("webhooks", self.at(receiver))
            job = self.hand_over(relay, "/r/hooks/orders", body=b'{"order":8841}')
            self.until(relay, job, "succeeded")
            self.assertEqual(list(receiver.known), [job], "the id is the job's")
            relay.stop()

    def test_a_receiver_with_another_secret_refuses_and_the_job_is_a_dead_letter(self):
        receiver = self.receiver("whsec_" + base64.b64encode(b"?" * 32).decode())
        relay = self.example("webhooks", self.at(receiver))
        dead = self.until(relay, self.hand_over(relay, "/r/hooks/orders"), "dead")
        self.assertEqual((dead["attempts"][0]["status"], dead["attempts"][0]["rule"]), (400, "rejected"))
        self.assertEqual(list(receiver.known), [])

    def test_every_attempt_has_the_same_id_and_a_signature_that_is_right(self):
        relay = self.example("webhooks")
        self.first.on("/orders", answer(500), answer(204, length=False))
        job = self.hand_over(relay, "/r/hooks/orders", body=b"\x00\xff binary")
        self.until(relay, job, "succeeded")
        seen = self.first.seen("/orders")
        self.assertEqual([got["Webhook-Id"] for got in seen], [job, job])
        for got in seen:
            self.assertEqual(len(got["Webhook-Signature"].split(" ")), 2, "one for each secret")
            fields = {name: got[name] for name in ("Webhook-Id", "Webhook-Timestamp", "Webhook-Signature")}
            for secret in NEW, OLD:
                self.assertEqual(
                    receiving.verify(fields, b"\x00\xff binary", [receiving.key(secret)], time.time()), job)

    def test_410_pauses_the_route_until_an_operator_lets_it_go_on(self):
        relay = self.example("webhooks")
        self.first.on("/orders", answer(410), answer(200))
        self.first.on("/others", answer(200))
        job = self.hand_over(relay, "/r/hooks/orders")
        self.until(relay, job, "held", reason="route_paused")
        found = self.control(relay, "GET", "/v1/routes/hooks")
        self.assertEqual((found["state"], found["pause"]["rule"]), ("paused", "gone"))
        self.assertEqual(found["pause"]["reason"], "the receiver answered 410 Gone")
        other = self.hand_over(relay, "/r/hooks/others")
        self.restart(relay)
        self.assertEqual(self.control(relay, "GET", "/v1/routes/hooks")["state"], "paused", "over a restart, too")
        self.assertEqual(self.first.seen("/others"), [])
        self.control(relay, "POST", "/v1/routes/hooks/resume")
        for each in job, other:
            self.until(relay, each, "succeeded")

    def test_a_private_key_signs_with_ed25519(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)

            def openssl(*words):
                return subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=20).stdout

            openssl("genpkey", "-algorithm", "ed25519", "-out", "key.pem")
            # RFC 8410: the seed is the end of the key's DER.
            seed = openssl("pkey", "-in", "key.pem", "-outform", "DER")[-32:]
            openssl("pkey", "-in", "key.pem", "-pubout", "-out", "public.pem")
            secret = "whsk_" + base64.b64encode(seed).decode()
            relay = self.example("webhooks", secrets={"webhook-secret-before": secret})
            self.first.on("/orders", answer(200))
            self.until(relay, self.hand_over(relay, "/r/hooks/orders", body=b"signed"), "succeeded")
            (got,) = self.first.seen("/orders")
            signatures = dict(each.split(",", 1) for each in got["Webhook-Signature"].split(" "))
            self.assertEqual(sorted(signatures), ["v1", "v1a"])
            signed = f"{got['Webhook-Id']}.{got['Webhook-Timestamp']}.".encode() + b"signed"
            (folder / "signature").write_bytes(base64.b64decode(signatures["v1a"]))
            (folder / "message").write_bytes(signed)
            self.assertIn(b"Verified", openssl(
                "pkeyutl", "-verify", "-pubin", "-inkey", "public.pem", "-rawin", "-in", "message",
                "-sigfile", "signature"))

    def test_a_secret_that_is_no_key_is_an_error_at_its_place_and_is_not_shown(self):
        relay = self.example("webhooks")
        relay.secret("webhook-secret-before", "whsec_hunter2hunter2")
        got = ask(relay.control, "POST", "/v1/reload")
        self.assertEqual(got.status, 422, got)
        (found,) = got.json()["diagnostics"]
        self.assertEqual(found["pointer"], "/routes/hooks/signing/secrets/1")
        self.assertIn('the credential "webhook-secret-before" cannot sign', found["message"])
        self.assertGreater(found["line"], 1)
        self.assertNotIn(b"hunter2", got.body)


if __name__ == "__main__":
    unittest.main()
