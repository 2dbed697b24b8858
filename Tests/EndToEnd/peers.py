"""Real peers: nginx, and certificates made by openssl."""

import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from upstream import free_port

NGINX = """
daemon off; master_process off; pid {directory}/nginx.pid; error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi; scgi_temp_path {directory}/scgi;
  gzip on; gzip_min_length 1; gzip_types text/plain;
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{secure} ssl;
    listen unix:{directory}/nginx.sock;
    ssl_certificate {directory}/server.pem; ssl_certificate_key {directory}/server.key;
    location = /hello {{ default_type text/plain; return 200 "hello over $scheme\\n"; }}
    location / {{ root {directory}/files; }}
  }}
}}
"""


class Certificates:
    """An authority, and a server certificate of its for `names`."""

    def __init__(self, directory, names="DNS:localhost"):
        self.directory = pathlib.Path(directory)
        self.authority = str(self.directory / "ca.pem")
        self._openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
        self._openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
            "-addext", f"subjectAltName={names}", "-keyout", "server.key", "-out", "server.csr")
        self._openssl(
            "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-copy_extensions", "copy", "-out", "server.pem")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True, timeout=30)


class Nginx:
    """nginx on loopback ports and a Unix socket, as a child of ours."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="e2e-nginx-"))
        self.directory.chmod(0o755)
        (self.directory / "files").mkdir()
        self.certificates = Certificates(self.directory)
        # nginx cannot be asked for a free port: another process may take these first, so there is a second try.
        for _ in range(5):
            self.plain, self.secure = free_ports(2)
            file = self.directory / "nginx.conf"
            file.write_text(NGINX.format(directory=self.directory, plain=self.plain, secure=self.secure))
            self.process = subprocess.Popen(
                [shutil.which("nginx") or "/usr/sbin/nginx", "-p", str(self.directory), "-c", str(file),
                 "-e", str(self.directory / "error.log")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self._listens():
                return
        raise AssertionError("nginx did not start: " + (self.directory / "error.log").read_text())

    def _listens(self):
        end = time.monotonic() + 10
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.secure), 1).close()
                return True
            except OSError:
                time.sleep(0.01)
        return False

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.directory, ignore_errors=True)


def free_ports(count):
    ports = set()
    while len(ports) < count:
        ports.add(free_port())
    return list(ports)
