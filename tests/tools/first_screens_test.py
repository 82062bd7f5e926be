# SPDX-License-Identifier: Apache-2.0
"""The first screen of every recording names the cause, or says what it cannot see.
Usage: first_screens_test.py RANGEFINDER REPOSITORY REPLAY. With UPDATE=1 in the environment it writes the table of
docs/internals/first-screens.md anew."""
import os
import re

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

PAGE = "docs/internals/first-screens.md"
MARK = "<!-- table -->\n"

FP32 = ("matrix products in FP32", "computes matrix products in FP32 instead of on tensor cores")
LAUNCHES = ("the host launches more slowly than the GPU runs", "wait for the host between short kernels")
LOADING = ("the host loads data while the GPU waits", "leaves the GPU idle while the host works")
SCORES = ("unfused attention", "writes attention scores to memory")
STORES = ("stores of columns", "stores words that are far apart")
SLOW_LAYERS = ("decoder layers gather from far-apart places", "`iteration/model/decoder/layers` takes .*x the time")
TRAFFIC = ("kernels at the DRAM's peak", "is bound by DRAM bandwidth")

# What is known about the program, and what the first screen has to show.
EXPECTED = {
    "case_attention": SCORES,
    "case_bert_amp": LAUNCHES,
    "case_bert_fp32": FP32,
    "case_gemm_1024_fp32": FP32,
    "case_gemm_1024_tf32": ("set-up takes a third of the run",
                            "No rule fires, but the GPU is idle for 34.5 % of the run: host code"),
    "case_gemm_fp32": FP32,
    "case_gemm_metrics": FP32,
    "case_gemm_small": ("a product that is too small for the GPU", "fills 0.2 % of the GPU"),
    "case_gemm_tensor": ("set-up on the host", "GPU idle 97.4 % host code"),
    "case_overlap": TRAFFIC,
    "case_starved_one": LOADING,
    "case_starved_pinned": LOADING,
    "case_transpose": STORES,
    "case_transpose_metrics": STORES,
    "compiled_default": ("compiled code, launched kernel by kernel", "compiled code: record it with --torch-modules.*GPU waits for the host"),
    "compiled_graphs": ("compiled code in CUDA graphs: no ranges", "compiled code: record it with --torch-modules"),
    "compiled_late": ("graphs captured before recording began", "captured before recording began"),
    "compiled_modules": ("compiled code by module: the host is late, then short reads of weights", "`step` leaves the GPU idle while the host works"),
    "compiled_origins": ("compiled code by module: the host is late", "`step` leaves the GPU idle while the host works"),
    "copy_storm": ("pageable copies", "with pageable memory"),
    "cpu_limited": ("a CPU quota of half a core", "The CPU quota of 0.50 cores stops the process"),
    "decoder_exact": ("short kernels in a graph", "replays chains of kernels that each take"),
    "decoder_sampled": ("short kernels keep a layer from the DRAM's peak", "replays at 52.9 % of the DRAM peak"),
    "eval_rtdetr_exact": ("eager elementwise kernels", "runs elementwise kernels one by one"),
    "gemm_power": ("the GPU's power limit lowers its clock", "because its power limit of 700 W lowers its clock"),
    "gpm_steps": ("DRAM bytes without counters: half of the time copies, half no traffic", "846 GB read and written, from NVML"),
    "graph_broken": ("another thread breaks a capture", "`culprit` broke 1 stream capture of broken"),
    "graph_device_whole": ("a graph that launches itself, as a whole", "10 whole graphs"),
    "graph_kinds_exact": ("nothing: kernels that sleep, in graphs; exact counters, so no times", "No findings"),
    "graph_kinds_off": ("nothing: kernels that sleep, in graphs", "No findings"),
    "graph_kinds_sampled": ("nothing: kernels that sleep, in graphs", "No findings"),
    "graph_replay": ("tiny kernels in a graph", "GPU idle 64.1 % between kernels already launched"),
    "hazards_exact": ("no ranges", "The program has no NVTX range"),
    "hf_rtdetr_sampled": LAUNCHES,
    "hf_rtdetr_trace": LAUNCHES,
    "jax_scan": ("layers in lax.scan: updates of stacked arrays move bytes", "dynamic_update_slice_fusion` is bound by DRAM bandwidth"),
    "jax_scopes": ("nothing in the step: a product near the peak of the tensor cores; the run is compilation", "Compilation took 5.51 s of 9.90 s"),
    "jax_train": ("fusions without a scope, at half of the DRAM's peak", "fusion` replays at 49.8 % of the DRAM peak"),
    "known_bytes_exact": TRAFFIC,
    "managed_memory": ("the host's turn on managed memory", "`managed_memory/host turn` leaves the GPU idle"),
    "multi_stream": ("gaps between queued kernels", "No rule fires, but the GPU is idle for 21.6 % of an iteration"),
    "multi_stream_ranges": ("nothing; exact counters, so no times", "exact counters serialise launches"),
    "nvtx_shapes": ("hardly any GPU work", "GPU idle 99.7 % host code"),
    "resnet_workers_0": ("the training thread decodes pictures", r"loader\.py:42 crop \(44 % .*`step/dataloader` leaves the GPU idle"),
    "resnet_workers_1": ("one worker decodes pictures too slowly",
                         r"waits for the workers of the DataLoader .* that loader\.py:68 iterates.*`step/dataloader` leaves the GPU idle"),
    "resnet_workers_8": ("eight workers keep up; then pageable copies", "`step/H2D` copies .* with pageable memory"),
    "rtdetr_exact": SLOW_LAYERS,
    "rtdetr_graph": ("nothing stands out: small kernels, far from the DRAM's peak", "4.4 % of peak"),
    "rtdetr_graph_b8": ("the backbone is far below the DRAM's peak", "backbone.* replays at 25.5 % of the DRAM peak"),
    "rtdetr_r18": ("nothing", "No findings"),
    "rtdetr_r18_graph": ("nothing", "No findings"),
    "rtdetr_r18_unfused": SCORES,
    "rtdetr_rotated": SLOW_LAYERS,
    "rtdetr_sampled": LAUNCHES,
    "rtdetr_unfused": SLOW_LAYERS,
}


def first_lines(screen):
    """Coverage if it is low, headline, idle time with its causes, and the first finding, each without its label's padding."""
    head = re.split(r"\n\n(?=module )", screen)[0]
    parts = [re.sub(r"\s+", " ", part).strip() for part in head.split("\n\n")[1:]]
    top = [part for part in parts if "in a range" in part]
    for label in ("whole run", "one iteration", "GPU idle"):
        top += [re.sub(r"\s+", " ", line) for line in re.findall(rf"^  ({label} .*(?:\n {{20,}}.*)*)", head, re.M)]
    finding = re.search(r"^  1\. (.*(?:\n {5}.*)*)", head, re.M)
    return [line.replace("|", "\\|") for line in [*top, re.sub(r"\s+", " ", finding[1]) if finding else "No findings."]]


class FirstScreens(CommandLine):
    def test_each_names_the_cause_or_what_it_cannot_see(self):
        recordings = sorted(folder.parent.name for folder in (cli_case.REPOSITORY / "tests/replay").glob("*/golden.ndjson.gz"))
        self.assertEqual(recordings, sorted(EXPECTED))
        rows = []
        for name in recordings:
            what, shown = EXPECTED[name]
            screen = self.call("report", str(recorded(name)), COLUMNS="120").stdout
            with self.subTest(recording=name):
                self.assertRegex(re.sub(r"\s+", " ", screen), shown)
            rows.append(f"| `{name}` | {what} | {'<br>'.join(first_lines(screen))} |")
        page = cli_case.REPOSITORY / PAGE
        text = page.read_text(encoding="utf-8")
        now = text.partition(MARK)[0] + MARK + "| recording | known | printed |\n|---|---|---|\n" + "\n".join(rows) + "\n"
        if "UPDATE" in os.environ:
            page.write_text(now, encoding="utf-8")
        else:
            self.assertEqual(text, now)


if __name__ == "__main__":
    export_case.main(__doc__)
