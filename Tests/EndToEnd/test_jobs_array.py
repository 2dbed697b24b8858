"""Jobs in an array: kept together, each with its own outcome."""

import json
import unittest

from durable import DurableTest, kept
from relay import route
from upstream import answer

TOO_MANY = 1001


def job(path="/x", route="up", **members):
    return {"route": route, "mode": "async", "request": {"path": path, "text": "kept"}, **members}


def post(relay, jobs, *fields):
    body = jobs if isinstance(jobs, bytes) else json.dumps(jobs).encode()
    return relay.ask("POST", "/v1/jobs", fields, body)


class JobArrays(DurableTest):
    def start(self, **members):
        self.upstream.on("/x", answer(200, "x"))
        return self.new_relay({
            "up": kept(self.upstream.url), "keeps": kept(self.upstream.url, delivery={"mode": "durable"}),
            "other": route(self.upstream.url, allow_users=["nobody"]),
        }, **members).start()

    def test_a_thousand_jobs_of_one_array_are_delivered(self):
        relay = self.start()
        got = post(relay, [job(id=str(number)) for number in range(1000)])
        self.assertEqual((got.status, got["Content-Type"]), (200, "application/json"), got)
        told = got.json()
        self.assertEqual((told["refused"], [one["id"] for one in told["jobs"]]), (0, [str(n) for n in range(1000)]))
        self.assertEqual({(one["ok"], one["state"]) for one in told["jobs"]}, {(True, "accepted")})
        self.assertEqual(len({one["job"] for one in told["jobs"]}), 1000)
        self.upstream.wait_for("/x", 1000)
        for one in told["jobs"][0], told["jobs"][-1]:
            self.wait_for_end(relay, one["job"])
            self.assertEqual(relay.ask("GET", one["location"]).json()["id"], one["job"])

    def test_a_kill_after_the_answer_takes_none_of_them_back(self):
        relay = self.start()
        later = [job(options={"delay": "1h"}) for _ in range(50)]
        jobs = [one["job"] for one in post(relay, later).json()["jobs"]]
        self.restart(relay)
        self.assertEqual({self.look(relay, one)["state"] for one in jobs}, {"scheduled"})

    def test_each_job_is_decided_on_by_itself(self):
        relay = self.start(limits={"replay_buffer": "64KiB"})
        key = {"path": "/x", "headers": {"Idempotency-Key": "k"}, "text": "kept"}
        large = {"path": "/x", "headers": {"Idempotency-Key": "large"}, "text": "x" * 100_000}
        first = post(relay, job(request=large)).json()["id"]
        jobs = [
            job(), job(route="upp"), job(route="other"), {"route": "keeps", "request": {"path": "/x"}}, {"route": "up"}, {"rout": "up", "id": "i"},
            7, job(request=key), job(request=key), job(request={**key, "text": "other"}), job(request=large),
        ]
        told = post(relay, jobs, ("Content-Type", "application/json")).json()
        codes = [one.get("error", {}).get("code") for one in told["jobs"]]
        self.assertEqual(codes, [
            None, "route_not_found", "not_allowed", None, "invalid_job", "invalid_job", "invalid_job", None, None,
            "idempotency_key_reused", None])
        self.assertEqual([one["ok"] for one in told["jobs"]], [code is None for code in codes])
        self.assertEqual(told["refused"], 6)
        outcomes = told["jobs"]
        self.assertEqual(outcomes[1]["error"]["did_you_mean"], "up")
        self.assertEqual([error["pointer"] for error in outcomes[4]["error"]["errors"]], ["/mode"])
        self.assertEqual((outcomes[5]["id"], outcomes[8]["replayed"]), ("i", True))
        self.assertEqual(outcomes[8]["job"], outcomes[7]["job"])
        self.assertEqual((outcomes[10]["job"], outcomes[10]["replayed"]), (first, True), "also of a body in a file")
        for one in outcomes[0], outcomes[3], outcomes[7]:
            self.wait_for_end(relay, one["job"])

    def test_only_as_many_as_there_is_room_for(self):
        relay = self.start(limits={"max_queued_jobs": 3})
        told = post(relay, [job(options={"delay": "1h"}) for _ in range(5)]).json()["jobs"]
        self.assertEqual([one.get("error", {}).get("code") for one in told], [None] * 3 + ["queue_full"] * 2)
        self.assertTrue(all(one["error"]["retry_after_ms"] for one in told[3:]), told)
        self.assertEqual(len(relay.ask("GET", "/v1/jobs").json()["jobs"]), 3)

    def test_an_array_of_which_nothing_is_kept_is_no_success(self):
        relay = self.start()
        got = post(relay, [job(route="upp"), {"rout": "up"}])
        self.assertEqual((got.status, got.json()["refused"]), (422, 2), got)
        self.assertEqual([one["error"]["code"] for one in got.json()["jobs"]], ["route_not_found", "invalid_job"])
        self.assertEqual(post(relay, [job(route="upp"), job()]).status, 200)

    def test_an_array_that_is_none_is_refused_as_a_whole(self):
        relay = self.start()
        fine = job(options={"delay": "1h"})
        for body, fields, status, code, word in [
            ([], [], 422, "invalid_job", "1 to 1000"), ([fine] * TOO_MANY, [], 422, "invalid_job", "1 to 1000"),
            (json.dumps([fine])[:-1].encode(), [], 422, "invalid_job", "not JSON"),
            (json.dumps([fine]).encode() + b"[]", [], 422, "invalid_job", "not JSON"),
            (b"[" * 100_000, [], 422, "invalid_job", "not JSON"), (b'[{"route":"\xff"}]', [], 422, "invalid_job", "not JSON"),
            (b'[{"route":"up","route":"up"}]', [], 422, "invalid_job", "not JSON"),
            (b"[" + b" " * (1 << 20) + b"]", [], 413, "content_too_large", "1048576"),
            ([fine], [("Idempotency-Key", "k")], 400, "bad_header", "each job"),
            ([fine], [("Waystation-Timeout", "1s")], 400, "bad_header", "each job"),
            ([fine], [("Content-Type", "application/x-ndjson")], 415, "unsupported_media_type", "application/json"),
        ]:
            with self.subTest(word=word, fields=fields):
                problem = self.assert_problem(post(relay, body, *fields), status, code)
                self.assertIn(word, problem["detail"])
        self.assertEqual(relay.ask("GET", "/v1/jobs").json()["jobs"], [])


if __name__ == "__main__":
    unittest.main()
