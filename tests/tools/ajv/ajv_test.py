# SPDX-License-Identifier: Apache-2.0
"""Checks the JSON Schemas with a second validator, ajv, on the examples and on replayed recordings.

    ajv_test.py RANGEFINDER REPOSITORY REPLAY WORK

WORK: a folder for npm packages. Exit code 77, with the reason: no node, npm or libcupti, or npm cannot reach
a registry.
"""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cli_case  # noqa: E402
import export_case  # noqa: E402
import npm_install  # noqa: E402

WORK = pathlib.Path()
RECORDINGS = ("copy_storm", "graph_replay", "hazards_exact", "multi_stream_ranges", "nvtx_shapes", "rtdetr_rotated",
              "rtdetr_sampled")


class Schemas(cli_case.CommandLine):
    def test_ajv_accepts_all_documents_and_refuses_damaged_ones(self):
        folders = [cli_case.REPOSITORY / "schema/examples", *map(export_case.recorded, RECORDINGS)]
        files = [folder / name for folder in folders for name in ("trace-00000.ndjson", "summary.json")]
        done = subprocess.run(["node", WORK / "check.mjs", cli_case.REPOSITORY, *files], text=True,
                              capture_output=True, check=False, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    WORK = pathlib.Path(sys.argv.pop(4))
    npm_install.install("ajv", "check.mjs", HERE, WORK)
    export_case.main(__doc__)
