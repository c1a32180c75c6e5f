"""What a trial's process may not do, where no file system of its own can be mounted for it; and copies of it.

The same for programs that are started anew is in harness/launch/supervise.cpp and harness/base/powers.cpp.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal

_PR_CAPBSET_READ, _PR_CAPBSET_DROP, _PR_SET_PDEATHSIG = 23, 24, 1
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_STACK_SIGNAL = 62  # see start.py
_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Data(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def confine(file_size_limit: int, without_file_powers: bool) -> None:
    """Limits this process and all that it starts. Raises OSError where the system does not allow it."""
    if file_size_limit > 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # also in what is executed: the call then fails with EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size_limit, file_size_limit))
    if without_file_powers:
        _drop_file_powers()


def _drop_file_powers() -> None:
    powers = 1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH
    header, data = _Header(_CAPABILITY_VERSION_3, 0), (_Data * 2)()
    _must(_libc.capget(ctypes.byref(header), data))
    for power in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):  # or root has them again after exec
        if os.getuid() == 0 and _libc.prctl(_PR_CAPBSET_READ, power) == 1:
            _must(_libc.prctl(_PR_CAPBSET_DROP, power, 0, 0, 0))
    for field in ("effective", "permitted", "inheritable"):
        setattr(data[0], field, getattr(data[0], field) & ~powers)
    _must(_libc.capset(ctypes.byref(header), data))


def _must(result: int) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def fork_copies(count: int) -> None:
    """Returns in `count` processes, with RACELAB_COPY set from the second on; this one ends as the first that fails does."""
    if count <= 1:
        return
    copies = []
    for copy in range(1, count + 1):
        pid = os.fork()
        if pid == 0:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if copy > 1:
                os.environ["RACELAB_COPY"] = str(copy)
            return
        copies.append(pid)
    signal.signal(_STACK_SIGNAL, signal.SIG_IGN)  # of a watcher that means the pipeline
    os.closerange(1, 1024)  # the output ends with the copies
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in copies]
    first = next((code for code in codes if code != 0), 0)
    if first < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the copy has left its core already
        if -first != signal.SIGKILL:
            signal.signal(-first, signal.SIG_DFL)
        os.kill(os.getpid(), -first)
    os._exit(first)
