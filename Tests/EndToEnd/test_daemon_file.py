"""The file that a daemon names: a command reads it as its caller, who may be root, only where nobody else chose it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from relay import RelayTest, daemon, route

COMMAND = pathlib.Path(daemon()).with_name("waystation")
IS_ROOT = os.geteuid() == 0
# Another user's daemon, which names a file of its choice.
STRANGER = """
import os, socket, sys
os.setgroups([]); os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(8)
print("there", flush=True)
body = b'{"config": {"file": "%s"}}' % sys.argv[2].encode()
while True:
    sock, _ = listener.accept()
    if sock.recv(65536):
        sock.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n%s"
                     % (len(body), body))
    sock.close()
"""


class DaemonFile(RelayTest):
    def ask(self, socket):
        return subprocess.run(
            [COMMAND, "what-if", "up", "503", "--socket", socket], capture_output=True, text=True, timeout=30)

    def test_the_daemon_tells_of_its_file_from_the_root_on(self):
        relay = self.new_relay({"up": route("http://127.0.0.1:9")})
        script = f'cd {relay.directory}; program=$1; shift 3; exec "$program" --config waystation.json "$@"'
        relay.before = ["sh", "-c", script, "sh"]
        relay.start()
        self.assertEqual(relay.status()["config"]["file"], str(relay.file))

    @unittest.skipUnless(IS_ROOT, "to have another user's daemon takes root")
    def test_nobody_else_chooses_the_file(self):
        relay = self.new_relay({"up": route("http://127.0.0.1:9")}).start()
        for owner, mode in ((65534, 0o644), (0, 0o664)):
            relay.file.chmod(mode)
            os.chown(relay.file, owner, 0)
            done = self.ask(relay.control)
            self.assertEqual(done.returncode, 5, done)
            self.assertIn("may be written by others than you and root", done.stderr)
            self.assertIn("Name the file: --config FILE", done.stderr)
        os.chown(relay.file, 0, 0)
        relay.file.chmod(0o644)
        with tempfile.TemporaryDirectory(prefix="e2e-stranger-") as folder:
            os.chown(folder, 65534, 65534)
            for path, user, words in (
                    (str(relay.file), 65534, "nobody's"), ("waystation.json", 0, "from a directory that it does not tell")):
                place = f"{folder}/{user}.sock"
                stranger = subprocess.Popen(
                    [sys.executable, "-c", STRANGER, place, path, str(user)], stdout=subprocess.PIPE, cwd="/")
                self.addCleanup(stranger.communicate)
                self.addCleanup(stranger.kill)
                stranger.stdout.readline()
                done = self.ask(place)
                self.assertEqual(done.returncode, 5, done)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
