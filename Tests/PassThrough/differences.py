"""The same exchanges with daemons of two modes, compared."""

import re
import socket
import time

import streams
from peers import ANSWERS, BROKEN, PIECES, Daemon, read_answer, request

WORDS = [*ANSWERS, *PIECES, *BROKEN, "flaky", "reset"]
# They take their time, or show the same on every route.
ONCE = {"large", "huge", "stalled", "chunks-large", "cut-many", "stalled-middling", "late", "held"}
FIELDS = [
    b"Accept: */*", b"Connection: keep-alive", b"Connection: close", b"Connection: keep-alive, X", b"Keep-Alive: 5",
    b"TE: trailers", b"Via: 1.1 other", b"Via: 1.1 waystationd", b"Prefer: wait=1", b"Priority: u=1",
    b"Idempotency-Key: \"k\"", b"Waystation-Timeout: 5s", b"Waystation-Nope: 1", b"Expect: 100-continue",
    b"If-None-Match: \"x\"", b"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", b"Authorization: Bearer x",
    b"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", b"tracestate: a=b", b"BAGGAGE: user=ann",
    b"Upgrade: h2c", b"Trailer: x",
    b"Proxy-Authorization: b", b"Proxy-Connection: keep-alive", b"X:y", b"X:  y", b"X: y ", b"X: ", b"X:", b"X:\ty",
    b"X: a\tb", b"X: \xff\xfe", b"X: a\x01b", b" X: y", b"X : y", b"Host: b", b"Content-Length: 4",
    b"Content-Length: +4", b"Transfer-Encoding: chunked", b"Range: bytes=0-1", b"Accept-Encoding: gzip",
    b"Cookie: a=b; c=d", b"cOOkie: a=b", b"webhook-id: 5", b"X-Tenant: mine", b"x-tenant: mine", b"X-B: 1",
    b"User-Agent: a/1", b"X-Job: x", b"N" * 300 + b": x", b"Origin: http://evil", b"X-Long: " + b"v" * 5000]
TARGETS = [
    b"", b"/", b"?x=1", b"/?x=1", b"/a/b.c/ok", b"/a//ok", b"/./ok", b"/../ok", b"/a../ok", b"/..a/ok", b"/.a/ok",
    b"/a./ok", b"/%2e%2e/ok", b"/%41/ok", b"/ok?a=%00", b"/ok?a=b&c=/../x?y", b"/ok?tenant=other", b"/ok#f", b"/a;b/ok",
    b"/a|b/ok", b"/a\\b/ok", b"/ok?a=\"", b"/a,b:c@d=e~f/ok", b"/" + b"a" * 100 + b"/ok", b"/" + b"a/" * 4000 + b"ok",
    b"/" + b"a" * 17000, b"/ok?q=" + b"b" * 3000, b"/(a)/ok", b"/ok."]
PLACES = [b"/r/nope/ok", b"/r/P/ok", b"/r/", b"/r/./ok", b"/r/../ok", b"/r//ok", b"/x/p/ok", b"http://x/r/p/ok"]
METHODS = [b"GET", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS", b"TRACE", b"CONNECT", b"get", b"POSTX", b"M-SEARCH"]
AGENT = b"User-Agent: a/1"


def cases():
    for route in b"p", b"q", b"t", b"e", b"s", b"j":
        for word in WORDS:
            # How much of a cut TLS stream is read before its end is chance, and so is what the end is called.
            if route == b"t" and word in ("cut-head", *BROKEN):
                continue
            if word in ONCE and route not in (b"p", b"q", b"t"):
                continue
            if word.startswith("stalled"):
                route = {b"p": b"w", b"q": b"x", b"t": b"y"}.get(route, b"w")
            target = b"/r/%s/%s" % (route, word.encode())
            yield f"GET {route.decode()} {word}", request(b"GET", target)
            yield f"POST {route.decode()} {word}", request(b"POST", target, (AGENT, b"Content-Type: text/plain"), b"body")
        for word in "304", "304-length", "304-extra", "ok":
            target = b"/r/%s/%s" % (route, word.encode())
            yield f"conditional {route.decode()} {word}", request(b"GET", target, (b"If-None-Match: \"x\"",))
    for route in b"p", b"e", b"c":
        for field in FIELDS:
            target = b"/r/%s/ok" % route
            yield f"field {route} {field[:40]!r}", request(b"POST", target, (b"A: 1", field, b"B: 2"), b"body")
            yield f"field GET {route} {field[:40]!r}", request(b"GET", target, (field,))
        for rest in TARGETS:
            yield f"target {route} {rest[:40]!r}", request(b"GET", b"/r/" + route + rest)
    for place in PLACES:
        yield f"target {place!r}", request(b"GET", place)
    for method in METHODS:
        yield f"method {method}", request(method, b"/r/p/ok")
        yield f"method with content {method}", request(method, b"/r/p/ok", (), b"abc")
    yield "a POST without a length", request(b"POST", b"/r/p/ok", (), b"", has_length=False)
    yield "HTTP/1.0", request(b"GET", b"/r/p/ok", (b"Accept: */*",), version=b"HTTP/1.0")
    yield "HTTP/1.2", request(b"GET", b"/r/p/ok", version=b"HTTP/1.2")
    yield "no Host", request(b"GET", b"/r/p/ok", (b"Accept: */*", b"Accept-Language: de"), has_host=False)
    yield "a line end first", b"\r\n" + request(b"GET", b"/r/p/ok", (b"Accept: */*",))
    yield "bare line feeds", request(b"GET", b"/r/p/ok", (b"Accept: */*", b"X: y")).replace(b"\r\n", b"\n")
    for host in b"localhost", b"LOCALHOST:80", b"127.0.0.1", b"127.0.0.1:8", b"127.0.0.12", b"localhost.x", b"x", b"[::1]":
        yield f"by port, of {host}", request(b"POST", b"/r/p/ok", (b"Host: " + host,), b"abc", has_host=False)
    for field in b"Origin: http://evil", b"Sec-Fetch-Site: same-origin", b"oRIGIN: x":
        yield f"by port with {field}", request(b"GET", b"/r/p/head-first", (field,))
    for size in 1, 1000, 4000, 5000, 16000, 16384, 16385, 40000, 60000, 65536, 65537, 80000, 300000:
        yield f"content of {size}", request(b"POST", b"/r/p/ok", (AGENT,), b"x" * size)
    for count in range(0, 66, 5):
        yield f"{count} fields", request(b"GET", b"/r/p/ok", [b"F%d: v" % index for index in range(count)])


CHANGING = [
    (rb"(Waystation-Job: |\"job\":\"|Idempotency-Key: |X-Job: )[0-9A-Z]{26}", rb"\1ID"), (rb"dur=[0-9.]+", b"dur=N"),
    (rb"\w\w\w, \d\d \w\w\w 20\d\d \d\d:\d\d:\d\d GMT", b"NOW"), (rb"(127\.0\.0\.1|localhost):\d+", rb"\1:PORT"),
    (rb"[0-9]+ (ms|s) ago", b"AGO"),
    # Which of them is seen of a TLS connection that is cut is a race of the kernel's, whatever the mode.
    (rb"(https://127\.0\.0\.1:PORT: )(the peer closed the connection( without a TLS goodbye)?"
     rb"|the connection broke: Connection reset by peer \(ECONNRESET\)), of which", rb"\1CUT, of which")]


def settled(text):
    for pattern, value in CHANGING:
        text = re.sub(pattern, value, text)
    return text


class Played:
    """The results of the exchanges with a daemon of one mode."""

    def __init__(self, answers, figures, document, passed, count, lines, trouble):
        self.answers, self.figures, self.document = answers, figures, document
        self.passed, self.all, self.lines, self.trouble = passed, count, lines, trouble


def play(binary, mode):
    daemon = Daemon(binary, mode)
    try:
        answers, trouble = [], []
        for name, data in cases():
            if daemon.process.poll() is not None:
                break
            answers.append((name, exchange(daemon, name, data)))
        if daemon.process.poll() is None:
            before = passed_of(daemon)[0]
            answers += list(streams.exchanges(daemon, WORDS))
        if daemon.process.poll() is None:
            time.sleep(0.3)
            # The figures are read before the hang-ups below, which count by chance.
            figures = daemon.figures()
            passed, count = passed_of(daemon)
            lines = passed - before
            try:
                answers += list(orders(daemon)) + list(streams.orders(daemon))
            except OSError as error:
                trouble.append(f"what is sent in many orders ended with {type(error).__name__}: {error}")
        if daemon.process.poll() is None:
            document = job_document(daemon)
        else:
            figures, document, passed, count, lines = {}, "", 0, 0, 0
        code = daemon.stop()
        if code:
            trouble.append(f"the daemon ended with {code}: {daemon.said()[-2000:]}")
        if "canary-credential" in daemon.said():
            trouble.append("the daemon told its credential")
        return Played(answers, figures, document, passed, count, lines, trouble)
    finally:
        daemon.clean()


def passed_of(daemon):
    """How many requests were passed through, and how many there were."""
    count = sum(int(float(value)) for name, value in daemon.figures().items()
                if name.startswith("waystation_requests_total"))
    return max(0, count - daemon.sum("waystation_requests_ordinary")), count


def exchange(daemon, name, data):
    """One request on a used connection, with a kept one behind it, and the next on the same."""
    connection, buffer = daemon.connect(name.startswith("by port")), b""
    route = data.split(b"/r/", 1)[1][:1] if b"/r/" in data[:20] else b"p"
    warm = request(b"GET", b"/r/%s/ok" % (route if route in b"pqtesjwxy" else b"p"))
    for _ in range(2):
        connection.sendall(warm)
        _, buffer, _ = read_answer(connection, buffer)
        time.sleep(0.001)
    for upstream in daemon.upstream, daemon.sealed:
        upstream.seen.clear()
        upstream.turn = 0
    try:
        connection.sendall(data)
    except OSError:
        pass  # It was refused before its end.
    answer, rest, is_over = read_answer(connection, b"", data.startswith(b"HEAD"))
    if answer.startswith(b"HTTP/1.1 100"):
        final, rest, is_over = read_answer(connection, rest)
        answer += final
    after = b""
    if not is_over:
        try:
            connection.sendall(warm)
            after, _, _ = read_answer(connection, rest)
        except OSError:
            after = b"<broken>"
    connection.close()
    time.sleep(0.004)
    seen = [(settled(head), body) for head, body in daemon.upstream.seen + daemon.sealed.seen]
    return settled(answer), settled(after), seen


def orders(daemon):
    """Pieces, pipelining, half-closed connections, hang-ups, and callers that do not read."""
    def warm():
        connection = daemon.connect()
        connection.sendall(request(b"GET", b"/r/p/ok"))
        read_answer(connection, b"")
        return connection

    for step in 1, 3, 50:
        connection = warm()
        data = request(b"POST", b"/r/p/ok", (AGENT,), b"y" * 200)
        for start in range(0, len(data), step):
            connection.sendall(data[start:start + step])
            time.sleep(0.0005)
        yield f"in pieces of {step}", settled(read_answer(connection, b"")[0])
        connection.close()
    connection, buffer = daemon.connect(), b""
    connection.sendall(request(b"GET", b"/r/p/ok") * 5 + request(b"POST", b"/r/p/ok", (), b"zz") * 3
                       + request(b"GET", b"/r/p/404"))
    for index in range(9):
        answer, buffer, _ = read_answer(connection, buffer)
        yield f"pipelined {index}", settled(answer)
    connection.close()
    connection = warm()
    connection.sendall(request(b"GET", b"/r/p/split"))
    connection.shutdown(socket.SHUT_WR)
    answer, _, _ = read_answer(connection, b"")
    yield "half closed", settled(answer)
    yield "and its end", read_answer(connection, b"")[0]
    connection.close()
    connection = warm()
    connection.sendall(request(b"GET", b"/r/p/split"))
    time.sleep(0.005)
    connection.sendall(request(b"GET", b"/r/p/404"))
    answer, buffer, _ = read_answer(connection, b"")
    yield "the first of two", settled(answer)
    yield "the second, sent while the first was under way", settled(read_answer(connection, buffer)[0])
    connection.close()
    for _ in range(50):
        connection = warm()
        connection.sendall(request(b"POST", b"/r/p/late", (), b"q"))
        time.sleep(0.003)
        connection.close()
    for _ in range(20):
        connection = warm()
        connection.sendall(request(b"POST", b"/r/p/held", (), b"q"))
        connection.recv(100)
        connection.close()
    time.sleep(0.3)
    connection = warm()
    connection.sendall(request(b"GET", b"/r/p/ok"))
    yield "after hang-ups", settled(read_answer(connection, b"")[0])
    connection.close()
    slow = [warm() for _ in range(3)]
    for connection in slow:
        connection.sendall(request(b"GET", b"/r/p/big") * 20)
    time.sleep(0.3)
    for connection in slow:
        buffer, size = b"", 0
        for _ in range(20):
            answer, buffer, is_over = read_answer(connection, buffer)
            size += len(settled(answer))
            if is_over:
                break
        yield "a caller that reads late", size
        connection.close()


def job_document(daemon):
    """A job's document, without what differs from run to run."""
    connection = daemon.connect()
    connection.sendall(request(b"GET", b"/r/p/ok"))
    read_answer(connection, b"")
    connection.sendall(request(b"POST", b"/r/p/some/long/" + b"p" * 80 + b"/ok?q=1", (AGENT,), b"x"))
    answer, _, _ = read_answer(connection, b"")
    connection.close()
    found = re.search(rb"Waystation-Job: (\w+)", answer)
    return daemon.document(found[1].decode()) + "\n" + streams.document(daemon)


def compare(one, other):
    """The differences, in words; the contents of messages are the test's own."""
    found = one.trouble + other.trouble
    if found:
        return found
    if len(one.answers) != len(other.answers):
        found.append(f"{len(one.answers)} and {len(other.answers)} exchanges")
    for (name, left), (_, right) in zip(one.answers, other.answers):
        if left == right:
            continue
        parts = zip(("answer", "next answer", "upstream"), left, right) if isinstance(left, tuple) else [
            ("answer", left, right)]
        found += [f"{name}: {part}\n  {str(a)[:600]}\n  {str(b)[:600]}" for part, a, b in parts if a != b]
    for name in sorted(set(one.figures) | set(other.figures)):
        if one.figures.get(name) != other.figures.get(name) and not LUCK.search(name):
            found.append(f"{name}: {one.figures.get(name)} and {other.figures.get(name)}")
    if one.document != other.document:
        found.append(f"the job's document:\n  {one.document}\n  {other.document}")
    return found


# How many connections the hang-ups took, and what differs from daemon to daemon.
LUCK = re.compile(r"connections|cancelled|attempts|status=|failure|http_requests|config_info|store_|retries_left|window")
