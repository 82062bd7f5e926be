# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `rangefinder serve`: starts it and sends requests over real sockets.

    TEST.py RANGEFINDER REPOSITORY REPLAY BUILD     exit code 77: skipped, with the reason
"""
import http.client
import json
import pathlib
import select
import socket
import subprocess
import sys
import urllib.parse

_tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_tests / "tools"), str(_tests / "injection")]

import cli_case  # noqa: E402
import export_case  # noqa: E402
import harness  # noqa: E402

SKIPPED = 77
DEADLINE_SECONDS = 60


class Served:
    """A running `rangefinder serve`. `runtime`: folder in which it searches programs."""

    def __init__(self, *words, runtime, folder):
        environment = cli_case.clean_environment(XDG_RUNTIME_DIR=str(runtime))
        self.process = subprocess.Popen([cli_case.RANGEFINDER, "serve", *map(str, words)], cwd=folder, env=environment,
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_SECONDS)
        self.url = self.process.stdout.readline().strip() if ready else ""
        if not self.url:
            self.process.kill()
            raise AssertionError("serve does not start: " + self.process.communicate()[1])
        self.port = urllib.parse.urlsplit(self.url).port

    def ask(self, target, headers=None, method="GET", body=None):
        """(status, headers, bytes)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, path, **query):
        status, _, body = self.ask(path + ("?" + urllib.parse.urlencode(query) if query else ""))
        if status != 200:
            raise AssertionError(f"{path} {query}: {status} {body[:500]!r}")
        return json.loads(body)

    def metrics(self):
        """{name and labels as written: value}."""
        status, _, body = self.ask("/metrics")
        assert status == 200, body
        return metric_values(body.decode())

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_SECONDS)

    def raw(self, request):
        """Sends bytes and returns everything up to the end of the connection."""
        with self.connect() as connection:
            try:
                connection.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the answer came before all was sent
            return receive_all(connection)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        _, errors = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode, errors


def receive_all(connection):
    parts = []
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def metric_values(text):
    out = {}
    for line in text.split("\n"):  # names may contain characters at which splitlines() splits
        if line != "" and not line.startswith("#"):
            key, _, value = line.rpartition(" ")
            out[key] = float(value)
    return out


def flat(row, prefix=""):
    """Flattens a row like `serve`: nested keys joined by '_', '.' replaced by '_', lists as text."""
    out = {}
    for key, value in row.items():
        name = prefix + key.replace(".", "_")
        if isinstance(value, dict):
            out |= flat(value, name + "_")
        elif isinstance(value, list):
            out[name] = ", ".join(part if isinstance(part, str) else json.dumps(part, separators=(",", ":"), ensure_ascii=False) for part in value)
        else:
            out[name] = value
    return out


class Serving:
    """Starts servers in the folder `place`, and checks how they end."""

    def serve(self, *words):
        served = Served("--port", "0", *words, runtime=self.runtime, folder=self.place)
        self.addCleanup(self.end, served)
        return served

    def end(self, served):
        status, errors = served.stop()
        self.assertEqual(status, 0, errors)


class ServeCase(Serving, cli_case.CommandLine):
    def setUp(self):
        super().setUp()
        self.place = self.folder
        self.runtime = self.folder / "runtime"
        self.runtime.mkdir(mode=0o700)


def main(doc):
    """Like export_case.main, with the build folder as fourth argument."""
    if len(sys.argv) < 5:
        sys.exit(doc)
    command = pathlib.Path(sys.argv[1]).resolve()
    if not (command.parent.parent / "lib/librangefinder_http.so").exists():
        print("skipped: this build has no serve, because cpp-httplib was missing")
        sys.exit(SKIPPED)
    harness.Build.folder = pathlib.Path(sys.argv.pop(4)).resolve()
    harness.Build.injection_library = harness.Build.folder / "lib/librangefinder.so"
    harness.Build.rangefinder = command
    export_case.main(doc)
