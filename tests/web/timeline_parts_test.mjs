// SPDX-License-Identifier: Apache-2.0
//
// Tests of the timeline's pure functions, without a browser: ranges captured in graphs, rows of overlapping ranges,
// sums of a part, stacks, the time to which times are relative.
//
//   node timeline_parts_test.mjs REPOSITORY      exit code 77: skipped, with the reason
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loader } from "./parts.mjs";

const load = await loader(resolve(process.argv[2] ?? ""));
const { timelineOf } = await load("data/timeline.ts");
const { gpuSpans, inLanes, nextOf } = await load("data/gpu_spans.ts");
const { areaSums, bytesIn } = await load("data/area.ts");
const { readStacks, flameOf } = await load("data/stacks.ts");
const { originOf, relativeText } = await load("views/timeline_origin.ts");
const { byteFacts } = await load("views/byte_facts.ts");
const { fold, pin } = await load("views/timeline_sheets.tsx");
const { axisText } = await load("data/numbers.ts");

const kNothing = { start: [], ns: [] };
const deltas = (values) => values.map((value, i) => value - (values[i - 1] ?? 0));

/** A timeline of pieces {start, ns, module, …} on one stream each; `more` replaces its other parts. */
function made(lanes, more = {}) {
  const column = (pieces, key) => pieces.map((piece) => piece[key] ?? 0);
  const packed = lanes.map((pieces, i) => ({
    ...{ gpu: 0, context: 1, stream: i + 7, work: pieces.length },
    pieces: {
      start: deltas(column(pieces, "start")),
      corr: deltas(column(pieces, "corr")),
      range: deltas(column(pieces, "range")),
      ...Object.fromEntries(["ns", "kind", "name", "module", "graph"].map((key) => [key, column(pieces, key)])),
    },
  }));
  const empty = { syncs: kNothing, holds: kNothing, marks: {}, memory: {}, ranges: kNothing };
  return timelineOf({
    ...{ first_ns: 0, last_ns: 10_000, whole: true, windows: [], work: 0, apis: [], threads: [], texts: [] },
    ...{ ranges_left_out: 0, syncs_left_out: 0, hold_causes: ["counter_batch"], samples: [], conditions: [] },
    ...{ idle: { ...kNothing, cause: [], left_out: 0 }, idle_causes: ["host launching", "host code"] },
    ...empty,
    ...more,
    lanes: packed,
  });
}

/** decode, with layer 0 and layer 1. */
const trace = {
  modules: [
    { name: "decode", path: "decode", parent: -1, depth: 1 },
    { name: "layer 0", path: "decode/layer 0", parent: 0, depth: 2 },
    { name: "layer 1", path: "decode/layer 1", parent: 0, depth: 2 },
  ],
  tables: { gpus: [{ id: 0, peak_dram_bytes_per_s: 1e12 }], kernels: [] },
};
const node = (start, ns, module, corr, range) => ({ start, ns, module, corr, range, graph: 1 });
const shown = (spans) =>
  spans
    .map(({ module, start, end }) => [trace.modules[module].name, start, end])
    .sort(([, a, b], [, c, d]) => a - c || d - b);

test("ranges captured in a graph are spans of each replay, also those above them", () => {
  const pieces = [
    node(0, 10, 1, 5, 21),
    node(10, 10, 1, 5, 21),
    node(30, 10, 2, 5, 22),
    node(100, 10, 1, 6, 21),
    node(130, 10, 2, 6, 22),
  ];

  assert.deepEqual(shown(gpuSpans(trace, made([pieces]))), [
    ["decode", 0, 40],
    ["layer 0", 0, 20],
    ["layer 1", 30, 40],
    ["decode", 100, 140],
    ["layer 0", 100, 110],
    ["layer 1", 130, 140],
  ]);
});

test("the same layer called twice in a replay has two spans, and branches that overlap are one", () => {
  const twice = [node(0, 10, 1, 5, 21), node(20, 10, 1, 5, 22)];
  assert.deepEqual(shown(gpuSpans(trace, made([twice]))), [
    ["decode", 0, 30],
    ["layer 0", 0, 10],
    ["layer 0", 20, 30],
  ]);

  const branches = [[node(0, 50, 1, 5, 21)], [node(20, 60, 1, 5, 21)]];
  assert.deepEqual(shown(gpuSpans(trace, made(branches))), [
    ["decode", 0, 80],
    ["layer 0", 0, 80],
  ]);
});

test("work without a graph has the spans of its ranges only", () => {
  const plain = [{ start: 0, ns: 10, module: 1, corr: 5 }];
  const ranges = { start: [0], ns: [50], thread: [1], module: [1], gpu_start: [5], gpu_ns: [10] };

  assert.deepEqual(shown(gpuSpans(trace, made([plain], { ranges }))), [["layer 0", 5, 15]]);
});

test("ranges that overlap are in different rows, those that overlap a little at their ends in one", () => {
  const rows = (spans) =>
    inLanes(
      spans,
      ([start]) => start,
      ([, end]) => end,
      3,
    );

  assert.equal(
    rows([
      [0, 100],
      [10, 110],
      [20, 120],
      [30, 130],
    ]).length,
    3,
  );
  assert.equal(
    rows([
      [0, 100],
      [90, 200],
      [200, 300],
    ]).length,
    1,
  );
  // Most of the short one is in the long one.
  assert.equal(
    rows([
      [0, 100],
      [90, 102],
    ]).length,
    2,
  );
});

test("the next instance is the first whose middle is later, the previous one the last whose is earlier", () => {
  const all = [0, 100, 200].map((from) => ({ from, to: from + 10 }));

  assert.equal(nextOf(all, 105, 1), 2);
  assert.equal(nextOf(all, 105, -1), 0);
  assert.equal(nextOf(all, 205, 1), -1);
});

test("the sums of a part are cut at its ends, and busy time counts overlapping kernels once", () => {
  const lanes = [
    [
      { start: 0, ns: 100, module: 1, name: 3 },
      { start: 200, ns: 100, module: 2, name: 4 },
    ],
    [
      { start: 50, ns: 100, module: 1, name: 3 },
      // A copy is not busy time.
      { start: 160, ns: 30, kind: 1, module: 1 },
    ],
  ];

  const sums = areaSums(made(lanes), 50, 250);

  assert.equal(sums.busyNs, 150);
  assert.equal(sums.idleNs, 50);
  assert.equal(sums.kernels, 3);
  assert.deepEqual(sums.byModule, [
    { index: 1, ns: 150, count: 2 },
    { index: 2, ns: 50, count: 1 },
  ]);
  assert.deepEqual(sums.byKernel, [
    { index: 3, ns: 150, count: 2 },
    { index: 4, ns: 50, count: 1 },
  ]);
});

test("idle time of a part has its causes, without the time in which the profiler held a thread", () => {
  const pieces = [
    { start: 0, ns: 100, name: 1 },
    { start: 300, ns: 100, name: 1 },
  ];
  const idle = { start: [100, 50], ns: [50, 150], cause: [0, 1], left_out: 0 };
  const holds = { start: [200], ns: [40], thread: [1], cause: [0] };

  const sums = areaSums(made([pieces], { idle, holds }), 0, 400);

  assert.equal(sums.heldNs, 40);
  assert.equal(sums.idleNs, 160);
  assert.deepEqual(sums.idle, [
    { cause: "host code", ns: 110 },
    { cause: "host launching", ns: 50 },
  ]);
  // Without its parts the cause is not known.
  assert.deepEqual(areaSums(made([pieces]), 0, 400).idle, [{ cause: "cause unknown", ns: 200 }]);
});

const kSamples = { gpu: 0, merged: false, start: [0, 100, 100], ns: [100, 100, 100], count: [1, 1, 1] };

test("bytes of an interval are those of its samples, and lower bounds where work ran without one", () => {
  const columns = { dram_read: [10, 20, 30], dram_write: [1, 1, 1], l2: [5, 5, 5] };
  const pieces = [{ start: 0, ns: 600, name: 1 }];
  const timeline = made([pieces], { samples: [{ ...kSamples, columns }] });

  const { dramRead, l2, sampledShare } = bytesIn(timeline, 0, 0, 200);
  assert.deepEqual([dramRead, l2, sampledShare], [960, 320, 1]);
  const part = bytesIn(timeline, 0, 200, 600);
  assert.equal(part.dramRead, 960);
  assert.equal(part.sampledShare, 0.25);
  assert.equal(bytesIn(timeline, 0, 400, 500), undefined);

  const facts = Object.fromEntries(byteFacts(trace, timeline, 0, 0, 200));
  assert.equal(facts["DRAM rate"], "5.12 GB/s, 0.5 % of peak");
  const some = Object.fromEntries(byteFacts(trace, timeline, 0, 200, 600));
  assert.equal(some["DRAM read"], "960 B+");
  assert.equal(some["sampled"], "25.0 % of the busy time: lower bounds");
  assert.ok(!("DRAM rate" in some));
  assert.match(Object.fromEntries(byteFacts(trace, timeline, 0, 110, 130))["DRAM, L2"], /shorter than a sample/);
});

test("bytes that a GPU reports once in many samples are shown over the time before, at most 50 samples", () => {
  const ns = Array(100).fill(10);
  const start = deltas(ns.map((_, i) => 10 * i));
  const columns = { pcie_read: ns.map((_, i) => (i === 9 || i === 99 ? 100 : 0)) };
  const samples = [{ gpu: 0, merged: false, start, ns, count: Array(100).fill(1), columns }];

  const [rate] = made([], { samples }).samples[0].rates;

  assert.equal(rate.mean(0, 100), (100 * 32e9) / 100);
  assert.equal(rate.mean(100, 500), 0);
  assert.equal(rate.mean(500, 1000), (100 * 32e9) / 500);
  assert.equal(rate.highest(), 32e9);
});

test("a flame graph has the samples of the part, a call once below each caller", () => {
  const stacks = readStacks({
    functions: ["main", "load", "train"],
    sources: ["app.py:1", "data.py:2", "app.py:3"],
    // 1: main; 2: main, load; 3: main, train; 4: main, train, load
    caller: [0, 1, 1, 3],
    frame: [0, 1, 2, 1],
    threads: [{ thread: 5, interval_ns: 10, at: [0, 10, 10, 10, 100], stack: [2, 4, 2, 1, 2] }],
  });

  const root = flameOf(stacks, 5, 0, 100);

  assert.equal(root.ns, 40);
  const [main] = root.children;
  assert.deepEqual([main.title, main.source, main.ns, main.selfNs], ["main", "app.py:1", 40, 10]);
  assert.deepEqual(
    main.children.map(({ title, ns }) => [title, ns]),
    [
      ["load", 20],
      ["train", 10],
    ],
  );
  assert.equal(flameOf(stacks, 6, 0, 100).ns, 0);
});

test("times are relative to the visible iteration, else to a round time in a short view, else to the start", () => {
  const iterations = [0, 1].map((number) => ({ start: 1e9 + number * 2e6, end: 1e9 + (number + 1) * 2e6, number }));
  const all = { from: 0, to: 2e9 };

  const inside = originOf(iterations, { from: 1e9 + 2.1e6, to: 1e9 + 3.9e6 }, all);
  assert.deepEqual(inside, { at: 1e9 + 2e6, title: "iteration 1" });
  assert.equal(relativeText(1e9 + 3.13e6, inside), "+1.13 ms");
  assert.equal(relativeText(1e9 + 1.5e6, inside), "−500 us");
  assert.equal(originOf(iterations, { from: 1.2e9, to: 1.2e9 + 1500 }, all).at, 1.2e9);
  assert.equal(originOf(iterations, all, all).at, 0);
  assert.equal(relativeText(1.5e9, originOf(iterations, all, all)), "1.50 s");
});

test("ticks have the sign of their distance", () => {
  assert.equal(axisText(1_500_000, 100_000, true), "+1.5 ms");
  assert.equal(axisText(-1_500_000, 100_000, true), "−1.5 ms");
  assert.equal(axisText(0, 100_000, true), "0.0 ms");
});

test("a click on a heading hides its rows, another one shows them; a row can be pinned", () => {
  const group = (head, title) => ({ key: `${head}: ${title}`, head, title, tracks: [] });
  const groups = [group("GPU 0", "GPU 0"), group("GPU 0", "idle"), group("GPU 0", "DRAM"), group("process", "memory")];
  const nothing = { hidden: new Set(), pinned: new Set() };

  const folded = fold(nothing, groups, "GPU 0");
  assert.deepEqual([...folded.hidden], ["GPU 0: idle", "GPU 0: DRAM"]);
  assert.equal(fold(folded, groups, "GPU 0").hidden.size, 0);
  const pinned = pin(nothing, "GPU 0: DRAM");
  assert.deepEqual([...pinned.pinned], ["GPU 0: DRAM"]);
  assert.equal(pin(pinned, "GPU 0: DRAM").pinned.size, 0);
});
