"""A headless Chromium, driven by its own driver over plain WebDriver (W3C)."""

import base64
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "EndToEnd"))

from upstream import free_port  # noqa: E402

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 30
# Keys as WebDriver spells them.
TAB, ENTER, ESCAPE, DOWN = "\ue004", "\ue007", "\ue00c", "\ue015"
PAGE_DOWN, END, HOME, SPACE, SHIFT = "\ue00f", "\ue010", "\ue011", "\ue00d", "\ue008"


class DriverError(Exception):
    pass


class Browser:
    """One window of a profile of its own; everything goes with `close`."""

    def __init__(self, width=1280, height=900, dark=False, more=()):
        self.profile = pathlib.Path(tempfile.mkdtemp(prefix="page-"))
        self.port = free_port()
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "TZ": "UTC"})
        self.session = None
        try:
            self._begin(width, height, more)
        except BaseException:
            self.close()
            raise
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def _begin(self, width, height, more):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if self._call("GET", "/status")["ready"]:
                    break
            except (OSError, http.client.HTTPException):
                pass
            if time.monotonic() > end:
                raise DriverError("chromedriver did not become ready")
            time.sleep(0.05)
        arguments = [
            "--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
            f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "--hide-scrollbars",
            "--disable-popup-blocking", *more]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        found = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = found["sessionId"]

    def _call(self, method, path, document=None, seconds=90):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        try:
            body = None if method == "GET" or method == "DELETE" else json.dumps(document or {})
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise DriverError(f"{answer['error']}: {answer['message']}")
        return answer

    def call(self, method, path, document=None):
        return self._call(method, f"/session/{self.session}{path}", document)

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def close(self):
        if self.session:
            try:
                self.call("DELETE", "")
            except (OSError, DriverError, http.client.HTTPException):
                pass
        if self.driver.poll() is None:
            self.driver.send_signal(signal.SIGTERM)
            try:
                self.driver.wait(10)
            except subprocess.TimeoutExpired:
                self.driver.kill()
                self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    # A person's actions, and what a person sees.

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.call("GET", "/url")

    def script(self, text, *arguments):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def script_later(self, text, *arguments):
        """A script that calls its last argument with what it has to say."""
        return self.call("POST", "/execute/async", {"script": text, "args": list(arguments)})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})

    def button(self, text, within="body"):
        """The button or link of that text."""
        found = self.script(
            "return [...document.querySelector(arguments[1]).querySelectorAll('button, a')]"
            ".find((node) => node.textContent.trim() === arguments[0] && node.offsetParent !== null)", text, within)
        if not found:
            raise AssertionError(f"there is no {text!r} in {within}: {self.text(within)[:2000]}")
        return found

    def click(self, element):
        self.call("POST", f"/element/{element[ELEMENT]}/click")

    def type(self, element, text):
        self.call("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def keys(self, *keys):
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def text(self, selector="body"):
        return self.script("const node = document.querySelector(arguments[0]); return node ? node.innerText : ''", selector)

    def wait(self, condition, what, seconds=PATIENCE):
        """The result of `condition` as soon as there is one."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"it never came to be that {what}; the page says:\n{self.text()[:3000]}")
            time.sleep(0.05)

    def wait_text(self, *words, within="main", seconds=PATIENCE):
        return self.wait(
            lambda: (lambda text: text if all(word in text for word in words) else None)(self.text(within)),
            f"{within} has {words}", seconds)

    def log(self):
        """The messages of the console since the last look."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def picture(self, path, whole=True, height=4000):
        clip = {}
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height), "scale": 1},
                    "captureBeyondViewport": True}
        data = self.cdp("Page.captureScreenshot", format="png", **clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def size(self, width, height, scale=1, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def media(self, **features):
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def weight(self):
        """The weight of the page after all collections: bytes of its heap, nodes, listeners.

        A collection of scripts lets nodes go that only the next one takes; what the page holds, none does.
        """
        self.cdp("HeapProfiler.enable")
        looks = []
        for _ in range(4):
            self.cdp("HeapProfiler.collectGarbage")
            counters = self.cdp("Memory.getDOMCounters")
            heap = self.cdp("Runtime.getHeapUsage")
            looks.append((heap["usedSize"], counters["nodes"], counters["jsEventListeners"]))
        return tuple(map(min, zip(*looks)))
