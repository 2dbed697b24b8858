"""The page never shows as good what it has not asked for lately, and says what keeps it from asking."""

import os
import signal
import unittest

from page import PageTest
from scene import Port

# The greatest age of what was shown in its colours, looked at twenty times a second.
OLDEST = """
window.oldest = 0;
window.looking = setInterval(() => {
  if (!document.body.classList.contains('stale')) window.oldest = Math.max(window.oldest, Date.now() - freshness.askedAt);
}, 50);
"""
ENABLED = "return [...document.querySelectorAll('main button.act')].map((node) => !node.disabled)"


class Freshness(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.scene.trouble()

    def live(self):
        self.browser.wait(lambda: self.browser.text("#live") == "Live" and not self.browser.text("#away"), "the page is live")

    def is_stale(self):
        return self.browser.script("return document.body.classList.contains('stale')")

    def test_nothing_is_shown_as_good_that_was_asked_for_ten_seconds_ago(self):
        browser = self.browser
        self.view("#/", "Routes")
        self.live()
        browser.script(OLDEST)
        self.addCleanup(lambda: browser.script("clearInterval(window.looking)"))
        process = self.scene.relay.process.pid
        os.kill(process, signal.SIGSTOP)
        try:
            browser.wait(self.is_stale, "the page is grey", seconds=15)
            self.assertNotIn(True, browser.script(ENABLED))
            colours = browser.script(
                "const soft = getComputedStyle(document.querySelector('.note, .scroll thead th')).color;"
                "return [...document.querySelectorAll('main .badge')].map((node) => getComputedStyle(node).color).filter((one) => one !== soft)")
            self.assertEqual(colours, [], "what is old has no colour")
            browser.wait_text("The daemon does not answer since", within="#away", seconds=15)
            browser.wait(lambda: "Read 1" in browser.text("#live"), "its age is told")
            self.assertEqual(browser.script("return document.getElementById('glance').className"), "old")
        finally:
            os.kill(process, signal.SIGCONT)
        self.live()
        self.assertFalse(self.is_stale())
        self.assertIn(True, browser.script(ENABLED))
        self.assertLess(browser.script("return window.oldest"), 10_000)
        # The same by the clock alone: nothing has failed, and time has passed.
        was = browser.script("freshness.askedAt -= 20000; freshness.show(); return document.body.classList.contains('stale')")
        self.assertTrue(was, "the page is grey by the clock alone")

    def test_the_ways_of_being_away_are_told_apart(self):
        port = Port(self.scene.relay.control)
        self.addCleanup(port.close)
        browser = self.browser
        browser.open(port.link)
        self.addCleanup(lambda: (browser.open(self.port.origin + "/ui/"), browser.wait_text("Routes")))
        browser.wait_text("Routes")
        relay = self.scene.relay

        def again():
            (relay.directory / "notify").unlink(missing_ok=True)
            relay.notices.items.clear()
            relay.start()
            self.live()

        relay.stop()
        browser.wait_text("The daemon is away since", "there is no such socket", within="#away")
        again()
        relay.process.kill()
        relay.process.wait()
        browser.wait_text("The daemon is away since", "nobody listens on it", within="#away")
        again()
        port.close()
        browser.wait_text("The page's command has ended since", "Run waystation ui again", within="#away")

    def answers(self, path, change):
        """Has an answer of the daemon changed by a script before the page sees it."""
        self.browser.script(
            "window.plain = window.plain || fetch; window.fetch = async (path, given) => { const answer = await plain(path, given);"
            f" if (path !== '{path}') return answer; const found = await answer.json(); {change};"
            " return new Response(JSON.stringify(found), {headers: answer.headers}); };"
            "refresh.soon(true)")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))

    def test_a_daemon_that_stops_and_a_store_that_does_not_answer_are_told_first_and_nothing_is_offered(self):
        dead = self.scene.api("GET", "/v1/jobs?state=dead")["jobs"][0]["id"]
        for view, word in ("#/", "Routes"), ("#/jobs", "Failed by"), (f"#/job/{dead}", "What happened"), ("#/route/ok", "What holds it back"):
            for kind, told in (
                    ("draining", "The daemon is stopping since"), ("store_stalled", "The job store does not answer since"),
                    ("store_gone", "The job store does not answer since")):
                with self.subTest(view=view, told=told):
                    self.view(view, word)
                    self.answers("/v1/troubles", f"found.troubles[0].kind = '{kind}'")
                    self.browser.wait_text(told, within="#away")
                    self.assertNotIn(True, self.browser.script(ENABLED))
                    self.assertFalse(self.is_stale(), "what was read is new")
                    self.browser.script("window.fetch = plain; refresh.soon(true)")
                    self.live()
                    self.assertIn(True, self.browser.script(ENABLED))

    def test_a_view_that_was_not_read_shows_nothing_of_another(self):
        self.view("#/", "Routes")
        self.browser.script("window.plain = fetch; window.fetch = async () => { throw new TypeError('cut') }")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        self.view("#/jobs", "Jobs", "Not read yet.")
        self.assertEqual(self.browser.script("return [document.querySelectorAll('main table').length, document.activeElement.tagName]"), [0, "H1"])
        self.browser.script("window.fetch = plain")
        self.browser.wait_text("Failed by")
        self.live()

    def test_an_open_dialog_confirms_nothing_while_the_daemon_is_away(self):
        self.view("#/route/quiet", "What holds it back")
        self.live()
        self.press("Pause")
        submit = "return document.querySelector('dialog button[type=submit]').disabled"
        self.assertFalse(self.browser.script(submit))
        self.browser.script("window.plain = fetch; window.fetch = async () => { throw new TypeError('cut') }")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        self.browser.wait(lambda: self.browser.script(submit), "nothing can be confirmed")
        self.browser.script("window.fetch = plain")
        self.browser.wait(lambda: not self.browser.script(submit), "it can be confirmed again")
        self.press("Cancel", "dialog form .buttons")

    def test_the_waits_between_two_tries_grow_and_vary(self):
        waits = self.browser.script("return [0, 1, 2, 3, 4, 20].map((failures) => [...Array(50)].map(() => grown(failures)))")
        for wanted, found in zip((1000, 2000, 4000, 8000, 15000, 15000), waits):
            self.assertTrue(all(0.8 * wanted <= wait <= 1.2 * wanted for wait in found), found)
            self.assertGreater(max(found) - min(found), 0.1 * wanted)
        self.view("#/", "Routes")
        self.browser.script(
            "window.asked = []; window.plain = fetch; window.fetch = async (path) => {"
            " if (/status|version/.test(path)) window.asked.push(performance.now()); throw new TypeError('cut'); }")
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        asked = self.browser.wait(
            lambda: (lambda found: found if len(found) > 3 else None)(self.browser.script("return window.asked")), "it is asked again")
        gaps = [later - before for before, later in zip(asked, asked[1:])]
        for wanted, gap in zip((1000, 2000, 4000), gaps):
            self.assertGreater(gap, 0.8 * wanted)
            self.assertLess(gap, 1.2 * wanted + 500)
        self.browser.script("window.fetch = plain")
        self.live()


if __name__ == "__main__":
    unittest.main()
