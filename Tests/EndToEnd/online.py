"""The upstreams and the calls that tests of `check --online` share."""

import os
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from peers import Certificates, Nginx
from relay import RelayTest, daemon
from upstream import answer, as_json

# Strings that no output may hold.
SECRETS = "s3cret-of-client", "t0ken-of-mint", "k3y-in-header", "k3y-in-query", "b0dy-of-answer"
EXPIRED = """
    printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index.txt\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\n' > ca.cnf
    printf 'policy=p\\ncopy_extensions=copy\\n[p]\\ncommonName=supplied\\n' >> ca.cnf
    : > index.txt; echo unique_subject=no > index.txt.attr; echo 01 > serial
    openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr -out old.pem \\
        -startdate 20200101000000Z -enddate 20200201000000Z
    openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr -out future.pem \\
        -startdate 20990101000000Z -enddate 20990201000000Z
"""


class Secure:
    """Speaks TLS with a certificate and answers every request 200; with `asks` it wants one of its client,
    unless `verify` leaves it to that."""

    def __init__(self, certificate, key, asks=None, version=None, verify=ssl.CERT_REQUIRED):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if asks:
            context.load_verify_locations(asks)
            context.verify_mode = verify
        if version:
            context.maximum_version = version
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.socket.getsockname()[1]}/"
        self.heads = []
        threading.Thread(target=self.accept, args=[context], daemon=True).start()

    def accept(self, context):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[context, sock], daemon=True).start()

    def serve(self, context, sock):
        sock.settimeout(20)
        try:
            with context.wrap_socket(sock, server_side=True) as secure:
                while piece := secure.recv(65536):
                    self.heads.append(piece)
                    secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        except OSError:
            pass

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


class OnlineTest(RelayTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="e2e-online-")
        cls.addClassCleanup(folder.cleanup)
        cls.directory = pathlib.Path(folder.name)
        (cls.directory / "other").mkdir()
        cls.certificates, cls.others = Certificates(cls.directory), Certificates(cls.directory / "other")
        subprocess.run(["bash", "-ec", EXPIRED], cwd=cls.directory, check=True, capture_output=True, timeout=30)
        cls.trusted = {"ca_file": cls.certificates.authority}
        cls.good = cls.secure("server.pem")
        cls.expired = cls.secure("old.pem")
        cls.plain = cls.shared_upstream()
        cls.plain.on("/health", answer(200, "b0dy-of-answer"))
        cls.plain.on("/refuses", answer(401, "b0dy-of-answer"))
        cls.plain.on("/down", answer(503, "b0dy-of-answer"))
        cls.plain.on("/never", lambda request: None)
        cls.plain.on("/token", as_json(200, '{"access_token": "t0ken-of-mint", "token_type": "Bearer", "expires_in": 60}'))
        cls.plain.on("/no-token", as_json(401, '{"error": "invalid_client", "error_description": "b0dy-of-answer"}'))
        cls.nginx = Nginx()
        cls.addClassCleanup(cls.nginx.close)
        # A listener whose queue is full: what comes after is dropped in silence.
        cls.hole = socket.create_server(("127.0.0.1", 0), backlog=0)
        cls.addClassCleanup(cls.hole.close)
        cls.holds = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(cls.hole.getsockname())
            cls.holds.append(filler)
            cls.addClassCleanup(filler.close)

    @classmethod
    def secure(cls, certificate, **more):
        server = Secure(str(cls.directory / certificate), str(cls.directory / "server.key"), **more)
        cls.addClassCleanup(server.close)
        return server

    def look(self, routes, *words, program=daemon(), **members):
        """The exit status, what was printed, what was said, and the seconds it took."""
        relay = self.new_relay({}, **members)
        relay.write(routes(relay) if callable(routes) else routes)
        command = [program, "--check"] if program == daemon() else [program, "check"]
        began = time.monotonic()
        done = subprocess.run(
            [*command, str(relay.file), "--online", *words], capture_output=True, text=True, timeout=60,
            env={"PATH": os.environ["PATH"], "SWIFT_BACKTRACE": "enable=no"})
        for secret in SECRETS:
            self.assertNotIn(secret, done.stdout + done.stderr)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - began

    def tokens(self, relay, path, **members):
        return {"type": "oauth2_client_credentials", "token_url": self.plain.url + path, "client_id": "shop",
                "client_secret": relay.secret("client", "s3cret-of-client"), **members}
