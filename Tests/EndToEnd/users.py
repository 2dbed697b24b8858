"""Other accounts in this process: a socket's peer is told who called connect, and that may differ by thread."""

import contextlib
import ctypes
import os

from caller import Caller

_LIBC = ctypes.CDLL(None, use_errno=True)
# The call itself, which changes this thread alone; that of the C library changes all of them.
_SETRESUID = {"x86_64": 117}.get(os.uname().machine, 147)


def _become(user):
    if _LIBC.syscall(_SETRESUID, -1, user, -1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def acting_as(user):
    """Connections that are made within belong to that user; needs root."""
    _become(user)
    try:
        yield
    finally:
        _become(0)


def caller_as(user, path, patience=30):
    with acting_as(user):
        return Caller(path, patience)
