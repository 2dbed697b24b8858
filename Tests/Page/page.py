"""A test case with a relay in trouble, the port of `waystation ui` and a browser, all of which end with it."""

import os
import pathlib
import unittest

from browser import Browser
from scene import Port, Scene

# How long a page is kept open; none but for the night (Tests/run nightly).
HOURS = float(os.environ.get("PAGE_HOURS", "0"))
# Where pictures of the views are left for people to look at.
PICTURES = os.environ.get("PAGE_PICTURES")


class PageTest(unittest.TestCase):
    longMessage = True

    @classmethod
    def prepare(cls):
        """Prepares the scene before the relay begins."""

    @classmethod
    def setUpClass(cls):
        cls.scene = Scene()
        cls.addClassCleanup(cls.scene.close)
        cls.prepare()
        cls.scene.start()
        cls.port = Port(cls.scene.relay.control)
        cls.addClassCleanup(cls.port.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open(cls.port.link)
        cls.browser.wait_text("Routes")

    def setUp(self):
        # Earlier messages of the console, such as those of a refused call, are not this test's to look at.
        self.browser.log()

    def tearDown(self):
        violations = [line for line in self.browser.log() if "Content Security Policy" in line or "Uncaught" in line]
        self.assertEqual(violations, [])

    def view(self, path, *words):
        """Goes to a view and waits until it is shown."""
        self.browser.script("location.hash = arguments[0]", path)
        # The view before it may have the same words.
        self.browser.wait(
            lambda: self.browser.script("return document.querySelector('main').getAttribute('aria-busy')") == "false", "it is read")
        return self.browser.wait_text(*words)

    def rows(self, caption):
        """The rows of a table by the titles of its columns."""
        return self.browser.script(
            "const table = [...document.querySelectorAll('table')].find((one) => one.caption.textContent === arguments[0]);"
            "return table ? [...table.tBodies[0].rows].map((row) => Object.fromEntries("
            "[...row.cells].map((cell) => [cell.dataset.title, cell.innerText.trim() || '–']))) : []", caption)

    def shown(self, title):
        """The text beside a title."""
        return self.browser.script(
            "const row = [...document.querySelectorAll('.sheet > div')].find((one) => one.firstChild.textContent === arguments[0]);"
            "return row ? row.lastChild.innerText.trim() : null", title)

    def command(self):
        """The command that the dialog shows."""
        return self.browser.text("dialog code")

    def press(self, name, within="main"):
        self.browser.click(self.browser.button(name, within))

    def picture(self, name, **size):
        if not PICTURES:
            return
        pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
        self.browser.picture(pathlib.Path(PICTURES) / f"{name}.png", **size)
