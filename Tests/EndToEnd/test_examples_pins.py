"""config/examples/pins.json, with keys and certificates of the test's own."""

import base64
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

from examples import ExampleTest, document
from peers import Certificates

BACKUP = base64.b64encode(bytes(range(32))).decode()


def digest(certificate):
    """As the manual says it is made."""
    return subprocess.run(
        f"openssl x509 -in '{certificate}' -pubkey -noout | openssl pkey -pubin -outform der"
        " | openssl dgst -sha256 -binary | base64",
        shell=True, check=True, capture_output=True, text=True, timeout=30).stdout.strip()


class Bank:
    """Speaks TLS, answers 200 to every request and remembers every byte that came inside."""

    def __init__(self, directory):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server.key")
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.said, self.handshakes = [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[sock], daemon=True).start()

    def serve(self, sock):
        sock.settimeout(20)
        try:
            with self.context.wrap_socket(sock, server_side=True) as secure:
                self.handshakes.append(secure.version())
                while piece := secure.recv(65536):
                    self.said.append(piece)
                    if b"\r\n\r\n" in piece:
                        secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nmoney")
        except OSError:
            pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class Pins(ExampleTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="e2e-pins-")
        cls.addClassCleanup(folder.cleanup)
        cls.directory = pathlib.Path(folder.name)
        cls.certificates = Certificates(cls.directory)
        cls.bank = Bank(cls.directory)
        cls.addClassCleanup(cls.bank.close)

    def pinned_to(self, key, backup=BACKUP):
        """The example with its keys, its authority and its port replaced, and nothing else."""
        pins = document("pins")["routes"]["bank"]["tls"]["pins"]["spki_sha256"]
        self.bank.said.clear()
        self.bank.handshakes.clear()
        return self.example("pins", {
            "https://localhost:9443/": f"https://localhost:{self.bank.port}/",
            "/etc/ssl/certs/ca-certificates.crt": self.certificates.authority,
            pins[0]: key, pins[1]: backup}, allowed={"ca_file", "0", "1"})

    def test_a_chain_with_a_pinned_key_is_served_be_it_the_servers_or_the_authoritys(self):
        for name in "server.pem", "ca.pem":
            key = digest(self.directory / name)
            for first, second in (key, BACKUP), (BACKUP, key):
                relay = self.pinned_to(first, second)
                for route in "bank", "trial":
                    got = relay.curl(f"/r/{route}/balance")
                    self.assertEqual((got.status, got.body), (200, b"money"), (name, route))
                    self.assert_timeline(relay, got, (200, None))
                self.assertEqual(relay.errors.having("pinned keys"), [])

    def test_a_chain_without_a_pinned_key_gets_no_byte_of_the_request(self):
        relay = self.pinned_to(base64.b64encode(bytes(32)).decode())
        got = relay.curl("/r/bank/balance", "-d", "everything", "-H", "Authorization: Bearer t")
        self.assert_problem(got, 502, "upstream_failed")
        (attempt,) = relay.job(got)["attempts"]
        self.assertEqual((attempt["kind"], attempt["sent"]), ("tls_certificate_error", "never_sent"))
        self.assertIn("pin", attempt["detail"])
        self.assertIn("error=tls_certificate_error", got["Proxy-Status"])
        self.assertEqual(self.bank.said, [])

    def test_pins_on_trial_report_and_go_on(self):
        relay = self.pinned_to(base64.b64encode(bytes(32)).decode())
        got = relay.curl("/r/trial/balance")
        self.assertEqual((got.status, got.body), (200, b"money"))
        self.assert_timeline(relay, got, (200, None))
        line = relay.errors.wait(got["Waystation-Job"], "none of the pinned keys")
        self.assertTrue(line.startswith("<4>"), line)

    def test_pins_do_not_replace_the_authority(self):
        key = digest(self.directory / "server.pem")
        with tempfile.TemporaryDirectory(prefix="e2e-pins-") as other:
            stranger = Certificates(other).authority
            certificates, self.certificates.authority = self.certificates.authority, stranger
            try:
                relay = self.pinned_to(key)
            finally:
                self.certificates.authority = certificates
            for route in "bank", "trial":
                got = relay.curl(f"/r/{route}/balance")
                self.assertEqual(relay.job(got)["attempts"][0]["kind"], "tls_certificate_error")
        self.assertEqual(self.bank.said, [])


if __name__ == "__main__":
    unittest.main()
