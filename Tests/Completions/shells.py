"""The shells, with the completion as it is kept in the tree: what each offers, and what it makes of a line."""

import os
import pathlib
import pty
import shlex
import shutil
import subprocess
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "completions"
PROMPT = "ready> "
# The beginning of the line, as every shell's emacs keys have it.
BEGINNING, KILL = "\x01", "\x15"


class Shell:
    """A shell in a directory of its own; `command` is the folder of the command that is completed."""

    def __init__(self, command):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="completions-"))
        # The meaning of a line to the shell: the words behind this program, as it was called.
        show = self.folder / "show"
        show.write_text("#!/bin/sh\n{ printf '%s\\0' \"$@\"; echo; } >>shown\n")
        show.chmod(0o755)
        self.environment = {
            "PATH": f"{command}:{self.folder}:/usr/bin:/bin", "HOME": str(self.folder), "TERM": "dumb",
            "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}

    def close(self):
        shutil.rmtree(self.folder)

    def terminal(self, arguments, keys):
        """Types into the shell when it is ready, and waits for its end."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execve(arguments[0], arguments, self.environment)
        said = b""
        while not said.endswith(PROMPT.encode()):
            said += os.read(terminal, 1)
        os.write(terminal, keys.encode())
        try:
            while piece := os.read(terminal, 4096):
                said += piece
        except OSError:
            pass
        os.close(terminal)
        os.waitpid(process, 0)
        return said.decode(errors="replace")

    def completed(self, lines):
        """The words of each line once TAB has been pressed behind it."""
        shown = self.folder / "shown"
        shown.write_text("")
        said = self.terminal(
            self.interactive, "".join(f"{line}\t{BEGINNING}show \r{KILL}" for line in lines) + "exit\r")
        found = [line.split("\0")[:-1] for line in shown.read_text().split("\n")[:-1]]
        if len(found) != len(lines):
            raise AssertionError(f"not every line was run:\n{said}")
        return found

    def run(self, arguments, **environment):
        done = subprocess.run(
            arguments, cwd=self.folder, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL,
            env={**self.environment, **environment})
        if done.returncode or done.stderr:
            raise AssertionError(f"{arguments[0]} ended with {done.returncode}: {done.stderr}")
        return done.stdout


class Bash(Shell):
    def __init__(self, command):
        super().__init__(command)
        # Where the package bash-completion looks for it, when the command is first completed.
        loaded = self.folder / "bash-completion" / "completions"
        loaded.mkdir(parents=True)
        (loaded / "waystation").symlink_to(SCRIPTS / "waystation.bash")
        (self.folder / "rc").write_text(
            f". /usr/share/bash-completion/bash_completion; PS1='{PROMPT}'; bind 'set enable-bracketed-paste off'\n")
        self.interactive = ["/bin/bash", "--noprofile", "--rcfile", str(self.folder / "rc"), "-i"]

    def offered(self, lines):
        """The words it would show behind each line, by the variables that readline sets; it cuts words at = and :."""
        return [self.offered_behind(line) for line in lines]

    def offered_behind(self, line):
        words, blank = [], True
        for piece in line.replace("=", "\0=\0").replace(":", "\0:\0").replace(" ", "\0 \0").split("\0"):
            if piece == " ":
                blank = True
            elif piece:
                words.append(piece)
                blank = False
        words += [""] if blank else []
        quoted = " ".join(map(shlex.quote, words))
        return self.run(["/bin/bash", "--noprofile", "--norc", "-uc", f"""
            compopt() {{ [[ "$*" != '-o default' ]] || echo '(files)'; }}
            . {shlex.quote(str(SCRIPTS / 'waystation.bash'))}
            COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
            COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1} COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
            _waystation waystation
            printf '%s\\n' ${{COMPREPLY[@]+"${{COMPREPLY[@]}}"}}"""]).split()


class Zsh(Shell):
    def __init__(self, command):
        super().__init__(command)
        (self.folder / ".zshrc").write_text(f"""
            fpath=({shlex.quote(str(SCRIPTS))} $fpath)
            autoload -Uz compinit && compinit -D -u
            PS1='{PROMPT}'
            unsetopt zle_bracketed_paste prompt_cr prompt_sp 2>/dev/null
            bindkey -e
            # By itself zsh expands a word on TAB, and so runs what stands in it, before it completes anything.
            bindkey '^I' complete-word
            # The offer is written down as well.
            compadd() {{
                local -a hits
                if [[ ${{@[(I)-[OAD]]}} -eq 0 ]]; then
                    builtin compadd -O hits "$@"
                    print -rl -- $hits >>offered
                fi
                builtin compadd "$@"
            }}
            """)
        self.environment["ZDOTDIR"] = str(self.folder)
        self.interactive = ["/bin/zsh", "-d", "-i"]

    def offered(self, lines):
        written = self.folder / "offered"
        written.write_text("")
        self.terminal(self.interactive, "".join(f"{line}\t{KILL}print , >>offered\r" for line in lines) + "exit\r")
        return [words.split() for words in written.read_text().split(",\n")[:-1]]


class Fish(Shell):
    def offered(self, lines):
        said = self.run(["/usr/bin/fish", "--no-config", "-c", f"""
            source {shlex.quote(str(SCRIPTS / 'waystation.fish'))}
            for line in $argv
                complete -C $line
                echo ,
            end""", *lines])
        return [[each.split("\t")[0] for each in words.splitlines()] for words in said.split(",\n")[:-1]]


SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}
