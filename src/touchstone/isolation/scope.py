"""A scope of systemd's for touchstone, in which touchstone may make cgroups (systemd.scope(5), CGROUP_DELEGATION.md).

`Delegate` is what counts: without it systemd switches the controllers of groups below its own off as soon as it is
reloaded, and the limits vanish.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.auth import AuthenticationError
from jeepney.io.blocking import DBusConnection, DBusConnectionBase, prep_socket
from jeepney.io.common import MessageFilters

from touchstone.isolation.limits import OwnLimits

_MANAGER = DBusAddress(
    "/org/freedesktop/systemd1",
    bus_name="org.freedesktop.systemd1",
    interface="org.freedesktop.systemd1.Manager",
)
_WITHIN_S = 5.0
_UNLIMITED = (1 << 64) - 1
_SECOND_US = 1_000_000


class ScopeError(Exception):
    """The service manager could not be reached, or refused, in words."""


def systemd_runs() -> bool:
    """Whether systemd manages this machine, or this container (sd_booted(3))."""
    return Path("/run/systemd/system").is_dir()


def ask_for_scope(name: str, pids: Sequence[int], limits: OwnLimits) -> None:
    """Have processes moved into a delegated scope that has these limits. Raises ScopeError.

    root asks the system's manager, anybody else the user's own. The manager answers before it has moved them.
    """
    properties = [
        ("PIDs", ("au", [*pids])),
        ("Delegate", ("b", True)),
        ("CollectMode", ("s", "inactive-or-failed")),
        ("Description", ("s", "touchstone")),
        # The group that the processes leave keeps its limits to itself, so the scope is given them.
        ("TasksMax", ("t", int(limits.tasks.most) if limits.tasks else _UNLIMITED)),
    ]
    if limits.cpus:
        properties.append(("CPUQuotaPerSecUSec", ("t", math.ceil(limits.cpus.most * _SECOND_US))))
    if limits.memory:
        properties.append(("MemoryMax", ("t", int(limits.memory.most))))
    call = new_method_call(_MANAGER, "StartTransientUnit", "ssa(sv)a(sa(sv))", (name, "fail", properties, []))
    try:
        with _connection() as connection:
            answer = connection.send_and_get_reply(call, timeout=_WITHIN_S)
    except (OSError, AuthenticationError) as error:
        raise ScopeError(f"systemd's manager does not answer: {error}") from error
    if answer.header.message_type is MessageType.error:
        raise ScopeError(f"systemd's manager refuses: {' '.join(map(str, answer.body))}")


class _Private(DBusConnection):  # type: ignore[misc] # jeepney has no types
    """A connection to a manager itself, where nobody answers the greeting that a bus wants."""

    def __init__(self, path: str) -> None:
        DBusConnectionBase.__init__(self, prep_socket(path))
        self._filters = MessageFilters()


def _connection() -> DBusConnection:
    """To the manager's own socket as `systemctl` does, which needs no bus; else to the bus. Raises OSError."""
    error = OSError("it has no socket here")
    for path, kind in _sockets():
        if Path(path).exists():
            try:
                return kind(path)
            except OSError as one:
                error = one
    raise error


def _bus(path: str) -> DBusConnection:
    return DBusConnection(prep_socket(path))


def _sockets() -> Iterator[tuple[str, Callable[[str], DBusConnection]]]:
    if os.geteuid() == 0:
        yield "/run/systemd/private", _Private
        yield "/run/dbus/system_bus_socket", _bus
    else:
        yield f"/run/user/{os.geteuid()}/systemd/private", _Private
        yield f"/run/user/{os.geteuid()}/bus", _bus
