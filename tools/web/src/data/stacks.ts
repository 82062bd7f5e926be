// SPDX-License-Identifier: Apache-2.0
//
// Samples of the host's call stacks, and the flame graph of an interval. Pure functions.
//
//   samples in [from, to) ─▶ time by stack ─▶ tree from the outermost call, widest child first
//
// A sample stands for its interval, as in `report --section stacks`.
import { lowerBound } from "./spans";

export interface PackedStacks {
  functions: string[];
  sources: string[];
  /** By stack, from 1 on: the stack of its caller (0: outermost), and the index of its function. */
  caller: number[];
  frame: number[];
  threads: { thread: number; interval_ns: number; at: number[]; stack: number[] }[];
}

export interface Stacks {
  functions: string[];
  sources: string[];
  caller: number[];
  frame: number[];
  threads: { thread: number; intervalNs: number; at: Float64Array; stack: number[] }[];
}

export function readStacks(packed: PackedStacks): Stacks {
  return {
    ...packed,
    threads: packed.threads.map(({ thread, interval_ns: intervalNs, at, stack }) => {
      let time = 0;
      return { thread, intervalNs, at: Float64Array.from(at, (delta) => (time += delta)), stack };
    }),
  };
}

export interface Flame {
  title: string;
  source: string;
  /** Of the samples with this call on their stack, and of those that end in it. */
  ns: number;
  selfNs: number;
  children: Flame[];
}

interface Node {
  flame: Flame;
  byFrame: Map<number, Node>;
}

const nodeOf = (title: string, source: string): Node => ({
  flame: { title, source, ns: 0, selfNs: 0, children: [] },
  byFrame: new Map(),
});

function widestFirst(flame: Flame): void {
  flame.children.sort((a, b) => b.ns - a.ns);
  flame.children.forEach(widestFirst);
}

/** The calls of one thread in [from, to). Calls of the same function from the same caller are one. */
export function flameOf(stacks: Stacks, thread: number, from: number, to: number): Flame {
  const root = nodeOf("", "");
  const all = stacks.threads.find((one) => one.thread === thread);
  if (all === undefined) return root.flame;
  const frames: number[] = [];
  for (let i = lowerBound(all.at, from); i < all.at.length && all.at[i]! < to; ++i) {
    frames.length = 0;
    for (let stack = all.stack[i]!; stack > 0; stack = stacks.caller[stack - 1]!) frames.push(stacks.frame[stack - 1]!);
    let at = root;
    at.flame.ns += all.intervalNs;
    for (const frame of frames.reverse()) {
      let next = at.byFrame.get(frame);
      if (next === undefined) {
        next = nodeOf(stacks.functions[frame] ?? "", stacks.sources[frame] ?? "");
        at.byFrame.set(frame, next);
        at.flame.children.push(next.flame);
      }
      next.flame.ns += all.intervalNs;
      at = next;
    }
    at.flame.selfNs += all.intervalNs;
  }
  widestFirst(root.flame);
  return root.flame;
}
