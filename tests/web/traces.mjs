// SPDX-License-Identifier: Apache-2.0
//
// Traces for the tests of the page: replayed recordings, and small hand-made traces.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class Skipped extends Error {}

/** Ends the process as skipped, with a reason. */
export function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

export class Traces {
  constructor({ rangefinder, replay, repository, folder }) {
    Object.assign(this, { rangefinder, replay, repository, folder });
  }

  run(program, ...words) {
    const done = spawnSync(program, words, { encoding: "utf8", maxBuffer: 1 << 30 });
    if (done.error) throw done.error;
    if (done.status === 3 && done.stderr.includes("libcupti")) throw new Skipped(done.stderr.trim());
    if (done.status !== 0) throw new Error(`${program} ${words.join(" ")}: exit code ${done.status}\n${done.stderr}`);
    return done.stdout;
  }

  /** Replays a recording, once. Returns the folder of the trace. */
  recorded(name) {
    const out = join(this.folder, name);
    if (existsSync(out)) return out;
    this.run(this.replay, join(this.repository, "tests/replay", name, "recording.zst"), "--out", out);
    return out;
  }

  /** The same for the first one: without libcupti the test is skipped, and `folder` removed. */
  recordedOrSkip(name, folder = this.folder) {
    try {
      return this.recorded(name);
    } catch (error) {
      rmSync(folder, { recursive: true });
      if (error instanceof Skipped) skip(error.message);
      throw error;
    }
  }

  /** Writes lines as a trace. Returns its folder. */
  made(name, lines, summary) {
    const out = join(this.folder, name);
    mkdirSync(out);
    writeFileSync(join(out, "trace-00000.ndjson"), lines.map((line) => JSON.stringify(line) + "\n").join(""));
    if (summary !== undefined) writeFileSync(join(out, "summary.json"), JSON.stringify(summary));
    return out;
  }

  /** Writes the page of traces. Returns its file. */
  page(name, ...traces) {
    const out = join(this.folder, `${name}.html`);
    this.run(this.rangefinder, "report", "--html", out, ...traces);
    return out;
  }

  report(trace, ...words) {
    return JSON.parse(this.run(this.rangefinder, "report", "--json", ...words, trace)).traces[0];
  }
}

/** torch_memory.json, as rangefinder.torch writes it: a step that keeps 2 MiB in each call. */
export function torchMemory() {
  const row = (path, calls, live_at_peak_bytes, later_growth_bytes) => ({
    ...{ path, calls, allocations: 40 * calls + 1, allocated_bytes: (900 << 20) + calls, peak_bytes: 768 << 20 },
    ...{ live_at_peak_bytes, later_growth_bytes, kept_bytes: later_growth_bytes },
  });
  const modules = [
    row("", 0, 700 << 20, 16 << 20),
    row("step", 10, 600 << 20, 16 << 20),
    row("step/model", 10, 400 << 20, 0),
    row("step/model/head", 2, 100 << 20, 0),
  ];
  return JSON.stringify({ devices: [{ device: 0, complete: false, modules }] });
}

const kHeader = { t: "header", schema: "rangefinder.trace", version: "1.0", segment: 0, counters: "off" };
const kProgram = { pid: 4711, parent_pid: 1, host: "node7", executable: "/usr/bin/app", command: ["app"] };
const kClock = { base_unix_ns: "1700000000000000000", base_monotonic_ns: "5", tool_version: "0.1.0" };
const kGpu = { t: "gpu", id: 0, name: "Test GPU", uuid: "GPU-1", compute_capability: [9, 0], sm_count: 132 };
const kMemory = { memory_bytes: 141e9, l2_bytes: 6e7, peak_dram_bytes_per_s: 4.8e12 };

/** Lines of a program with one module per name, each with one kernel of the same name. */
export function linesOf(names) {
  const lines = [
    { ...kHeader, ...kProgram, ...kClock },
    { ...kGpu, ...kMemory },
    { t: "thread", id: 5, name: names[0].slice(0, 40) },
    { t: "config", id: 1, grid: [4, 1, 1], block: [128, 1, 1] },
  ];
  names.forEach((name, i) => {
    const id = i + 1;
    const at = 10_000 * id;
    const launch = { start: at + 100, end: at + 200, thread: 5, api: "cuLaunchKernel" };
    const kernel = { start: at + 1000, end: at + 3000, gpu: 0, ctx: 1, stream: 7, name: id, config: 1 };
    lines.push(
      { t: "path", id, parent: 0, name },
      { t: "kernel_name", id, mangled: `k${i}${name}`, demangled: name, library: "own", evidence: "none" },
      { t: "launch", ...launch, path: id, range: id, corr: id },
      { t: "kernel", ...kernel, path: id, range: id, corr: id },
      { t: "range", id, start: at, end: at + 5000, thread: 5, path: id },
    );
  });
  return lines;
}

/** Values of all launches of a kernel, as shares of peaks. What is not listed has a small value that differs by name. */
const kGemm = {
  sm__pipe_tensor_cycles_active: 0.612,
  sm__pipe_fma_cycles_active: 0.031,
  sm__issue_active: 0.22,
  sm__warps_active: 0.188,
  dram__bytes: 0.148,
  l1tex__data_pipe_lsu_wavefronts: 0.47,
  smsp__warps_issue_stalled_gmma: 0.55,
  flop: 605e12,
  intensity: 850,
  of: "gemm",
};
const kSoftmax = {
  sm__pipe_tensor_cycles_active: 0,
  sm__pipe_fma_cycles_active: 0.083,
  sm__issue_active: 0.09,
  sm__warps_active: 0.713,
  dram__bytes: 0.82,
  smsp__warps_issue_stalled_long_scoreboard: 0.61,
  flop: 1.9e12,
  intensity: 0.5,
  of: "softmax",
};
const kPeaks = { fp32: 67e12, fp64: 34e12, tf32_tensor: 495e12, fp16_tensor: 989e12, fp8_tensor: 1979e12 };
const kGpuNs = 100_000;
const kRate = 1e12;
const kBytes = ["dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum"];
/** Counts of one launch, in proportion. */
const kCounts = [
  [/^sm__inst_executed\.sum|^smsp__inst_executed\.sum/, 2e6],
  [/^sm__cycles_active/, 1.6e6],
  [/^smsp__thread_inst_executed\.sum/, 6.2e7],
  [/lookup_hit/, 7e5],
  [/lookup_miss/, 2.5e5],
  [/^l1tex__t_sectors\.sum/, 1e6],
  [/l1tex__t_sectors_pipe_lsu_mem_local/, 300],
  [/l1tex__t_sectors_pipe_lsu_mem_global/, 1.6e6],
  [/l1tex__t_requests/, 1e5],
  [/bank_conflicts/, 2e4],
  [/_op_shared_/, 8e5],
];

function valueOf(metric, kernel) {
  const own = kernel[metric.split(".")[0]];
  const share = own ?? ([...metric].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 13) / 100;
  if (metric.endsWith(".per_second")) return kRate;
  if (metric.endsWith("pct_of_peak_sustained_active")) return 100 * share;
  if (metric === "sm__ops_path_tensor_op_hgmma_src_fp16.sum")
    return kernel === kGemm ? (kernel.flop * kGpuNs) / 1e9 : 0;
  if (metric.startsWith("sm__ops_path") || /pipe_fma_type_fp16_pred|pipe_fp16_pred|fp64_pred/.test(metric)) return 0;
  if (metric.startsWith("smsp__thread_inst_executed_pipe_fma_pred"))
    return kernel === kGemm ? 0 : (kernel.flop * kGpuNs) / 2e9;
  const count = kCounts.find(([of]) => of.test(metric));
  return count !== undefined ? count[1] : share * kRate * kGpuNs * 1e-9;
}

/**
 * A model with a gemm and a softmax: `groups` (of `rangefinder metrics --json`) measured in turn, in launches of 100 us.
 * A third module was not measured.
 */
export function metricLines(groups) {
  const lines = [
    { ...kHeader, ...kProgram, ...kClock, version: "1.1", counters: "exact" },
    { ...kGpu, ...kMemory, peak_flops: kPeaks },
    { t: "config", id: 1, grid: [264, 1, 1], block: [128, 1, 1] },
  ];
  const names = ["model", "mlp", "attention", "copy"];
  names.forEach((name, i) => lines.push({ t: "path", id: i + 1, parent: i === 0 ? 0 : 1, name }));
  const more = { library: "own", evidence: "none" };
  ["gemm", "softmax", "copy"].forEach((name, i) =>
    lines.push({
      t: "kernel_name",
      id: i + 1,
      mangled: `_Z${name}`,
      demangled: `void ${name}<float>(float*)`,
      ...more,
    }),
  );
  groups.forEach(({ metrics, name }, i) =>
    lines.push({ t: "metric_set", id: i + 1, name, metrics: metrics.filter((metric) => !kBytes.includes(metric)) }),
  );
  let at = 0;
  let corr = 0;
  const launch = (id, exact) => {
    at += 400_000;
    const place = { thread: 5, path: id + 1, range: ++corr, corr };
    const host = { start: at + 100, end: at + 200, api: "cuLaunchKernel" };
    lines.push({ t: "launch", ...host, ...place });
    const work = { start: at + 1000, end: at + 1000 + kGpuNs, gpu: 0, ctx: 1, stream: 7, name: id, config: 1 };
    lines.push({ t: "kernel", ...work, path: id + 1, range: corr, corr });
    if (exact !== undefined)
      lines.push({ t: "exact", ...host, ...place, ctx: 1, kind: "kernel", gpu: 0, name: id, ...exact });
    lines.push({ t: "range", id: corr, start: at, end: at + 300_000, thread: 5, path: id + 1 });
  };
  [kGemm, kSoftmax].forEach((kernel, k) => {
    groups.forEach(({ metrics }, i) => {
      const dram = (kernel.flop * kGpuNs * 1e-9) / kernel.intensity;
      const bytes = {
        dram_read_bytes: Math.round(dram * 0.7),
        dram_write_bytes: Math.round(dram * 0.3),
        l2_bytes: 6e6,
      };
      const values = metrics.filter((metric) => !kBytes.includes(metric)).map((metric) => valueOf(metric, kernel));
      const size = { grid: [264, 1, 1], block: [128, 1, 1] };
      launch(k + 1, { ...size, gpu_ns: kGpuNs, ...(metrics.includes(kBytes[0]) ? bytes : {}), set: i + 1, values });
    });
  });
  launch(3);
  return lines;
}
