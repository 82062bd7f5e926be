// SPDX-License-Identifier: Apache-2.0
//
// Modules as nested boxes with their kernels as leaves: width is the metric, depth goes down. Pure functions.
//
//   d3's partition gives each child its share of the parent's width. The parent's own share stays empty
//   beside its children.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { dramBytes, metricOf, shortName, type Metric, type Trace } from "../data/trace";

export interface Box {
  /** Index in trace.modules; -1: outside of any range, -2: the whole trace. */
  module: number;
  /** Of a leaf: index in the kernels. */
  kernel?: number;
  name: string;
  depth: number;
  /** Shares of the whole width, 0 to 1. */
  x0: number;
  x1: number;
  value: number;
}

interface Node {
  module: number;
  kernel?: number;
  /** Without what is below it. */
  own: number;
  children: Node[];
}

/** Time by module; bytes are known of all launches of a kernel only. */
function kernelsOf(trace: Trace, metric: Metric): Map<number, Node[]> {
  const out = new Map<number, Node[]>();
  for (const { kernel, module, count, total_ns } of trace.pairs) {
    const row = trace.tables.kernels[kernel];
    if (row === undefined) continue;
    const bytes = row.count !== count ? undefined : metric === "dram" ? dramBytes(row) : row.l2_bytes;
    const own = metric === "gpu" ? total_ns : metric === "dram" || metric === "l2" ? (bytes ?? 0) : 0;
    if (own <= 0) continue;
    if (!out.has(module)) out.set(module, []);
    out.get(module)!.push({ module, kernel, own, children: [] });
  }
  return out;
}

function nameOf(trace: Trace, { module, kernel }: Node): string {
  if (kernel !== undefined) return shortName(trace.tables.kernels[kernel]!);
  return module >= 0 ? trace.modules[module]!.name : module === -1 ? "(outside of any range)" : "all";
}

function valueOf(trace: Trace, module: number, metric: Metric): number {
  if (metric === "change") return Math.abs(trace.changes.get(trace.modules[module]?.path)?.difference ?? 0);
  return metricOf(trace.modules[module] ?? trace.tables.outside, metric) ?? 0;
}

/** Boxes of module `top` and all below, or of the whole trace if `top` is -2. */
export function layoutOf(trace: Trace, metric: Metric, top: number): Box[] {
  const kernels = kernelsOf(trace, metric);
  const nodeOf = (module: number): Node => ({
    module,
    own: valueOf(trace, module, metric),
    children: [...(trace.children[module] ?? []).map(nodeOf), ...(kernels.get(module) ?? [])],
  });
  const whole: Node = { module: -2, own: 0, children: [...trace.roots, -1].map(nodeOf) };
  const root = hierarchy<Node>(top >= 0 ? nodeOf(top) : whole) as HierarchyRectangularNode<Node>;
  root.eachAfter((node) => {
    const below = (node.children ?? []).reduce((sum, child) => sum + (child.value ?? 0), 0);
    // Sampled bytes are rounded, so children may sum to a byte more than their parent.
    (node as { value?: number }).value = Math.max(node.data.own, below);
  });
  if ((root.value ?? 0) <= 0) return [];
  partition<Node>().size([1, 1])(root);
  return root
    .descendants()
    .filter((node) => node.x1 > node.x0)
    .map(({ data, depth, x0, x1, value }) => ({
      module: data.module,
      ...(data.kernel !== undefined && { kernel: data.kernel }),
      name: nameOf(trace, data),
      depth,
      x0,
      x1,
      value: value ?? 0,
    }));
}

/** The box that an arrow key selects; without a selection the heaviest of the outermost modules. */
export function neighbour(boxes: readonly Box[], from: Box | undefined, key: string): Box | undefined {
  const heaviest = (some: Box[]): Box | undefined => some.sort((a, b) => b.value - a.value)[0];
  if (from === undefined) return heaviest(boxes.filter((box) => box.depth === 1)) ?? boxes[0];
  const middle = (from.x0 + from.x1) / 2;
  if (key === "ArrowUp")
    return boxes.find((box) => box.depth === from.depth - 1 && box.x0 <= middle && middle <= box.x1);
  if (key === "ArrowDown")
    return heaviest(
      boxes.filter((box) => box.depth === from.depth + 1 && box.x0 >= from.x0 - 1e-12 && box.x1 <= from.x1 + 1e-12),
    );
  const row = boxes.filter((box) => box.depth === from.depth).sort((a, b) => a.x0 - b.x0);
  return row[row.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
}
