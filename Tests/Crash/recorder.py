"""The upstream that records: misbehaves as each job's script says, and remembers every request it was sent."""

import base64
import hashlib
import hmac
import socket
import struct
import threading
import time

SECRET = base64.b64encode(bytes(range(32))).decode()


class Record:
    """One request for one job, and what became of it."""

    __slots__ = ("number", "life", "place", "arrived", "ended", "key", "digest", "result", "signed")

    def __init__(self, number, life, place, key, digest, signed):
        self.number, self.life, self.place, self.key, self.digest = number, life, place, key, digest
        self.signed = signed
        self.arrived, self.ended, self.result = time.monotonic(), None, "open"

    def __repr__(self):
        took = "" if self.ended is None else f" {1000 * (self.ended - self.arrived):.0f} ms"
        return f"({self.result} in life {self.life}, place {self.place}{took}, key {self.key})"


class Recorder:
    """Listens on two ports, of which the second, the flaky one, refuses connections every now and then.

    `script(number, turn)` says what the `turn`-th request for a job gets: a status, `reset`, `hang` or `slow`.
    """

    def __init__(self, script):
        self.script, self.records, self.turns = script, [], {}
        self.lock = threading.Lock()
        self.healed = threading.Event()
        self.over = threading.Event()
        self.steady = self._listen(0)
        self.flaky = self._listen(0)
        self.ports = [self.steady.getsockname()[1], self.flaky.getsockname()[1]]
        threading.Thread(target=self._accept, args=[self.steady, False], daemon=True).start()
        threading.Thread(target=self._flicker, daemon=True).start()

    def close(self):
        self.over.set()
        self.healed.set()
        for listener in (self.steady, self.flaky):
            try:
                listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            listener.close()

    def count(self):
        with self.lock:
            return len(self.records)

    def _listen(self, port):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(256)
        return listener

    def _flicker(self):
        """Accepts for a while, refuses for a while."""
        while not self.over.is_set():
            threading.Thread(target=self._accept, args=[self.flaky, True], daemon=True).start()
            self.over.wait(0.4)
            if self.over.is_set() or self.healed.is_set():
                return
            self.flaky.shutdown(socket.SHUT_RDWR)
            self.flaky.close()
            self.over.wait(0.3)
            self.flaky = self._listen(self.ports[1])

    def _accept(self, listener, closes):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=[connection, closes], daemon=True).start()

    def _serve(self, connection, closes):
        held = b""
        try:
            while True:
                while b"\r\n\r\n" not in held:
                    held += self._more(connection)
                head, held = held.split(b"\r\n\r\n", 1)
                lines = head.decode("latin-1").split("\r\n")
                fields = {}
                for line in lines[1:]:
                    name, value = line.split(":", 1)
                    fields[name.lower()] = value.strip()
                length = int(fields.get("content-length", 0))
                parts, have = [held], len(held)
                while have < length:
                    parts.append(self._more(connection))
                    have += len(parts[-1])
                held = b"".join(parts)
                body, held = held[:length], held[length:]
                if not self._answer(connection, lines[0].split(" ")[1], fields, body, closes):
                    return
        except (EOFError, OSError):
            return
        finally:
            connection.close()

    def _more(self, connection):
        data = connection.recv(1 << 18)
        if not data:
            raise EOFError
        return data

    def _answer(self, connection, target, fields, body, closes):
        number = int(target.rsplit("/", 1)[1])
        digest = hashlib.sha256(body).hexdigest()
        key = fields.get("webhook-id") or fields.get("idempotency-key")
        with self.lock:
            turn = self.turns.get(number, 0)
            self.turns[number] = turn + 1
            record = Record(number, int(fields["x-life"]), len(self.records), key, digest, self._signed(fields, body))
            self.records.append(record)
        step = self.script(number, turn)
        if step == "hang":
            # Until the test is in its last phase, or the caller has gone.
            connection.settimeout(0.05)
            while not self.healed.is_set():
                try:
                    self._more(connection)
                except TimeoutError:
                    continue
                except (EOFError, OSError):
                    self._end(record, "cut")
                    return False
            connection.settimeout(None)
            step = 200
        if step == "slow":
            time.sleep(0.02 + (number % 10) * 0.03)
            step = 200
        if step == "reset":
            self._end(record, "reset")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        close = "Connection: close\r\n" if closes else ""
        wait = "Retry-After: 0\r\n" if step == 503 else ""
        text = b"kept %d\n" % number
        # From its first byte on the next job may come, however late this thread goes on.
        answered = time.monotonic()
        try:
            connection.sendall(
                f"HTTP/1.1 {step} Scripted\r\n{close}{wait}Content-Length: {len(text)}\r\n\r\n".encode() + text)
        except OSError:
            self._end(record, "cut")
            return False
        self._end(record, str(step), answered)
        return not closes

    def _end(self, record, result, at=None):
        with self.lock:
            record.ended, record.result = at or time.monotonic(), result

    @staticmethod
    def _signed(fields, body):
        """Whether the Standard Webhooks signature is right; nil when there is none."""
        given = fields.get("webhook-signature")
        if given is None:
            return None
        content = f"{fields['webhook-id']}.{fields['webhook-timestamp']}.".encode() + body
        made = base64.b64encode(hmac.new(base64.b64decode(SECRET), content, "sha256").digest()).decode()
        return "v1," + made in given.split(" ")
