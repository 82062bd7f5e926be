// SPDX-License-Identifier: Apache-2.0
//
// Starts `rangefinder serve`, and programs for it to watch: those of tests/injection, with a fake driver.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Lines of a process's output, one at a time. */
function linesOf(child) {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the program has ended");
    return value;
  };
}

const ended = (child) =>
  child.exitCode !== null ? Promise.resolve() : new Promise((done) => child.once("exit", done));

function cleanEnvironment(more) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(RANGEFINDER_|FAKE_|CUDA_INJECTION|NVTX_|LD_)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...more };
}

export class Served {
  static async start(rangefinder, folder, runtime) {
    const out = new Served();
    out.child = spawn(rangefinder, ["serve", folder, "--port", "0"], {
      env: cleanEnvironment({ XDG_RUNTIME_DIR: runtime }),
      stdio: ["ignore", "pipe", "ignore"],
    });
    out.url = await linesOf(out.child)();
    return out;
  }
  async stop() {
    this.child.kill("SIGTERM");
    await ended(this.child);
  }
}

/** tests/injection/programs/obedient, which executes commands from its input. */
export class Program {
  static async start(build, runtime, folder) {
    const out = new Program();
    const injection = join(build, "tests/injection");
    mkdirSync(folder, { recursive: true });
    const library = join(build, "lib/librangefinder.so");
    const variables = {
      LD_LIBRARY_PATH: join(injection, "fake/driver"),
      CUDA_INJECTION64_PATH: library,
      NVTX_INJECTION64_PATH: library,
      RANGEFINDER_CUPTI: join(injection, "fake/toolkit/lib64/libcupti.so.13"),
      XDG_RUNTIME_DIR: runtime,
    };
    out.child = spawn(join(injection, "programs/obedient"), [], {
      cwd: folder,
      env: cleanEnvironment(variables),
      stdio: ["pipe", "pipe", "ignore"],
    });
    out.line = linesOf(out.child);
    if ((await out.line()) !== "ready") throw new Error("the program does not start");
    return out;
  }
  get pid() {
    return this.child.pid;
  }
  async do(what) {
    this.child.stdin.write(what + "\n");
    return this.line();
  }
  async end() {
    if (this.child.exitCode === null) this.child.stdin.write("quit\n");
    await ended(this.child);
  }
}
