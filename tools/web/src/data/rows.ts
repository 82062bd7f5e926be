// SPDX-License-Identifier: Apache-2.0
//
// Data of the page's tables, written by tools/page/page_tables.cpp. Fields have the names of `report --json`
// (schema/README.md). A value that was not measured is absent, never 0.
import type { Diff } from "./diff";
import type { HasNamed, NamedMetric } from "./named";
import type { Overview } from "./overview";
import type { StatedColumn, StatedTable, Texts } from "../ui/stated_columns";

/** Of a row of modules or kernels. */
export interface Stated {
  /** What C++ shows in place of the formatted value: with a mark, or instead of a number. */
  texts?: Texts;
  top_stall?: string;
}

export interface Values extends HasNamed, Stated {
  kernels: number;
  gpu_ns?: number;
  gpu_ns_exclusive?: number;
  gpu_busy_ns?: number;
  host_ns: number;
  time_source?: string;
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  l2_bytes?: number;
  bytes_source?: string;
  /** From some launches, or part of the time, for all. */
  bytes_estimated?: boolean;
  measured_launches?: number;
  launches?: number;
  /** Of sampled bytes, read plus written. */
  bytes_error_pct?: number;
  /** Of exact bytes. */
  carry_over_bytes?: number;
  declared_bytes?: number;
  dram_amplification?: number;
  l2_amplification?: number;
  dram_bytes_per_s?: number;
  dram_peak_share?: number;
  l2_bytes_per_s?: number;
  l2_peak_share?: number;
  compute_peak_share?: number;
  /** Share of the nearest known limit: DRAM, L2 or compute. */
  limit_share?: number;
  flop_per_dram_byte?: number;
  limiter?: string;
  /** What a fix of the module saves at most, an iteration: of the findings about it. */
  saving_ns?: number;
  memcpy_bytes?: Record<string, number>;
  metrics?: Record<string, { value?: number; n: number; mean: number; stddev: number }>;
}

export interface ModuleRow extends Values {
  path: string;
  depth: number;
  calls: number;
  name: string;
  parent: number;
  /** The same for modules whose paths differ by numbers only. */
  family: number;
}

export interface KernelRow extends HasNamed, Stated {
  name: string;
  mangled?: string;
  /** Without return type, arguments and template arguments: for labels. */
  short?: string;
  library?: string;
  count: number;
  total_ns?: number;
  mean_ns?: number;
  min_ns?: number;
  max_ns?: number;
  dram_read_bytes?: number;
  dram_write_bytes?: number;
  l2_bytes?: number;
  /** Levels of the memory, of a launch; absent values were not measured. */
  memory: { key: string; title: string; bytes_per_launch?: number; hit_rate?: number; throughput?: number }[];
  /** What a generated kernel computes, by line of the program. */
  origins?: { operators: string; source: string; paths: number }[];
  /** [bucket, count]: bucket b holds durations of [2^(b/4), 2^((b+1)/4)) ns. */
  durations: [number, number][];
}

export interface ConfigRow {
  kernel: number;
  id: number;
  grid: number[];
  block: number[];
  cluster?: number[];
  registers: number;
  static_shared_bytes: number;
  dynamic_shared_bytes: number;
  local_bytes_per_thread: number;
  count: number;
  total_ns: number;
}

export interface GpuRow {
  id: number;
  name: string;
  uuid: string;
  compute_capability: number[];
  sm_count: number;
  memory_bytes: number;
  l2_bytes: number;
  peak_dram_bytes_per_s?: number;
  peak_flops?: Record<string, number>;
}

export interface Finding {
  id: string;
  title: string;
  severity: string;
  experimental: boolean;
  /** Path, kernel or stream; '*' stands for numbers. */
  where?: string;
  kernel?: string;
  class_source?: string;
  call_source?: string;
  /** If one fix mends several. `share`: of the saving. */
  modules?: { where: string; share: number; class_source?: string; call_source?: string }[];
  /** Rows of the names in it. */
  links: Record<string, { module?: number; kernel?: number }>;
  /** What a fix saves an iteration, at most. */
  saving?: string;
  why?: string;
  /** The evidence: what, and how much. */
  facts: [string, string][];
  next_step: string;
  /** A line of code for it. */
  code?: string;
}

/** A row of `byte_fit` of `report --fit`: the lines of GPU time over bytes at one depth. No keys of a line: there is none. */
export interface ByteFit {
  depth: number;
  modules: number;
  dram_r?: number;
  dram_us_per_mb?: number;
  dram_intercept_ns?: number;
  dram_outliers?: number;
  l2_r?: number;
  l2_us_per_mb?: number;
  l2_intercept_ns?: number;
  l2_outliers?: number;
  /** Modules that the page has: time and bytes a call, and whether they are far from the line. */
  points: {
    module: number[];
    ns: number[];
    /** null: its bound forbids a number. */
    dram_bytes: (number | null)[];
    l2_bytes: (number | null)[];
    dram_error: number[];
    l2_error: number[];
    dram_far: boolean[];
    l2_far: boolean[];
  };
}

/** A module or a kernel in the roofline. */
export interface RooflinePoint {
  module?: number;
  kernel?: number;
  flop_per_s: number;
  /** FLOP per DRAM byte, and per L2 byte. */
  dram: number;
  l2?: number;
  /** Relative bound of the DRAM bytes. */
  error?: number;
  /** FLOP/s, and which it is: that of `report --section roofline`. */
  roof?: number;
  is?: string;
}

export interface TraceTables {
  folder: string;
  process: Record<string, unknown> & {
    executable: string;
    host: string;
    pid: number;
    counters: string;
    tool_version: string;
  };
  started_unix_ns: string;
  cupti_version: number;
  duration_ns: number;
  gpus: GpuRow[];
  counts: { kernels: number; copies: number; memsets: number; ranges: number; lines: number };
  sample_intervals_ns: number[];
  samples?: {
    method: Record<string, string>;
    count: number;
    idle: number;
    all: Record<string, number>;
    unattributed: Record<string, number>;
  };
  truth?: { copies: number; known_bytes: number; measured_bytes: number };
  loss: Record<string, number>;
  end?: { reason: string; own_cost: Record<string, number>; launches: Record<string, Record<string, number>> };
  torn: boolean;
  broken_lines: number;
  first_broken?: string;
  modules: ModuleRow[];
  /** Lines that explain the marks in texts. */
  module_remarks: string;
  byte_fit: ByteFit[];
  /** Absent: no operations were counted. */
  roofline?: RooflinePoint[];
  l2_peak_bytes_per_s?: number;
  outside: Values;
  kernels: KernelRow[];
  kernel_remarks: string;
  /** Of the report: memcpy, memset. By module, by size. */
  copies: Record<"memcpy" | "memset" | "modules" | "sizes", StatedTable>;
  /** Of `report --section memory`; torch_memory: absent without run --torch-memory. */
  memory: Partial<Record<"memory" | "memory_kinds" | "memory_live" | "memory_time" | "torch_memory", StatedTable>>;
  kernel_modules: {
    kernel: number[];
    module: number[];
    count: number[];
    /** Of `count`, those with a time. */
    timed: number[];
    total_ns: number[];
    min_ns: number[];
    max_ns: number[];
  };
  kernel_configs: ConfigRow[];
  /** Those of the report. No path: there are none. */
  iterations: { path: string; iterations: StatedTable; iterations_summary: StatedTable };
  /** The text with which the report begins. */
  summary: string;
  findings: Finding[];
  /** Lines about rules that lacked data. */
  not_checked: string;
  left_out: Record<string, number>;
  overview: Overview;
}

/** Columns by table; of modules and kernels: time and bytes, or named metrics. */
export type PageColumns = Record<
  "modules" | "module_details" | "module_metrics" | "kernels" | "kernel_details" | "kernel_metrics",
  StatedColumn[]
>;

export interface Tables {
  schema: string;
  version: string;
  traces: TraceTables[];
  columns: PageColumns;
  named_metrics: NamedMetric[];
  metric_topics: string[];
  /** Of a page of two traces. */
  diff?: Diff;
}
