# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of report, diff, doctor, validate and serve, checked with their real outputs.

    contract_test.py RANGEFINDER REPOSITORY

With UPDATE=1 in the environment it writes the tables of docs/reference/json.md instead of comparing them.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

_tests = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_tests / "serve"), str(_tests / "replay")]

import cli_case  # noqa: E402
import contract_outputs  # noqa: E402
import contract_page  # noqa: E402
from described_keys import Schema  # noqa: E402

NAMES = ("report", "diff", "doctor", "validation", "serve")
# Described keys that none of the outputs has: what the recorded programs and GPUs did not do.
NOT_IN_RECORDINGS = {
    "report": {
        "capture_check": ["thread"],
        "coverage": ["around", "function", "unnamed"], "idle": ["gpu"],
        "idle_shares": ["host_function"], "opening": ["host_waiting", "sampled_share"], "samples": ["estimated"],
        "iteration": ["gap_ns"], "iteration_statistic": ["gap_ns"], "monitor": ["gpu_share_error"],
        "process": ["counters_reason"], "straggler": ["function"], "total": ["unselected_backward_gpu_ns"],
        "layer": ["bytes_error_pct", "bytes_estimated", "bytes_partial"], "totals": ["l2_error_bytes", "sampled_share"],
        "evidence": [
            "allocs_per_repetition", "broken_by", "broken_on", "broken_result", "call_ns", "calls", "captured",
            "consumer_stream", "copies_per_repetition", "declared_bytes", "dram_amplification", "exposed_ns",
            "frees_per_repetition", "gpu_busy_share", "host_ns", "idle_lanes", "issue_active", "l2_bytes_per_s",
            "l2_peak_share", "limiter", "local_traffic_bytes", "longest_exposed_ns", "major_faults_per_s",
            "mean_bytes", "mean_exposed_ns", "null_stream_kernels", "occupancy", "one_by_one_ns",
            "other_processes", "own_busy_share", "pool_calls", "producer_stream", "shared_bytes", "stall",
            "stall_share", "swap_mib", "syncs_per_repetition", "threads_per_instruction", "threads_per_warp",
            "together_ns", "waited_ns", "waits", "warps_per_sm"]},
    "serve": {"finding_row": ["outside_of_iterations"], "module_row": ["l2_error_bytes", "sampled_share"]},
}
# By the end of a key: the unit in its description.
UNITS = {"_ns": "ns", "_bytes": "bytes", "_bytes_per_s": "bytes/s", "_share": "share", "_pct": "%", "_unix_ms": "ms since 1970"}
KEPT_UNITS = {("kernel_stall", "stall_share"): "%"}


def place(number):
    """Of a problem in a document: without the numbers of rows, so that one line stands for all."""
    return re.sub(r"\[\d+\]", "[*]", number)


class Contract(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.schemas = {name: Schema(cli_case.REPOSITORY / f"schema/{name}.schema.json") for name in NAMES}
        with tempfile.TemporaryDirectory() as folder:
            outputs = contract_outputs.Outputs(pathlib.Path(folder))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                answers = pool.submit(outputs.answers)
                cls.documents = list(pool.map(lambda command: outputs.of(*command), outputs.commands()))
            cls.answers = answers.result()  # (name in serve.schema.json, rows); empty: this build has no serve
        cls.problems = []
        for name, words, document in cls.documents:
            cls.problems += [f"{words}: {place(text)}" for text in cls.schemas[name].check(document)]
        for definition, rows in cls.answers:
            found = cls.schemas["serve"].check(rows, definition)
            cls.problems += [f"/api/{definition}: {place(text)}" for text in found]

    def test_every_output_follows_its_schema_which_describes_all_its_keys(self):
        self.assertEqual(sorted(set(self.problems)), [])

    def test_every_described_key_is_in_an_output_or_in_the_list_of_exceptions(self):
        for name, schema in self.schemas.items():
            if name == "serve" and not self.answers:
                continue
            expected = {(of, key) for of, keys in NOT_IN_RECORDINGS.get(name, {}).items() for key in keys}
            with self.subTest(name):
                self.assertEqual(sorted(schema.described() - schema.seen), sorted(expected))

    def test_every_section_of_the_report_has_rows(self):
        schema = self.schemas["report"]
        shown = subprocess.run([cli_case.RANGEFINDER, "report", "--help"], text=True, capture_output=True, check=True)
        list_of_sections = shown.stdout.split("--section NAME")[1].split("What is read:")[0]
        sections = schema.document["properties"]["section"]["enum"]
        self.assertEqual(sections, re.findall(r"(?m)^ {28}([a-z]+) {2,}", list_of_sections))

        with_rows = set()
        for name, _, document in self.documents:
            if name == "report":
                own = schema.definitions["section_" + document["section"]]["properties"]
                with_rows |= {document["section"] for trace in document["traces"] if any(trace.get(key) for key in own)}
        self.assertEqual(with_rows, set(sections))

    def small(self):
        """(schema, words, document) of each command and section, once: one about little data."""
        return [one for one in self.documents if one[1].startswith("report examples") or one[0] != "report"]

    def test_a_document_without_a_required_key_or_with_another_version_is_refused(self):
        for name, words, document in self.small():
            schema = self.schemas[name]
            for key in schema.document["required"]:
                with self.subTest(words, without=key):
                    self.assertFalse(schema.accepts({k: v for k, v in document.items() if k != key}))
            with self.subTest(words):
                self.assertFalse(schema.accepts({**document, "version": "2.0"}))

    def test_a_row_with_a_value_of_another_type_is_refused(self):
        schema = self.schemas["report"]
        for name, words, document in self.small():
            for key, rows in document["traces"][0].items() if name == "report" else ():
                if isinstance(rows, list) and rows and isinstance(rows[0], dict):
                    first = next(iter(rows[0]))
                    traces = [{**document["traces"][0], key: [{**rows[0], first: {}}]}]
                    with self.subTest(words, rows=key):
                        self.assertFalse(schema.accepts({**document, "traces": traces}))
        for definition, rows in self.answers:
            if isinstance(rows, list) and rows:
                first = next(iter(rows[0]))
                with self.subTest(definition):
                    self.assertFalse(self.schemas["serve"].accepts([{**rows[0], first: {}}], definition))

    def test_a_newer_minor_version_may_add_keys(self):
        for name, words, document in self.small():
            newer = {**document, "version": "1.99", "added_later": 1}
            with self.subTest(words):
                self.assertTrue(self.schemas[name].accepts(newer))
                self.assertIn("$.added_later: the schema does not describe this key", self.schemas[name].check(newer))

    def test_every_key_has_a_meaning_and_its_unit(self):
        for name, schema in self.schemas.items():
            for of, part in [("", schema.document), *schema.definitions.items()]:
                for key, value in part.get("properties", {}).items():
                    about, unit = contract_page.UNIT.fullmatch(value["description"]).groups()
                    ending = max((end for end in UNITS if key.endswith(end)), key=len, default=None)
                    with self.subTest(name, of=of, key=key):
                        self.assertRegex(about, r"^[A-Za-z0-9]")
                        if ending and value.get("type") in ("integer", "number"):
                            self.assertEqual(unit, KEPT_UNITS.get((of, key), UNITS[ending]))

    def test_the_ids_name_the_files_and_the_major_version(self):
        for path in sorted((cli_case.REPOSITORY / "schema").glob("*.schema.json")):
            name = path.name.split(".")[0]
            self.assertEqual(json.loads(path.read_text())["$id"], f"urn:rangefinder:schema:{name}:1")

    def test_the_reference_page_repeats_the_schemas(self):
        path = cli_case.REPOSITORY / "docs/reference/json.md"
        page = path.read_text(encoding="utf-8")
        expected = contract_page.with_tables(page, self.schemas.values())
        if os.environ.get("UPDATE"):
            path.write_text(expected, encoding="utf-8")
        else:
            self.assertEqual(page, expected, "docs/reference/json.md: run this test with UPDATE=1")


if __name__ == "__main__":
    cli_case.main(__doc__)
