"""Where the relay connects and where it refuses to: addresses, names, TLS, Unix sockets."""

import socket
import ssl
import tempfile
import threading
import time
import unittest

from peers import Certificates, Nginx
from relay import RelayTest, route
from upstream import Close, answer


class Network(RelayTest):
    @classmethod
    def setUpClass(cls):
        cls.nginx = Nginx()
        cls.addClassCleanup(cls.nginx.close)
        (cls.nginx.directory / "files" / "big.bin").write_bytes(bytes(range(256)) * 4096)
        cls.upstream = cls.shared_upstream()
        cls.upstream.on("/x", answer(200, "x"))
        authority = {"ca_file": cls.nginx.certificates.authority}
        secure, plain = f"https://localhost:{cls.nginx.secure}/", f"http://127.0.0.1:{cls.nginx.plain}/"
        name = f"http://localhost:{cls.upstream.port}/"
        cls.relay = cls.shared_relay({
            "plain": route(plain),
            "socket": {"upstreams": [{"name": "u1", "unix": str(cls.nginx.directory / "nginx.sock")}]},
            "gone": {"upstreams": [{"name": "u1", "unix": str(cls.nginx.directory / "none.sock")}]},
            "secure": route(secure, tls=authority),
            "stranger": route(secure),
            "wrong-name": route(f"https://127.0.0.1:{cls.nginx.secure}/", tls=authority),
            "not-tls": route(f"https://localhost:{cls.nginx.plain}/", tls=authority),
            "unnamed": route("http://no-such-host.invalid/", timeouts={"connect": "3s"}),
            "inspected": route(plain, success={"require": [{"json": "/a", "equals": 1}]}),
            "local-name": {"upstreams": [{"name": "u1", "url": name}], "allow_addresses": ["10.0.0.0/8"]},
            "local-allowed": route(name),
        }, environment={
            "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1",
            "ALL_PROXY": "socks5://127.0.0.1:1", "SSL_CERT_FILE": "/nonexistent"}).start()

    def failure(self, name, kind, status=502):
        began = time.monotonic()
        got = self.relay.ask("POST", f"/r/{name}/x", body=b"x")
        self.assertLess(time.monotonic() - began, self.within(8))
        self.assert_problem(got, status, "upstream_failed" if status == 502 else "upstream_timeout")
        attempt = self.relay.job(got)["attempts"][0]
        self.assertEqual((attempt["kind"], attempt["sent"]), (kind, "never_sent"), got)
        self.assertIn(f"error={kind}", got["Proxy-Status"])
        return got.json()["detail"]

    def test_nginx_is_reached_in_the_clear_over_tls_and_over_its_unix_socket_whatever_the_proxy_variables_say(self):
        for name, scheme in ("plain", b"http"), ("secure", b"https"), ("socket", b"http"):
            for _ in range(2):
                got = self.relay.curl(f"/r/{name}/hello")
                self.assertEqual((got.status, got.body), (200, b"hello over " + scheme + b"\n"), name)

    def test_a_file_of_nginx_comes_whole_over_tls_and_in_ranges(self):
        whole = bytes(range(256)) * 4096
        self.assertEqual(self.relay.curl("/r/secure/big.bin").body, whole)
        got = self.relay.curl("/r/secure/big.bin", "-H", "Range: bytes=1000-1999")
        self.assertEqual((got.status, got.body), (206, whole[1000:2000]))

    def test_a_connection_to_nginx_is_kept(self):
        for name in "plain", "secure":
            self.relay.ask("GET", f"/r/{name}/hello")
        counted = [self.relay.descriptors()]
        for _ in range(20):
            self.relay.ask("GET", "/r/plain/hello")
            self.relay.ask("GET", "/r/secure/hello")
        # One kept connection on each of the two loops and origins at most.
        self.assertLess(self.relay.descriptors() - counted[0], 6)

    def test_an_answer_that_is_no_json_is_named(self):
        got = self.relay.ask("GET", "/r/inspected/hello")
        self.assertEqual(self.relay.job(got)["attempts"][0]["kind"], "decoding")

    def test_an_unknown_authority_is_refused(self):
        detail = self.failure("stranger", "tls_certificate_error")
        self.assertTrue(detail.endswith("; where its authority is your own, tls.ca_file names it"), detail)

    def test_a_certificate_for_another_name_is_refused(self):
        self.failure("wrong-name", "tls_certificate_error")

    def test_a_server_that_does_not_speak_tls_is_refused(self):
        detail = self.failure("not-tls", "tls_protocol_error")
        self.assertTrue(detail.endswith("; where the peer speaks plain HTTP, write http:// in the url"), detail)

    def test_a_server_that_speaks_tls_alone_is_named(self):
        self.upstream.on("/tls", Close(b"\x15\x03\x01\x00\x02\x02\x46"))
        got = self.relay.ask("GET", "/r/local-allowed/tls")
        problem = self.assert_problem(got, 502, "invalid_response")
        self.assertTrue(problem["detail"].endswith("; it is TLS: write https:// in the url"), problem)

    def test_a_name_that_does_not_resolve_fails_at_once(self):
        self.failure("unnamed", "dns_error")

    def test_a_unix_socket_that_is_not_there_fails_at_once(self):
        self.failure("gone", "destination_unavailable")

    def test_a_name_that_leads_to_this_machine_is_not_dialled_unless_it_is_allowed(self):
        self.failure("local-name", "destination_ip_prohibited")
        self.assertEqual(self.upstream.seen("/x"), [])
        self.assertEqual(self.relay.ask("GET", "/r/local-allowed/x").body, b"x")

    def test_an_address_of_this_machine_or_of_metadata_is_refused_with_the_configuration(self):
        for host in "127.0.0.1", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1":
            relay = self.new_relay({"up": {"upstreams": [{"name": "u1", "url": f"http://{host}:1/"}]}})
            try:
                relay.start()
            except AssertionError:
                self.assertRegex(relay.errors.text(), r"waystation\.json:\d+:\d+: error: ", host)
                continue
            got = relay.ask("GET", "/r/up/x")
            self.assertIn(relay.job(got)["attempts"][0]["kind"], ("destination_ip_prohibited", "dns_error"), host)

    def test_a_stranger_with_the_right_name_gets_no_byte_of_the_request(self):
        with tempfile.TemporaryDirectory() as directory:
            Certificates(directory)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server.key")
            listener = socket.create_server(("127.0.0.1", 0))
            said = []

            def serve():
                sock, _ = listener.accept()
                try:
                    with context.wrap_socket(sock, server_side=True) as secure:
                        said.append(secure.recv(1000))
                except OSError:
                    pass
            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            relay = self.new_relay({"up": route(
                f"https://localhost:{listener.getsockname()[1]}/", tls={"ca_file": self.nginx.certificates.authority})}).start()
            got = relay.ask("POST", "/r/up/x", body=b"secret")
            self.assertIn("error=tls_certificate_error", got["Proxy-Status"])
            thread.join(5)
            listener.close()
            self.assertEqual([piece for piece in said if piece], [], "no byte of the request was sent")


if __name__ == "__main__":
    unittest.main()
