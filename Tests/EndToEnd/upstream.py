"""A scripted upstream: does on every path what the test says, however wrong, and remembers what it saw."""

import random
import socket
import threading
import time

PATIENCE = 10


class Request:
    """One request as it came in, and the connection to answer on."""

    def __init__(self, connection, method, target, fields):
        self.connection, self.method, self.target, self.fields = connection, method, target, fields
        self.body = b""
        self.at = time.monotonic()

    def __getitem__(self, name):
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    @property
    def path(self):
        return self.target.split("?")[0]


class Connection:
    def __init__(self, upstream, sock):
        self.upstream, self.socket, self.held = upstream, sock, b""
        self.is_over = threading.Event()
        sock.settimeout(30)

    def more(self):
        try:
            data = self.socket.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.is_over.set()
            raise EOFError
        self.held += data

    def until(self, mark):
        while mark not in self.held:
            self.more()
        piece, self.held = self.held.split(mark, 1)
        return piece

    def exactly(self, count):
        pieces = []
        while count:
            if not self.held:
                self.more()
            pieces.append(self.held[:count])
            self.held = self.held[count:]
            count -= len(pieces[-1])
        return b"".join(pieces)

    def head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        return Request(self, method, target, fields)

    def body(self, request):
        if request["Transfer-Encoding"] == "chunked":
            body = b""
            while True:
                size = int(self.until(b"\r\n"), 16)
                body += self.exactly(size)
                self.exactly(2)
                if not size:
                    return body
        return self.exactly(int(request["Content-Length"] or 0))

    def send(self, data):
        self.socket.sendall(data)

    def wait_for_end(self, seconds=PATIENCE):
        """Whether the relay ends the connection in time."""
        self.socket.settimeout(seconds)
        try:
            while True:
                self.more()
                self.held = b""
        except EOFError:
            return True
        finally:
            self.is_over.set()


class Close:
    """Ends the connection, after `data` if there is some."""

    def __init__(self, data=b""):
        self.data = data


class Upstream:
    """Listens on a free loopback port, on `port`, or on `path`.

    `on(path, step, …)` sets what successive requests for the path get; the last step repeats. A step is bytes, a
    `Close`, or a function of the request that returns one of them or None when it has done everything itself.
    A function with `reads_body = False` gets the request before its body is read. `script` sets the step of each of its
    paths before anybody can ask, where somebody already tries to.
    """

    def __init__(self, path=None, port=0, script=None):
        self.steps = {path: [step] for path, step in (script or {}).items()}
        self.requests, self.connections = [], []
        self.changed = threading.Condition()
        self.socket = socket.socket(socket.AF_UNIX if path else socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(path or ("127.0.0.1", port))
        self.socket.listen(256)
        self.port = None if path else self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def on(self, path, *steps):
        with self.changed:
            self.steps[path] = list(steps)

    def seen(self, path):
        with self.changed:
            return [request for request in self.requests if request.path == path]

    def wait_for(self, path, count=1, seconds=PATIENCE):
        with self.changed:
            if not self.changed.wait_for(
                lambda: sum(request.path == path for request in self.requests) >= count, seconds):
                raise AssertionError(f"the upstream saw fewer than {count} requests for {path}")
        return self.seen(path)

    def forget(self):
        with self.changed:
            self.requests.clear()

    def close(self):
        # Ends a thread that waits in accept, which close alone would not.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
        for connection in self.connections:
            connection.socket.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            connection = Connection(self, sock)
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        try:
            while self._serve_one(connection):
                pass
        except (EOFError, OSError, ValueError):
            pass
        connection.socket.close()
        connection.is_over.set()

    def _serve_one(self, connection):
        request = connection.head()
        with self.changed:
            steps = self.steps.get(request.path) or [answer(404, b"no script\n")]
            step = steps.pop(0) if len(steps) > 1 else steps[0]
        if getattr(step, "reads_body", True):
            request.body = connection.body(request)
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
        while callable(step):
            step = step(request)
        if step is None:
            return not connection.is_over.is_set()
        connection.send(step.data if isinstance(step, Close) else step)
        return not isinstance(step, Close)


def answer(status, body=b"", *fields, length=True):
    if isinstance(body, str):
        body = body.encode()
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in fields)]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def as_json(status, text, *fields):
    return answer(status, text, ("Content-Type", "application/json"), *fields)


def unread(function):
    """Marks a step that reads the request's body itself, or not at all."""
    function.reads_body = False
    return function


def free_port():
    """A port of the loopback that nobody has, below those that the system gives to connections by itself."""
    while True:
        port = random.randrange(16384, 32768)
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def refused_port():
    """A port where nobody listens, for as long as nobody is given it."""
    return free_port()
