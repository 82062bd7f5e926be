// SPDX-License-Identifier: Apache-2.0
//
// The page shows the numbers, marks, bounds and absences of `report` and `diff`: what its functions make of its data,
// without a browser, compared with --json (values) and with --md (texts, which have the marks).
//
//   node page_numbers_test.mjs RANGEFINDER GOLDEN REPOSITORY      exit code 77: skipped, with the reason
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { inflateSync } from "node:zlib";
import { loader } from "./parts.mjs";
import { torchMemory } from "./traces.mjs";

const kRecordings = [
  "case_gemm_metrics",
  "case_transpose_metrics",
  "rtdetr_sampled",
  "hf_rtdetr_sampled",
  "decoder_sampled",
  "case_overlap",
  "rtdetr_rotated",
  "copy_storm",
];
/** Their bytes take up to a second of computing for each question: kernels are those of the others. */
const kSlow = ["hf_rtdetr_sampled", "decoder_sampled"];
/** Also the report's first lines, and the texts of its findings. */
const kOpenings = ["case_gemm_metrics", "case_overlap", "rtdetr_sampled"];
const kPairs = [
  ["rtdetr_sampled", "rtdetr_exact"],
  ["case_starved_pinned", "case_starved_one"],
];

const kAmounts = ["count", "bytes", "gpu_ns", "bytes_per_s", "mean_bytes", "median_ns", "max_ns"];
const kTimes = ["host_ns", "gpu_ns", "wall_ns", "gpu_busy_ns", "sync_ns", "launches", "kernels", "copy_bytes"];
const kBytes = ["dram_read_bytes", "dram_write_bytes", "l2_bytes"];
const kModule = ["calls", "kernels", "gpu_ns", "gpu_ns_exclusive", "host_ns", ...kBytes, "bytes_error_pct"];
const kDeclared = ["declared_bytes", "dram_amplification", "l2_amplification"];
const kAllocated = ["peak_bytes", "live_bytes", "allocations", "frees", "allocated_bytes", "call_ns"];
const kTorch = ["live_at_peak_bytes", "growth_bytes_per_call", "kept_bytes", "peak_bytes", "allocated_bytes"];
const kDurations = ["mean_ns", "median_ns", "p95_ns", "min_ns", "max_ns"];
const kOccupancy = ["occupancy", "occupancy_limiter", "waves"];
/** View of the page; table of the report with the same rows, of that section; values, by the keys of columns. */
const kViews = [
  ["modules", "modules", [...kModule, "carry_over_bytes", "dram_bytes_per_s", "limiter"]],
  ["module details", "modules", [...kModule, "share", "dram_peak_share", "flop_per_dram_byte", ...kDeclared]],
  ["module details", "modules", ["carry_over_bytes", "copied_bytes", "dram_bytes_per_s", "limiter"]],
  ["kernels", "kernels", ["count", "total_ns", ...kDurations, ...kBytes, "library"]],
  ["kernel details", "kernels", ["count", "total_ns", "share", ...kDurations, ...kBytes, ...kOccupancy, "unit"]],
  ["iterations", "iterations", ["iteration", "start_ns", ...kTimes, "held_ns", "warm_up", "outlier"]],
  ["iteration statistics", "iterations_summary", ["statistic", ...kTimes]],
  ["copies", "memcpy", ["kind", "src", "dst", ...kAmounts, "pageable", "synchronous"]],
  ["memsets", "memset", ["memory", ...kAmounts]],
  ["memory", "memory", ["path", ...kAllocated, "host_peak_bytes", "allocations_per_iteration"]],
  ["PyTorch's allocator", "torch_memory", ["path", "calls", ...kTorch, "device"]],
];
const kSections = {
  ...{ iterations: "iterations", iterations_summary: "iterations", memcpy: "memcpy", memset: "memcpy" },
  ...{ memory: "memory", torch_memory: "memory" },
};
/** The report has them only in its texts. */
const kOnlyText = new Set(["share", "copied_bytes"]);

/** The recording that also has torch_memory.json here. */
const kTorchMemory = "copy_storm";

const [rangefinder, golden, repository] = process.argv.slice(2).map((path) => resolve(path));
if (repository === undefined) throw new Error(`${process.argv[1]} RANGEFINDER GOLDEN REPOSITORY`);
const load = await loader(repository);
const page = await load(
  "ui/columns.ts",
  "ui/stated_columns.ts",
  "ui/header.tsx",
  "data/trace.ts",
  "data/overview.ts",
  "data/timeline.ts",
  "views/modules.tsx",
  "views/module_details.tsx",
  "views/kernels.tsx",
  "views/kernel_details.tsx",
  "views/timeline_tracks.ts",
  "views/timeline_origin.ts",
  "data/area.ts",
  "views/diff.tsx",
);
const folder = mkdtempSync(join(tmpdir(), "rangefinder-numbers-"));
after(() => rmSync(folder, { recursive: true }));
cpSync(join(golden, kTorchMemory), join(folder, kTorchMemory), { recursive: true });
writeFileSync(join(folder, kTorchMemory, "torch_memory.json"), torchMemory());
const placeOf = (name) => join(name === kTorchMemory ? folder : golden, name);

const run = (...words) =>
  new Promise((done, fail) =>
    execFile(rangefinder, words, { maxBuffer: 1 << 28 }, (error, out) => (error ? fail(error) : done(out))),
  );
const report = (name, ...words) => run("report", "--color", "never", ...words, placeOf(name));
const jsonOf = async (...words) => JSON.parse(await report(...words, "--json")).traces[0];

/** The data inside a page. */
function unpacked(file, id) {
  const packed = new RegExp(`id="${id}">([^<]*)<`).exec(readFileSync(file, "utf8"))[1];
  return JSON.parse(inflateSync(Buffer.from(packed, "base64")));
}
async function pageOf(name, ...recordings) {
  const file = join(folder, `${name}.html`);
  await run("report", "--html", file, ...recordings.map(placeOf));
  return { tables: unpacked(file, "tables"), timeline: unpacked(file, "timeline") };
}

const unescaped = (text) => text.replaceAll("&emsp;", "").replace(/\\([|\\<`*_])/g, "$1");
/** Tables in Markdown as rows of {title: text}. */
function tablesOf(markdown) {
  const out = [];
  let titles;
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("| ")) {
      if (!line.startsWith("|-")) titles = undefined;
      continue;
    }
    const cells = line.slice(2, -2).split(" | ").map(unescaped);
    if (titles === undefined) out.push({ titles: (titles = cells), rows: [] });
    else out.at(-1).rows.push(Object.fromEntries(cells.map((cell, i) => [titles[i], cell])));
  }
  return out;
}

/** Of a section without bytes: as people read it, and with plain numbers. --json would share samples first. */
async function sectionOf(name, section) {
  const words = ["--section", section, "--md"];
  const [shown, plain] = await Promise.all([report(name, ...words), report(name, ...words, "--raw")]);
  return { texts: tablesOf(shown), plain: tablesOf(plain), text: shown };
}

const traces = {};
async function read(name) {
  const slow = kSlow.includes(name);
  const [shown, overview, modules, opening, kernels, kernelTexts, evidence, iterations, memcpy, memory, idle] =
    await Promise.all([
      pageOf(name, name),
      jsonOf(name),
      report(name, "--section", "modules", "--md", "--flat"),
      kOpenings.includes(name) ? report(name, "--wide") : undefined,
      slow ? undefined : jsonOf(name, "--section", "kernels"),
      slow ? undefined : report(name, "--section", "kernels", "--md"),
      kOpenings.includes(name) ? report(name, "--section", "findings", "--csv") : undefined,
      sectionOf(name, "iterations"),
      sectionOf(name, "memcpy"),
      sectionOf(name, "memory"),
      sectionOf(name, "idle"),
    ]);
  const [tables] = shown.tables.traces;
  const named = { metrics: shown.tables.named_metrics, topics: shown.tables.metric_topics };
  traces[name] = {
    tables,
    trace: new page.Trace(tables, 0, named, shown.tables.columns),
    timeline: page.timelineOf(shown.timeline.traces[0]),
    overview,
    opening,
    evidence,
    sections: { iterations, memcpy, memory, idle },
    modules: { values: overview.modules, texts: tablesOf(modules)[0]?.rows, text: modules },
    kernels: slow ? undefined : { values: kernels.kernels, texts: tablesOf(kernelTexts)[0]?.rows, text: kernelTexts },
  };
}
before(async () => {
  // Two at a time keep two cores busy; more need more memory.
  for (let i = 0; i < kRecordings.length; i += 2) await Promise.all(kRecordings.slice(i, i + 2).map(read));
});

const capital = (text) => (/^.\d/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1));
/** Rows with capital titles, as the page has them. */
const titled = (rows) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, text]) => [capital(key), text])));

/** Rows of a view of the page: texts by title, values by key; and its columns. */
function tableOf({ columns, rows }) {
  const texts = rows.map((row) => Object.fromEntries(columns.map((one) => [one.title, page.cellText(one, row)])));
  const values = rows.map((row) => Object.fromEntries(columns.map((one) => [one.key, one.value(row)])));
  return { columns, texts, values };
}
const detailsOf = (columns, facts) => ({
  columns,
  texts: facts.map((all) => Object.fromEntries(all.map(([title, text]) => [title, text]))),
});
function viewOf(view, { trace, tables }) {
  const { modules, columns } = trace;
  const stated = (table) => tableOf({ columns: page.tableColumns(table), rows: table.rows });
  switch (view) {
    case "modules":
      return tableOf({ columns: page.moduleColumns(trace, true, "time"), rows: modules });
    case "module details":
      return detailsOf(
        columns.module_details,
        modules.map((row) => page.moduleFacts(trace, row)),
      );
    case "kernels":
      return tableOf({ columns: page.kernelColumns(trace, false, "time"), rows: page.kernelRows(trace, false) });
    case "kernel details":
      return detailsOf(
        columns.kernel_details,
        tables.kernels.map((row) => page.kernelFacts(trace, row)),
      );
    case "iterations":
      return stated(tables.iterations.iterations);
    case "iteration statistics":
      return stated(tables.iterations.iterations_summary);
    case "copies":
      return stated(tables.copies.memcpy);
    case "memory":
      return stated(tables.memory.memory);
    case "PyTorch's allocator":
      return stated(tables.memory.torch_memory ?? { columns: [], rows: [] });
    default:
      return stated(tables.copies.memset);
  }
}

/** Rows of a table of the report: texts by title, and values by key or plain numbers by title. */
function reportOf({ modules, kernels, sections }, name, columns) {
  if (name === "kernels") return kernels && { texts: titled(kernels.texts ?? []), values: kernels.values };
  if (name === "modules") {
    // The rows of --flat have another order. Marks follow a path.
    const texts = new Map(titled(modules.texts ?? []).map((row) => [row.Module.replace(/ [~?*]+$/, ""), row]));
    return { values: modules.values, texts: modules.values.map(({ path }) => texts.get(path)) };
  }
  const { texts, plain } = sections[kSections[name]];
  const at = texts.findIndex(({ titles }) => capital(titles[0]) === columns[0]?.title);
  return at < 0 ? { texts: [] } : { texts: titled(texts[at].rows), plain: titled(plain[at].rows) };
}

/** `plain` has six digits. */
function checkPlain(value, plain, where) {
  if (typeof value === "number" && plain !== "") assert.ok(Math.abs(value - plain) <= 1e-5 * Math.abs(value), where);
  else if (value === undefined) assert.equal("", plain, where);
}

for (const [view, table, values] of kViews) {
  test(`${view}: ${values.join(", ")} are those of the report's ${table}`, () => {
    const seen = new Set();
    for (const [name, recorded] of Object.entries(traces)) {
      const shown = viewOf(view, recorded);
      const wanted = reportOf(recorded, table, shown.columns);
      if (wanted === undefined) continue;
      assert.equal(shown.texts.length, wanted.texts.length, `${name}: rows`);
      for (const [i, texts] of shown.texts.entries()) {
        for (const key of values) {
          const where = `${name}, row ${i}, ${key}`;
          const title = shown.columns.find((column) => column.key === key)?.title;
          const text = wanted.texts[i][title] ?? "";
          assert.equal(texts[title] ?? "", text, where);
          if (text !== "") seen.add(key);
          if (shown.values === undefined || kOnlyText.has(key)) continue;
          if (wanted.plain !== undefined) checkPlain(shown.values[i][key], wanted.plain[i][title] ?? "", where);
          else assert.equal(shown.values[i][key], wanted.values[i][key], where);
        }
      }
    }
    assert.deepEqual(
      values.filter((key) => !seen.has(key)),
      [],
      "no recording has them",
    );
  });
}

test("the lines that explain marks are those below the report's tables", () => {
  for (const [name, { tables, modules, kernels, sections }] of Object.entries(traces)) {
    const remarks = [
      [tables.module_remarks, modules],
      [tables.kernel_remarks, kernels],
      [tables.copies.memcpy.remarks, sections.memcpy],
      [tables.memory.memory.remarks, sections.memory],
      [tables.memory.torch_memory?.remarks ?? "", sections.memory],
      [tables.iterations.iterations_summary.remarks, sections.iterations],
    ];
    for (const [lines, section] of remarks) if (section !== undefined) assert.ok(section.text.includes(lines), name);
    const marks = tables.modules.flatMap((row) => Object.values(row.texts ?? {})).join("");
    for (const mark of ["+", "†"])
      if (marks.includes(mark)) assert.ok(tables.module_remarks.includes(`${mark}: `), name);
  }
  assert.match(traces.case_gemm_metrics.tables.kernel_remarks, /^Metric sets alternate: bytes of all launches/);
});

test("the summary is the text with which the report begins", () => {
  for (const [name, { tables, opening }] of Object.entries(traces))
    if (opening !== undefined) assert.equal(opening.slice(0, tables.summary.length), tables.summary, name);
  assert.match(traces.case_gemm_metrics.tables.summary, /GPU busy +– +exact counters serialise launches/);
});

test("findings are those of the report, with the texts of their evidence, and so are rules that lacked data", () => {
  for (const [name, { tables, overview, evidence }] of Object.entries(traces)) {
    const plain = tables.findings.map(({ facts, saving, links, ...finding }) => finding);
    const typed = JSON.stringify(overview.findings).replaceAll("report DIR", `report ${tables.folder}`);
    assert.deepEqual(plain, JSON.parse(typed), name);
    for (const { saving, title } of tables.findings)
      if (title.includes(": up to ")) assert.ok(title.includes(`: up to ${saving}`), `${title}: ${saving}`);
    for (const { id } of overview.cannot_tell) assert.ok(tables.not_checked.includes(id), `${name}: ${id}`);
    for (const { facts } of evidence === undefined ? [] : tables.findings) {
      const text = facts.map((fact) => fact.join(" ")).join("; ");
      assert.ok(evidence.includes(text.replaceAll('"', '""')), `${name}: ${text}`);
    }
  }
});

test("the overview's lines are in the text with which the report begins", () => {
  for (const [name, { tables, opening }] of Object.entries(traces)) {
    const { overview } = tables;
    for (const { label, value, about } of overview.lines) {
      const found = tables.summary.split("\n").find((line) => line.startsWith(`  ${label} `));
      assert.ok(found?.endsWith(about === "" ? value : `${value}   ${about}`), `${name}: ${found}`);
    }
    const lines = tables.summary.split("\n").filter((line) => /^ {2}[a-zA-Z ]{4,14} +[–\d].* {3}/.test(line));
    assert.equal(overview.lines.length, lines.length, name);
    for (const text of [...overview.title, ...overview.warnings]) assert.ok(tables.summary.includes(text), text);
    if (opening !== undefined) assert.ok(opening.includes(overview.next.command), name);
  }
});

test("sums over a replay of the picture are the iteration's of the report, and a bar's parts are its GPU time", () => {
  let replays = 0;
  for (const [name, { tables, sections }] of Object.entries(traces)) {
    const { strip, picture } = tables.overview;
    const rows = sections.iterations.plain[0]?.rows ?? [];
    for (const bar of strip?.bars ?? []) {
      assert.equal(
        bar.parts.reduce((sum, ns) => sum + ns, 0),
        bar.gpu_ns,
      );
      checkPlain(bar.gpu_ns, rows[bar.iteration]["GPU time"], `${name} ${bar.iteration}`);
    }
    for (const replay of picture?.replays.filter(({ spans }) => spans !== undefined) ?? []) {
      const sums = page.sumsOf(replay, 0, replay.to - replay.from);
      const row = rows[replay.iteration];
      const where = `${name} ${replay.iteration}`;
      checkPlain(sums.busy, row["GPU busy"], where);
      checkPlain(sums.busy + sums.idle + sums.held, row["wall time"], where);
      ++replays;
    }
  }
  assert.ok(replays > 20, `${replays} replays`);
});

test("the header says of how many launches exact bytes are, and the error of sampled ones", () => {
  for (const [name, { trace, modules }] of Object.entries(traces)) {
    const [heaviest] = modules.values.filter((row) => row.bytes_source).sort((a, b) => b.gpu_ns - a.gpu_ns);
    const text = page.bytesText(trace);
    if (heaviest === undefined) assert.match(text, /no bytes measured|refused/, name);
    else if (heaviest.bytes_source === "sampled") assert.match(text, /^sampled bytes/, name);
    else if (heaviest.dram_read_error_pct !== undefined) {
      const { measured_launches: measured, launches } = heaviest;
      assert.equal(text, `exact bytes of ${measured} of ${launches} launches, estimated for all`, name);
    } else assert.equal(text, "exact bytes", name);
  }
});

test("idle times of the timeline are the gaps of report --section idle", () => {
  let all = 0;
  for (const [name, { trace, timeline, sections }] of Object.entries(traces)) {
    // Each of these recordings fits into the page as a whole.
    assert.ok(timeline.whole, name);
    const idle = page.tracksOf(trace, timeline, 16).filter(({ type }) => type === "idle");
    const gaps = idle.flatMap(({ spans }) => Array.from(spans.start, (start, i) => spans.end[i] - start));
    all += gaps.length;
    const sizes = sections.idle.plain.find(({ titles }) => titles[0] === "gap length")?.rows ?? [];
    const limits = [0, 2e3, 2e4, 2e5, 2e6, Infinity];
    for (const [i, row] of sizes.entries()) {
      // The timeline shows no gaps below 1 us.
      if (i === 0) continue;
      const found = gaps.filter((ns) => ns >= limits[i] && ns < limits[i + 1]);
      assert.equal(found.length, Number(row.gaps), `${name}: ${row["gap length"]}`);
      assert.equal(
        found.reduce((sum, ns) => sum + ns, 0),
        Number(row["GPU idle"]),
        `${name}: ${row["gap length"]}`,
      );
    }
  }
  assert.ok(all > 1000, `${all} gaps`);
});

test("sums of the timeline over the whole trace are the kernels of the report, over an iteration its busy time", () => {
  let all = 0;
  for (const [name, { trace, timeline }] of Object.entries(traces)) {
    const { byKernel } = page.areaSums(timeline, timeline.first, timeline.last);
    const rows = trace.tables.kernels;
    for (const { index, ns, count } of byKernel) {
      if (rows[index].total_ns === undefined) continue;
      assert.deepEqual([ns, count], [rows[index].total_ns, rows[index].count], `${name}: ${rows[index].name}`);
      ++all;
    }
    const iterations = page.iterationsOf(trace);
    trace.tables.iterations.iterations.rows.forEach((row, i) => {
      if (row.gpu_busy_ns === undefined || row.held_ns > 0) return;
      const { start, end } = iterations[i];
      assert.equal(page.areaSums(timeline, start, end).busyNs, row.gpu_busy_ns, `${name}: iteration ${i}`);
      ++all;
    });
  }
  assert.ok(all > 200, `${all} values`);
});

for (const pair of kPairs) {
  test(`the page of ${pair.join(" and ")} has the lines and rows of diff`, async () => {
    const words = ["diff", "--all", ...pair.map((name) => join(golden, name))];
    const [shown, text, json] = await Promise.all([
      pageOf(pair.join("-"), ...pair),
      run(...words, "--wide", "--color", "never"),
      run(...words, "--json").then(JSON.parse),
    ]);
    const { diff } = shown.tables;
    const spaced = (all) => all.replace(/\s+/g, " ");
    const [head, sides] = text.split("\n\n");
    const lines = page.diffLines(diff);

    assert.equal(diff.verdict.text, json.verdict.text);
    assert.equal(diff.ratios?.text, json.ratios?.text);
    assert.deepEqual(
      lines.filter((line) => head.includes(line)),
      head.split("\n").slice(1),
    );
    for (const line of lines) assert.ok(spaced(head + sides).includes(line), line);
    assert.ok(text.includes(diff.sides) && text.endsWith(diff.explanation));
    const printed = text.split("\n").map(spaced);
    const keyOf = (row) => [row.path ?? row.name, row.quantity ?? row.metric].join();
    for (const table of ["iteration", "modules", "kernels", "calls"]) {
      const { columns, texts, values } = tableOf({ columns: page.diffColumns(diff, table), rows: diff[table] ?? [] });
      assert.equal(values.length, (json[table] ?? []).length, table);
      for (const [i, row] of values.entries()) {
        const same = json[table]?.find((one) => keyOf(one) === keyOf(row));
        for (const key of Object.keys(row)) assert.equal(row[key], same[key], `${table} ${i} ${key}`);
        // p is no column of the page.
        const cells = columns.filter(({ key }) => !["path", "name", "where", "n_a", "n_b"].includes(key));
        const [verdict, ...others] = cells
          .map(({ title }) => texts[i][title])
          .filter((cell) => cell !== "")
          .reverse();
        const begin = others.reverse().join(" ");
        assert.ok(
          printed.some((line) => line.includes(begin) && line.includes(verdict)),
          `${table} ${i}: ${begin}`,
        );
      }
    }
  });
}
