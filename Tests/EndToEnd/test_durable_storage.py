"""The store under the daemon: full, taken, too new, damaged."""

import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from caller import ask
from disk import inside, may_mount, on_small_disk
from durable import DurableTest, again, kept
from relay import Relay, daemon, eventually
from upstream import answer

COMMAND = pathlib.Path(daemon()).with_name("waystation")


class Storage(DurableTest):
    def refused(self, relay, *words):
        self.forget_life(relay)
        relay.launch()
        code = relay.process.wait(15)
        self.assertNotEqual(code, 0)
        self.assertGreater(code, 0, "it ends by itself and not by a signal")
        # An earlier life has had its end too, so that this one's cannot be waited for.
        for word in words:
            relay.errors.wait(word)
        return code

    def storage(self, relay):
        return ask(relay.control, "GET", "/v1/status").json()["storage"]

    def assert_refused_for_room(self, relay, count):
        text = ask(relay.control, "GET", "/metrics").body.decode()
        self.assertIn(f'\nwaystation_store_errors_total{{kind="full"}} {count}\n', text)

    def files(self, relay):
        directory = relay.directory / "state"
        return {path.name: path.read_bytes() for path in directory.glob("jobs.db*") if not path.name.endswith("-shm")}

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_full_disk_refuses_new_jobs_and_goes_on_delivering(self):
        door = self.new_door()
        self.upstream.on("/x", door)
        relay = self.new_relay({"up": kept(self.upstream.url)})
        state = on_small_disk(relay, "48m")
        relay.start()
        ids = [self.hand_over(relay, "/r/up/x", method="PUT") for _ in range(20)]
        filler = inside(relay, state) / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
        refusals = []

        def is_full():
            got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], os.urandom(200_000))
            if got.status == 202:
                ids.append(got["Waystation-Job"])
            else:
                refusals.append(got)
            return bool(refusals)
        eventually(is_full, "the disk is full")
        self.assert_problem(refusals[0], 507, "storage_full")
        eventually(lambda: self.storage(relay)["state"] == "full", "the status tells of it")
        # Before their bodies are read, too.
        for size in (1, 300_000):
            refusals.append(relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], os.urandom(size)))
            self.assert_problem(refusals[-1], 507, "storage_full")
        self.assert_refused_for_room(relay, len(refusals))
        told = subprocess.run([str(COMMAND), "status", "--socket", str(relay.control)], capture_output=True, text=True)
        self.assertIn("The job store has no room", told.stdout)
        door.open()
        for id in ids:
            self.wait_for_end(relay, id)
        self.assertIsNone(relay.process.poll())
        # Even now nothing is accepted, or what is accepted is kept.
        filler.unlink()

        def is_accepted():
            got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], b"small")
            return got.status == 202 and ids.append(got["Waystation-Job"]) is None
        eventually(is_accepted, "jobs are accepted again")
        eventually(lambda: self.storage(relay)["state"] == "ok", "the status tells that there is room")
        for id in ids:
            self.wait_for_end(relay, id)

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_store_that_refuses_large_bodies_says_so(self):
        self.upstream.on("/x", self.new_door())
        relay = self.new_relay({"up": kept(self.upstream.url)})
        on_small_disk(relay, "16m")
        relay.start()
        body = os.urandom(300_000)
        got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], body)
        while got.status == 202:
            got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], body)
        self.assert_problem(got, 507, "storage_full")
        self.assertEqual(self.storage(relay)["state"], "full")
        self.assert_refused_for_room(relay, 1)
        relay.errors.wait("<2>a job of route up was refused", "no room for its body")
        # Small ones are still taken, and so the relay is ready.
        self.hand_over(relay, "/r/up/x")
        self.assertEqual(ask(relay.control, "GET", "/v1/health/ready").status, 200)

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_disk_that_the_store_itself_filled_has_room_again(self):
        """Of any size from 16 MiB: what the database no longer needs is room."""
        for size in ("16m", "24m", "64m"):
            with self.subTest(size=size):
                path = f"/{size}"
                door = self.new_door()
                self.upstream.on(path, door)
                relay = self.new_relay({"up": kept(
                    self.upstream.url, concurrency={"max_requests": 32},
                    delivery={"keep_requests": "never", "keep_responses": "never"})})
                on_small_disk(relay, size)
                relay.start()
                body = os.urandom(12_000)

                def ask_once():
                    return relay.ask("PUT", f"/r/up{path}", [("Prefer", "respond-async")], body)
                got = ask_once()
                while got.status == 202:
                    got = ask_once()
                self.assert_problem(got, 507, "storage_full")
                # At once, and not a second later.
                self.assertEqual(self.storage(relay)["state"], "full")
                self.assertGreater(self.storage(relay)["used_bytes"], 2_000_000)
                door.open()
                eventually(lambda: self.unfinished(relay) == 0, "all is delivered", 60)
                began = time.monotonic()
                eventually(lambda: ask_once().status == 202, "jobs are accepted again", 15)
                self.assertLess(time.monotonic() - began, self.within(10))
                for _ in range(100):
                    self.assertEqual(ask_once().status, 202)
                relay.stop()

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_start_on_a_full_disk_serves_who_waits_and_keeps_jobs_once_there_is_room(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)})
        state = on_small_disk(relay, "24m")
        # Full before its first start: not even a store can be made.
        relay.before[relay.before.index("-c") + 1] = (
            'mount -t tmpfs -o mode=0700,size="$1" none "$0" && shift && { cat /dev/zero >"$0/filler"; exec "$@"; }')
        relay.start()
        self.assertEqual(relay.ask("PUT", "/r/up/x").status, 200)
        relay.errors.wait("<2>", "until there is room again")
        refused = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")])
        self.assert_problem(refused, 507, "storage_full")
        self.assertEqual(self.storage(relay)["state"], "full")
        for method, target in (("GET", "/v1/jobs"), ("POST", "/v1/routes/up/pause")):
            self.assert_problem(ask(relay.control, method, target), 507, "storage_full")
        eventually(lambda: relay.notices.having("STATUS=", "the job store has no room"), "the manager hears of it")
        (inside(relay, state) / "filler").unlink()
        eventually(
            lambda: relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")]).status == 202, "a job is accepted", 10)
        relay.errors.wait("<5>", "the job store is open and accepts jobs")
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x", method="PUT"))

    def test_a_file_of_the_store_that_is_taken_away_is_told_of_and_nothing_is_accepted(self):
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        id = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        file = relay.directory / "state" / "jobs.db"
        file.rename(relay.directory / "aside")
        for _ in range(10):
            got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")])
            self.assert_problem(got, 503, "storage_failed")
            self.assertIn("removed or replaced", got.json()["detail"])
        self.assertEqual(relay.ask("PUT", "/r/up/x").status, 200)
        self.assertEqual(self.storage(relay)["state"], "gone")
        self.assertIn(
            '\nwaystation_store_state{state="gone"} 1\n', ask(relay.control, "GET", "/metrics").body.decode())
        told = subprocess.run([str(COMMAND), "status", "--socket", str(relay.control)], capture_output=True, text=True)
        self.assertIn("removed or replaced a file of the job store", " ".join(told.stdout.split()))
        first = ask(relay.control, "GET", "/v1/troubles").json()["troubles"][0]
        self.assertEqual((first["kind"], first["state"], first["subject"]), ("store_gone", "failing", {"type": "store"}))
        self.assertRegex(first["since"], "^20")
        relay.errors.wait("<2>", "removed or replaced")
        (relay.directory / "aside").rename(file)
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))
        self.assertEqual(self.storage(relay)["state"], "ok")
        self.assertEqual(self.look(relay, id)["state"], "scheduled")

    def unfinished(self, relay):
        jobs = ask(relay.control, "GET", "/v1/routes/up").json()["jobs"]
        return sum(count for state, count in jobs.items() if state not in (
            "succeeded", "dead", "cancelled", "expired"))

    @unittest.skipUnless(may_mount(), "needs root, for a small disk")
    def test_a_file_size_limit_ends_no_daemon(self):
        """A write that fails in the middle of a body: refused, and nothing of it left."""
        self.upstream.on("/x", answer(200))
        relay = self.new_relay({"up": kept(self.upstream.url)})
        on_small_disk(relay, "32m")
        relay.start()
        got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], os.urandom(15 << 20))
        self.assertIn(got.status, (202, 507), got)
        full = [relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], os.urandom(15 << 20)) for _ in range(3)]
        self.assertEqual({got.status for got in full} - {202}, {507}, full)
        # The database may have met the end of the disk too, and looks for room every now and then.
        eventually(
            lambda: relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")]).status == 202,
            "a small job is accepted", 15)
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))

    def test_a_second_daemon_on_the_same_directory_is_refused(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        self.upstream.on("/x", answer(200))
        other = self.new_relay({"up": kept(self.upstream.url)}, storage={"directory": str(relay.directory / "state")})
        self.assertEqual(self.refused(other, "has it open", str(relay.directory / "state")), 69)
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))

    def test_a_newer_schema_is_refused_and_left_alone(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        relay.stop()
        database = sqlite3.connect(relay.directory / "state" / "jobs.db")
        database.execute("PRAGMA user_version = 999")
        database.close()
        before = self.files(relay)
        self.assertEqual(self.refused(relay, "schema", "999", "jobs.db"), 65)
        self.assertEqual(self.files(relay), before)

    def test_a_damaged_file_is_refused_and_kept(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        for _ in range(20):
            self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"), body=bytes(3000))
        relay.stop()
        path = relay.directory / "state" / "jobs.db"
        with open(path, "r+b") as file:
            file.write(b"\0" * 100)
        before = self.files(relay)
        self.refused(relay, "jobs.db")
        self.assertEqual(self.files(relay), before)
        path.write_bytes(b"")
        self.refused(relay, "jobs.db")
        path.unlink()
        self.refused(relay, "jobs.db")

    def test_a_failing_disk_ends_the_daemon_and_nothing_is_acknowledged_any_more(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace, to let a sync fail")
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        done = self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"))
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e",
             "inject=fdatasync,fsync:error=EIO", "-p", str(relay.process.pid)],
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(lambda: tracer.poll() is None and tracer.kill() or tracer.wait())
        eventually(lambda: int(relay.figures("TracerPid")) > 0, "the tracer is at work")
        accepted = []
        for _ in range(200):
            try:
                got = relay.ask("PUT", "/r/up/x", [("Prefer", "respond-async")], b"x")
            except Exception:
                break
            accepted.append(got.status)
            time.sleep(0.02)
        # The tracer takes hold of one thread after the other: what was accepted before counts.
        self.assertEqual(relay.process.wait(15), 74)
        relay.errors.wait("<2>")
        self.forget_life(relay)
        relay.start()
        self.assertEqual(self.look(relay, done)["state"], "scheduled")
        stored = ask(relay.control, "GET", "/v1/jobs?limit=500").json()["jobs"]
        self.assertGreaterEqual(len(stored), 1 + accepted.count(202))

    def test_no_error_of_a_sync_is_lost_while_a_store_is_made(self):
        """A start is refused whichever sync fails, and the next start works."""
        if shutil.which("strace") is None:
            self.skipTest("needs strace, to let a sync fail")
        self.upstream.on("/x", answer(200))
        # strace counts each call by itself; from the third fdatasync on the store is open.
        for call, last, least in (("fsync", 29, 4), ("fdatasync", 2, 2)):
            refused = 0
            for place in range(1, last + 1):
                outcome = self.start_with_failed_sync(call, place)
                if outcome is None:
                    break
                refused += outcome
            self.assertEqual(refused, least, call)

    def start_with_failed_sync(self, call, place):
        """Whether a start is refused of which that sync fails; None when there was none so late."""
        relay = self.new_relay({"up": kept(self.upstream.url)})
        trace = relay.directory / "trace"
        relay.before = [
            "strace", "-f", "-y", "-qq", "-o", str(trace), "-e", "trace=fsync,fdatasync",
            "-e", f"inject={call}:error=EIO:when={place}"]
        relay.launch()
        eventually(
            lambda: relay.process.poll() is not None or relay.notices.having("READY=1"), "it is ready or ended")
        lines = trace.read_text().splitlines()
        failed = [line for line in lines if "INJECTED" in line]
        is_refused = relay.process.poll() is not None
        if not is_refused:
            # Its tracer alone would leave it running.
            tracer = f"/proc/{relay.process.pid}/task/{relay.process.pid}/children"
            os.kill(int(pathlib.Path(tracer).read_text().split()[0]), signal.SIGKILL)
            relay.stop()
            self.assertEqual(failed, [])
            return None
        else:
            relay.errors.wait("(end)")
            self.assertEqual(relay.process.returncode, 69, relay.errors.text())
            self.assertRegex(relay.errors.text(), "Input/output error|disk I/O error")
        relay.before = []
        self.forget_life(relay)
        relay.start()
        self.wait_for_end(relay, self.hand_over(relay, "/r/up/x"))
        relay.stop()
        return is_refused

    def test_what_a_caller_sent_is_in_no_file_once_it_is_not_kept_any_more(self):
        fields = [("Authorization", "Bearer CANARY-4711"), ("Cookie", "session=CANARY-4711"), ("X-Own", "CANARY-4711")]
        relay = self.new_relay({
            "never": kept(self.upstream.url, delivery={"keep_requests": "never", "keep_responses": "never"}),
            "always": kept(self.upstream.url)})
        relay.start()
        self.upstream.on("/x", answer(200, b"", ("Set-Cookie", "CANARY-4711")))
        state = relay.directory / "state"

        def is_in_files():
            return [path.name for path in state.rglob("*")
                    if path.is_file() and b"CANARY-4711" in path.read_bytes()]
        # A large body stands in a file of its own.
        for body in (b"CANARY-4711", b"CANARY-4711" * 200_000):
            always = self.hand_over(relay, "/r/always/x?t=CANARY-4711", *fields, body=body)
            self.wait_for_end(relay, always)
            self.assertTrue(is_in_files())
            id = self.hand_over(relay, "/r/never/x?t=CANARY-4711", *fields, body=body)
            self.wait_for_end(relay, id)
            waiting = self.hand_over(relay, "/r/never/x", *fields, ("Waystation-Delay", "1h"), body=body)
            self.act(relay, waiting, "cancel")
            got = ask(relay.control, "DELETE", f"/v1/jobs/{always}/content")
            self.assertLess(got.status, 300, got)
            eventually(lambda: not any(name.startswith("jobs.db") for name in is_in_files()), "it is gone", 15)
            eventually(lambda: not is_in_files(), "it is gone", 15)

    def test_what_the_routes_credential_takes_the_place_of_is_not_stored(self):
        relay = self.new_relay({})
        relay.write({"up": kept(self.upstream.url, auth={
            "type": "bearer", "token": relay.secret("token", "the-routes-own")})})
        relay.start()
        self.upstream.on("/x", answer(200))
        id = self.hand_over(relay, "/r/up/x", ("Authorization", "Bearer CANARY-4711"), ("X-Own", "stays-4711"))
        self.wait_for_end(relay, id)
        self.assertEqual(self.upstream.seen("/x")[0]["Authorization"], "Bearer the-routes-own")
        files = b"".join(path.read_bytes() for path in (relay.directory / "state").glob("jobs.db*"))
        self.assertNotIn(b"CANARY-4711", files)
        self.assertIn(b"stays-4711", files)

    def test_a_job_with_a_damaged_answer_or_body_is_told_of_without_it_and_counted_once(self):
        self.upstream.on("/x", answer(400, b"R" * 4000))
        self.upstream.on("/y", answer(400))
        relay = self.new_relay({"up": kept(self.upstream.url, recovery=[again(attempts=2)])}).start()
        ids = [self.hand_over(relay, "/r/up/x"), self.hand_over(relay, "/r/up/y", body=b"S" * 4000)]
        for id in ids:
            self.wait_for_end(relay, id, "dead")
        relay.stop()
        relay.notices.wait("(gone)")
        relay.notices.items.clear()
        (relay.directory / "notify").unlink()
        file = relay.directory / "state" / "jobs.db"
        content = bytearray(file.read_bytes())
        for byte in b"R", b"S":
            content[content.rfind(byte * 50) - 100] ^= 1
        file.write_bytes(content)
        relay.start()
        for _ in range(3):
            told = ask(relay.control, "GET", f"/v1/jobs/{ids[0]}")
            self.assertEqual((told.status, told.json()["state"]), (200, "dead"), told)
            self.assertEqual(told.json()["response"], {"damaged": True})
            self.assertEqual({attempt["status"] for attempt in told.json()["attempts"]}, {400})
            told = ask(relay.control, "GET", f"/v1/jobs/{ids[1]}?include=body")
            self.assertEqual((told.status, told.json()["request"]["body"]), (200, {"damaged": True}), told)
            for target in f"{ids[0]}/response", f"{ids[1]}/request/body":
                self.assert_problem(ask(relay.control, "GET", f"/v1/jobs/{target}"), 500, "storage_corrupt")
        eventually(lambda: self.storage(relay)["corrupt_records"] >= 2, "the status counts them")
        self.assertEqual(self.storage(relay)["corrupt_records"], 2, "each of them once")
        figures = ask(relay.control, "GET", "/metrics").body.decode()
        for line in 'waystation_store_errors_total{kind="corrupt"} 2', "waystation_store_corrupt_records_total 2":
            self.assertIn(f"\n{line}\n", figures)

    def test_a_damaged_body_is_an_error_to_who_reads_it_and_told_to_the_operator(self):
        self.upstream.on("/x", answer(500))
        relay = self.new_relay(
            {"up": kept(self.upstream.url, recovery=[again("1h")])}, limits={"max_request_body": "32MiB"}).start()
        size = 20 << 20
        for place, is_early in ((3 << 20, True), (18 << 20, False)):
            id = self.hand_over(relay, "/r/up/x", method="PUT", body=bytes(size))
            self.wait_until(relay, id, state="retrying")
            path = max((relay.directory / "state" / "bodies").iterdir(), key=lambda path: path.stat().st_mtime)
            with open(path, "r+b") as file:
                file.seek(place)
                file.write(b"!")
            told = subprocess.run(
                ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", str(relay.control),
                 f"http://relay/v1/jobs/{id}/request/body"], capture_output=True, text=True)
            if is_early:
                self.assertEqual((told.returncode, told.stdout), (0, "500"))
                got = ask(relay.control, "GET", f"/v1/jobs/{id}/request/body")
                self.assert_problem(got, 500, "storage_corrupt")
                self.assertEqual(got.json()["job"], id)
            else:
                self.assertEqual(told.stdout, "200")
                self.assertIn(told.returncode, (18, 56), told.stderr)
            relay.errors.wait("<2>", "cannot read the stored body", path.name)
        eventually(lambda: self.storage(relay)["corrupt_records"] >= 2, "the status counts them")

    def test_what_is_kept_is_the_daemons_alone(self):
        relay = self.new_relay({"up": kept(self.upstream.url)}).start()
        self.hand_over(relay, "/r/up/x", ("Waystation-Delay", "1h"), body=bytes(2_000_000))
        for root, _, files in os.walk(relay.directory / "state"):
            for path in [root] + [os.path.join(root, name) for name in files]:
                mode = os.stat(path).st_mode
                self.assertEqual(mode & 0o077, 0, f"{path} is {mode:o}")


if __name__ == "__main__":
    unittest.main()
