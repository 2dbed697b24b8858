"""The first look says how bad it is, since when and why, what the relay does about it and what to press."""

import json
import unittest

from page import PageTest
from scene import eventually

STARTED = "2026-11-29T02:34:00Z"
# The trouble's own words, each of which stands on its card once.
SENTENCES = """
return [...document.querySelectorAll('.trouble article')].map((card) => [card.querySelector('h3').textContent,
  ...[...card.querySelectorAll('dd')].map((node) => node.textContent)])
"""


def trouble(name, rate=0, state="failing", **more):
    return {
        "id": f"upstream_failing/{name}", "kind": "upstream_failing", "state": state, "since": STARTED,
        "subject": {"type": "upstream", "name": name}, "cause": f"{name}: The upstream answers 503.",
        "relay": "It tries again as the route's rules say.", "remedy": "Mend the upstream.", "failures_per_minute": rate,
        "waiting": 0, "routes": ["ok"], "route_count": 1, "upstreams": ["main"], "upstream_count": 1, "failures": [], **more}


def document(*troubles, **glance):
    state = max((one["state"] for one in troubles), key=["ok", "paused", "degraded", "failing"].index, default="ok")
    return {
        "as_of": STARTED, "config": "0", "trouble_count": len(troubles), "troubles": troubles, "glance": {
            "state": state, "routes": 300, "routes_wrong": len(troubles), "credentials_wrong": 0, "store": "ok", "waiting": 0,
            "held": 0, "dead": 0, "failures_per_minute": 0, **({"since": STARTED} if troubles else {}), **glance}}


class Glance(PageTest):
    def show(self, told, view="#/", word="Routes"):
        """Has the page show a document of troubles."""
        self.browser.script(
            "window.plain = window.plain || fetch; window.told = arguments[0]; window.fetch = async (path, given) =>"
            " path.startsWith('/v1/troubles') ? new Response(window.told, {headers: {'Content-Type': 'application/json'}})"
            " : plain(path, given); refresh.soon(true)", json.dumps(told))
        self.addCleanup(lambda: self.browser.script("window.fetch = plain"))
        self.view(view, word)
        self.browser.wait(lambda: self.browser.script(
            "return refresh.kept.troubles && JSON.stringify(refresh.kept.troubles) === JSON.stringify(JSON.parse(window.told))"),
            "the document is shown")

    def causes(self):
        return self.browser.script("return [...document.querySelectorAll('.trouble h3')].map((node) => node.textContent)")

    def glance(self):
        return self.browser.script(
            "const node = document.getElementById('glance'); return [node.textContent, [...node.classList].sort().join(' '),"
            " getComputedStyle(node.querySelector('p'), '::before').content]")

    def test_one_line_says_how_bad_it_is_on_every_view(self):
        self.show(document(
            trouble("eu", 94), routes_wrong=60, credentials_wrong=1, failures_per_minute=114, waiting=1204,
            oldest_at="2026-01-01T00:00:00Z", dead=41))
        for view, word in ("#/", "Routes"), ("#/jobs", "Failed by"), ("#/route/ok", "What holds it back"):
            self.view(view, word)
            text, look, sign = self.glance()
            self.assertRegex(
                text, r"^Failing since .* \(.*\) · 60 of 300 routes · 1 credential · 114 failures a minute"
                r" · 1\.2 k jobs wait, the oldest \d+ d · 41 dead jobs$")
            self.assertEqual((look, sign), ("failing", '"✕ "'))
        for state, sign in ("degraded", "! "), ("paused", "‖ "):
            self.show(document(trouble("eu", state=state)))
            self.assertEqual(self.glance()[1:], [state, f'"{sign}"'])
        self.show(document(trouble("eu"), store="stalled"))
        self.assertIn("job store stalled", self.glance()[0])
        self.show(document())
        text, look, sign = self.glance()
        self.assertEqual((text, look, sign), ("Nothing is wrong with 300 routes", "ok", '"✓ "'))

    def test_a_glance_that_was_not_read_is_not_green(self):
        self.show(document())
        self.browser.script(
            "window.fetch = async (path, given) => path.startsWith('/v1/troubles')"
            " ? new Response('{}', {status: 503, headers: {'Content-Type': 'application/json'}}) : plain(path, given); refresh.soon(true)")
        self.browser.wait_text("Not read anew: what is wrong.")
        self.assertEqual(self.glance(), ["Nothing was wrong with 300 routes", "old", '"? "'])
        self.view("#/jobs", "Failed by")
        self.assertEqual(self.glance()[1:], ["old", '"? "'])

    def test_sixty_routes_of_one_upstream_are_one_trouble_with_their_names(self):
        names = [f"r{number}" for number in range(60)]
        failures = [{"kind": "http_status", "status": 503, "count": 88}, {"kind": "connection_refused", "count": 3}]
        last = {"kind": "http_status", "status": 503, "detail": "the upstream answered 503", "at": STARTED}
        self.show(document(trouble(
            "eu", 94, routes=names, route_count=60, failures=failures, last_failure=last, waiting=1204, oldest_at=STARTED,
            action={"word": "Try again now", "role": "operate", "method": "POST", "path": "/v1/jobs/actions",
                    "document": {"action": "retry", "filter": {"state": ["retrying"]}, "dry_run": False},
                    "command": "waystation jobs retry --where state=retrying"})))
        self.assertEqual(self.causes(), ["eu: The upstream answers 503."])
        text = self.browser.text(".trouble article")
        for words in "60 routes", "94 failures a minute", "88 × http_status 503, 3 × connection_refused failed", "1.2 k jobs wait":
            self.assertIn(words, text)
        listed = self.browser.script("return [...document.querySelectorAll('.trouble article a')].map((node) => node.textContent)")
        self.assertEqual(listed, names)
        line = f"waystation jobs retry --where state=retrying --socket {self.scene.relay.control}"
        self.assertEqual(self.browser.text(".trouble article code"), line)
        self.press("Try again now…")
        self.browser.wait_text("match", within="dialog")
        self.assertEqual(self.command(), line, "the dialog's command is that of the trouble")
        self.press("Cancel", "dialog form .buttons")

    def test_a_trouble_keeps_its_place_for_half_a_minute(self):
        one, two = trouble("eu", 9), trouble("us", 5)
        self.browser.script("places.ids = []")
        self.show(document(one, two))
        was = self.causes()
        for order in (two, one), (one, two), (two, one):
            self.show(document(*order))
            self.assertEqual(self.causes(), was)
        three = trouble("ap", 99)
        self.show(document(three, two, one))
        self.assertEqual(self.causes(), [*was, three["cause"]])
        self.browser.script("places.at -= 30001")
        self.show(document(two, three, one))
        self.assertEqual(self.causes(), [two["cause"], three["cause"], one["cause"]], "the costliest is first again")

    def test_a_new_trouble_is_told_once_to_who_does_not_see_it(self):
        news = "return document.getElementById('news').textContent"
        one, two = trouble("eu", 9), trouble("us", 5)
        self.show(document(one))
        self.browser.script("document.getElementById('news').textContent = ''")
        self.show(document(one, two))
        self.assertEqual(self.browser.script(news), two["cause"])
        self.browser.script("document.getElementById('news').textContent = ''")
        self.show(document(two, one, dead=1))
        self.assertEqual(self.browser.script(news), "")

    def test_the_first_trouble_stands_on_the_first_screen(self):
        self.addCleanup(lambda: self.browser.size(1280, 900))
        self.show(document(
            trouble("https://api.partner.example", 94, routes=[f"route-{n}" for n in range(60)], route_count=60, waiting=1204, oldest_at=STARTED),
            trouble("us"), routes_wrong=60, credentials_wrong=3, failures_per_minute=114, waiting=1204, oldest_at=STARTED, dead=41))
        for width, height in (1280, 900), (800, 600), (360, 780), (320, 640):
            self.browser.size(width, height)
            bottom, inner = self.browser.script("return [document.querySelector('.trouble article').getBoundingClientRect().bottom, innerHeight]")
            self.assertLessEqual(bottom, inner, (width, height))
            self.picture(f"glance-{width}", whole=False)

    def test_the_focus_stays_where_it_was_when_the_page_reads_anew(self):
        self.show(document(trouble("eu", 9), trouble("us", 5)))
        self.browser.script("document.querySelectorAll('.trouble article a')[1].focus()")
        held = "const card = document.activeElement.closest('article'); return card && card.querySelector('h3').textContent"
        was = self.browser.script(held)
        self.assertIsNotNone(was)
        self.browser.script("places.at -= 30001")
        self.show(document(trouble("ap", 99), trouble("us", 50), trouble("eu", 9)))
        self.assertEqual(self.browser.script(held), was)

    def test_the_troubles_of_the_page_are_those_of_the_interface_and_leave_by_their_action(self):
        scene = self.scene
        scene.trouble()
        scene.api("POST", "/v1/routes/quiet/pause", {"reason": "maintenance"})
        self.addCleanup(lambda: scene.api("POST", "/v1/routes/quiet/resume"))
        self.view("#/", "Routes")

        def told():
            shown = {card[0]: " ".join(card[1:]) for card in self.browser.script(SENTENCES)}
            troubles = scene.api("GET", "/v1/troubles")["troubles"]
            return shown if [*sorted(shown)] == sorted(one["cause"] for one in troubles) and all(
                # A command of it stands by itself, to be copied.
                one["relay"] in shown[one["cause"]] and one["remedy"].partition("waystation ")[0].strip() in shown[one["cause"]]
                for one in troubles) else None

        shown = self.browser.wait(told, "each sentence stands on the page")
        self.assertGreater(len(shown), 4)
        paused = next(cause for cause in shown if "maintenance" in cause)
        card = f"[...document.querySelectorAll('.trouble article')].find((one) => one.querySelector('h3').textContent === {json.dumps(paused)})"
        line = self.browser.script(f"return {card}.querySelector('code').textContent")
        self.browser.click(self.browser.script(f"return {card}.querySelector('button')"))
        self.assertEqual(self.command(), line)
        self.press("Resume", "dialog form .buttons")
        eventually(lambda: not scene.api("GET", "/v1/routes/quiet").get("pause"), "the page resumed it")
        self.browser.wait(lambda: paused not in self.causes(), "the trouble has left")
        scene.api("POST", "/v1/routes/quiet/pause", {"reason": "maintenance"})
        done = scene.run(line)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(scene.api("GET", "/v1/routes/quiet").get("pause"))


if __name__ == "__main__":
    unittest.main()
