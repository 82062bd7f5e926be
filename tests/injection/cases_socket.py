# SPDX-License-Identifier: Apache-2.0
"""The control socket itself: its owner, and its removal."""

import os
import socket
import stat
from pathlib import Path

from harness import DEADLINE_SECONDS
from obedient import Client, ObedientCase

def open_files(pid):
    """Targets of a process's file descriptors. A descriptor that closes meanwhile is skipped."""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            yield os.readlink(file)
        except FileNotFoundError:
            continue


class SocketCases(ObedientCase):
    def test_the_socket_is_the_users_alone_and_stale_ones_go(self):
        folder = self.runtime / "rangefinder"
        folder.mkdir(mode=0o700)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
            dead.bind(str(folder / "999999.sock"))

        program = self.start_program(RANGEFINDER_START="off")

        self.assertEqual(stat.S_IMODE(program.socket_path.stat().st_mode), 0o600)
        self.assertEqual([path.name for path in folder.iterdir()], [program.socket_path.name])
        self.end_program(program)

    def test_no_socket_is_made_where_it_is_not_wanted_or_not_safe(self):
        folder = self.runtime / "rangefinder"
        folder.mkdir()
        folder.chmod(0o755)
        program = self.start_program()
        self.assertFalse(program.socket_path.exists())
        program.end()
        folder.chmod(0o700)
        program = self.start_program(RANGEFINDER_CONTROL="off")
        self.assertFalse(program.socket_path.exists())
        self.end_program(program)

    def test_idle_connections_keep_no_client_out(self):
        program = self.start_program(RANGEFINDER_START="off")
        subscriber = self.connect(program)
        self.ok(subscriber.ask("subscribe", every_ms=3_600_000))
        idle = []
        self.wait_until(lambda: idle.extend(program.idle_connections(33 - len(idle))) or len(idle) == 33,
                        "33 idle connections")
        for connection in idle:
            self.addCleanup(connection.close)
        clients = []
        self.wait_until(lambda: self.connects(program, clients), "room in the queue of connections")

        self.ok(clients[0].ask("status"))

        self.ok(subscriber.ask("status"))
        for connection in idle[:15]:
            connection.settimeout(DEADLINE_SECONDS)
            self.assertIn(b"idle while other clients wait", connection.recv(4096))
        self.end_program(program)

    def connects(self, program, clients):
        try:
            clients.append(self.connect(program))
        except BlockingIOError:
            return False
        return True

    def test_a_forked_child_does_not_keep_the_socket(self):
        program = self.start_program(RANGEFINDER_START="off")
        child = int(program.do("fork"))
        self.addCleanup(os.kill, child, 9)
        path = program.socket_path
        self.wait_until(lambda: not any(target.startswith("socket:") for target in open_files(child)),
                        "the child without the socket")

        program.process.kill()
        program.process.wait()

        with self.assertRaises(ConnectionRefusedError):
            Client(path)
