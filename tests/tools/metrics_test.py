# SPDX-License-Identifier: Apache-2.0
"""`rangefinder metrics`, and the check of `run --metrics` before the program starts.

    metrics_test.py RANGEFINDER REPOSITORY

Needs libcupti but no GPU; skipped without libcupti.
"""
import json
import os

import cli_case
from cli_case import CommandLine

SETS = ["bytes", "speed-of-light", "memory", "occupancy", "stalls", "pipes", "roofline", "all"]
SENTINELS = ["gr__cycles_active.sum", "sys__cycles_elapsed.avg.per_second"]
TOP_KEYS = {"schema", "version", "cupti_version", "chips", "chip", "sets", "named"}
SET_KEYS = {"name", "answers", "passes", "groups", "absent", "impossible", "metrics"}
ROW_KEYS = {"name", "unit", "description", "adds_up", "available"}
ABSENT_ROW_KEYS = {"name", "available"}


# Compute capability, and the chip that stands for it.
CHIPS = {"8.0": "GA100", "8.6": "GA102", "8.7": "GA10B", "8.9": "AD102", "9.0": "GH100", "10.0": "GB100",
         "12.0": "GB202"}
BEGIN, END = "<!-- made by tools.metrics -->\n", "<!-- end -->\n"


def reference_tables(chips):
    """The tables of docs/reference/metrics.md, from `rangefinder metrics --json` of each chip."""
    all_of = {name: {row["name"]: row for row in of["named"]} for name, of in chips.items()}
    named = chips["9.0"]["named"]
    out = "\n## Sets and their turns\n\n| set | answers | " + " | ".join(chips) + " |\n|---|---|" + "---|" * len(chips)
    for number, entry in enumerate(chips["9.0"]["sets"]):
        turns = [str(of["sets"][number]["passes"]) for of in chips.values()]
        out += f"\n| `{entry['name']}` | {entry['answers']} | " + " | ".join(turns) + " |"
    out += "\n\nColumns: compute capability.\n"
    for of_set in dict.fromkeys(row["set"] for row in named):
        out += f"\n## {of_set}\n\n"
        out += "| metric | unit | meaning | formula over CUPTI's metrics | not on |\n|---|---|---|---|---|\n"
        for row in named:
            if row["set"] != of_set:
                continue
            missing = ", ".join(name for name in chips if not all_of[name][row["name"]]["available"])
            formula = "share of all warp cycles" if of_set == "stalls" else row["formula"]
            better = {"higher": " Higher is better.", "lower": " Lower is better.", "neither": ""}[row["better"]]
            out += f"| `{row['name']}` | {row['unit']} | {row['meaning']}{better} | {formula} | {missing} |\n"
    return out + "\n"


class MetricsCase(CommandLine):
    def json_of(self, *arguments):
        done = self.call("metrics", *arguments, "--json")
        if done.returncode == 3 and "libcupti" in done.stderr:
            self.skipTest("no libcupti on this machine: " + done.stderr.strip())
        self.check_code(done, 0)
        return json.loads(done.stdout)


class Metrics(MetricsCase):
    def test_all_sets_are_described_with_exactly_these_keys(self):
        for chip in ("GH100", "GA100", "AD102", "GB100"):
            result = self.json_of("--chip", chip)
            self.assertEqual(set(result), TOP_KEYS)
            self.assertEqual((result["schema"], result["chip"]), ("rangefinder.metrics", chip))
            self.assertIn(chip, result["chips"])
            self.assertEqual([entry["name"] for entry in result["sets"]], SETS)
            for entry in result["sets"]:
                self.check_set(entry)

    def check_set(self, entry):
        self.assertEqual(set(entry), SET_KEYS)
        self.assertEqual(entry["passes"], len(entry["groups"]))
        names = list(SENTINELS)
        for group in entry["groups"]:
            self.assertEqual(set(group), {"name", "metrics"})
            self.assertEqual(group["metrics"][:2], SENTINELS)
            names += group["metrics"][2:]
        for metric in entry["impossible"]:
            self.assertEqual(set(metric), {"name", "passes"})
            self.assertNotEqual(metric["passes"], 1)
            names.append(metric["name"])
        names += entry["absent"]
        self.assertEqual([row["name"] for row in entry["metrics"]], names)
        for row in entry["metrics"]:
            self.assertEqual(set(row), ROW_KEYS if row["available"] else ABSENT_ROW_KEYS)
            self.assertEqual(row["available"], row["name"] not in entry["absent"])
            if row["available"]:
                self.assertEqual(row["adds_up"], row["name"].endswith(".sum"))

    def test_the_bytes_of_gh100_are_one_pass_of_five_metrics(self):
        (entry,) = self.json_of("--chip", "GH100", "--set", "bytes")["sets"]
        self.assertEqual(entry["passes"], 1)
        self.assertEqual(entry["groups"][0]["metrics"], SENTINELS + [
            "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum"])

    def test_metrics_that_a_chip_lacks_are_listed_as_absent(self):
        (entry,) = self.json_of("--chip", "GB100", "--set", "memory")["sets"]
        self.assertIn("lts__t_sectors_aperture_peer_op_read.sum", entry["absent"])
        text = self.call("metrics", "--chip", "GB100", "--set", "memory").stdout
        self.assertIn("absent: not on this chip\n    lts__t_sectors_aperture", text)

    def test_sets_and_metrics_named_together_are_planned_together(self):
        (entry,) = self.json_of("--chip", "GH100", "--metrics", "compute,l1tex__t_sectors.sum")["sets"]
        self.assertEqual({group["name"].split("/")[0] for group in entry["groups"]}, {"occupancy", "pipes", "metrics"})

    def test_an_older_name_of_a_set_still_works(self):
        (entry,) = self.json_of("--chip", "GH100", "--metrics", "coalescing")["sets"]
        self.assertEqual({group["name"].split("/")[0] for group in entry["groups"]}, {"memory"})

    def test_every_named_metric_exists_on_some_chip_and_its_inputs_are_in_its_set(self):
        chips = {chip: self.json_of("--chip", chip) for chip in CHIPS.values()}
        for number, named in enumerate(chips["GH100"]["named"]):
            with self.subTest(named["name"]):
                self.assertTrue(any(of["named"][number]["available"] for of in chips.values()))
                of_set, = [entry for entry in chips["GH100"]["sets"] if entry["name"] == named["set"]]
                in_set = {row["name"] for row in of_set["metrics"]}
                self.assertLessEqual(set(named["inputs"]), in_set)
                self.assertTrue(named["meaning"].endswith("."))
        self.assertTrue(all(named["available"] for named in chips["GH100"]["named"]))

    def test_gb202_has_no_bytes_read_from_dram_but_its_throughput(self):
        named = {row["name"]: row["available"] for row in self.json_of("--chip", "GB202")["named"]}
        self.assertTrue(named["dram_throughput"])
        (entry,) = self.json_of("--chip", "GB202", "--set", "bytes")["sets"]
        self.assertIn("dram__bytes_read.sum", entry["absent"])

    def test_the_reference_lists_every_named_metric(self):
        """UPDATE=1 writes it again."""
        chips = {name: self.json_of("--chip", chip) for name, chip in CHIPS.items()}
        path = os.path.join(cli_case.REPOSITORY, "docs", "reference", "metrics.md")
        with open(path, encoding="utf-8") as file:
            written = file.read()
        head, rest = written.split(BEGIN)
        wanted = head + BEGIN + reference_tables(chips) + END + rest.split(END)[1]
        if os.environ.get("UPDATE") and wanted != written:
            with open(path, "w", encoding="utf-8") as file:
                file.write(wanted)
            written = wanted
        self.assertEqual(written, wanted)

    def test_base_metrics_are_listed_by_a_part_of_their_name(self):
        result = self.json_of("--chip", "GH100", "--list", "dram__bytes")
        self.assertEqual(set(result), {"schema", "version", "chip", "base_metrics"})
        self.assertIn("dram__bytes_read", result["base_metrics"])
        self.assertNotIn("lts__t_bytes", result["base_metrics"])

    def test_unknown_names_are_wrong_use_and_the_nearest_are_named(self):
        self.json_of("--set", "bytes")
        for arguments, words in ((("--chip", "NO1"), ["GH100"]), (("--set", "memry"), SETS),
                                 (("--metrics", "bytes,dram__byte_read.sum"), ["dram__bytes_read.sum"])):
            done = self.call("metrics", *arguments)
            self.check_code(done, 2)
            for word in words:
                self.assertIn(word, done.stderr)


class RunWithMetrics(MetricsCase):
    def run_touch(self, code, metrics, **environment):
        """Standard error; the program was started exactly if the exit code is 0."""
        self.json_of("--set", "bytes")
        mark = self.folder / "started"
        mark.unlink(missing_ok=True)
        flag = ["--metrics", metrics] if metrics is not None else []
        done = self.call("run", "--quiet", *flag, "--", "touch", mark, **environment)
        self.check_code(done, code)
        self.assertEqual(mark.exists(), code == 0)
        return done.stderr

    def test_a_wrong_name_fails_before_the_program_starts(self):
        for metrics, nearest in (("byts", "bytes"), ("memory,dram__byte_read.sum", "dram__bytes_read.sum"),
                                 ("dram__bytes_read", "dram__bytes_read.sum"), ("dram__bytes_read.summ", ".sum")):
            self.assertIn(nearest, self.run_touch(2, metrics))
        self.run_touch(2, None, RANGEFINDER_METRICS="nonsense")

    def test_a_wrong_name_keeps_the_folder_that_force_would_replace(self):
        self.json_of("--set", "bytes")
        old = self.make_trace()
        done = self.call("run", "--quiet", "--force", "--out", old, "--metrics", "byts", "--", "true")
        self.check_code(done, 2)
        self.assertTrue((old / "trace-00000.ndjson").exists())

    def test_right_names_start_the_program(self):
        for metrics in ("bytes", "memory,compute", "l1tex__t_sectors.sum"):
            self.run_touch(0, metrics)

    def test_without_libcupti_the_program_starts(self):
        broken = self.folder / "libcupti.so.13"
        broken.write_text("not a library")
        self.run_touch(0, "nonsense", RANGEFINDER_CUPTI=str(broken))


if __name__ == "__main__":
    cli_case.main(__doc__)
