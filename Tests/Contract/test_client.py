"""A client that openapi-python-client makes of the document calls every operation."""

import importlib
import json
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile
import unittest

import httpx
from contract import Contract
from relay import daemon
from world import World

HERE = pathlib.Path(__file__).resolve().parent


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        document = pathlib.Path(folder.name, "openapi.json")
        document.write_bytes(subprocess.run([daemon(), "--openapi"], check=True, capture_output=True).stdout)
        cls.contract = Contract(json.loads(document.read_text()))
        cls.said = subprocess.run(
            [pathlib.Path(sys.prefix, "bin", "openapi-python-client"), "generate", "--path", document, "--meta", "none",
             "--output-path", pathlib.Path(folder.name, "contract_client"), "--config", HERE / "client.yaml"],
            capture_output=True, text=True, check=True, timeout=120)
        sys.path.insert(0, folder.name)
        cls.addClassCleanup(sys.path.remove, folder.name)
        cls.world = World(jobs=4)
        cls.addClassCleanup(cls.world.close)
        made = importlib.import_module("contract_client")
        cls.types = importlib.import_module("contract_client.types")
        cls.models = importlib.import_module("contract_client.models")
        cls.client = made.Client(base_url="http://relay")
        # Without its own host name a Unix socket is as good as a port.
        cls.client.set_httpx_client(httpx.Client(
            base_url="http://relay", transport=httpx.HTTPTransport(uds=cls.world.relay.control), timeout=20))
        cls.modules = {}
        for tag in pkgutil.iter_modules(importlib.import_module("contract_client.api").__path__):
            package = importlib.import_module(f"contract_client.api.{tag.name}")
            for found in pkgutil.iter_modules(package.__path__):
                cls.modules[found.name] = importlib.import_module(f"{package.__name__}.{found.name}")

    def call(self, name, *words, status=200, **members):
        got = self.modules[name].sync_detailed(*words, client=self.client, **members)
        self.assertEqual(got.status_code, status, got)
        self.called.add(name)
        return got

    def file(self, data):
        return self.types.File(payload=data)

    def test_the_document_says_nothing_that_it_does_not_understand(self):
        self.assertEqual((self.said.stdout + self.said.stderr).splitlines()[1:], [])

    def test_every_operation(self):
        self.called = set()
        models = self.models
        self.assertEqual(self.call("get_version").parsed.name, "waystationd")
        for name in ("get_live", "get_ready", "get_history", "list_routes", "get_contract", "reload", "check_endpoints"):
            self.assertIsNotNone(self.call(name).parsed, name)
        self.assertIn(b"waystation_build_info", self.call("get_metrics").content)
        self.assertEqual(self.call("get_status").parsed.state.value, "serving")
        self.assertEqual(self.call("get_troubles").parsed.glance.store.value, "ok")
        self.assertFalse(self.call("get_constrained").parsed.constrained)
        order = models.ConstrainedOrder.from_dict({"state": "auto"})
        self.assertFalse(self.call("set_constrained", body=order).parsed.constrained)
        # Routes.
        self.assertEqual(self.call("get_route", "good").parsed.name, "good")
        self.assertEqual(self.call("get_route", "none", status=404).parsed.code.value, "route_not_found")
        pause = models.PauseOrder.from_dict({"reason": "tea"})
        self.assertEqual(self.call("pause_route", "good", body=pause).parsed.pause.reason, "tea")
        self.assertEqual(self.call("resume_route", "good").parsed.state.value, "ok")
        breaker = models.BreakerOrder.from_dict({"state": "closed"})
        got = self.call("set_breaker", "good", body=breaker).parsed
        self.assertEqual(got.upstreams[0].breaker.value, "forced_closed")
        self.assertEqual(self.call("clear_limits", "good", body=models.ClearOrder.from_dict({})).parsed.name, "good")
        self.assertGreater(self.call("get_shape").parsed.total.total, 0)
        table = self.call("get_table").parsed
        self.assertTrue(table.whole)
        self.assertIn("good", [row.name for row in table.routes])
        self.assertFalse(self.call("get_table", since=str(table.next_)).parsed.whole)
        # Jobs.
        request = {"path": "charges", "json": {"amount": 17}}
        job = models.Submission.from_dict({"route": "good", "request": request})
        got = self.call("submit_jobs", body=job).parsed
        self.assertEqual((got.state.value, got.response.body.json), ("succeeded", {"id": "ch_1"}))
        several = [models.ListedSubmission.from_dict({"id": "a", "route": "kept", "mode": "async", "request": request})]
        [outcome] = self.call("submit_jobs", body=several).parsed.jobs
        id = outcome.job
        self.call("get_job", id, wait="10s")
        self.assertEqual(self.call("get_job", id).parsed.state.value, "succeeded")
        self.assertEqual(self.call("get_job", outcome.job, include=self.models.GetJobInclude.BODY).parsed.id, id)
        self.assertEqual(len(self.call("list_attempts", id).parsed.attempts), 1)
        self.assertEqual(self.call("get_response", id).content, b'{"id": "ch_1"}')
        self.assertEqual(self.call("get_response_body", id).parsed.payload.read(), b'{"id": "ch_1"}')
        self.assertEqual(self.call("get_request_body", id).parsed.payload.read(), b'{"amount":17}')
        self.assertEqual(self.call("expunge_job", id).parsed.id, id)
        self.assertEqual(self.call("get_request_body", id, status=410).parsed.code.value, "body_expired")
        self.call("drop_job", id, status=204)
        waiting = self.call("submit_jobs", body=models.Submission.from_dict(
            {"route": "kept", "options": {"delay": "1h"}}), status=202).parsed.id
        for name, state in (("hold_job", "held"), ("release_job", "scheduled"), ("cancel_job", "cancelled")):
            self.assertEqual(self.call(name, waiting).parsed.state.value, state)
        self.assertIn(self.call("retry_job", waiting).parsed.state.value, ("queued", "running", "succeeded"))
        listed = self.call("list_jobs", state=[models.ListJobsStateItem.DEAD], limit=2).parsed
        self.assertEqual([job.state.value for job in listed.jobs], ["dead", "dead"])
        action = models.BulkAction.from_dict({"action": "retry", "filter": {"state": ["dead"]}})
        self.assertGreater(self.call("act_on_jobs", body=action).parsed.matched, 0)
        order = models.RunOrder.from_dict({"action": "retry", "filter": {"state": ["dead"]}, "rate": "1/h"})
        run = self.call("begin_run", body=order, status=202).parsed
        self.assertEqual(self.call("get_run", run.number).parsed.action.value, "retry")
        self.assertEqual(self.call("stop_run", run.number).parsed.state.value, "stopped")
        self.assertEqual([one.number for one in self.call("list_runs").parsed.runs], [run.number])
        line = json.dumps({"route": "good", "request": request}).encode() + b"\n"
        outcomes = self.call("stream_jobs", body=self.file(line)).content
        self.assertTrue(json.loads(outcomes)["ok"])
        # Its reader waits for the end of an answer, and events have none: as much of them as another client takes.
        with self.client.get_httpx_client().stream(**self.modules["read_events"]._get_kwargs(after="0")) as events:
            self.assertEqual(events.status_code, 200)
            self.assertTrue(next(events.iter_lines()).startswith("id: "))
        self.called.add("read_events")
        # Requests to an upstream.
        for name in [name for name in self.modules if name.startswith("send_")]:
            body = {"body": self.file(b'{"a": 1}')} if name in ("send_put", "send_post", "send_patch") else {}
            got = self.call(name, "good", "charges", **body)
            self.assertEqual(got.headers["Waystation-Outcome"], "success")
        ids = {operation["operationId"] for _, _, operation in self.contract.operations()}
        self.assertEqual({name.replace("_", "") for name in self.called}, {id.lower() for id in ids})


if __name__ == "__main__":
    unittest.main()
