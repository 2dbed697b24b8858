"""The completions of bash, zsh and fish in the shells themselves."""

import subprocess

from shells import SHELLS
from world import COMMAND, FOLDER, HARMLESS, CompletionTest

COMMANDS = [
    line.split()[0] for line in subprocess.run(
        [COMMAND, "help"], capture_output=True, text=True, timeout=20).stdout.split("\n\n")[2].splitlines()]
STATES = ["scheduled", "queued", "running", "retrying", "held", "succeeded", "dead", "cancelled", "expired"]
# A line, and all that is offered at its end.
OFFERED = [
    ("waystation ", COMMANDS),
    ("waystation ro", ["routes"]),
    ("waystation help ro", ["routes"]),
    ("waystation jobs ", ["ls", "show", "watch", "retry", "cancel", "hold", "release", "drop", "expunge"]),
    ("waystation -o json jobs re", ["retry", "release"]),
    ("waystation jobs --st", ["--state", "--status"]),
    ("waystation jobs --state ", STATES),
    ("waystation jobs --state=de", ["dead"]),
    ("waystation jobs --limit ", ["all"]),
    ("waystation --output ", ["table", "json", "ndjson", "name"]),
    ("waystation breaker alpha ", ["open", "closed", "auto"]),
    ("waystation breaker alpha open ", []),
    ("waystation explain http_s", ["http_status"]),
    ("waystation completion ", ["bash", "zsh", "fish"]),
    ("waystation init --auth o", ["oauth2_client_credentials", "oauth2_refresh_token"]),
    ("waystation nonsense ", []),
    ("waystation version ", []),
    # The word of an option's value is no operand, and no command.
    ("waystation send --key jobs --pri", ["--priority"]),
    ("waystation --socket jobs rou", ["routes"]),
]
# The same of the daemon at a socket.
ASKED = [
    ("waystation send {socket} ", ["alpha", "alpine", "beta.2"]),
    ("waystation send {socket} al", ["alpha", "alpine"]),
    ("waystation send {socket} alpha ", []),
    ("waystation {socket} routes b", ["beta.2"]),
    ("waystation jobs {socket} --route alpi", ["alpine"]),
    ("waystation jobs {socket} --route=alpi", ["alpine"]),
    ("waystation breaker {socket} beta.2/", ["beta.2/u1"]),
    ("waystation jobs {socket} --label ", HARMLESS),
    ("waystation jobs {socket} --label order=884", ["order=8841", "order=8842"]),
    ("waystation jobs {socket} --label url=http://", ["url=http://x/y:1@z"]),
]


def plain(words):
    """bash and fish offer the value of --name=value, or the part of it that they replace, in ways of their own."""
    return sorted({word.split("=", 1)[1] if word.startswith("--") and "=" in word else word for word in words})


class Shells(CompletionTest):
    def each(self):
        shells = [(name, shell(FOLDER)) for name, shell in SHELLS.items()]
        for _, shell in shells:
            self.addCleanup(shell.close)
        return shells

    def check(self, name, shell, table):
        lines = [line for line, _ in table]
        found = shell.offered(lines)
        self.assertEqual(len(found), len(lines), name)
        # A busy machine leaves the daemon no time to answer: then nothing is offered, and a user presses TAB again.
        for _ in range(4):
            late = [at for at, (_, words) in enumerate(table) if words and not found[at]]
            if not late:
                break
            for at, words in zip(late, shell.offered([lines[at] for at in late])):
                found[at] = words
        for (line, words), offered in zip(table, found):
            with self.subTest(f"{name}: {line}"):
                # Where nothing else may stand, zsh offers options unasked.
                offered = [word for word in plain(offered) if words or not word.startswith("-")]
                # bash replaces the part behind the last mark that it cuts words at.
                self.assertEqual(len(offered), len(words), offered)
                for word in offered:
                    self.assertTrue(any(each.endswith(word) for each in words), f"{word} is none of {words}")

    def test_words_of_the_command_line_come_from_its_tables(self):
        for name, shell in self.each():
            self.check(name, shell, OFFERED)

    def test_what_only_the_daemon_knows_is_asked_of_it(self):
        for name, shell in self.each():
            table = [(line.format(socket=f"--socket{mark}{self.relay.control}"), words)
                     for mark in " =" for line, words in ASKED]
            self.check(name, shell, table)

    def test_every_job_is_offered_at_every_place_for_jobs(self):
        beginning = self.jobs[0][:12]
        jobs = [job for job in self.jobs if job.startswith(beginning)]
        for name, shell in self.each():
            self.check(name, shell, [
                (f"waystation {words} --socket {self.relay.control} {beginning}", jobs)
                for words in (f"jobs retry {self.jobs[0]}", "explain", "cat", "jobs show")])

    def test_tab_leaves_a_line_that_means_what_was_offered(self):
        socket = ["--socket", self.relay.control]
        table = [
            ("rou", ["routes"]), ("jobs --state=que", ["jobs", "--state=queued"]),
            ("jobs {} --label order=8841", ["jobs", *socket, "--label", "order=8841"]),
            ("jobs {} --label=url=h", ["jobs", *socket, "--label=url=http://x/y:1@z"]),
            ("jobs {} --label stage", ["jobs", *socket, "--label", "stage=a,b+c"]),
            ("send {} be", ["send", *socket, "beta.2"]), ("send {} zzz", ["send", *socket, "zzz"])]
        for name, shell in self.each():
            if name == "fish":
                # It takes over what complete -C says and quotes it by itself.
                continue
            for before in [], ["sudo"]:
                begin = " ".join([*before, "waystation "])
                given = [begin + line.format(" ".join(socket)) for line, _ in table]
                wanted = [[*before, "waystation", *words] for _, words in table]
                for _ in range(5):
                    lines = shell.completed(given)
                    if lines == wanted:
                        break
                for (line, _), found, words in zip(table, lines, wanted):
                    with self.subTest(f"{name}: {begin}{line}"):
                        self.assertEqual(found, words)

    def test_nothing_that_stands_on_the_line_is_run(self):
        lines = []
        for word in ("$(touch pwned)", "`touch pwned`", "';touch pwned;'", "--socket=$(touch pwned)",
                     "--socket $(touch pwned)", "--label a=$(touch pwned)", "$(touch pwned)="):
            lines += [f"waystation jobs --route alpha {word}{end}" for end in (" al", " ", "")]
            lines += [f"waystation send {word}{end}" for end in (" al", " ", "")]
        for name, shell in self.each():
            shell.offered(lines)
            self.assertFalse((shell.folder / "pwned").exists(), name)
