#!/usr/bin/env python3
"""config/examples/webhook-receiver.py PORT SECRET-FILE...

A receiver of Standard Webhooks on a loopback port, with nothing but Python's own library. It takes a message when any of
its signatures is that of one of the secrets (whsec_...), its timestamp is less than five minutes off, and tells a
message that it has had before from a new one by its id.
"""

import base64
import binascii
import collections
import hashlib
import hmac
import http.server
import pathlib
import sys
import threading
import time

TOLERANCE = 300
LARGEST = 1 << 20
# A replay is told from a new message for as long as the id is remembered.
REMEMBERED = 10_000


class Refused(Exception):
    """Why a message is not taken; safe to answer."""


def key(secret):
    """The key that a secret of the form whsec_BASE64 stands for."""
    text = secret.strip().removeprefix("whsec_")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def verify(headers, body, keys, now):
    """The message's id; raises Refused for a message that is not to be believed.

    `headers` is anything with `get`, `body` the bytes as they came, before any parsing.
    """
    message, stamp = headers.get("Webhook-Id"), headers.get("Webhook-Timestamp")
    signatures = headers.get("Webhook-Signature")
    if not (message and stamp and signatures):
        raise Refused("webhook-id, webhook-timestamp and webhook-signature are needed")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise Refused("the timestamp is no number of seconds")
    if abs(now - int(stamp)) > TOLERANCE:
        raise Refused("the timestamp is too far from now")
    signed = f"{message}.{stamp}.".encode() + body
    expected = [hmac.digest(each, signed, hashlib.sha256) for each in keys]
    taken = False
    # Each is compared with each in constant time, also after one was right.
    for signature in signatures.split(" ")[:16]:
        version, _, text = signature.partition(",")
        if version != "v1":
            continue
        try:
            given = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            continue
        for each in expected:
            taken |= hmac.compare_digest(given, each)
    if not taken:
        raise Refused("no signature is right")
    return message


class Receiving(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or int(length) > LARGEST:
            self.close_connection = True
            return self.answer(413 if length else 411, "a body of at most 1 MiB with its length is needed")
        body = self.rfile.read(int(length))
        try:
            message = verify(self.headers, body, self.server.keys, time.time())
        except Refused as refused:
            return self.answer(400, str(refused))
        self.answer(200, "taken" if self.server.is_new(message) else "known")

    def answer(self, status, text):
        print(self.path, status, text, flush=True)
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Receiver(http.server.ThreadingHTTPServer):
    def __init__(self, port, keys):
        super().__init__(("127.0.0.1", port), Receiving)
        self.keys = keys
        self.known = collections.OrderedDict()
        self.lock = threading.Lock()

    def is_new(self, message):
        """Whether it is the first of its id; a receiver with a database asks that, in the transaction that acts."""
        with self.lock:
            if message in self.known:
                return False
            self.known[message] = True
            if len(self.known) > REMEMBERED:
                self.known.popitem(last=False)
            return True


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: webhook-receiver.py PORT SECRET-FILE...")
    receiver = Receiver(int(sys.argv[1]), [key(pathlib.Path(name).read_text()) for name in sys.argv[2:]])
    try:
        receiver.serve_forever()
    except KeyboardInterrupt:
        pass
