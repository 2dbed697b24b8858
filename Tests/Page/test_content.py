"""The page of a job: what the upstream said, fields and bodies, who sent it, and what comes next."""

import json
import os
import pwd
import re
import time
import unittest
import urllib.parse

from browser import Browser
from page import PageTest
from scene import HOSTILE, answer, as_json, eventually

PAGE = (
    "<html><head><title>Gone</title><style>h1 { color: red }</style></head><body onload=\"parent.document.title='hacked'\">"
    "<h1>No such sku</h1><script>parent.document.title = 'hacked'; window.hacked = 1</script>"
    "<img src=/v1/status><a href=/v1/status target=_top>ask</a></body></html>")
DRAWING = (
    "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"parent.document.title='hacked'\">"
    "<image href=\"/v1/status\"/><script>parent.document.title = 'hacked'</script></svg>")
CONTROLS = "a\u202eb\x1b[31mred\x07\r\nnext\ttab\u2066x\x00y\u009bz"

SECTION = "const part = [...document.querySelectorAll('main section')].find((one) => one.querySelector('h2').textContent === arguments[0]);"
# Counts the bytes that the page takes of bodies.
COUNTING = """
window.taken = 0;
window.readPart ||= ReadableStreamDefaultReader.prototype.read;
ReadableStreamDefaultReader.prototype.read = function () {
  return window.readPart.call(this).then((found) => { window.taken += found.value ? found.value.length : 0; return found; });
};
"""


class Content(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.upstream.on("/hooks/sku", as_json(410, '{"code": "E12", "title": "sku missing", "errors": [{"detail": "line 3"}]}'))
        cls.scene.upstream.on("/stock/sku", as_json(500, '{"error": {"message": "stock is locked"}}'))

    def over(self, path, *fields):
        """The id of a dead job that was answered what stands at that path."""
        job, = self.scene.keep("hooks", path, 1, *fields)
        eventually(lambda: self.scene.job(job)["state"] == "dead", "the job is dead")
        return job

    def answered(self, name, text, kind="text/plain"):
        self.scene.upstream.on("/hooks/" + name, answer(410, text, ("Content-Type", kind)))
        return self.over(name)

    def part(self, title):
        return self.browser.script(SECTION + "return part ? part.innerText : ''", title)

    def frame(self, title):
        """Opens the body of a section, and gives what is in the frame."""
        self.browser.click(self.browser.script(SECTION + "return part.querySelector('button')", title))
        self.browser.wait(lambda: self.browser.script("return Boolean(document.querySelector('iframe'))"), "the body is shown")
        self.browser.call("POST", "/frame", {"id": self.browser.find("iframe")})
        try:
            self.browser.wait(lambda: self.browser.script("return document.readyState === 'complete' && document.querySelector('pre') && location.href") == "about:srcdoc",
                              "the frame is there")
            return self.browser.script(
                "return {text: document.querySelector('pre').textContent, origin: window.origin, hacked: window.hacked,"
                " asked: performance.getEntriesByType('resource').length,"
                " kinds: [...document.querySelectorAll('*')].map((one) => one.localName).join(' ')}")
        finally:
            self.browser.call("POST", "/frame", {"id": None})

    def test_what_the_upstream_said_stands_before_all_else(self):
        job = self.over("sku", ("X-Api-Key", "k1"), ("X-Shop", HOSTILE), ("Content-Type", "text/x-test"))
        text = self.view(f"#/job/{job}", "What happened", job, "sku missing: line 3", "from " + pwd.getpwuid(os.getuid()).pw_name)
        self.assertLess(text.index("sku missing: line 3"), text.index("What happened"))
        self.assertIn("The upstream answered 410\n", text)
        self.assertIn("It is over, and is sent again only if somebody retries it.", text)
        fields = {row["Field"]: row["Value"] for row in self.rows("Fields of the request")}
        self.assertEqual((fields["X-Api-Key"], fields["X-Shop"], fields["Content-Type"]), ("(redacted)", HOSTILE, "text/x-test"))
        self.assertEqual({row["Field"]: row["Value"] for row in self.rows("Fields of the answer")}["Content-Type"], "application/json")
        for name, body, said in (
            ("page", PAGE, "Gone No such sku ask"), ("plain", "no \u202e room\x1b[1m", "no \\u{202e} room\\u{1b}[1m"),
            ("long", "full. " * 50_000, "full. " * 50 + "…"), ("list", '["", 7]', '["",7]')):
            with self.subTest(name=name):
                job = self.answered(name, body.encode())
                self.view(f"#/job/{job}", "What happened", job)
                self.assertEqual(self.browser.wait(lambda: self.browser.script(
                    "const said = document.querySelector('blockquote'); return said && said.textContent"), "it is said"), said)
                self.assertEqual(self.browser.script("return document.querySelectorAll('main img, main script, iframe').length"), 0)

    def test_a_job_that_waits_says_what_it_was_told_what_comes_next_and_when(self):
        job, = self.scene.keep("stock", "sku", 1)
        eventually(lambda: self.scene.job(job)["state"] == "retrying", "the job waits")
        text = self.view(f"#/job/{job}", "The upstream answered 500", "stock is locked", "Next attempt in 59 min, at ", "from " + pwd.getpwuid(os.getuid()).pw_name)
        self.assertNotIn("Download the answer", text)
        self.assertEqual(json.loads(self.frame("What it was answered")["text"]), {"error": {"message": "stock is locked"}})
        strip = "return [...document.querySelectorAll('.strip .' + arguments[0])].map((one) => Number(one.getAttribute('width')))"
        waits, attempts = (self.browser.script(strip, look) for look in ("wait", "failed"))
        self.assertEqual(len(attempts), 1)
        self.assertGreater(max(waits), 590, "an hour is nearly all of it")
        caption = self.browser.text(".strip figcaption")
        self.assertRegex(caption, r"^1 h from \S+, to scale: .* The longest: (?:1 h|59 min 5\d s) for backoff, \d s of it gone")
        self.assertNotRegex(re.sub(r"waystation \S.*", "", text), r"\b\d+(\.\d+)?(ms|s|m|h|d)\b", "a span has one form")

    def test_a_body_is_text_in_a_frame_that_runs_nothing_and_loads_nothing(self):
        for name, kind, body, shown in (
            ("html", "text/html", PAGE.encode(), PAGE), ("svg", "image/svg+xml", DRAWING.encode(), DRAWING),
            ("line", "text/html", b"<p>" + b"x" * 10_000_000, "<p>" + "x" * 16_381),
            ("latin", "text/plain", b"caf\xe9 \xff\xfe ok \xf0\x9f", "caf\ufffd \ufffd\ufffd ok \ufffd"),
            ("cut", "text/plain", b"x" * 16_383 + "\u20ac".encode() + b"y", "x" * 16_383),
            ("controls", "text/plain", CONTROLS.encode(), "a\\u{202e}b\\u{1b}[31mred\\u{7}\nnext\ttab\\u{2066}x\\u{0}y\\u{9b}z")):
            with self.subTest(name=name):
                job = self.answered(name, body, kind)
                text = self.view(f"#/job/{job}", "What it was answered", job)
                self.assertNotIn("\u202e", text)
                self.browser.script(COUNTING)
                title = self.browser.script("return document.title")
                found = self.frame("What it was answered")
                self.assertEqual(found.pop("text"), shown)
                self.assertEqual(found, {"origin": "null", "hacked": None, "asked": 0, "kinds": "html head meta meta meta body pre"})
                self.assertEqual(self.browser.script("return [document.title, window.hacked]"), [title, None])
                # The browser hands over at most what its pipe holds, 2 MiB.
                self.assertLess(self.browser.script("return window.taken"), 3_000_000)
                self.assertEqual("The first 16 KiB of it." in self.part("What it was answered"), len(body) > 16_384)
        self.browser.script("document.querySelector('iframe').scrollIntoView({block: 'center'})")
        self.picture("body", whole=False)

    def test_the_same_bodies_do_what_they_can_where_nothing_holds_them(self):
        browser = Browser()
        self.addCleanup(browser.close)
        for body in PAGE, DRAWING:
            frame = f"<title>calm</title><iframe srcdoc=\"{body.replace('&', '&amp;').replace(chr(34), '&quot;')}\"></iframe>"
            browser.open("data:text/html," + urllib.parse.quote(frame))
            browser.wait(lambda: browser.script("return document.title") == "hacked", "the body acts")

    def test_a_body_that_is_read_stays_as_it_is_while_the_page_goes_on_and_is_there_for_one_job_alone(self):
        job = self.over("sku")
        self.view(f"#/job/{job}", "What it was sent", job)
        self.assertEqual(self.frame("What it was sent")["text"], "x=1")
        self.browser.script(
            "const frame = document.querySelector('iframe'); window.loads = 0; window.frame = frame;"
            "frame.addEventListener('load', () => { window.loads += 1; })")
        read = self.browser.text("footer")
        self.browser.wait(lambda: self.browser.text("footer") != read, "the page is read anew")
        self.scene.api("POST", f"/v1/jobs/{job}/retry")
        self.browser.wait(lambda: self.scene.job(job)["attempt_count"] == 2, "it was sent again")
        self.browser.wait(lambda: self.part("What happened").count("attempt ") == 2, "the page tells of it")
        self.assertEqual(self.browser.script("return [window.frame === document.querySelector('iframe'), window.loads]"), [True, 0])
        self.press("Hide it")
        self.browser.wait(lambda: not self.browser.script("return document.querySelector('iframe')"), "it is hidden")
        self.assertEqual(self.frame("What it was answered")["text"][:7], '{"code"')
        self.view(f"#/job/{self.over('sku')}", "What it was sent")
        self.assertFalse(self.browser.script("return document.querySelector('iframe')"))

    def test_what_was_expunged_is_shown_no_more(self):
        job = self.over("sku", ("X-Shop", "7"))
        self.view(f"#/job/{job}", "sku missing", "X-Shop")
        self.scene.api("DELETE", f"/v1/jobs/{job}/content")
        text = self.browser.wait(lambda: (lambda text: "its content is gone" in text and text)(self.browser.text("main")), "it is told")
        for gone in "sku missing", "X-Shop", "Show it":
            self.assertNotIn(gone, text)


if __name__ == "__main__":
    unittest.main()
