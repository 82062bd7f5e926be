// SPDX-License-Identifier: Apache-2.0
//
// The tables of one trace, with queries for the views: the tree of modules, the kernels of a module, its limiter.
// Computes no numbers except sums over values of the trace.
import type { Diff, DiffRow } from "./diff";
import { unitText } from "./numbers";
import type { HasNamed, NamedTable } from "./named";
import type { KernelRow, ModuleRow, PageColumns, TraceTables, Values } from "./rows";

/** For the width of the icicle and the height of the scatter. Saving and change: of time, an iteration. */
export type Metric = "gpu" | "dram" | "l2" | "host" | "saving" | "change";
export const metricTitle: Record<Metric, string> = {
  gpu: "GPU time",
  dram: "DRAM bytes",
  l2: "L2 bytes",
  host: "host time",
  saving: "saving",
  change: "change",
};
export const kMetrics = Object.keys(metricTitle) as readonly Metric[];
export const metricText = (value: number, metric: Metric): string =>
  unitText(value, metric === "dram" || metric === "l2" ? "bytes" : "ns");

export function dramBytes(row: Pick<Values, "dram_read_bytes" | "dram_write_bytes">): number | undefined {
  if (row.dram_read_bytes === undefined && row.dram_write_bytes === undefined) return undefined;
  return (row.dram_read_bytes ?? 0) + (row.dram_write_bytes ?? 0);
}

/** A value of a row by the key of its column. */
export function valueOf(row: HasNamed, key: string): number | string | undefined {
  const value = row.named?.[key] ?? (row as Record<string, unknown>)[key];
  return typeof value === "number" || typeof value === "string" ? value : undefined;
}

export function metricOf(row: Values, metric: Metric): number | undefined {
  const { gpu_ns: gpu, l2_bytes: l2, host_ns: host, saving_ns: saving } = row;
  return { gpu, dram: dramBytes(row), l2, host, saving, change: undefined }[metric];
}

export interface KernelInModule {
  kernel: number;
  module: number;
  count: number;
  timed: number;
  total_ns: number;
  min_ns: number;
  max_ns: number;
}

export class Trace {
  readonly children: number[][];
  readonly roots: number[] = [];
  readonly byPath = new Map<string, number>();
  readonly kernelByName = new Map<string, number>();
  readonly pairs: KernelInModule[] = [];
  /** Changes of GPU time by path, on a page of two traces. */
  readonly changes: ReadonlyMap<string | undefined, DiffRow>;

  constructor(
    readonly tables: TraceTables,
    readonly index: number,
    readonly named: NamedTable,
    readonly columns: PageColumns,
    diff?: Diff,
  ) {
    const changes = diff?.modules.filter((row) => row.quantity === "gpu_ns" && row.tone !== undefined) ?? [];
    this.changes = new Map(changes.map((row) => [row.path, row]));
    this.children = tables.modules.map(() => []);
    tables.modules.forEach((row, i) => {
      this.byPath.set(row.path, i);
      (row.parent >= 0 ? this.children[row.parent] : this.roots)?.push(i);
    });
    tables.kernels.forEach((row, i) => this.kernelByName.set(kernelKey(row), i));
    const all = tables.kernel_modules;
    for (let i = 0; i < all.kernel.length; ++i) {
      this.pairs.push({
        kernel: all.kernel[i]!,
        module: all.module[i]!,
        count: all.count[i]!,
        timed: all.timed[i]!,
        total_ns: all.total_ns[i]!,
        min_ns: all.min_ns[i]!,
        max_ns: all.max_ns[i]!,
      });
    }
  }

  get modules(): ModuleRow[] {
    return this.tables.modules;
  }

  /** Index in modules; undefined: no module has that path. */
  placeOf(path: string | undefined): number | undefined {
    return path === undefined ? undefined : this.byPath.get(path);
  }

  module(path: string | undefined): ModuleRow | undefined {
    const at = this.placeOf(path);
    return at === undefined ? undefined : this.modules[at];
  }

  kernel(key: string | undefined): KernelRow | undefined {
    const at = key === undefined ? undefined : this.kernelByName.get(key);
    return at === undefined ? undefined : this.tables.kernels[at];
  }

  /** True if `module` is `above` or below it. Indices in modules; -1: outside of any range. */
  isWithin(module: number, above: number): boolean {
    for (let at = module; at >= 0; at = this.modules[at]!.parent) if (at === above) return true;
    return false;
  }

  /** Kernels of a module and its descendants, heaviest first. */
  kernelsWithin(module: number): KernelInModule[] {
    const sums = new Map<number, KernelInModule>();
    for (const pair of this.pairs) {
      if (!this.isWithin(pair.module, module)) continue;
      const sum = sums.get(pair.kernel);
      if (sum === undefined) {
        sums.set(pair.kernel, { ...pair, module });
        continue;
      }
      sum.count += pair.count;
      sum.timed += pair.timed;
      sum.total_ns += pair.total_ns;
      sum.min_ns = Math.min(sum.min_ns, pair.min_ns);
      sum.max_ns = Math.max(sum.max_ns, pair.max_ns);
    }
    return [...sums.values()].sort((a, b) => b.total_ns - a.total_ns);
  }

  /** Total GPU time: outermost modules, and work outside of any range. */
  get gpuTotal(): number {
    return this.roots.reduce((sum, i) => sum + (this.modules[i]!.gpu_ns ?? 0), this.tables.outside.gpu_ns ?? 0);
  }

  get deepest(): number {
    return this.modules.reduce((max, row) => Math.max(max, row.depth), 0);
  }

  has(metric: Metric): boolean {
    return (
      (metric === "change" && this.changes.size > 0) ||
      metricOf(this.tables.outside, metric) !== undefined ||
      this.modules.some((row) => metricOf(row, metric) !== undefined)
    );
  }

  /** DRAM peak of the GPUs if they all have the same; undefined: unknown. */
  get peakDram(): number | undefined {
    const peaks = new Set(this.tables.gpus.map((gpu) => gpu.peak_dram_bytes_per_s));
    return peaks.size === 1 ? [...peaks][0] : undefined;
  }

  /** L2 peak as far as a measured row knows it. */
  get peakL2(): number | undefined {
    return this.tables.l2_peak_bytes_per_s;
  }

  /** FLOP/s by type, under the same condition. */
  get peakFlops(): Record<string, number> {
    const [first, ...rest] = this.tables.gpus.map(({ peak_flops: peaks }) => peaks ?? {});
    const text = JSON.stringify(first);
    return first !== undefined && rest.every((peaks) => JSON.stringify(peaks) === text) ? first : {};
  }

  get title(): string {
    const { executable, command } = this.tables.process as { executable: string; command?: string[] };
    const base = (text: string): string => text.split("/").pop() ?? text;
    const script = (command ?? []).slice(1).find((word) => /\.(py|sh)$/.test(word));
    return /python|bash|sh$/.test(base(executable)) && script !== undefined ? base(script) : base(executable);
  }
}

/** A kernel's name for labels, without anonymous namespaces. */
export const shortName = (row: KernelRow): string => (row.short ?? row.name).replaceAll("(anonymous namespace)::", "");

/** Unique key of a kernel: two kernels may have the same readable name. */
export const kernelKey = (row: KernelRow): string => row.mangled ?? row.name;
