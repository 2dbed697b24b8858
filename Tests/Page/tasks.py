"""The browser's own trace: how long each task of a page's main thread was at work, by the thread's own clock."""

import base64
import json
import os
import socket
import struct

CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline"]


class Trace:
    """A trace of all of a browser from `with` on; the driver takes no events, so that it has a connection of its own.

    WebSocket (RFC 6455) as far as that needs it.
    """

    def __init__(self, browser):
        port, path = (browser.profile / "DevToolsActivePort").read_text().split()
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.file, self.number, self.events = self.socket.makefile("rb"), 0, []
        while self.file.readline().strip():
            pass

    def _send(self, method, **params):
        self.number += 1
        data = json.dumps({"id": self.number, "method": method, "params": params}).encode()
        length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack(">H", len(data))
        self.socket.sendall(b"\x81" + length + bytes(4) + data)

    def _message(self):
        content, is_last = b"", False
        while not is_last:
            head = self.file.read(2)
            is_last, length = head[0] & 0x80, head[1]
            if length >= 126:
                length = int.from_bytes(self.file.read(2 if length == 126 else 8), "big")
            content += self.file.read(length)
        return json.loads(content)

    def __enter__(self):
        self._send("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": CATEGORIES})
        while self._message().get("id") != self.number:
            pass
        return self

    def __exit__(self, *_):
        self._send("Tracing.end")
        while (message := self._message()).get("method") != "Tracing.tracingComplete":
            if message.get("method") == "Tracing.dataCollected":
                self.events += message["params"]["value"]
        self.file.close()
        self.socket.close()

    def tasks(self):
        """Milliseconds of the processor that each task of a renderer's main thread took."""
        mains = {(one["pid"], one["tid"]) for one in self.events
                 if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"}
        return [one["tdur"] / 1000 for one in self.events
                if one["name"] == "RunTask" and "tdur" in one and (one["pid"], one["tid"]) in mains]
