"""The reading of callgrind's file."""

import unittest

from bench import counts

FILE = """\
version: 1
positions: line
events: Ir

ob=(1) /usr/bin/waystationd
fl=(1) ???
fn=(1) $s9RelayHTTP12FieldSectionV5parse
0 300
cob=(2) /lib/x86_64-linux-gnu/libsqlite3.so.0.8.6
cfn=(2) sqlite3_reset
calls=8 0
0 100
cob=(1)
cfn=(3) swift_retain
calls=4 0
0 40

fn=(3)
0 40

ob=(2)
fn=(2)
0 100

totals: 440
"""


class Callgrind(unittest.TestCase):
    found = counts.read(FILE.splitlines(keepends=True))

    def test_what_a_function_calls_is_not_its_own_cost(self):
        self.assertEqual(self.found.functions["$s9RelayHTTP12FieldSectionV5parse"], (300, "RelayHTTP"))
        self.assertEqual(self.found.whole["$s9RelayHTTP12FieldSectionV5parse"], 440)

    def test_functions_belong_to_rooms_to_libraries_and_to_what_the_runtime_does(self):
        self.assertEqual(self.found.groups, {"RelayHTTP": 300, "SQLite": 100, "retain, release, copies": 40})
        for function, group in (
            ("$s11waystationd6DaemonC", "waystationd"), ("$s11RelayEngine0B0C", "RelayEngine"),
            ("$sSa6append10contentsOfyqd__n_t", "standard library"), ("_int_malloc", "memory"),
            ("swift_task_create", "tasks"), ("swift_beginAccess", "exclusivity checks"), ("main", "other"),
        ):
            with self.subTest(function=function):
                self.assertEqual(counts.group(function, "/usr/bin/waystationd"), group)

    def test_what_openssl_does_is_told_apart(self):
        for library in "/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib/x86_64-linux-gnu/libssl.so.3":
            self.assertEqual(counts.group("0x00000000000591a0", library), "OpenSSL")
        self.assertEqual(counts.group("SSL_read_ex", "/usr/bin/waystationd"), "other")

    def test_statements_are_counted_by_their_resets(self):
        self.assertEqual(self.found.figures, {"instructions": 440, "statements": 8})

    def test_what_goes_by_the_clock_is_taken_off_and_the_rest_shared(self):
        idle = counts.Counts({"instructions": 20}, {"SQLite": 20}, {"sqlite3_reset": (20, "SQLite")})
        found = self.found.without(idle, 2).divided(4)
        self.assertEqual(found.figures["instructions"], 100)
        self.assertEqual(found.groups["SQLite"], 15)
        self.assertEqual(found.functions["sqlite3_reset"], (15, "SQLite"))
        self.assertEqual(found.groups["RelayHTTP"], 75)
