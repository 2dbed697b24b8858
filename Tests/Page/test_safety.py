"""Nobody but who opened the link gets anything out of the port, and nothing that is shown becomes markup."""

import fcntl
import http.client
import http.server
import os
import pathlib
import pty
import re
import select
import shutil
import socket
import subprocess
import tempfile
import termios
import threading
import time
import unittest

from browser import Browser
from page import PageTest
from scene import HOSTILE, Port, command, eventually

# A page of somebody else, on another port of the same host: it tries everything that pages can try.
ATTACK = """<!doctype html><title>elsewhere</title><body><script>
const port = ORIGIN, told = {};
const tries = {
  get: () => fetch(port + '/v1/status', {credentials: 'include'}).then((answer) => answer.text()),
  opaque: () => fetch(port + '/v1/status', {credentials: 'include', mode: 'no-cors'}).then((answer) => 'opaque ' + answer.type + answer.status),
  post: () => fetch(port + '/v1/routes/quiet/pause', {method: 'POST', credentials: 'include', mode: 'no-cors', body: ''}).then(() => 'sent'),
  typed: () => fetch(port + '/v1/reload', {method: 'POST', credentials: 'include', headers: {'Content-Type': 'application/json'}, body: '{}'}).then((answer) => answer.text()),
  put: () => fetch(port + '/v1/constrained', {method: 'PUT', credentials: 'include', body: '{"state": "on"}'}).then((answer) => answer.text()),
  remove: () => fetch(port + '/v1/jobs/JOB', {method: 'DELETE', credentials: 'include'}).then((answer) => answer.text()),
  image: () => new Promise((done, failed) => { const image = new Image(); image.onload = () => done('loaded'); image.onerror = () => failed('error'); image.src = port + '/ui/icon.svg'; }),
  script: () => new Promise((done, failed) => { const node = document.createElement('script'); node.onload = () => done('loaded'); node.onerror = () => failed('error'); node.src = port + '/ui/page.js'; document.head.append(node); }),
  style: () => new Promise((done, failed) => { const node = document.createElement('link'); node.rel = 'stylesheet'; node.onload = () => done('loaded'); node.onerror = () => failed('error'); node.href = port + '/ui/page.css'; document.head.append(node); }),
  events: () => new Promise((done, failed) => { const source = new EventSource(port + '/v1/events?after=0', {withCredentials: true}); source.onmessage = source.onopen = () => done('opened'); source.onerror = () => { source.close(); failed('error'); }; }),
  frame: () => new Promise((done) => { const frame = document.createElement('iframe'); frame.onload = () => { let text = ''; try { text = frame.contentDocument ? frame.contentDocument.body.innerText : ''; } catch {} done('frame ' + text); }; frame.src = port + '/ui/'; document.body.append(frame); }),
  form: () => new Promise((done) => { const frame = document.createElement('iframe'); frame.name = 'target'; document.body.append(frame); const form = document.createElement('form'); form.method = 'post'; form.target = 'target'; form.enctype = 'text/plain'; form.action = port + '/v1/routes/quiet/pause'; document.body.append(form); frame.onload = () => setTimeout(() => done('submitted'), 200); form.submit(); }),
  window: () => new Promise((done) => { const other = window.open(port + '/ui/'); setTimeout(() => { let text = ''; try { text = other.document.body.innerText; } catch {} if (other) other.close(); done('window ' + text); }, 1000); }),
};
window.attack = Promise.all(Object.entries(tries).map(([name, attempt]) => attempt().then((text) => { told[name] = text; }, (error) => { told[name] = 'failed: ' + error; }))).then(() => told);
</script>"""


class Elsewhere:
    """Another origin: a port that serves one page, whatever it is asked for."""

    def __init__(self, text):
        page = text.encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.server.cookies.append(self.headers.get("Cookie"))
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.cookies = []
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Between:
    """A socket in front of the control socket that writes down what is asked."""

    def __init__(self, path):
        self.asked, self.directory = [], tempfile.mkdtemp(prefix="between-")
        self.path, self.behind = self.directory + "/control.sock", path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            two = socket.socket(socket.AF_UNIX)
            two.connect(self.behind)
            for source, sink, asked in (one, two, self.asked), (two, one, None):
                threading.Thread(target=self._pass, args=[source, sink, asked], daemon=True).start()

    @staticmethod
    def _pass(source, sink, asked):
        try:
            while piece := source.recv(65536):
                if asked is not None:
                    asked += [line for line in piece.decode("latin-1").split("\r\n") if line.endswith(" HTTP/1.1")]
                sink.sendall(piece)
        except OSError:
            pass
        for one in source, sink:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        shutil.rmtree(self.directory)


class Former:
    """An application that has a port before the page has it, and would like to keep what comes after it."""

    PAUSE = "fetch('/v1/routes/quiet/pause', {method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}})"

    def __init__(self, script, fields):
        worker = (
            "self.addEventListener('install', () => self.skipWaiting());"
            "self.addEventListener('activate', (event) => event.waitUntil(clients.claim()));"
            "self.addEventListener('fetch', (event) => event.respondWith(new Response("
            f"`<title>former worker</title><script>{Former.PAUSE}<\/script>`, {{headers: {{'Content-Type': 'text/html'}}}})));")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, text = "text/html", f"<title>former</title><script src=/ui/page.js></script><script>{script}</script>"
                if self.path == "/worker.js":
                    kind, text = "text/javascript", worker
                elif self.path.startswith("/ui/page.js"):
                    kind, text = "text/javascript", f"if (document.title !== 'former') {{ {Former.PAUSE}; document.title = 'former script'; }}"
                self.send_response(200)
                self.send_header("Content-Type", kind)
                for name, value in fields.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Safety(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()

    def tearDown(self):
        """Refusals are what is wanted here."""

    def ask(self, method, target, fields=(), body=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", (port or self.port).port, timeout=10)
        try:
            connection.putrequest(method, target, skip_host=True)
            if not any(name == "Host" for name, _ in fields):
                connection.putheader("Host", (port or self.port).host)
            for name, value in fields:
                connection.putheader(name, value)
            connection.endheaders()
            found = connection.getresponse()
            return found.status, dict((name.lower(), value) for name, value in found.getheaders()), found.read().decode()
        finally:
            connection.close()

    def test_the_link_lets_one_in_and_a_second_use_is_refused(self):
        port = Port(self.scene.relay.control)
        self.addCleanup(port.close)
        path = port.link[len(port.origin):]
        status, fields, _ = self.ask("GET", path, port=port)
        self.assertEqual((status, fields["refresh"]), (200, "0; url=/ui/"))
        self.assertNotIn("clear-site-data", fields)
        cookie = fields["set-cookie"]
        self.assertRegex(cookie, rf"^waystation-{port.port}=[0-9a-f]{{64}}; Path=/; HttpOnly; SameSite=Strict$")
        status, _, text = self.ask("GET", path, port=port)
        self.assertEqual(status, 403)
        self.assertIn("used already", text)
        session = [("Cookie", cookie.split(";")[0])]
        self.assertEqual(self.ask("GET", "/ui/", session, port=port)[0], 200)
        self.assertEqual(self.ask("GET", "/ui/", port=port)[0], 403)
        self.assertEqual(self.ask("GET", "/ui/", [("Host", f"evil.example:{port.port}"), *session], port=port)[0], 403)
        # The session of one command is nothing to another, nor is its name.
        other = [("Cookie", cookie.split(";")[0].replace(str(port.port), str(self.port.port)))]
        self.assertEqual(self.ask("GET", "/ui/", other)[0], 403)
        for host in self.port.host, f"localhost:{port.port}", f"127.0.0.1:{port.port}", port.host.split(":")[0]:
            status, _, text = self.ask("GET", "/ui/", [("Host", host), *session], port=port)
            self.assertEqual((status, "Host is not that of the link" in text), (403, True), host)
        port.errors.wait("A browser came in by the link.")

    def check_elsewhere(self, browser, port, relay):
        """Nothing that a page elsewhere can do comes to the daemon, whatever the browser lets that page know."""
        job = self.scene.api("GET", "/v1/jobs?state=dead")["jobs"][0]["id"]
        page = Elsewhere(ATTACK.replace("ORIGIN", repr(port.origin)).replace("JOB", job))
        self.addCleanup(page.close)
        before = self.scene.api("GET", "/v1/routes/quiet"), self.scene.api("GET", "/v1/constrained")
        asked = len(relay.asked)
        browser.open(page.origin)
        told = browser.script_later("const done = arguments[0]; window.attack.then(done)")
        self.assertEqual(len(told), 13, told)
        for name in "get", "typed", "put", "remove", "image", "script", "style", "events":
            self.assertIn("failed: ", told[name], told)
        for name in "frame", "window":
            self.assertNotIn("Routes", told[name], told)
            self.assertNotIn("waystationd", told[name], told)
        after = self.scene.api("GET", "/v1/routes/quiet"), self.scene.api("GET", "/v1/constrained")
        self.assertEqual(before, after)
        self.assertEqual(self.scene.job(job)["state"], "dead")
        self.assertEqual(relay.asked[asked:], [])
        self.assertEqual([cookie for cookie in page.server.cookies if cookie], [])

    def listened(self):
        """A port of the page behind which it is heard what comes to the daemon."""
        between = Between(self.scene.relay.control)
        self.addCleanup(between.close)
        port = Port(between.path)
        self.addCleanup(port.close)
        return port, between

    def test_another_origins_page_can_do_nothing_with_the_session(self):
        port, between = self.listened()
        browser = Browser()
        self.addCleanup(browser.close)
        browser.open(port.link)
        browser.wait_text("Routes")
        self.assertTrue([one for one in between.asked if "/v1/status" in one], between.asked)
        browser.open("about:blank")
        time.sleep(0.5)
        self.check_elsewhere(browser, port, between)
        browser.open(port.origin + "/ui/")
        browser.wait_text("Routes")

    def test_another_origins_page_can_do_nothing_without_the_session(self):
        port, between = self.listened()
        browser = Browser()
        self.addCleanup(browser.close)
        time.sleep(0.5)
        self.check_elsewhere(browser, port, between)

    def test_another_origins_request_is_refused_for_its_origin_where_a_browser_tells_no_more(self):
        port, between = self.listened()
        session = ("Cookie", self.welcome(port))
        asked = len(between.asked)
        for method, target in (
            ("GET", "/v1/status"), ("GET", "/v1/events?after=0"), ("POST", "/v1/routes/quiet/pause"), ("POST", "/v1/reload"),
            ("PUT", "/v1/constrained"), ("DELETE", "/v1/jobs/x")):
            for origin in "http://127.0.0.1:9", "http://evil.example", "null", port.origin + "0":
                status, _, text = self.ask(method, target, [session, ("Origin", origin)], port=port)
                self.assertEqual((status, "another page" in text), (403, True), (method, origin, text))
        for method in "POST", "PUT", "DELETE":
            self.assertEqual(self.ask(method, "/v1/reload", [session], port=port)[0], 403, method)
        self.assertEqual(between.asked[asked:], [])
        self.assertEqual(self.ask("GET", "/v1/status", [session, ("Origin", port.origin)], port=port)[0], 200)
        self.assertEqual(len(between.asked), asked + 1)

    def check_former(self, script, **fields):
        """A program that served a port of the loopback before has nothing of the page that comes after it."""
        former = Former(script, fields)
        self.addCleanup(former.close)
        browser = Browser()
        self.addCleanup(browser.close)
        browser.open(f"http://127.0.0.1:{former.port}/ui/")
        browser.wait(lambda: browser.script("return document.title") == "ready", "the former page is ready")
        browser.open("about:blank")
        former.close()
        port = Port(self.scene.relay.control, "--port", str(former.port))
        self.addCleanup(port.close)
        browser.open(port.link)
        browser.wait_text("Routes")
        self.assertNotIn("former", browser.text() + browser.script("return document.title"))
        self.assertIsNone(self.scene.api("GET", "/v1/routes/quiet").get("pause"))
        # It is there still, at the number: what is told of --numeric is true.
        browser.open(f"http://127.0.0.1:{former.port}/ui/")
        return browser.script("return document.title")

    def test_a_service_worker_of_who_had_the_port_before_has_nothing_of_the_page(self):
        title = self.check_former("navigator.serviceWorker.register('/worker.js', {scope: '/'}).then(() => navigator.serviceWorker.ready)"
                                  ".then(() => { document.title = 'ready'; })")
        self.assertEqual(title, "former worker")

    def test_a_cached_script_of_who_had_the_port_before_has_nothing_of_the_page(self):
        self.check_former("document.title = 'ready';", Cache_Control="public, max-age=31536000, immutable")

    def test_the_number_alone_has_the_browser_forget_what_was_there(self):
        port = Port(self.scene.relay.control, "--numeric")
        self.addCleanup(port.close)
        self.assertEqual(port.host, f"127.0.0.1:{port.port}")
        status, fields, _ = self.ask("GET", port.link[len(port.origin):], port=port)
        self.assertEqual((status, fields["clear-site-data"]), (200, '"cache", "storage"'))
        browser = Browser()
        self.addCleanup(browser.close)
        second = Port(self.scene.relay.control, "--numeric")
        self.addCleanup(second.close)
        browser.open(second.link)
        browser.wait_text("Routes")

    def test_the_browser_is_opened_by_a_file_of_the_users_own_so_that_no_list_of_processes_has_the_link(self):
        if os.geteuid() != 0:
            self.skipTest("a user beside root takes root")
        between = Between(self.scene.relay.control)
        self.addCleanup(between.close)
        place = pathlib.Path(tempfile.mkdtemp(prefix="open-"))
        self.addCleanup(shutil.rmtree, place)
        for path, mode in (between.directory, 0o755), (between.path, 0o666), (place, 0o777):
            os.chmod(path, mode)
        program = place / "xdg-open"
        program.write_text(
            f"#!/bin/sh\n{{ echo $#; echo \"$1\"; stat -c '%a %u' \"$1\"; }} > {place}/new; mv {place}/new {place}/told\n")
        program.chmod(0o755)
        port = Port(
            between.path, before=["setpriv", "--reuid=65534", "--clear-groups"], DISPLAY=":9", XDG_RUNTIME_DIR=str(place),
            PATH=f"{place}:{os.environ['PATH']}")
        self.addCleanup(port.close)
        told = place / "told"
        eventually(told.exists, "the browser is opened")
        count, path, facts = told.read_text().splitlines()
        self.assertEqual((count, facts), ("1", "600 65534"))
        self.assertNotIn("token", path)
        browser = Browser()
        self.addCleanup(browser.close)
        browser.open(f"file://{path}")
        browser.wait_text("Routes")
        eventually(lambda: not os.path.exists(path), "the file is removed")
        self.assertEqual(port.close(), 0)
        again = Port(
            between.path, before=["setpriv", "--reuid=65534", "--clear-groups"], DISPLAY=":9", XDG_RUNTIME_DIR=str(place),
            PATH=f"{place}:{os.environ['PATH']}")
        self.addCleanup(again.close)
        eventually(lambda: told.read_text().splitlines()[1] != path, "the browser is opened again")
        path = told.read_text().splitlines()[1]
        self.assertTrue(os.path.exists(path))
        self.assertEqual(again.close(), 0)
        self.assertFalse(os.path.exists(path))

    def test_the_session_goes_to_no_other_port(self):
        page = Elsewhere("<title>elsewhere</title>")
        self.addCleanup(page.close)
        number = page.origin.rpartition(":")[2]
        for host in "127.0.0.1", "localhost", "other.localhost":
            self.browser.open(f"http://{host}:{number}/")
        self.assertEqual(set(page.server.cookies), {None})
        self.browser.open(self.port.origin + "/ui/")
        self.browser.wait_text("Routes")

    def test_nobody_else_has_the_port_at_the_other_address_of_the_loopback(self):
        if not socket.has_ipv6:
            self.skipTest("the machine has no ::1")
        with socket.socket(socket.AF_INET6) as other:
            with self.assertRaises(OSError):
                other.bind(("::1", self.port.port))
        with socket.socket(socket.AF_INET6) as taken:
            taken.bind(("::1", 0))
            taken.listen()
            number = taken.getsockname()[1]
            done = self.scene.run(f"waystation ui --no-open --socket {self.scene.relay.control} --port {number}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"[::1]:{number}", done.stderr)

    def test_a_name_that_is_made_to_lead_here_gets_nothing(self):
        browser = Browser(more=["--host-resolver-rules=MAP evil.example 127.0.0.1"])
        self.addCleanup(browser.close)
        browser.open(f"http://evil.example:{self.port.port}/ui/")
        self.assertIn("Host is not that of the link", browser.text())
        browser.open(f"http://evil.example:{self.port.port}{self.port.link[len(self.port.origin):]}")
        self.assertIn("Host is not that of the link", browser.text())

    def test_nothing_that_callers_upstreams_or_files_say_becomes_markup(self):
        browser = self.browser
        browser.log()
        self.scene.api("POST", "/v1/routes/quiet/pause", {"reason": "<img src=x onerror=window.hacked=1>\u202eback"})
        self.addCleanup(lambda: self.scene.api("POST", "/v1/routes/quiet/resume"))
        job = self.scene.keep("hooks", "a", 1, ("Waystation-Label", "x=" + HOSTILE[:90]))[0]
        eventually(lambda: self.scene.job(job)["state"] == "dead", "the job is dead")
        for view, word in (
            ("#/", "<img src=x onerror"), ("#/jobs?label=" + "x%3D%3Cimg", "There are no such jobs"),
            ("#/jobs", "<img src=x onerror"), (f"#/job/{job}", "<img src=x onerror"), ("#/route/quiet", "<img src=x onerror"),
            ("#/route/" + "%3Cimg%20src=x%20onerror=window.hacked=1%3E", "no route"), ("#/job/%3Cscript%3E", "Not"),
            ("#/%3Cimg%20src=x%3E", "Nothing here"), ("#/jobs?route=%3Cimg%3E", "Not")):
            with self.subTest(view=view):
                browser.script("location.hash = arguments[0]", view)
                browser.wait_text(word)
                self.assertNotIn("\u202e", browser.text())
                self.assertEqual(browser.script("return [window.hacked, document.querySelectorAll('img, main script, iframe').length]"), [None, 0])
        violations = [line for line in browser.log() if "Content Security Policy" in line or "Uncaught" in line]
        self.assertEqual(violations, [])

    def test_an_upstreams_page_that_is_kept_as_an_answer_runs_nothing(self):
        job = self.scene.keep("hooks", "page", 1)[0]
        eventually(lambda: self.scene.job(job)["state"] == "succeeded", "the job is over")
        self.browser.open(f"{self.port.origin}/v1/jobs/{job}/response")
        found = self.browser.script("return [document.title, window.origin, window.hacked]")
        self.assertEqual(found, ["", "null", None])
        self.browser.open(self.port.origin + "/ui/")
        self.browser.wait_text("Routes")

    def test_the_port_ends_with_its_command_and_says_what_to_do_where_it_cannot_begin(self):
        port = Port(self.scene.relay.control)
        self.assertEqual(port.close(), 0)
        for path, words in (
            (str(self.scene.relay.directory / "none.sock"), ["there is no such socket", "systemctl status waystationd"]),
            (self.scene.relay.jobs, ["role submit", "--socket"])):
            done = self.scene.run(f"waystation ui --no-open --socket {path}")
            self.assertNotEqual(done.returncode, 0)
            for word in words:
                self.assertIn(word, done.stderr)
        taken = self.scene.run(f"waystation ui --no-open --socket {self.scene.relay.control} --port {self.port.port}")
        self.assertNotEqual(taken.returncode, 0)
        self.assertIn(f"127.0.0.1:{self.port.port}", taken.stderr)

    def test_enter_gives_another_link_and_control_c_ends_it(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [command(), "ui", "--no-open", "--socket", self.scene.relay.control], stdin=follower, stdout=follower,
            stderr=follower, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), start_new_session=True)
        os.close(follower)
        self.addCleanup(os.close, leader)
        said = b""

        def links(count):
            nonlocal said
            while len(re.findall(rb"http://\S+token=\w+\r\n", said)) < count or b"ends it" not in said:
                self.assertTrue(select.select([leader], [], [], 20)[0], said)
                said += os.read(leader, 4096)
            return re.findall(rb"token=(\w+)\r\n", said)

        links(1)
        os.write(leader, b"\n")
        first, second = links(2)
        self.assertNotEqual(first, second)
        self.assertIn(b"Enter for another", said)
        os.write(leader, b"\x03")
        self.assertEqual(process.wait(20), 0)

    def test_no_more_connections_are_held_than_a_browser_needs(self):
        port = Port(self.scene.relay.control)
        self.addCleanup(port.close)
        held = [socket.create_connection(("127.0.0.1", port.port), 10) for _ in range(40)]
        try:
            refused = [one for one in held if select.select([one], [], [], 2 if one is held[-1] else 0.2)[0]]
            self.assertEqual(len(refused), 8)
            self.assertIn(b"as many connections are open as may be", refused[0].recv(4096))
        finally:
            for one in held:
                one.close()
        eventually(lambda: self.ask("GET", "/ui/", port=port)[0] == 403, "there is room again")

    def as_nobody(self, code, *arguments):
        """The output of a program of uid 65534."""
        if os.geteuid() != 0:
            self.skipTest("another user takes root")
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", "python3", "-c", code, *map(str, arguments)],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def welcome(self, port):
        """The session that the link of a port gives."""
        status, fields, _ = self.ask("GET", port.link[len(port.origin):], port=port)
        self.assertIn("set-cookie", fields, status)
        return fields["set-cookie"].split(";")[0]

    def test_the_program_of_another_user_is_refused_although_it_has_the_session_or_the_link(self):
        code = (
            "import http.client, sys; port, target, host, cookie, source = sys.argv[1:];"
            "c = http.client.HTTPConnection('127.0.0.1', int(port), source_address=(source, 0));"
            "c.request('GET', target, headers={'Host': host, 'Cookie': cookie}); r = c.getresponse();"
            "print(r.status, r.getheader('set-cookie'), r.read().decode())")
        behind_sudo = Port(self.scene.relay.control, SUDO_UID="65534")
        named = Port(self.scene.relay.control, "--for", "65534")
        fresh = Port(self.scene.relay.control)
        for port in behind_sudo, named, fresh:
            self.addCleanup(port.close)
        for port, source, words in (
            (fresh, "127.0.0.1", "403 None waystation ui: uid 65534 may not use a page that is open for uid 0"),
            (fresh, "127.0.0.2", "403 None waystation ui: the connection comes from another address"),
            (behind_sudo, "127.0.0.2", "403 None waystation ui: the connection comes from another address"),
            (behind_sudo, "127.0.0.1", "200 None {"), (named, "127.0.0.1", "200 None {")):
            link = port.link[len(port.origin):]
            cookie = "" if port is fresh else self.welcome(port) if not hasattr(port, "cookie") else port.cookie
            port.cookie = cookie
            with self.subTest(port=port.process.args, source=source):
                if port is fresh:
                    self.assertIn(words, self.as_nobody(code, port.port, link, port.host, "a=b", source))
                else:
                    self.assertIn(words, self.as_nobody(code, port.port, "/v1/status", port.host, cookie, source))
        # The link that they had is as good as before.
        cookie = self.welcome(fresh)
        for source in "127.0.0.1", "127.0.0.2":
            self.assertIn("403 None", self.as_nobody(code, fresh.port, "/v1/status", fresh.host, cookie, source))

    def test_who_leaves_before_it_is_looked_at_has_done_nothing(self):
        port = Port(self.scene.relay.control)
        self.addCleanup(port.close)
        cookie = self.welcome(port)
        code = (
            "import socket, struct, sys; port, host, cookie, source, linger = sys.argv[1:]\n"
            "body = '{\"reason\": \"by a stranger\"}'\n"
            "text = (f'POST /v1/routes/quiet/pause HTTP/1.1\\r\\nHost: {host}\\r\\nOrigin: http://{host}\\r\\nCookie: {cookie}\\r\\n'\n"
            "    f'Content-Type: application/json\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}').encode()\n"
            "for _ in range(50):\n"
            "    try:\n"
            "        one = socket.create_connection(('127.0.0.1', int(port)), source_address=(source, 0)); one.send(text)\n"
            "        if linger == '1': one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\n"
            "        one.close()\n"
            "    except ConnectionError: pass\n")
        for source in "127.0.0.1", "127.0.0.2":
            for linger in 0, 1:
                self.as_nobody(code, port.port, port.host, cookie, source, linger)
        # Asked after them, so that they are all over.
        self.assertEqual(self.ask("GET", "/v1/status", [("Cookie", cookie)], port=port)[0], 200)
        self.assertIsNone(self.scene.api("GET", "/v1/routes/quiet").get("pause"))

    def test_strangers_take_no_place_from_those_who_may_come_in(self):
        if os.geteuid() != 0:
            self.skipTest("another user takes root")
        code = (
            "import socket, sys; port, source = sys.argv[1:];"
            "held = [socket.create_connection(('127.0.0.1', int(port)), source_address=(source, 0)) for _ in range(40)];"
            "print('held', flush=True); sys.stdin.read()")
        for source in "127.0.0.1", "127.0.0.2":
            process = subprocess.Popen(
                ["setpriv", "--reuid=65534", "--clear-groups", "python3", "-c", code, str(self.port.port), source],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            with process:
                self.assertEqual(process.stdout.readline(), "held\n")
                self.assertIn("open the link", self.ask("GET", "/ui/")[2])
                process.stdin.close()


if __name__ == "__main__":
    unittest.main()
