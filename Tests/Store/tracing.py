"""The calls that Tests/Store/tracer.c records, and the disks that may be found after a power cut at any moment of them.

For any program that holds a store:

    library = tracing.build(work)
    subprocess.Popen(program, env=tracing.environment(library, state_directory, record, tells="sockets"))
    events = tracing.read(record, state_directory)
    disk = tracing.Disk(state_directory)
    for event in events[:moment]:
        disk.take(event)
    tracing.put(disk.after_cut(random.Random(1), "torn"), other_directory)
"""
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECTOR = 512


def build(work):
    """Makes the library and gives its path."""
    library = os.path.join(work, "tracer.so")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library,
                    os.path.join(ROOT, "Tests/Store/tracer.c"), "-ldl", "-lpthread"], check=True)
    return library


def environment(library, directory, record, tells="stdout", fail=None):
    """The environment of a program to trace; `directory` is spelled as the program opens it."""
    found = dict(os.environ, LD_PRELOAD=library, TRACE_DIR=directory, TRACE_FILE=record, TRACE_TELL=tells)
    found.pop("TRACE_FAIL", None)
    if fail:
        found["TRACE_FAIL"] = fail
    return found


def read(record, directory):
    """The events (kind, path below the directory, offset, bytes); what a cut leaves nothing of is left out."""
    events = []
    with open(record, "rb") as stream:
        while head := stream.readline():
            kind, path, offset, length = head.decode().split(" ")
            path = path if path == "-" else os.path.relpath(path, directory)
            events.append((kind, path, int(offset), stream.read(int(length))))
    return [event for event in events if not event[1].endswith("-shm") and event[1] != "ballast"]


def put(found, directory):
    """Makes a directory with these files and nothing else."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(os.path.join(directory, "bodies"), 0o700)
    os.chmod(directory, 0o700)
    for name, content in found.items():
        with open(os.path.join(directory, name), "wb") as stream:
            stream.write(content)


class File:
    def __init__(self):
        self.kept = bytearray()
        self.pending = []


def apply(content, operation):
    kind, offset, data = operation
    if kind == "truncate":
        del content[offset:]
        content.extend(bytes(offset - len(content)))
    else:
        content.extend(bytes(max(0, offset + len(data) - len(content))))
        content[offset:offset + len(data)] = data


class Disk:
    """Files as processes see them, and what of that a cut cannot take away.

    `told` are the lines that were told until then; `sent` the bytes, by descriptor.
    """

    def __init__(self, directory):
        self.directory = directory
        self.files = {}
        self.entries = {}
        self.pending_entries = []
        self.told = []
        self.sent = {}
        self.failed = []

    def take(self, event):
        kind, path, offset, data = event
        if kind == "tell":
            self.sent[offset] = self.sent.get(offset, b"") + data
            self.told += data.decode(errors="replace").split("\n")[:-1]
        elif kind == "fail":
            self.failed.append(path)
        elif kind == "create":
            self.files[path] = File()
            self.pending_entries.append((path, self.files[path]))
        elif kind == "unlink":
            self.files.pop(path, None)
            self.pending_entries.append((path, None))
        elif kind == "rename":
            target = os.path.relpath(data.decode(), self.directory)
            self.files[target] = self.files.pop(path)
            self.pending_entries += [(path, None), (target, self.files[target])]
        elif kind in ("write", "truncate"):
            self.files[path].pending.append((kind, offset, data))
        elif kind == "sync":
            if path in self.files:
                file = self.files[path]
                for operation in file.pending:
                    apply(file.kept, operation)
                file.pending = []
            else:
                # A directory: its entries are on disk now.
                inside = [entry for entry in self.pending_entries if os.path.dirname(entry[0]) == path.strip("./")]
                for name, file in inside:
                    self.entries[name] = file
                self.pending_entries = [entry for entry in self.pending_entries if entry not in inside]

    def after_cut(self, dice, mode):
        """Every file as it may be found, by its path below the directory.

        Of what was not synced `mode` keeps "none", "all", "some" whole writes, or "torn" parts of writes.
        """
        entries = dict(self.entries)
        for name, file in self.pending_entries:
            if mode == "all" or mode != "none" and dice.random() < 0.5:
                entries[name] = file
        found = {}
        for name, file in entries.items():
            if file is None:
                continue
            content = bytearray(file.kept)
            for operation in file.pending:
                if mode == "none":
                    continue
                kind, offset, data = operation
                if mode == "torn" and kind == "write":
                    for start in range(0, len(data), SECTOR):
                        if dice.random() < 0.5:
                            apply(content, (kind, offset + start, data[start:start + SECTOR]))
                elif mode == "all" or dice.random() < 0.5:
                    apply(content, operation)
            found[name] = bytes(content)
        return found
