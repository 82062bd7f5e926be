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
