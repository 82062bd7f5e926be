# SPDX-License-Identifier: Apache-2.0
"""Communication in `report`: NCCL's NVTX calls in one program, and ranks started by a launcher."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from harness import DEADLINE_SECONDS, Build, InjectionCase, clean_environment, host_environment

LAUNCHER = Path(__file__).resolve().parents[1] / "gpu/programs/start_ranks.py"
MPIRUN_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class CommunicationCases(InjectionCase):
    def command(self, *words, **variables):
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")
        environment = host_environment(self.runtime, variables)
        done = subprocess.run([str(Build.rangefinder), *map(str, words)], env=environment, text=True, cwd=self.place,
                              capture_output=True, check=False, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def report(self, folder, *options):
        return json.loads(self.command("report", "--json", *options, folder).stdout)

    def test_kernels_that_run_names_communicate_in_the_trace(self):
        plain = self.command("run", "-q", "--out", "plain", "--", Build.program("plain"), "10")
        names = self.report("plain", "--section", "kernels")["traces"][0]["kernels"]
        self.assertNotIn("communication", {row["library"] for row in names}, plain.stderr)
        self.command("run", "-q", "--out", "named", "--communication", ".", "--", Build.program("plain"), "10")
        named = self.report("named", "--section", "kernels")["traces"][0]["kernels"]
        self.assertEqual({row["library"] for row in named}, {"communication"})
        overlap = self.report("named", "--section", "communication")["traces"][0]["overlap"][0]
        self.assertEqual(overlap["compute_ns"], 0)

    def test_calls_of_nccl_have_operation_and_bytes_in_all_its_versions(self):
        for version in ("26", "25"):
            with self.subTest(version=version):
                self.command("run", "-q", "--out", version, "--", Build.program("nccl_calls"), version, "3")
                trace = self.report(version, "--section", "communication")["traces"][0]
                rows = {row["operation"]: row for row in trace["communication"]}

                self.assertEqual(sorted(rows), ["AllReduce", "Recv", "Recv+Send", "ReduceScatter", "Send"])
                for name, size, reduction in (("AllReduce", 4 << 20, "Sum"), ("ReduceScatter", 1 << 20, "Max")):
                    row = rows[name]
                    self.assertEqual((row["calls"], row["kernels"], row["bytes"], row["reduction"]),
                                     (3, 3, 3 * size, reduction))
                self.assertEqual((rows["Send"]["bytes"], rows["Recv"]["bytes"]), (3 << 16, 3 << 16))
                self.assertEqual(rows["Recv+Send"]["kernels"], 3)
                overlap, = trace["overlap"]
                self.assertEqual(overlap["communication_ns"], overlap["exposed_ns"] + overlap["overlapped_ns"])
                self.assertGreater(overlap["communication_ns"], 0)

    def test_without_its_ranges_the_kernels_tell_the_operation(self):
        self.command("run", "-q", "--out", "bare", "--", Build.program("nccl_calls"), "0", "2")
        rows = {row["operation"]: row for row in
                self.report("bare", "--section", "communication")["traces"][0]["communication"]}

        self.assertEqual({name: row["kernels"] for name, row in rows.items()},
                         {"AllReduce": 2, "ReduceScatter": 2, "SendRecv": 2})
        self.assertFalse(any("bytes" in row for row in rows.values()))

    def check_ranks(self, done):
        folders = sorted(self.place.glob("job/host=*/rank=*/pid=*"))
        self.assertEqual([folder.parent.name for folder in folders], ["rank=0", "rank=1"])
        report = self.report("job")
        self.assertEqual(len(report["traces"]), 2)
        self.assertEqual([row["rank"] for row in report["clocks"]], ["rank 0", "rank 1"])
        # One host has one clock. The error of the CLOCK_REALTIME offset is the time between two readings.
        self.assertLess(report["clocks"][1]["agree_within_ns"], 1_000_000_000)
        for row in report["rank_waits"]:  # all kernels have one duration, so no rank waits; sends and receives are not compared
            self.assertEqual((row["waited_ns"], row["last_in"]), (0, 0))
            self.assertEqual(3 * row["transfer_ns"], 2 * row["communication_ns"])
        for word in ("rank 0", "rank 1", "exposed", "No rank is late", "rangefinder report"):
            self.assertIn(word, done.stderr)

    def test_ranks_of_a_launcher_are_reported_together(self):
        done = self.command("run", "--ranks", "--out", "job", "--", sys.executable, LAUNCHER, "2",
                            Build.program("nccl_calls"), "26", "3")

        self.check_ranks(done)

    def test_ranks_of_mpirun_are_reported_together(self):
        if shutil.which("mpirun") is None:
            raise unittest.SkipTest("mpirun is not installed")
        done = self.command("run", "--ranks", "--out", "job", "--", "mpirun", "--oversubscribe", "-np", "2",
                            Build.program("nccl_calls"), "26", "3", **MPIRUN_AS_ROOT)

        self.check_ranks(done)

    def test_calls_of_mpi_are_ranges_with_their_bytes(self):
        library = Build.injection_library.parent / "librangefinder_mpi.so"
        if not library.exists() or shutil.which("mpirun") is None:
            raise unittest.SkipTest("librangefinder_mpi.so was not built, or mpirun is not installed")
        done = self.command("run", "-q", "--ranks", "--mpi", "--out", "job", "--", "mpirun", "--oversubscribe", "-np",
                            "2", Build.program("mpi_calls"), **MPIRUN_AS_ROOT)

        self.assertEqual(sorted(done.stdout.splitlines()), ["rank 0 right", "rank 1 right"])
        first, second = self.report("job", "--section", "communication")["traces"]
        for trace, received in ((first, 8192), (second, 8192 + 80)):
            rows = {row["operation"]: row for row in trace["communication"]}
            found = {name: (row["calls"], row.get("bytes")) for name, row in rows.items()}
            self.assertEqual(found.pop("MPI_Recv"), (trace["process"]["rank"] == "1" and 2 or 1, received))
            found.pop("MPI_Send", None)  # only on rank 0
            self.assertEqual(found, {
                "MPI_Init": (1, None), "MPI_Finalize": (1, None), "MPI_Barrier": (1, None), "MPI_Wait": (1, None),
                "MPI_Isend": (1, 8192), "MPI_Sendrecv": (1, 8192), "MPI_Allreduce": (2, 2 * 4096),
                "MPI_Bcast": (1, 4), "MPI_Allgather": (1, 4), "MPI_Alltoall": (1, 8)})
            self.assertEqual(trace["loss"], {})

    def test_the_library_of_mpi_needs_nothing_of_mpi(self):
        library = Build.injection_library.parent / "librangefinder_mpi.so"
        if not library.exists():
            raise unittest.SkipTest("librangefinder_mpi.so was not built")
        done = subprocess.run(["sh", "-c", "echo hello"], capture_output=True, text=True, check=False,
                              env=clean_environment() | {"LD_PRELOAD": str(library), "LD_BIND_NOW": "1"})

        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "hello\n", ""))

    def test_run_behind_the_launcher_writes_the_same_folders(self):
        command = [str(Build.rangefinder), "run", "-q", "--out", "job", "--", str(Build.program("plain")), "3"]
        done = subprocess.run([sys.executable, str(LAUNCHER), "2", *command], cwd=self.place,
                              env=host_environment(self.runtime), capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS)

        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(sorted(path.parent.name for path in self.place.glob("job/host=*/rank=*/pid=*")),
                         ["rank=0", "rank=1"])

    def test_ranks_are_in_order_of_their_numbers(self):
        program = Build.program("plain")
        done = self.command("run", "--ranks", "--out", "job", "--", "sh", "-c",
                            f"RANK=10 {program} 1; RANK=9 {program} 1; {program} 1")

        self.assertIn("Missing: no trace of ranks 0, 1", done.stderr)
        ranks = done.stderr[done.stderr.index("\nRanks"):]
        self.assertLess(ranks.index("rank 9"), ranks.index("rank 10"))
        self.assertIn("1 process of 3 had no rank", done.stderr)

    def test_processes_without_a_rank_are_said_to_have_none(self):
        done = self.command("run", "--counters", "off", "--ranks", "--out", "job", "--", Build.program("plain"), "3")

        self.assertIn("1 process of 1 had no rank", done.stderr)
        self.assertEqual([str(path.relative_to(self.place)) for path in self.place.glob("job/trace-*")],
                         ["job/trace-00000.ndjson"])

    def test_a_folder_of_each_process_is_refused_for_ranks(self):
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")
        done = subprocess.run([str(Build.rangefinder), "run", "--ranks", "--out", "job-%p", "--", "true"],
                              env=dict(os.environ), capture_output=True, text=True, check=False,
                              timeout=DEADLINE_SECONDS)

        self.assertEqual(done.returncode, 2)
        self.assertIn("Remove %p", done.stderr)
