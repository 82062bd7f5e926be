// SPDX-License-Identifier: Apache-2.0
//
// Two traces side by side: modules matched by path, kernels by name. Pure functions.
import { dramBytes, kernelKey, shortName, type Trace } from "../data/trace";

export interface DiffRow {
  key: string;
  name: string;
  /** Level of a module; 1: outermost. */
  depth: number;
  children: DiffRow[];
  a: Record<string, number | undefined>;
  b: Record<string, number | undefined>;
}

export interface Scale {
  a: number;
  b: number;
}

/** The number of iterations of each trace, as divisors. Undefined: a trace has no iterations. */
export function perIteration(a: Trace, b: Trace): Scale | undefined {
  const count = (trace: Trace): number =>
    (trace.tables.iterations?.columns["start_ns"]?.length ?? 0) + (trace.tables.left_out["iterations"] ?? 0);
  return count(a) > 0 && count(b) > 0 ? { a: count(a), b: count(b) } : undefined;
}

function values(row: object | undefined, by: number): Record<string, number | undefined> {
  const of = row as Record<string, number | undefined> | undefined;
  const part = (value: number | undefined): number | undefined => (value === undefined ? undefined : value / by);
  if (of === undefined) return {};
  return {
    gpu_ns: part(of["gpu_ns"] ?? of["total_ns"]),
    dram: part(dramBytes(of as never)),
    l2: part(of["l2_bytes"]),
    kernels: part(of["kernels"] ?? of["count"]),
  };
}

/** Roots of the merged tree of modules, in the order of a, then of b. */
export function moduleDiff(a: Trace, b: Trace, scale: Scale): DiffRow[] {
  const byPath = new Map<string, DiffRow>();
  const roots: DiffRow[] = [];
  for (const trace of [a, b]) {
    for (const row of trace.modules) {
      if (byPath.has(row.path)) continue;
      const at = (other: Trace): object | undefined => other.module(row.path);
      const made: DiffRow = {
        key: row.path,
        name: row.name,
        depth: row.depth,
        children: [],
        a: values(at(a), scale.a),
        b: values(at(b), scale.b),
      };
      byPath.set(row.path, made);
      const parent = trace.modules[row.parent];
      (parent === undefined ? roots : byPath.get(parent.path)!.children).push(made);
    }
  }
  return roots;
}

export function kernelDiff(a: Trace, b: Trace, scale: Scale): DiffRow[] {
  const keys = new Map<string, string>();
  for (const trace of [a, b])
    for (const row of trace.tables.kernels) if (!keys.has(kernelKey(row))) keys.set(kernelKey(row), shortName(row));
  return [...keys].map(([key, name]) => ({
    key,
    name,
    depth: 1,
    children: [],
    a: values(a.kernel(key), scale.a),
    b: values(b.kernel(key), scale.b),
  }));
}

export const change = (row: DiffRow, of: string): number | undefined => {
  const { [of]: x } = row.a;
  const { [of]: y } = row.b;
  // A row of one trace only changed by its whole value. A value that was not measured has no change.
  if (x === undefined && y === undefined) return undefined;
  if ((x === undefined && Object.keys(row.a).length > 0) || (y === undefined && Object.keys(row.b).length > 0))
    return undefined;
  return (y ?? 0) - (x ?? 0);
};
