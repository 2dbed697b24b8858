"""A daemon in a mode, an upstream whose answers go by the path's last word, and callers that send bytes as they are."""

import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nServer: u\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
ANSWERS = {
    "ok": OK,
    "empty": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "201": b"HTTP/1.1 201 Made\r\nContent-Length: 2\r\nLocation: /x/y\r\n\r\nab",
    "204": b"HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n",
    "204-length": b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
    "304": b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
    "304-length": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
    "304-extra": b"HTTP/1.1 304 Not Modified\r\n\r\nabc",
    "date": b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 2\r\nX: y\r\n\r\nab",
    "kept": b"HTTP/1.1 200 OK\r\nA: 1\r\nConnection: keep-alive\r\nB: 2\r\nContent-Length: 2\r\nC: 3\r\n\r\nab",
    "keep-alive": b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nab",
    "close": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
    "own": b"HTTP/1.1 200 OK\r\nWaystation-Job: FAKE\r\nPreference-Applied: x\r\nContent-Length: 2\r\n\r\nab",
    "rate": b"HTTP/1.1 200 OK\r\nRateLimit-Remaining: 9\r\nContent-Length: 2\r\n\r\nab",
    "404": b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\nX: 1\r\n\r\nnix",
    "500": b"HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nerr",
    "302": b"HTTP/1.1 302 Found\r\nLocation: /r/else\r\nContent-Length: 0\r\n\r\n",
    "odd": b"HTTP/1.1 200 OK\r\nX:nospace\r\nY:  two\r\nZ: end \r\nContent-Length: 2\r\n\r\nab",
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "http10": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab",
    "extra": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n",
    "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nab",
    "garbage": b"NOPE\r\n\r\n",
    "quotes": b"HTTP/1.1 200 OK\r\nETag: \"a\\b\"\r\nX-Y: \xc3\xa9\r\nX-Z: \xff \xc3 \"\r\nContent-Length: 14\r\n\r\n"
              b"\"a\\\n\x01\x1f\x7f\xc3\xa9\t\r.\xe2\x80",
    "text": b"HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n\"a\\\n\x00\x1f\x7f\xc3\xa9\t\r\b\f/...",
    "escapes": b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b"\x01\"\n" * 3000,
    "escapes-more": b"HTTP/1.1 200 OK\r\nX: " + b"\"" * 9000 + b"\r\nContent-Length: 30000\r\n\r\n" + b"\x02" * 30000,
    "bytes": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\x00\xff\xfe\x80a",
    "json-lines": b"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n\r\n{ \"a\":\n [1,\r\n2 ]}  ",
    "json-twice": b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n1\n2\n",
    "json-word": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nnull\n",
    "blanks": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n \n ",
    "fields": b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nA: 1\r\nContent-Length: 2\r\nA: 2\r\na: :, ;\r\n\r\nab",
    "big": b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"z" * 300000,
    "gone": b"",
    "cut": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "cut-head": b"HTTP/1.1 200 OK\r\nConte",
    "link": b"HTTP/1.1 200 OK\r\nLink: <http://127.0.0.1/x>; rel=next\r\nContent-Length: 2\r\n\r\nab",
    "json": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}",
    "json-error": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n{\"error\":{\"code\":\"e-1\"}}",
    "json-cut": b"HTTP/1.1 200 OK\r\nContent-Type: application/json; x=y\r\nContent-Length: 8\r\n\r\n{\"ok\":tr",
    "json-mark": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n\xef\xbb\xbf{}",
    "json-coded": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
    "json-types": b"HTTP/1.1 200 OK\r\nContent-Type: text/a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    "json-bad": b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{\"ok\":false}",
}
# Answers after which the connection ends.
LAST = {"over", "gone", "cut", "cut-head", "close", "http10", "extra", "304-extra", "chunks-behind"}


def cut(answer, size):
    return [answer[start:start + size] for start in range(0, len(answer), size)]


def counted(size, fields=b""):
    return b"HTTP/1.1 200 OK\r\nServer: u\r\n%sContent-Length: %d\r\n\r\n" % (fields, size)


CHUNKED = b"HTTP/1.1 200 OK\r\nServer: u\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
# In pieces, a moment between each and the next.
PIECES = {
    "slow": cut(OK, 7), "split": cut(OK, 30), "split-body": cut(OK, len(OK) - 2),
    "head-first": [counted(2000), b"h" * 2000], "pieces": [counted(5000) + b"a" * 10, b"b" * 4980, b"c" * 10],
    "pieces-kept": [counted(900, b"Connection: keep-alive\r\n") + b"a", b"b" * 899],
    "large": [counted(3_000_000) + b"l" * 7, b"m" * 2_999_993], "huge": [counted(9_000_000) + b"h" * 9_000_000],
    "behind": [counted(4) + b"ab", b"cdHTTP/1.1 200 OK\r\n"],
    "chunks": [CHUNKED, b"3\r\nabc\r\n", b"4\r\ndefg\r\n", b"0\r\n\r\n"],
    "chunks-odd": [CHUNKED + b"1", b"0\r\n0123456789abc", b"def\r", b"\n2;x=y\r\ngh\r\n0\r\nT: u\r\n", b"\r\n"],
    "chunks-large": [CHUNKED + b"186a0\r\n" + b"k" * 100_000, b"\r\n7a120\r\n" + b"l" * 500_000 + b"\r\n0\r\n\r\n"],
    "chunks-none": [CHUNKED, b"0\r\n\r\n"], "chunks-bad": [CHUNKED + b"2\r\nab\r\n", b"zz\r\n"],
    "chunks-wrong": [CHUNKED + b"zz\r\nab\r\n"], "chunks-behind": [CHUNKED + b"1\r\na\r\n0\r\n\r\nHTTP"],
    "json-pieces": cut(ANSWERS["json"], len(ANSWERS["json"]) - 4), "json-late": cut(ANSWERS["json-error"], 90),
    "middling": [counted(60_000) + b"n" * 100, b"o" * 30_000, b"p" * 29_900], "over": [counted(4) + b"a", b"bcde"],
    "json-large": [counted(9_000, b"Content-Type: application/json\r\n"), b"[" + b" " * 8_998 + b"]"],
    "json-over": [counted(30_000, b"Content-Type: application/json\r\n"), b"[" + b" " * 29_998 + b"]"],
    "late": [OK], "held": [counted(700_000) + b"h", b"i" * 699_999],
    "both": [CHUNKED[:-2] + b"Content-Length: 3\r\n\r\n", b"0\r\n\r\n"],
}
# The same, and then the connection ends; of the last two by a reset, and not at all.
BROKEN = {
    "cut-middling": [counted(60_000) + b"n" * 100, b"o" * 30_000], "stalled-middling": [counted(30_000), b"o" * 20_000],
    "cut-late": [counted(3000) + b"a" * 10, b"b" * 500], "cut-first": [counted(700_000)],
    "cut-chunks": [CHUNKED + b"5\r\nabcde\r\n", b"9\r\nabc"], "cut-many": [counted(900_000) + b"d" * 50_000, b"e" * 90_000],
    "reset-middling": [counted(40_000) + b"a" * 70, b"b" * 70],
    "reset-late": [counted(400_000) + b"a" * 70, b"b" * 70], "stalled": [counted(400_000) + b"a" * 70, b"b" * 70],
}


class Upstream:
    """Keeps connections, and the requests as they came."""

    def __init__(self, tls=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port, self.tls = self.listener.getsockname()[1], tls
        self.seen, self.turn, self.lock = [], 0, threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        buffer = b""
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            while True:
                head, body, buffer = read_message(connection, buffer)
                if head is None:
                    return
                with self.lock:
                    self.seen.append((head, body))
                word = head.split(b" ")[1].split(b"?")[0].rsplit(b"/", 1)[-1].decode(errors="replace")
                if not self.answer(connection, word, head):
                    return
        except (OSError, IndexError):
            pass
        finally:
            connection.close()

    def answer(self, connection, word, head):
        """Whether the connection stays."""
        pieces = PIECES.get(word) or BROKEN.get(word) or []
        if word == "late":
            time.sleep(0.1)
        for piece in pieces:
            connection.sendall(piece)
            # A piece that comes with the end of its connection is not passed on: a busy machine reads it later.
            if word in BROKEN:
                wait_until_read(connection)
            time.sleep(0.1 if word == "held" else 0.03 * patience() if word in BROKEN else 0.01)
        if word.startswith("stalled"):
            time.sleep(2)
        if pieces and not word.startswith("reset"):
            return word in PIECES and word not in LAST
        if word == "flaky":
            with self.lock:
                self.turn += 1
            connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" if self.turn % 2 else OK)
            return True
        if word.startswith("reset"):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        answer = ANSWERS.get(word, OK)
        if head.startswith(b"HEAD"):
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        connection.sendall(answer)
        return word not in LAST


def patience():
    """How many times longer than on an idle machine the daemon may take to pass on what it has read."""
    return max(1, os.getloadavg()[0] / 2)


def wait_until_read(connection, seconds=5):
    """Waits until the process at the other end, on this machine, has read what was sent, or no longer."""
    ends = [f":{address[1]:04X}" for address in (connection.getpeername(), connection.getsockname())]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, remote, _, queues = line.split()[:5]
            if [local[-5:], remote[-5:]] == ends:
                if int(queues.split(":")[1], 16) == 0:
                    return
                break
        else:
            return
        time.sleep(0.001)


def read_message(connection, buffer):
    """A head, its content and what follows it; no head at the end."""
    while b"\r\n\r\n" not in buffer:
        data = connection.recv(65536)
        if not data:
            return None, b"", b""
        buffer += data
    head, _, buffer = buffer.partition(b"\r\n\r\n")
    if re.search(rb"(?i)\r\ntransfer-encoding: *chunked", head):
        while not buffer.endswith(b"0\r\n\r\n"):
            data = connection.recv(65536)
            if not data:
                return None, b"", b""
            buffer += data
        return head, buffer, b""
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    length = int(found[1]) if found else 0
    while len(buffer) < length:
        data = connection.recv(65536)
        if not data:
            return None, b"", b""
        buffer += data
    return head, buffer[:length], buffer[length:]


def certificate(directory):
    """A context for a server on 127.0.0.1, and the file of its authority."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=directory, check=True, capture_output=True, timeout=30)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")
    return context, str(directory / "cert.pem")


class Daemon:
    """A daemon in a mode, with a route of each kind to one upstream, and to one with TLS."""

    def __init__(self, binary, mode, kind=Upstream):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pass-through-"))
        self.socket, self.control = str(self.directory / "jobs"), str(self.directory / "control")
        context, authority = certificate(self.directory)
        self.upstream, self.sealed = kind(), kind(context)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        (self.directory / "state").mkdir(mode=0o700)
        (self.directory / "secret").write_text("canary-credential")
        (self.directory / "secret").chmod(0o600)
        self.mode = mode
        file = self.directory / "waystation.json"
        file.write_text(json.dumps(self._configuration(authority)))
        self.errors = open(self.directory / "errors", "w")
        self.process = subprocess.Popen(
            [binary, "--config", str(file), "--loops", "1", "--pass-through", mode], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.errors, cwd=self.directory)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.connect().close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("the daemon did not start: " + self.said())

    def _configuration(self, authority):
        off = {"enabled": False}
        plain = {"upstreams": [{"name": "u1", "url": f"http://127.0.0.1:{self.upstream.port}/base/"}],
                 "allow_addresses": ["127.0.0.0/8"], "circuit_breaker": off, "throttling": off}
        again = {"name": "again", "on": ["503", "connection"], "retry": {
            "max_attempts": 3, "methods": "any",
            "backoff": {"type": "constant", "base_interval": "5ms", "jitter": "none"}}}
        fixed = {"X-Tenant": "shop \"7\"", "User-Agent": "fixed/1"}
        return {
            "listeners": [{"name": "jobs", "unix": self.socket, "mode": "0600", "role": "submit"},
                          {"name": "port", "tcp": f"127.0.0.1:{self.port}", "role": "submit"},
                          {"name": "control", "unix": self.control, "mode": "0600", "role": "admin"}],
            "storage": {"directory": str(self.directory / "state")}, "log": {"level": "error"},
            "routes": {
                "p": plain,
                "q": {**plain, "recovery": [again]},
                "t": {**plain, "upstreams": [{"name": "u1", "url": f"https://127.0.0.1:{self.sealed.port}/"}],
                      "tls": {"ca_file": authority}},
                "e": {**plain, "auth": {"type": "bearer", "token": {"file": str(self.directory / "secret")}},
                      "idempotency": {"generate": True},
                      "request": {"headers": {"set": fixed, "remove": ["Cookie", "X-B"]},
                                  "query": {"set": {"tenant": "a b", "v": "1"}}},
                      "prepare": [{"each": "job", "set_header": {"X-Job": "{job.id} of {route}", "X-Now": "{now}"}},
                                  {"each": "attempt", "set_header": {"X-Try": "{attempt} at {now}"}}]},
                "c": {**plain, "request": {"propagate": "caller"}},
                "s": {**plain, "success": {"status": ["200", "404"]}},
                # Routes that wait, for content that goes on at once and for content that has to be there first.
                "w": {**plain, "timeouts": {"idle": "300ms"}},
                "x": {**plain, "timeouts": {"idle": "300ms"}, "recovery": [again]},
                "y": {**plain, "timeouts": {"attempt": "300ms"}, "recovery": [again]},
                "j": {**plain, "success": {"content_type": ["application/json"], "inspect_limit": "20KiB", "fail": [
                          {"json": "/ok", "equals": False, "kind": "refused"}]},
                      "api_error": {"statuses": "any", "require": ["/error"], "code": "/error/code"}},
            }}

    def connect(self, by_port=False):
        if by_port:
            return socket.create_connection(("127.0.0.1", self.port), 5)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(5)
        connection.connect(self.socket)
        return connection

    def ask(self, target):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(self.control)
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % target.encode())
        answer = b""
        while data := connection.recv(65536):
            answer += data
        connection.close()
        return answer.partition(b"\r\n\r\n")[2].decode()

    def document(self, job):
        """A job's document, without what differs from run to run, and without the way it went."""
        document = self.ask(f"/v1/jobs/{job}")
        for pattern, value in (r"[0-9A-Z]{26}", "ID"), (r'"ordinary_path":{[^}]*},', ""), (r"20\d\d-\d\d-\d\dT[0-9:.]+Z", "T"), (
                r'(_ms"|"dns"|"connect"|"first_byte"):[0-9.]+', r'\1:N'), (
                r"127.0.0.1:\d+", "ADDRESS"), (r'"pid":\d+', '"pid":N'):
            document = re.sub(pattern, value, document)
        return document

    def figures(self):
        """The counters that do not go by time, as connections do, without those of the paths themselves."""
        figures = {}
        for line in self.ask("/metrics").splitlines():
            if line.startswith("waystation") and not re.search(
                    "seconds|bytes|process|uptime|_sum|bucket|loop|time|_ordinary|_promoted"
                    "|upstream_connections|upstream_handshakes", line):
                name, value = line.rsplit(" ", 1)
                figures[name] = value
        return figures

    def sum(self, name):
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in self.ask("/metrics").splitlines()
                   if line.startswith(name + "{") or line.startswith(name + "_total{"))

    def said(self):
        return (self.directory / "errors").read_text(errors="replace")

    def stop(self):
        """The exit status."""
        self.process.terminate()
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait(20)
        self.errors.close()
        return code

    def clean(self):
        shutil.rmtree(self.directory, ignore_errors=True)


def request(method, target, fields=(), body=b"", version=b"HTTP/1.1", has_host=True, has_length=True):
    head = b"%s %s %s\r\n" % (method, target, version)
    if has_host:
        head += b"Host: localhost\r\n"
    for field in fields:
        head += field + b"\r\n"
    if has_length and (body or method in (b"POST", b"PUT", b"PATCH")):
        head += b"Content-Length: %d\r\n" % len(body)
    return head + b"\r\n" + body


def unchunked(content):
    """How content is divided into chunks is chance."""
    whole = b""
    while content:
        size, _, content = content.partition(b"\r\n")
        count = int(size, 16)
        whole, content = whole + content[:count], content[count + 2:]
        if not count:
            return whole + b"<whole>" + content
    return whole


def read_answer(connection, buffer, is_head=False):
    """The answer's bytes, those behind it, and whether the connection is over."""
    def more():
        try:
            return connection.recv(65536) or b"<end>"
        except OSError as error:
            return b"<%s>" % type(error).__name__.encode()

    while b"\r\n\r\n" not in buffer:
        data = more()
        buffer += data
        if data.startswith(b"<"):
            return buffer, b"", True
    head, _, buffer = buffer.partition(b"\r\n\r\n")
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    has_content = not is_head and head[9:12] not in (b"204", b"304") and head[9:10] != b"1"
    length = int(found[1]) if found and has_content else 0
    is_chunked = b"transfer-encoding: chunked" in head.lower() and has_content
    while (not buffer.endswith(b"0\r\n\r\n")) if is_chunked else (len(buffer) < length):
        data = more()
        if data in (b"<end>",) or data.startswith(b"<") and data.endswith(b"Error>"):
            return head + b"\r\n\r\n" + buffer + data, b"", True
        buffer += data
    if is_chunked:
        buffer = unchunked(buffer)
        length = len(buffer)
    return head + b"\r\n\r\n" + buffer[:length], buffer[length:], False
