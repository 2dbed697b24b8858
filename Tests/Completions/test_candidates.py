"""waystation __complete: what only the daemon knows, in time or not at all."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from world import COMMAND, HARMLESS, CompletionTest, timed

# Milliseconds that pass at most before there is an answer, or none.
LIMIT = 200
FIGURES = []


def candidates(kinds, path=None, **options):
    done = subprocess.run(
        [COMMAND, "__complete", kinds, *([path] if path else [])], capture_output=True, timeout=20,
        stdin=subprocess.DEVNULL, **options)
    assert (done.returncode, done.stderr) == (0, b""), done
    return done.stdout.decode().splitlines()


def soon(kinds, path, expected, part=slice(None)):
    """The answer, asked again where a busy machine has left it no time: it is given in time or not at all.

    As often as `measured` asks.
    """
    for _ in range(5):
        answer = candidates(kinds, path)[part]
        if answer == expected:
            break
    return answer


class Candidates(CompletionTest):
    @classmethod
    def tearDownClass(cls):
        print("\n".join(f"answer in {took:.0f} ms where {what}" for what, took in FIGURES))

    def measured(self, what, path):
        """The quickest of some is that of the program, whatever else the machine does."""
        answers = [timed(lambda: candidates("jobs", path)) for _ in range(5)]
        took = min(took for _, took in answers)
        FIGURES.append((what, took))
        self.assertLess(took, LIMIT, what)
        return answers[0][0]

    def test_routes_upstreams_jobs_and_labels_are_the_daemons(self):
        jobs = [f"{job}\tscheduled/alpha" for job in self.jobs][:100]
        for kinds, part, expected in (
                ("routes", slice(None), ["alpha", "alpine", "beta.2"]),
                ("upstreams", slice(None), ["alpha", "alpha/u1", "alpine", "alpine/u1", "beta.2", "beta.2/u1"]),
                ("jobs", slice(None), jobs), ("jobs,routes", slice(-2, None), ["alpine", "beta.2"])):
            with self.subTest(kinds):
                self.assertEqual(soon(kinds, self.relay.control, expected, part), expected)

    def test_no_label_is_told_that_a_shell_might_read(self):
        stored = {label for job in self.relay.ask("GET", "/v1/jobs?limit=100").json()["jobs"] for label in job["labels"]}
        self.assertGreater(len(stored - set(HARMLESS)), 10, "most of them are labels like others to the daemon")
        self.assertEqual(soon("labels", self.relay.control, sorted(HARMLESS)), sorted(HARMLESS))

    def test_every_word_that_is_explained_is_one_word_to_a_shell(self):
        words = candidates("words")
        self.assertIn("http_response_timeout", words)
        self.assertEqual([word for word in words if not re.fullmatch(r"[A-Za-z0-9_.-]+", word)], [])

    def test_who_asks_for_nothing_that_is_known_gets_nothing(self):
        for words in ([], ["secrets"], [""], ["--help"], ["jobs", "--socket"], ["jobs", "", "x"], ["jobs", "\x1b[2J"]):
            with self.subTest(words):
                done = subprocess.run([COMMAND, "__complete", *words], capture_output=True, timeout=20)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_the_answer_of_a_running_daemon_is_in_time(self):
        self.assertEqual(len(self.measured("the daemon runs", self.relay.control)), len(self.jobs))

    def test_a_daemon_that_is_stopped_in_the_middle_is_not_waited_for(self):
        self.relay.process.send_signal(signal.SIGSTOP)
        try:
            self.assertEqual(self.measured("the daemon hangs (SIGSTOP)", self.relay.control), [])
            words = candidates("words")
            self.assertEqual(soon("jobs,labels,words", self.relay.control, words), words)
        finally:
            self.relay.process.send_signal(signal.SIGCONT)

    def test_nobody_is_waited_for_who_listens_and_takes_no_connection_or_answers_without_end(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        full, slow = (socket.socket(socket.AF_UNIX) for _ in range(2))
        self.addCleanup(full.close)
        self.addCleanup(slow.close)
        full.bind(str(folder / "full"))
        full.listen(0)
        waiting = []
        while True:
            one = socket.socket(socket.AF_UNIX)
            one.setblocking(False)
            waiting.append(one)
            self.addCleanup(one.close)
            try:
                one.connect(str(folder / "full"))
            except BlockingIOError:
                break
        slow.bind(str(folder / "slow"))
        slow.listen(16)

        def answer():
            held = []
            while True:
                try:
                    held.append(slow.accept()[0])
                    held[-1].sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b"[" * 1000)
                except OSError:
                    for one in held:
                        one.close()
                    return
        answering = threading.Thread(target=answer)
        self.addCleanup(answering.join)
        self.addCleanup(slow.shutdown, socket.SHUT_RDWR)
        answering.start()
        if os.geteuid() == 0:
            for name in "full", "slow":
                os.chown(folder / name, 65534, -1)
        self.assertEqual(self.measured("its places are taken", str(folder / "full")), [])
        self.assertEqual(self.measured("its answer does not end", str(folder / "slow")), [])

    def test_where_there_is_no_daemon_there_is_no_answer(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "file").touch()
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(folder / "left"))
        left.close()
        for name in "none", "file", "left":
            self.assertEqual(self.measured(f"there is no daemon ({name})", str(folder / name)), [])

    @unittest.skipUnless(os.geteuid() == 0, "to become another user takes root")
    def test_who_may_not_connect_gets_nothing(self):
        # The build may lie where others may not look.
        command = self.relay.directory / "waystation"
        command.write_bytes(COMMAND.read_bytes())
        command.chmod(0o755)
        for kinds in "routes", "jobs", "labels":
            done = subprocess.run(
                [command, "__complete", kinds, self.relay.control], capture_output=True, timeout=20, user=65533,
                group=65533, extra_groups=[])
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_nobody_is_told_of_an_output_that_takes_nothing(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([COMMAND, "__complete", "words"], stdout=full, stderr=subprocess.PIPE, timeout=20)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_time_is_up_where_the_output_takes_no_more_also_with_signals_held_back(self):
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        while True:
            try:
                os.write(writing, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(writing, True)

        def hold():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        done = subprocess.run([COMMAND, "__complete", "words"], stdout=writing, timeout=20, preexec_fn=hold)
        self.assertEqual(done.returncode, 0)
        os.close(reading)
        os.close(writing)


if __name__ == "__main__":
    unittest.main()
