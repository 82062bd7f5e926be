// SPDX-License-Identifier: Apache-2.0
//
// Modules as nested boxes: width is the metric, depth goes down. Pure functions.
//
//   d3's partition gives each child its share of the parent's width. The parent's own share stays empty
//   beside its children.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { metricOf, type Metric, type Trace } from "../data/trace";

export interface Box {
  /** Index in trace.modules; -1: outside of any range, -2: the whole trace. */
  module: number;
  name: string;
  depth: number;
  /** Shares of the whole width, 0 to 1. */
  x0: number;
  x1: number;
  value: number;
}

interface Node {
  module: number;
  children: Node[];
}

function valueOf(trace: Trace, module: number, metric: Metric): number {
  const row = module >= 0 ? trace.modules[module] : trace.tables.outside;
  return row === undefined ? 0 : (metricOf(row, metric) ?? 0);
}

/** Boxes of module `top` and all below, or of the whole trace if `top` is -2. */
export function layoutOf(trace: Trace, metric: Metric, top: number): Box[] {
  const nodeOf = (module: number): Node => ({ module, children: (trace.children[module] ?? []).map(nodeOf) });
  const whole: Node = { module: -2, children: [...trace.roots.map(nodeOf), { module: -1, children: [] }] };
  const root = hierarchy<Node>(top >= 0 ? nodeOf(top) : whole) as HierarchyRectangularNode<Node>;
  root.eachAfter((node) => {
    const below = (node.children ?? []).reduce((sum, child) => sum + (child.value ?? 0), 0);
    const own = node.data.module === -2 ? 0 : valueOf(trace, node.data.module, metric);
    // Sampled bytes are rounded, so children may sum to a byte more than their parent.
    (node as { value?: number }).value = Math.max(own, below);
  });
  if ((root.value ?? 0) <= 0) return [];
  partition<Node>().size([1, 1])(root);
  return root
    .descendants()
    .filter((node) => node.x1 > node.x0)
    .map((node) => ({
      module: node.data.module,
      depth: node.depth,
      x0: node.x0,
      x1: node.x1,
      value: node.value ?? 0,
      name:
        node.data.module >= 0
          ? trace.modules[node.data.module]!.name
          : node.data.module === -1
            ? "(outside of any range)"
            : "all",
    }));
}
