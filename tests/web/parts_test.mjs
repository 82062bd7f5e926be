// SPDX-License-Identifier: Apache-2.0
//
// Tests of the page's pure functions, without a browser: numbers as text, intervals, rates, the fit, zooming.
//
//   node parts_test.mjs REPOSITORY      exit code 77: skipped, with the reason
//
// vite compiles the TypeScript files to modules, as for the page.
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { loader } from "./parts.mjs";

const load = await loader(resolve(process.argv[2] ?? ""));

const { durationText, bytesText, percentText, axisText, plainNumber } = await load("data/numbers.ts");
const { statedColumn } = await load("ui/stated_columns.ts");
const { cellText } = await load("ui/columns.ts");
const { Spans } = await load("data/spans.ts");
const { RateSeries, StepSeries } = await load("data/series.ts");
const limits = await load("data/limits.ts");
const { clamped, zoomed } = await load("views/timeline_zoom.ts");
const named = await load("data/named.ts");
const { csvField } = await load("ui/csv.ts");
const { stateOf, hashOf } = await load("state.ts");
const live = await load("live/history.ts");
const { layerAt, layerOfModule, sumsOf, workOf } = await load("data/overview.ts");
const { ticksOf } = await load("views/picture_strips.tsx");
const { layerColors, mixed } = await load("theme.ts");

test("numbers read as on the command line", () => {
  assert.equal(durationText(999), "999 ns");
  assert.equal(durationText(48_120_000), "48.1 ms");
  assert.equal(durationText(999_499), "999 us");
  assert.equal(durationText(999_500), "1.00 ms");
  assert.equal(bytesText(8_589_934_592), "8.59 GB");
  // Exactly half: to the even digit.
  assert.equal(durationText(77_250), "77.2 us");
  assert.equal(durationText(77_350), "77.3 us");
  assert.equal(durationText(77_750), "77.8 us");
  assert.equal(percentText(0.015625), "1.6 %");
  assert.equal(percentText(0.0025), "0.2 %");
});

test("a number without a unit has two significant digits at least", () => {
  assert.equal(plainNumber(0.76), "0.76");
  assert.equal(plainNumber(0.0125), "0.013");
  assert.equal(plainNumber(3.0833), "3.08");
  assert.equal(plainNumber(4812), "4,812");
  assert.equal(plainNumber(0), "0");
});

test("a stated column shows the text that the data have, else its value with its unit", () => {
  const bytes = { key: "dram_write_bytes", title: "DRAM write", unit: "bytes", bar: true };
  const column = statedColumn(bytes, (row, key) => row[key], { texts: (row) => row.texts, whole: 4000 });

  assert.equal(cellText(column, { dram_write_bytes: 1000 }), "1.00 kB");
  assert.equal(cellText(column, { dram_write_bytes: 1000, texts: { dram_write_bytes: "1.00 kB+†" } }), "1.00 kB+†");
  assert.equal(cellText(column, {}), "");
  assert.equal(column.bar({ dram_write_bytes: 1000 }), 0.25);
  const share = statedColumn({ key: "x", title: "X", unit: "percent", bar: true }, (row, key) => row[key]);
  assert.equal(cellText(share, { x: 61.23 }), "61.2 %");
  assert.equal(share.bar({ x: 50 }), 0.5);
  const pid = statedColumn({ key: "pid", title: "Process", unit: "text" }, (row, key) => row[key]);
  assert.equal(cellText(pid, { pid: 4711 }), "4711");
});

test("a tick of the axis has the digits that the step needs", () => {
  assert.equal(axisText(1_000_200_000, 200_000), "1,000.2 ms");
  assert.equal(axisText(500_000_000, 100_000_000), "0.5 s");
  assert.equal(axisText(1_001, 1), "1.001 us");
});

test("busy time counts overlapping pieces once, and cuts pieces at the ends of the interval", () => {
  const spans = Spans.of([
    [0, 100],
    [50, 80],
    [90, 150],
    [200, 300],
  ]);

  assert.equal(spans.busy(0, 200), 0.75);
  assert.equal(spans.busy(140, 160), 0.5);
  assert.equal(spans.busy(160, 190), 0);
  assert.equal(spans.busy(250, 350), 0.5);
});

test("a long piece that starts in the pixel of a short one is drawn", () => {
  const spans = Spans.of([
    [0, 1],
    [2, 3],
    [4, 300],
    [310, 320],
  ]);

  assert.equal(spans.nextDrawn(0, 10), 2);
  assert.equal(spans.nextDrawn(0, 1), 1);
  assert.equal(spans.nextDrawn(2, 305), 3);
  assert.equal(spans.nextDrawn(3, 330), 4);
});

test("a long piece is found although shorter pieces start later", () => {
  const spans = Spans.of([
    [0, 1000],
    [10, 20],
    [30, 40],
  ]);

  assert.equal(spans.firstAfter(500), 0);
  assert.equal(spans.at(35), 2);
  assert.equal(spans.at(500), 0);
  assert.equal(spans.at(2000), -1);
});

test("the mean rate of an interval is the sum of its samples, cut at its ends, over its length", () => {
  const rate = new RateSeries("x", Float64Array.of(0, 10, 100), Float64Array.of(10, 20, 110), [10, 30, 50], 1);

  assert.equal(rate.mean(0, 20), 2);
  assert.equal(rate.mean(5, 15), 2);
  assert.equal(rate.mean(20, 100), 0);
  assert.equal(rate.mean(105, 110), 5);
  assert.equal(rate.covers(20, 100), false);
  assert.equal(rate.covers(15, 30), true);
});

test("memory in use keeps its value until it changes, and a peak between two pixels is found", () => {
  const memory = new StepSeries("device", Float64Array.of(10, 20, 21), Float64Array.of(100, 900, 200));

  assert.equal(memory.max(0, 5), 0);
  assert.equal(memory.max(12, 15), 100);
  assert.equal(memory.max(15, 30), 900);
  assert.equal(memory.max(40, 50), 200);
});

const limitsTrace = (tables, modules = []) => ({
  modules,
  children: modules.map((_, i) => modules.flatMap(({ parent }, child) => (parent === i ? [child] : []))),
  deepest: Math.max(0, ...modules.map(({ depth }) => depth)),
  peakDram: 2e12,
  peakL2: 8e12,
  peakFlops: { fp16_tensor: 1e15 },
  tables: { byte_fit: [], kernels: [], ...tables },
});

test("the line of time over bytes is drawn from the report's numbers, its text is as there, and points have bounds", () => {
  const fit = {
    ...{ depth: 1, modules: 24, dram_r: 0.9712, dram_us_per_mb: 1.2345, dram_intercept_ns: 5000, dram_outliers: 1 },
    points: {
      ...{ module: [0, 1, 2], ns: [5e3, 5e5, 7], dram_bytes: [1e6, 4e6, null], l2_bytes: [8, 9, 0] },
      ...{ dram_error: [2e5, 0, 9], l2_error: [0, 0, 0], dram_far: [false, true, false], l2_far: [] },
    },
  };
  const trace = limitsTrace(
    { byte_fit: [fit] },
    [..."abc"].map((path) => ({ path, depth: 1, parent: -1 })),
  );
  const { points, lines, x, note } = limits.pictureOf(trace, "dram", 1, -1);

  assert.equal(limits.fitText(fit, "dram"), "fit: r 0.97, 1.23 us per MB, 1 outlier");
  assert.equal(limits.fitText({ ...fit, dram_r: -0.5, dram_outliers: 0 }, "dram").slice(0, 11), "fit: r -0.5");
  assert.equal(limits.fitText(fit, "l2"), undefined);
  assert.deepEqual(
    points.map(({ module, low, high, far }) => [module, low, high, far]),
    [
      [0, 8e5, 1.2e6, false],
      [1, undefined, undefined, true],
    ],
  );
  const line = lines.find(({ label }) => label.startsWith("fit"));
  assert.deepEqual(
    [line.from, line.to],
    [
      [0, 5000],
      [x.range[1], 5000 + 1.2345e-3 * x.range[1]],
    ],
  );
  assert.match(note, /^2 modules of depth 1, without warm-up$/);
  assert.deepEqual(limits.plotsOf(trace), ["dram", "l2"]);
});

const metric = (name, topic, more = {}) => ({ name, title: name, unit: "%", topic, ...more });

test("stalls are sorted, and an issuing warp is not stalled", () => {
  const metrics = ["stall_wait", "stall_selected", "stall_gmma"].map((name) => metric(name, "stalls"));
  const row = { named: { stall_wait: 3, stall_selected: 60, stall_gmma: 30 } };
  const stalls = named.stallsOf({ metrics, topics: ["stalls"] }, row);

  assert.deepEqual(
    stalls.map((one) => one.metric.name),
    ["stall_gmma", "stall_wait"],
  );
});

test("a topic without a value is not measured, a value of 0 is", () => {
  const metrics = [metric("tensor_pipe", "pipes"), metric("l1_hit_rate", "memory")];
  const table = { metrics, topics: ["memory", "pipes", "roofline"] };

  assert.deepEqual(named.notMeasured(table, { named: { tensor_pipe: 0 } }), ["memory", "roofline"]);
  assert.deepEqual(named.notMeasured(table, {}), table.topics);
  assert.equal(named.optionFor(["memory", "roofline"]), "--counters exact --metrics memory,roofline");
});

test("a metric has its unit, and its tip its meaning and busiest part", () => {
  const text = (unit, value, title = "x") => named.namedText({ metric: metric("x", "t", { unit, title }), value });

  assert.equal(text("%", 61.23), "61.2 %");
  assert.equal(text("bytes", 499_200), "499 kB");
  assert.equal(text("FLOP/s", 6.05e14), "605 TFLOP/s");
  assert.equal(text("instructions/cycle", 1.25, "IPC"), "1.25 instructions/cycle");
  assert.equal(text("sectors", 16, "sectors per load"), "16.0");
  const busy = metric("l1", "t", { tip: "L1 throughput: How busy." });
  assert.equal(named.namedTip({ metric: busy, part: "L1 reads" }), "L1 throughput: How busy. Busiest part: L1 reads.");
  assert.equal(named.namedTip({ metric: busy }), "L1 throughput: How busy.");
});

test("the line from a selected module ends on the roof that the data name, which is drawn", () => {
  const roofline = [
    { module: 1, flop_per_s: 1e12, dram: 2, l2: 0.5, roof: 4e12, is: "DRAM" },
    { module: 2, flop_per_s: 1e14, dram: 800, error: 0.25, roof: 5e14, is: "compute" },
    { kernel: 0, flop_per_s: 1e12, dram: 1 },
  ];
  const modules = [-1, 0, 0].map((parent, i) => ({ path: "a/b/3".slice(0, 1 + 2 * i), parent, depth: parent + 2 }));
  const kernels = [{ name: "void k()", short: "k" }];
  const trace = limitsTrace({ roofline, kernels }, modules);
  const endOf = (selected) => {
    const { lines } = limits.pictureOf(trace, "roofline", 0, selected);
    const dash = lines.find(({ dash }) => dash);
    const on = lines.filter(({ from: [x0, y0], to: [x1, y1], ...line }) => {
      const [x, y] = dash.to;
      return (
        !line.dash &&
        x0 <= x &&
        x <= x1 &&
        Math.abs((y0 * (y1 / y0) ** (Math.log(x / x0) / Math.log(x1 / x0))) / y - 1) < 1e-6
      );
    });
    return [dash.label, on.map(({ label }) => label)];
  };

  assert.deepEqual(endOf(1), ["roof: DRAM", ["DRAM peak 2,000 GB/s"]]);
  assert.deepEqual(endOf(2), ["roof: compute", ["its types 500 TFLOP/s"]]);
  const { points } = limits.pictureOf(trace, "roofline", 0, -1);
  assert.deepEqual(
    points.map(({ module, x, ring, low }) => [module, x, ring === true, low]),
    [
      [1, 0.5, true, undefined],
      [1, 2, false, undefined],
      [2, 800, false, 640],
    ],
  );
  assert.equal(points[2].name, "b/3");
  assert.deepEqual(limits.plotsOf(trace), ["roofline", "kernels"]);
  assert.equal(limits.pictureOf(trace, "kernels", 0, 0).points[0].name, "k");
});

test("peaks of one height share a line", () => {
  assert.deepEqual(limits.peakLines({ fp32: 67e12, fp64_tensor: 66e12, fp16_tensor: 989e12, bf16_tensor: 989e12 }), [
    { title: "FP16 tensor, BF16 tensor", flops: 989e12 },
    { title: "FP32, FP64 tensor", flops: 67e12 },
  ]);
  assert.deepEqual(limits.peakLines({}), []);
});

test("zooming keeps the time at the pointer and never leaves the trace", () => {
  const all = { from: 0, to: 1000 };

  assert.deepEqual(zoomed({ from: 0, to: 1000 }, 250, 0.5), { from: 125, to: 625 });
  assert.deepEqual(clamped({ from: -500, to: 0 }, all), { from: -20, to: 480 });
  assert.ok(clamped({ from: 10, to: 10.5 }, all).to - clamped({ from: 10, to: 10.5 }, all).from >= 100);
});

test("a field of CSV with a comma, a quote or a new line is quoted", () => {
  assert.equal(csvField('a,"b"\n'), '"a,""b""\n"');
  assert.equal(csvField(5), "5");
  assert.equal(csvField(undefined), "");
});

test("the state of the page survives its link, and a broken link gives the first view", () => {
  const state = {
    ...stateOf(""),
    view: "timeline",
    module: "a/b&c=d#%",
    from: -12,
    to: 34,
    within: true,
    start: 5,
    end: 9,
    sort: "-gpu_ns",
    find: "a b",
    theme: "dark",
  };

  assert.deepEqual(stateOf(hashOf(state)), state);
  assert.equal(stateOf("#view=nonsense&from=x").view, "overview");
  assert.equal(stateOf("#view=nonsense&from=x").from, undefined);
});

/** Two kernels that overlap, a copy, three samples, a hold. */
const kReplay = {
  ...{ iteration: 3, from: 1000, to: 2000 },
  spans: [
    [0, 500, 0, 0, -1, 1],
    [0, 300, 1, 0, 0, 2],
    [300, 200, 1, 0, 1, 3],
  ],
  pieces: { start: [0, 200, 100], ns: [300, 300, 100], kernel: [5, 6, -1], layer: [0, 1, 1], other: [2] },
  points: {
    start: [0, 100, 400],
    ns: [100, 100, 100],
    read: [10, 20, 30],
    write: [1, 2, 3],
    l2: [4, 5, 6],
    unit_bytes: 32,
  },
  held: [[450, 600]],
};

test("a replay's columns are its work, and sums of a part cut samples, and count overlapping kernels once", () => {
  const { pieces, points } = workOf(kReplay);
  assert.deepEqual(pieces, [
    [0, 300, 5, 0, true],
    [200, 300, 6, 1, true],
    [300, 100, -1, 1, false],
  ]);
  assert.deepEqual(
    points.map(([start]) => start),
    [0, 100, 500],
  );

  const all = sumsOf(kReplay, 0, 1000);
  assert.deepEqual([all.busy, all.held, all.idle], [500, 150, 400]);
  assert.deepEqual([all.read, all.write, all.l2], [60 * 32, 6 * 32, 15 * 32]);
  assert.deepEqual(
    [...all.layers],
    [
      [0, 300],
      [1, 300],
    ],
  );
  const part = sumsOf(kReplay, 50, 250);
  assert.deepEqual([part.ns, part.busy, part.idle], [200, 200, 0]);
  assert.equal(part.read, (10 / 2 + 20) * 32);
});

test("a layer is found by the time in it, and by a module in or below it", () => {
  assert.equal(layerAt(kReplay, 299), 0);
  assert.equal(layerAt(kReplay, 300), 1);
  assert.equal(layerAt(kReplay, 700), -1);
  const layers = [{ path: "a/layer 1" }, { path: "a/layer 11" }];
  assert.equal(layerOfModule(layers, "a/layer 11"), 1);
  assert.equal(layerOfModule(layers, "a/layer 1/x"), 0);
  assert.equal(layerOfModule(layers, "a"), -1);
});

test("ticks are 1, 2 or 5 times a power of ten apart", () => {
  assert.deepEqual(ticksOf(2_312_000, 1000).step, 500_000);
  assert.deepEqual(ticksOf(2_312_000, 1200).at.length, 12);
  assert.deepEqual(ticksOf(2_312_000, 1200).step, 200_000);
});

test("layers of one family have its hue in different lightness, families differ, and traces agree", () => {
  const theme = { names: Array.from({ length: 10 }, (_, i) => `#${i}${i}${i}${i}${i}${i}`), unknown: "#d5dae1" };
  assert.equal(mixed("#000000", "#ffffff", 0.5), "#808080");
  const layer = (path, family, gpu_ns, member = 0, members = 1) => ({ path, family, gpu_ns, member, members });
  const shades = layerColors(
    theme,
    [0, 1, 2, 3].map((member) => layer(`layer ${member}`, 0, 1, member, 4)),
  );
  assert.equal(new Set(shades).size, 4);
  const names = ["forward", "loss", "backward", "optimizer", "embeddings", "head", "a", "b", "c", "d"];
  const colors = layerColors(
    theme,
    names.map((name, i) => layer(name, i, 100 - i)),
  );
  assert.equal(new Set(colors).size, names.length);
  const [backward, forward] = layerColors(theme, [layer("backward", 0, 98), layer("forward", 1, 100)]);
  assert.deepEqual([forward, backward], [colors[0], colors[2]]);
});

const kDelta = { event: "delta", state: "recording", seconds: 1, lost: 0, left_out: 0 };
const delta = (rows, more = {}) => ({ ...kDelta, rows, ...more });
const liveRow = (path, gpu) => ({ path, gpu_ms_per_s: gpu, share: 0, launches_per_s: 1 });

test("a path is split into names, and an escaped slash does not split a name", () => {
  assert.deepEqual(live.namesOf("model/a\\/b\\\\/c"), ["model", "a/b\\", "c"]);
  assert.equal(live.parentOf("model/a\\/b"), "model");
  assert.equal(live.parentOf("model"), "");
});

test("a module without activity in an interval stays, with 0, and an interval without a window is a gap", () => {
  let history = live.withEvent(live.kNoHistory, delta([liveRow("a", 5), liveRow("b", 1)], { lost: 3 }), 1);
  history = live.withEvent(history, delta([liveRow("b", 2)], { lost: 4 }), 2);
  history = live.withEvent(history, { ...delta([]), event: "state", state: "idle" }, 3);
  history = live.withEvent(history, delta([liveRow("a", 7)]), 4);

  assert.deepEqual(live.linesOf(history, ["a", "b"], "gpu_ms_per_s"), [
    [1, 2, 3, 4],
    [5, 0, null, 7],
    [1, 2, null, 0],
  ]);
  assert.equal(history.modules.get("b").gpu_ms_per_s, 0);
  assert.equal(history.lost, 7);
});

test("a rate that was not measured is a gap, not 0, and cannot be chosen", () => {
  let history = live.withEvent(live.kNoHistory, delta([liveRow("a", 5)]), 1);
  assert.equal(live.isMeasured(history, "dram_gb_per_s"), false);
  history = live.withEvent(history, delta([{ ...liveRow("a", 5), dram_gb_per_s: 8 }]), 2);

  assert.equal(live.isMeasured(history, "dram_gb_per_s"), true);
  assert.deepEqual(live.linesOf(history, ["a"], "dram_gb_per_s")[1], [null, 8]);
});

test("lines are those of the heaviest siblings, and history is bounded", () => {
  let history = live.kNoHistory;
  for (let i = 0; i < live.kMaxPoints + 50; ++i)
    history = live.withEvent(history, delta(["x", "x/a", "x/b", "x/c", ""].map((path, n) => liveRow(path, n))), i);

  assert.equal(history.points.length, live.kMaxPoints);
  assert.deepEqual(live.childrenOf(history, undefined), ["x", ""]);
  assert.deepEqual(live.childrenOf(history, "x"), ["x/a", "x/b", "x/c"]);
  assert.deepEqual(live.childrenOf(history, ""), []);
  assert.deepEqual(live.heaviest(history, live.childrenOf(history, "x"), "gpu_ms_per_s", 2), ["x/c", "x/b"]);
});
