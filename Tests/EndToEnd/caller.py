"""Callers of the relay: a raw socket that hides nothing, and curl."""

import json
import socket
import subprocess

PATIENCE = 10


class Answer:
    def __init__(self, status, fields, body, version="HTTP/1.1", interim=()):
        self.status, self.fields, self.body = status, fields, body
        self.version, self.interim = version, list(interim)

    def __getitem__(self, name):
        found = self.all(name)
        return found[0] if found else None

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:300]!r}"


class Ended(Exception):
    """The peer ended the connection before the message was complete; `got` is what came of it."""

    def __init__(self, got):
        super().__init__(f"the connection ended after {got[:200]!r}")
        self.got = got


class Caller:
    """One connection to a socket of the relay."""

    def __init__(self, address, patience=PATIENCE):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(patience)
        self.socket.connect(address)
        self.held = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_quietly(self, data):
        """Sends what the relay may refuse before it has all of it."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def finish(self):
        self.socket.shutdown(socket.SHUT_WR)

    def _more(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Ended(self.held)
        self.held += data

    def _until(self, mark):
        while mark not in self.held:
            self._more()
        piece, self.held = self.held.split(mark, 1)
        return piece

    def _exactly(self, count):
        while len(self.held) < count:
            self._more()
        piece, self.held = self.held[:count], self.held[count:]
        return piece

    def head(self):
        lines = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        version, status, *_ = lines[0].split(" ")
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        return Answer(int(status), fields, b"", version)

    def answer(self, method="GET"):
        """Reads one final answer with its body, by the framing it claims."""
        interim = []
        while True:
            answer = self.head()
            if answer.status >= 200:
                break
            interim.append(answer.status)
        answer.interim = interim
        if method == "HEAD" or answer.status in (204, 304):
            return answer
        if answer["Transfer-Encoding"] == "chunked":
            pieces = []
            while True:
                size = int(self._until(b"\r\n"), 16)
                piece = self._exactly(size)
                if self._exactly(2) != b"\r\n":
                    raise AssertionError("a chunk without its end")
                if not size:
                    answer.body = b"".join(pieces)
                    return answer
                pieces.append(piece)
        length = answer["Content-Length"]
        answer.body = self.rest() if length is None else self._exactly(int(length))
        return answer

    def rest(self):
        """Everything to the end of the connection."""
        try:
            while True:
                self._more()
        except Ended as end:
            self.held = b""
            return end.got

    def is_over(self):
        """Whether the relay closes without another byte."""
        return self.rest() == b""

    def ask(self, method, target, fields=(), body=None):
        self.send(request(method, target, fields, body))
        return self.answer(method)


def request(method, target, fields=(), body=None):
    lines = [f"{method} {target} HTTP/1.1", "Host: relay.of.tests", *(f"{name}: {value}" for name, value in fields)]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def ask(address, method, target, fields=(), body=None):
    with Caller(address) as caller:
        return caller.ask(method, target, fields, body)


def curl(path, target, *arguments):
    """One request by curl, as a user would send it."""
    done = subprocess.run(
        ["curl", "-sS", "-q", "-i", "--max-time", "20", "--unix-socket", path, f"http://relay{target}", *arguments],
        capture_output=True, timeout=30)
    if done.returncode:
        raise AssertionError(f"curl ended with {done.returncode}: {done.stderr.decode()}")
    head, body = done.stdout.split(b"\r\n\r\n", 1)
    lines = head.decode("latin-1").split("\r\n")
    fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
    return Answer(int(lines[0].split(" ")[1]), fields, body)
