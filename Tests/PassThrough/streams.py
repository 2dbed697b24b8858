"""The same lines of POST /v1/stream with daemons of two modes."""

import json
import random
import re
import socket
import threading
import time

from peers import request

# The answer to a line changes from daemon to daemon only in these parts.
CHANGING = [
    (rb'("job":"|Idempotency-Key: |X-Job: |/v1/jobs/)[0-9A-Z]{26}', rb"\1ID"),
    (rb"\w\w\w, \d\d \w\w\w 20\d\d \d\d:\d\d:\d\d GMT", b"NOW"), (rb"(127\.0\.0\.1|localhost):\d+", rb"\1:PORT"),
    (rb"job [0-9A-Z]{26}", b"job ID"), (rb"[0-9.]+ (ms|s) ago", b"AGO"), (rb'"retry_after_ms":\d+', b'"retry_after_ms":N')]
FIELDS = [
    ("Accept", "*/*"), ("accept", "*/*"), ("Connection", "keep-alive"), ("cOnnection", "close"), ("Keep-Alive", "5"),
    ("TE", "trailers"), ("Via", "1.1 other"), ("Prefer", "wait=1"), ("Priority", "u=1"), ("Priority", "u=9"),
    ("Idempotency-Key", "\"k\""), ("Waystation-Timeout", "5s"), ("Expect", "100-continue"), ("Host", "b"), ("hOST", "b"),
    ("If-None-Match", "\"x\""), ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Authorization", "Bearer x"),
    ("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("Upgrade", "h2c"), ("Trailer", "x"),
    ("Proxy-Authorization", "b"), ("Proxy-Connection", "keep-alive"), ("Transfer-Encoding", "chunked"), ("X", ""),
    ("X", " y"), ("X", "y "), ("X", "a\tb"), ("X", "é"), ("X", "a\x01b"), ("X", "a\r\nY: b"), ("X", "a\x7fb"), ("X", "\""),
    ("X: y", "z"), ("X:", "z"), ("X ", "y"), (" X", "y"), ("", "y"), ("X\r\nY", "z"), ("Xé", "y"), ("Content-Length", "4"),
    ("Content-Type", "text/plain"), ("content-TYPE", "text/plain"), ("Range", "bytes=0-1"), ("Accept-Encoding", "gzip"),
    ("Cookie", "a=b; c=d"), ("cOOkie", "a=b"), ("X-Tenant", "mine"), ("X-B", "1"), ("User-Agent", "a/1"), ("X-Job", "x"),
    ("N" * 300, "x"), ("X-Long", "v" * 5000), ("X-Longer", "v" * 20000), ("Origin", "http://evil"), ("X", 5), ("X", None),
    ("X", ["y"]), ("http/1.1", "x"), ("GET /r/p/ok HTTP/1.1", "x")]
PATHS = [
    "", "/", "ok", "/ok", "//ok", "?x=1", "/?x=1", "a/b.c/ok", "a//ok", "./ok", "../ok", "a../ok", "..a/ok", ".a/ok", "a./ok",
    "%2e%2e/ok", "%41/ok", "ok?a=%00", "ok?a=b&c=/../x?y", "ok?tenant=other", "ok#f", "a;b/ok", "a|b/ok", "a\\b/ok", "ok?a=\"",
    "a,b:c@d=e~f/ok", "a" * 100 + "/ok", "a/" * 4000 + "ok", "a" * 17000, "ok?q=" + "b" * 3000, "(a)/ok", "ok.", "a b/ok",
    "ok HTTP/1.1", "ok HTTP/1.1\r\nX: y", "ok\n", "é/ok", "http://x/ok", 5, None, ["ok"]]
METHODS = ["GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "POSTX", "M-SEARCH", "", "P O", "é",
           "GET /r/q/ok HTTP/1.1\r\nX: y\r\n\r\n", "GET /r/q", "A" * 33, 5, None]
ROUTES = ["nope", "P", "", ".", "..", "p/ok", "p?x", "p ", " p", "p\r\n", "é", "p/../q", "a" * 200, 5, None, "\u0070"]
QUERIES = [{}, {"a": "b"}, {"a": "b c"}, {"a": "é", "b": ""}, {"": ""}, {"a&b": "c=d"}, {"tenant": "mine"}, {"~.-_": "~.-_"},
           {"a": 5}, {"a": None}, [], "a=b", 5, {"a": "+/?#%"}]
CONTENTS = [
    {"json": None}, {"json": True}, {"json": 1.50}, {"json": -0.0}, {"json": ""}, {"json": "é\"\\\n\u0001"}, {"json": []},
    {"json": {}}, {"json": {"a": [1, {"b": [[], {}]}, "x y"], "é": None}}, {"text": ""}, {"text": "a"}, {"text": "é\n\t\"\\\u0001"},
    {"text": 5}, {"text": None}, {"base64": "YQ=="}, {"base64": "!"}, {"base64": 5}, {"json": 1, "text": "x"}, {"body": "x"},
    {"text": "a", "base64": "YQ=="}, {"json": "x" * 16382}, {"json": "x" * 16383}, {"text": "x" * 40000}, {"text": "x" * 60000},
    {"json": list(range(2000))}, {"json": {f"m{index}": index for index in range(100)}}]
IDS = ["a", "a" * 128, "a" * 129, "", "é", "\"", "\\", "\n", "\u0000", "a/b", 5, None, ["a"], "\u007f", "😀"]
OPTIONS = [{}, {"timeout": "5s"}, {"max_attempts": 1}, {"fallback": False}, {"priority": 3}, {"priority": 9}, {"labels": {"a": "b"}},
           {"nope": 1}, [], None, {"attempt_timeout": "1s"}]
# Lines as they stand: what no writer of JSON would write, or not so.
TEXTS = [
    b"{}", b"[]", b"5", b"\"x\"", b"null", b"{", b"}", b"x", b"{\"route\"", b"{\"route\":\"p\"", b"{\"route\":\"p\",}", b"{'route':'p'}",
    b"{\"route\":\"p\"}", b"{\"route\":\"p\"}{\"route\":\"p\"}", b"{\"route\":\"p\"} x", b"\xef\xbb\xbf{\"route\":\"p\"}",
    b"{\"route\":\"p\",\"route\":\"q\"}", b"{\"route\":\"p\",\"\\u0072oute\":\"q\"}", b"{\"\\u0072oute\":\"p\"}",
    b"{\"route\":\"\\u0070\"}", b"{\"route\":\"p\",\"request\":{\"path\":\"\\u006fk\"}}", b"{\"route\":\"p\",\"request\":[]}",
    b"{\"route\":\"p\",\"request\":null}", b"{\"route\":\"p\",\"request\":{}}", b"{\"request\":{}}", b"{\"Route\":\"p\"}",
    b"{\"route\":\"p\",\"mode\":\"sync\"}", b"{\"route\":\"p\",\"mode\":\"SYNC\"}", b"{\"route\":\"p\",\"mode\":\"durable\"}",
    b"{\"route\":\"p\",\"mode\":\"syn\\u0063\"}", b"{\"route\":\"p\",\"mode\":5}", b"{\"route\":\"p\",\"mode\":\"\"}",
    b" { \"route\" : \"p\" , \"request\" : { \"path\" : \"ok\" , \"json\" : { \"a\" : [ 1 , 2 , { } , [ ] ] } } } ",
    b"\t{\t\"route\":\r\"p\"}\r", b"{\"route\":\"p\",\"request\":{\"json\":1E+2}}", b"{\"route\":\"p\",\"request\":{\"json\":-0}}",
    b"{\"route\":\"p\",\"request\":{\"json\":1.0e-05}}", b"{\"route\":\"p\",\"request\":{\"json\":01}}",
    b"{\"route\":\"p\",\"request\":{\"json\":123456789012345678901234567890}}", b"{\"route\":\"p\",\"request\":{\"json\":NaN}}",
    b"{\"route\":\"p\",\"request\":{\"json\":\"\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\u0000\\u001F\\\\\\\"\"}}",
    b"{\"route\":\"p\",\"request\":{\"json\":{\"\\u0061\":1,\"b\":\"\\/\"}}}", b"{\"route\":\"p\",\"request\":{\"json\":{\"a\":1,\"a\":2}}}",
    b"{\"route\":\"p\",\"request\":{\"json\":\"\\ud83d\"}}", b"{\"route\":\"p\",\"request\":{\"text\":\"\\ud83d\\ude00\\/\"}}",
    b"{\"route\":\"p\",\"request\":{\"json\":\"\xff\"}}", b"{\"route\":\"p\",\"request\":{\"json\":\"\xc3\xa9\xf0\x9f\x98\x80\"}}",
    b"{\"route\":\"p\",\"request\":{\"json\":\"\xed\xa0\x80\"}}", b"{\"route\":\"p\",\"request\":{\"json\":\"a\x01b\"}}",
    b"{\"route\":\"p\",\"request\":{\"json\":[ ]}}", b"{\"route\":\"p\",\"request\":{\"json\":[1 ,2]}}",
    b"{\"route\":\"p\",\"request\":{\"json\": {\"a\":1}}}", b"{\"route\":\"p\",\"request\":{\"json\":{\"a\": 1}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{\"A\":\"1\",\"a\":\"2\"}}}", b"{\"route\":\"p\",\"request\":{\"headers\":{\"A\":\"1\",\"A\":\"2\"}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{\"\\u0041\":\"1\"}}}", b"{\"route\":\"p\",\"request\":{\"headers\":{\"A\":\"\\u0031\"}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{\"A\":\"1\\r\\nB: 2\"}}}", b"{\"route\":\"p\",\"request\":{\"headers\":[\"A\"]}}",
    b"{\"route\":\"p\",\"request\":{\"json\":1,\"headers\":{\"B\":\"2\",\"A\":\"1\"}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{\"B\":\"2\"},\"json\":1}}",
    b"{\"route\":\"p\",\"request\":{\"json\":1,\"headers\":{\"B\":\"2\",\"content-Type\":\"x/y\",\"C\":\"3\"}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{\"B\":\"2\",\"Content-type\":\"x/y\",\"C\":\"3\"},\"json\":1}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{},\"json\":1}}", b"{\"route\":\"p\",\"request\":{\"json\":1,\"headers\":{}}}",
    b"{\"request\":{\"path\":\"ok\"},\"id\":\"late\",\"route\":\"p\"}", b"{\"id\":\"a\",\"id\":\"b\",\"route\":\"p\"}",
    b"{\"id\":\"\\u0061\",\"route\":\"p\"}", b"{\"id\":\"a\",\"route\":\"nope\"}", b"{\"id\":\"\\n\",\"route\":\"p\"}",
    b"{\"route\":\"p\",\"request\":{\"json\":" + b"[" * 62 + b"]" * 62 + b"}}",
    b"{\"route\":\"p\",\"request\":{\"json\":" + b"[" * 63 + b"]" * 63 + b"}}", b"{\"route\":\"p\",\"request\":{\"json\":" + b"[" * 9000,
    b"{\"route\":\"p\",\"request\":{\"headers\":{" + b",".join(b"\"F%d\":\"v\"" % index for index in range(30)) + b"}}}",
    b"{\"route\":\"p\",\"request\":{\"headers\":{" + b",".join(b"\"F%d\":\"v\"" % index for index in range(80)) + b"}}}",
    b"{\"route\":\"p\",\"request\":{\"query\":{" + b",".join(b"\"F%d\":\"v\"" % index for index in range(80)) + b"}}}",
    b"{\"route\":\"p\",\"request\":{\"path\":\"ok?a=1\",\"query\":{\"b\":\"2\"}}}",
    b"{\"route\":\"p\",\"request\":{\"query\":{\"b\":\"2\"},\"path\":\"ok\"}}", b"{\"route\":\"p\",\"request\":{\"text\":\"x\"},\"x\":1}"]
WARM = b'{"route":"%s","request":{"method":"GET","path":"ok"}}'


def lines(words):
    for route in "p", "q", "t", "e", "s", "j":
        for word in words:
            # How much of a cut TLS stream is read before its end is chance, and so is what the end is called.
            if route == "t" and word in ("cut", "cut-head"):
                continue
            yield f"{route} {word}", text(route=route, id="a", request={"path": word, "json": {"a": "b"}})
            yield f"GET {route} {word}", text(route=route, request={"method": "GET", "path": f"/x/{word}"})
        for word in "304", "304-length", "304-extra", "ok":
            for name, value in ("If-None-Match", "\"x\""), ("If-None-Match", "x"):
                yield f"conditional {route} {word} {value}", text(route=route, request={
                    "method": "GET", "path": word, "headers": {name: value}})
    for route in "p", "e":
        for name, value in FIELDS:
            yield f"field {route} {name[:40]!r} {str(value)[:20]!r}", text(
                route=route, request={"path": "ok", "headers": {"A": "1", name: value, "B": "2"}, "json": "body"})
            yield f"field GET {route} {name[:40]!r} {str(value)[:20]!r}", text(
                route=route, request={"method": "GET", "path": "ok", "headers": {name: value}})
        for path in PATHS:
            yield f"path {route} {str(path)[:40]!r}", text(route=route, request={"path": path})
        for query in QUERIES:
            yield f"query {route} {query!r}", text(route=route, request={"path": "ok", "query": query})
        for content in CONTENTS:
            for method in "POST", "GET":
                yield f"content {route} {method} {str(content)[:40]!r}", text(
                    route=route, request={"method": method, "path": "ok", **content})
    for method in METHODS:
        yield f"method {method!r}", text(route="p", request={"method": method, "path": "ok"})
        yield f"method with content {method!r}", text(route="p", request={"method": method, "path": "ok", "text": "abc"})
    for route in ROUTES:
        yield f"route {route!r}", text(route=route, request={"path": "ok"})
    for name in IDS:
        yield f"id {str(name)[:40]!r}", text(route="p", id=name, request={"path": "ok"})
        yield f"id {str(name)[:40]!r}, unescaped", text(True, route="p", id=name, request={"path": "404"})
    for options in OPTIONS:
        yield f"options {options!r}", text(route="p", request={"path": "ok"}, options=options)
    for index, line in enumerate(TEXTS):
        yield f"text {index} {line[:60]!r}", line
    yield from mutated()


def text(isRaw=False, **members):
    return json.dumps(members, ensure_ascii=not isRaw, separators=(",", ":") if isRaw else (", ", ": ")).encode()


MUTATIONS = [
    b"\"", b"\\", b",", b":", b"{", b"}", b"[", b"]", b" ", b"\t", b"\\u0041", b"\\n", b"\x00", b"\xff", b"\xc3\xa9", b"/",
    b"..", b"?", b"\"a\":1,", b"\"id\":\"b\",", b"null", b"true", b"-", b"9", b"e", b"GET", b"Connection", b"\r"]


def mutated():
    chance = random.Random(24)
    for index in range(700):
        line = mutate(chance, mutation_base(chance))
        # Every line has its outcome but one of blanks.
        if line.strip(b" \t\r"):
            yield f"mutated {index} {line[:200]!r}", line


def mutate(chance, line):
    line = bytearray(line)
    for _ in range(chance.choice([1, 1, 2, 3])):
        place = chance.randrange(len(line) or 1)
        match chance.randrange(3):
            case 0:
                line[place:place] = chance.choice(MUTATIONS)
            case 1:
                line[place:place + 1] = chance.choice(MUTATIONS)
            case _:
                del line[place:place + chance.randrange(1, 5)]
    return bytes(line).replace(b"\n", b"")


def mutation_base(chance, paths=("ok", "/a/b.c/ok?x=y", "404", "json", "")):
    request = {"path": chance.choice(paths)}
    if chance.random() < 0.5:
        request["headers"] = dict(chance.sample([pair for pair in FIELDS if isinstance(pair[1], str)], 3))
    if chance.random() < 0.7:
        request.update(chance.choice(CONTENTS[:12]))
    if chance.random() < 0.3:
        request["query"] = chance.choice(QUERIES[:8])
    if chance.random() < 0.5:
        request["method"] = chance.choice(METHODS[:4])
    members = {"id": "a", "route": chance.choice("pqe"), "request": request}
    return text(chance.random() < 0.5, **members)


class Stream:
    """One stream, of which lines are sent and outcomes read one by one."""

    def __init__(self, daemon, query="max_in_flight=1", version=b"HTTP/1.1"):
        self.connection, self.buffer, self.lines, self.isChunked = daemon.connect(), b"", b"", version.endswith(b"1")
        self.connection.sendall(
            b"POST /v1/stream?%s %s\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n" % (query.encode(), version)
            + (b"Transfer-Encoding: chunked\r\n\r\n" if self.isChunked else b"Content-Length: 100000000\r\n\r\n"))
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        self.head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")

    def _more(self):
        data = self.connection.recv(65536)
        if not data:
            raise ConnectionError("the stream ended")
        self.buffer += data

    def send(self, *lines):
        body = b"".join(line + b"\n" for line in lines)
        self.connection.sendall(b"%x\r\n%s\r\n" % (len(body), body) if self.isChunked else body)

    def read(self):
        """The next outcome, of one chunk or of several."""
        while b"\n" not in self.lines:
            if not self.isChunked:
                self._more() if not self.buffer else None
                self.lines, self.buffer = self.lines + self.buffer, b""
                continue
            while b"\r\n" not in self.buffer:
                self._more()
            digits, _, rest = self.buffer.partition(b"\r\n")
            size = int(digits, 16)
            if size == 0:
                raise ConnectionError("the stream ended")
            while len(rest) < size + 2:
                self._more()
                rest = self.buffer.partition(b"\r\n")[2]
            self.lines, self.buffer = self.lines + rest[:size], rest[size + 2:]
        line, _, self.lines = self.lines.partition(b"\n")
        return line

    def ask(self, line):
        self.send(line)
        return self.read()

    def close(self):
        self.connection.close()


def settled(line):
    line = re.sub(rb'^{"line":\d+', b'{"line":N', line)
    for pattern, value in CHANGING:
        line = re.sub(pattern, value, line)
    return line


def exchanges(daemon, words):
    """Each line on a stream of its own whose route has a kept connection, with what its upstream saw."""
    for name, line in lines(words):
        if daemon.process.poll() is not None:
            return
        stream = Stream(daemon)
        try:
            found = re.search(rb'"route": ?"([pqtesj])"', line)
            warm = WARM % (found[1] if found else b"p")
            for _ in range(2):
                stream.ask(warm)
            for upstream in daemon.upstream, daemon.sealed:
                upstream.seen.clear()
                upstream.turn = 0
            outcome = settled(stream.ask(line))
            seen = [(settled(head), body) for head, body in daemon.upstream.seen + daemon.sealed.seen]
            yield "line " + name, (outcome, settled(stream.ask(warm)), seen)
        except OSError as error:
            yield "line " + name, (type(error).__name__.encode(), b"", [])
        stream.close()


def document(daemon):
    """The document of a line's job."""
    stream = Stream(daemon)
    stream.ask(WARM % b"p")
    line = text(id="a", route="p", request={"path": "some/long/" + "p" * 80 + "/ok?q=1", "json": {"a": 1}})
    found = re.search(rb'"job":"(\w+)"', stream.ask(line))
    stream.close()
    return daemon.document(found[1].decode())


def send_in_pieces(stream, body):
    for start in range(0, len(body), 7):
        stream.connection.sendall(b"%x\r\n%s\r\n" % (len(body[start:start + 7]), body[start:start + 7]))
        if start % 70 == 0:
            time.sleep(0.0005)


def orders(daemon):
    """Many lines at once, in both orders; pieces, HTTP/1.0, callers that do not read or hang up, a broken body."""
    words = ["ok", "404", "big", "json", "split-body", "chunked", "empty", "flaky", "slow"]
    some = [text(route="pq"[index % 2], id=f"n{index}", request={"path": words[index * 7 % 9], "json": "j" * index})
            for index in range(150)]
    for order in "completion", "input":
        for version in b"HTTP/1.1", b"HTTP/1.0":
            stream = Stream(daemon, f"max_in_flight=6&order={order}", version)
            threading.Thread(target=stream.send, args=some, daemon=True).start()
            outcomes = [stream.read() for _ in some]
            if order == "completion":
                outcomes.sort(key=lambda line: int(re.match(rb'{"line":(\d+)', line)[1]))
            numbers = [json.loads(line)["line"] for line in outcomes]
            yield f"{order} {version} numbers", numbers == list(range(1, 151))
            # Which attempt of which line is told to come back is chance where several are under way.
            for index, line in enumerate(outcomes):
                if b"flaky" not in some[index]:
                    yield f"{order} {version} {index}", settled(line)
            stream.close()
    stream = Stream(daemon, "max_in_flight=64")
    body = b"".join(line + b"\n" for line in some[:30] if b"flaky" not in line)
    threading.Thread(target=send_in_pieces, args=[stream, body], daemon=True).start()
    outcomes = [stream.read() for _ in range(body.count(b"\n"))]
    for outcome in sorted(settled(line) for line in outcomes):
        yield "in pieces", outcome
    stream.connection.sendall(b"0\r\n\r\n")
    stream.connection.settimeout(5)
    yield "and the end", stream.buffer + stream.connection.recv(100)
    stream.connection.sendall(request(b"GET", b"/r/p/404"))
    yield "the next request on it", b"404" in stream.connection.recv(1000)
    stream.close()
    for index in range(40):
        stream = Stream(daemon, "max_in_flight=4")
        stream.send(*some[index:index + 6])
        time.sleep(0.002 * (index % 5))
        stream.close()
    stream = Stream(daemon, "max_in_flight=16")
    threading.Thread(target=stream.send, args=[text(route="p", request={"path": "big"})] * 40, daemon=True).start()
    time.sleep(0.3)
    outcomes = [settled(stream.read()) for _ in range(40)]
    yield "who reads late", (len(set(outcomes)), len(outcomes[0]))
    stream.connection.sendall(b"zz\r\n")
    line = stream.read()
    yield "a body that is malformed", settled(line)
    stream.close()
    stream = Stream(daemon)
    stream.send(text(route="p", request={"path": "ok"}))
    stream.read()
    stream.connection.sendall(b"5\r\n{\"rou\r\n")
    stream.connection.shutdown(socket.SHUT_WR)
    yield "a body that ends in a line", settled(stream.read())
    stream.close()
