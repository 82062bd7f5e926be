# SPDX-License-Identifier: Apache-2.0
"""`rangefinder demo`: the page of a recorded program, its address, and the browser. Usage: demo_test.py RANGEFINDER REPOSITORY

No test starts a real browser: $BROWSER and xdg-open are programs of the test, which note their arguments.
"""
import os
import pathlib
import urllib.parse

import cli_case
from cli_case import CommandLine

NO_BROWSER = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}


class Demo(CommandLine):
    def program(self, name, code=0):
        """A program that writes its arguments to a file, and that file."""
        path, noted = self.folder / name, self.folder / f"{name}.arguments"
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{noted}"\nexit {code}\n')
        path.chmod(0o755)
        return path, noted

    def page_at(self, address):
        """The page that the address names."""
        self.assertTrue(address.startswith("file:///"), address)
        path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(address).path))
        self.assertTrue(path.read_text(encoding="utf-8").lower().startswith("<!doctype html>"))
        return path

    def demo(self, *arguments, **environment):
        done = self.call("demo", *arguments, **{**NO_BROWSER, **environment})
        self.check_code(done, 0)
        (address,) = done.stdout.splitlines()
        return address, self.page_at(address), done.stderr

    def test_without_a_browser_the_address_is_printed_and_the_folder_is_a_new_temporary_one(self):
        _, first, told = self.demo(TMPDIR=str(self.folder))
        _, second, _ = self.demo(TMPDIR=str(self.folder))
        self.assertIn("No browser here", told)
        self.assertEqual((first.name, first.parents[1], second.parents[1]), ("rtdetr.html", self.folder, self.folder))
        self.assertNotEqual(first, second)

    def test_the_browser_gets_the_address_that_is_printed(self):
        browser, noted = self.program("browser")
        out = self.folder / "my pages/100%"
        address, page, told = self.demo("decoder", "--out", out, BROWSER=str(browser))
        self.assertEqual((page, noted.read_text()), (out / "decoder.html", address + "\n"))
        self.assertNotIn("browser.", told.replace(str(out), ""))

    def test_with_a_display_the_desktop_chooses_the_browser(self):
        _, noted = self.program("xdg-open")
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            noted.unlink(missing_ok=True)
            address, _, _ = self.demo("--out", self.folder, PATH=f"{self.folder}:{os.environ['PATH']}", **{display: ":7"})
            self.assertEqual(noted.read_text(), address + "\n")

    def test_a_browser_that_fails_leaves_the_page_and_says_so(self):
        broken, _ = self.program("broken", code=4)
        for browser, message in ((broken, f"{broken} ended with code 4."), ("/nowhere/browser", "No such file")):
            _, _, told = self.demo("--out", self.folder, BROWSER=str(browser))
            self.assertIn(message, told)
            self.assertIn("Open the address in a browser.", told)

    def test_exit_codes_are_those_of_other_verbs(self):
        self.check_code(self.call("demo", "nosuch", **NO_BROWSER), 2)
        (self.folder / "file").touch()
        for out in ("file", "file/below", "/proc"):
            done = self.call("demo", "--out", out, **NO_BROWSER)
            self.check_code(done, 3)
            self.assertEqual((done.stdout, done.stderr.count("cannot ")), ("", 1), done.stderr)


if __name__ == "__main__":
    cli_case.main(__doc__)
