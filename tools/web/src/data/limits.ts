// SPDX-License-Identifier: Apache-2.0
//
// The pictures of the view Limits: points of modules or kernels, and lines. Rates, roofs, bounds and fitted lines are
// those of the data (tools/page/limit_points.cpp). Pure functions.
//
//   FLOP/s │        ______ peak of a type      time │        / DRAM's peak
//          │    L2/ /DRAM                           │   x  / . fit
//          │    /o /x      attained                 │    / .x
//          └──────────── FLOP per byte              └──────────── bytes a call
import { bytesText, durationText, flopText, percentText, plainNumber, rateText, unitText } from "./numbers";
import type { ByteFit, RooflinePoint, Values } from "./rows";
import { shortName, type Trace } from "./trace";

export const kPlots = ["roofline", "kernels", "dram", "l2"] as const;
export type PlotOf = (typeof kPlots)[number];
export const plotTitle: Record<PlotOf, string> = {
  roofline: "roofline",
  kernels: "roofline of kernels",
  dram: "time over DRAM bytes",
  l2: "time over L2 bytes",
};

export interface Point {
  /** Index of the row. */
  module?: number;
  kernel?: number;
  name: string;
  /** Of the module, as in the icicle; undefined: a kernel. */
  family?: number;
  x: number;
  y: number;
  /** The bound of x. */
  low?: number;
  high?: number;
  /** The same row at its L2 bytes. */
  ring?: boolean;
  /** Far from the line. */
  far?: boolean;
  tip: string[];
}
export interface Line {
  from: readonly [x: number, y: number];
  to: readonly [x: number, y: number];
  color: "warn" | "accent" | "dim" | "l2";
  dash?: boolean;
  /** The label is before its beginning. */
  before?: boolean;
  label: string;
}
export interface Picture {
  points: Point[];
  lines: Line[];
  isLog: boolean;
  x: { title: string; range: readonly [number, number]; text: (value: number) => string };
  y: { title: string; range: readonly [number, number]; text: (value: number) => string };
  note: string;
}

/** "self_attn"; of a name that begins with a digit also the level above it: "layers/3". */
const levelName = (path: string): string => /[^/]*(\/\d[^/]*)?$/.exec(path)![0] || path;

/** Smaller bounds are narrower than their point. */
const kNarrowBound = 0.01;
/** Samples have an error; exact bytes have carry-over, of which they say nothing else. */
const boundText = (row: Values | undefined, text: string): string =>
  row === undefined || row.bytes_source === "exact" ? ` (carry-over up to ${text})` : ` ± ${text}`;

const below = (value: number): number => 10 ** Math.floor(Math.log10(value));
const above = (value: number): number => 10 ** Math.ceil(Math.log10(value * 1.0001));

/** Peaks closer than this cannot be distinguished in the plot. */
const kSame = 1.05;

/** Highest first; equal ones share a line. */
export function peakLines(peaks: Readonly<Record<string, number>>): { title: string; flops: number }[] {
  const out: { title: string; flops: number }[] = [];
  for (const [type, flops] of Object.entries(peaks).sort(([, a], [, b]) => b - a)) {
    const title = type.replace(/^[a-z]+/, (letters) => letters.toUpperCase()).replaceAll("_", " ");
    const last = out[out.length - 1];
    if (last !== undefined && last.flops < flops * kSame) last.title += `, ${title}`;
    else out.push({ title, flops });
  }
  return out;
}

/** `level` 0: modules without children; otherwise modules of that depth. */
const rooflineOf = (trace: Trace, of: PlotOf, level = 0): RooflinePoint[] =>
  (trace.tables.roofline ?? []).filter(({ module, kernel }) =>
    of === "kernels"
      ? kernel !== undefined
      : module !== undefined &&
        (level === 0 ? trace.children[module]!.length === 0 : trace.modules[module]!.depth === level),
  );

/** Levels that have points. */
export function levelsOf(trace: Trace, of: PlotOf): number[] {
  if (of === "kernels") return rooflineOf(trace, of).length > 0 ? [0] : [];
  if (of !== "roofline")
    return trace.tables.byte_fit
      .filter((fit) => fit.points[`${of}_bytes`].some((bytes) => bytes !== null && bytes > 0))
      .map(({ depth }) => depth);
  return Array.from({ length: trace.deepest + 1 }, (_, level) => level).filter(
    (level) => rooflineOf(trace, of, level).length > 0,
  );
}

/** The plots that have points. */
export const plotsOf = (trace: Trace): PlotOf[] => kPlots.filter((of) => levelsOf(trace, of).length > 0);

/** The name for people and the whole one. */
function namesOf(trace: Trace, { module, kernel }: { module?: number; kernel?: number }): [string, string] {
  const row = trace.tables.kernels[kernel ?? -1];
  const path = trace.modules[module ?? -1]?.path ?? "";
  return row === undefined ? [levelName(path), path] : [shortName(row), row.name];
}

const moduleOf = (trace: Trace, module: number): Pick<Point, "module" | "family"> => ({
  module,
  family: trace.modules[module]!.family,
});

function rooflineTip(trace: Trace, point: RooflinePoint): string[] {
  const { flop_per_s: flops, roof } = point;
  return [
    namesOf(trace, point)[1].slice(-240),
    `${flopText(flops)} at ${plainNumber(point.dram)} FLOP per DRAM byte${
      point.error === undefined ? "" : boundText(trace.modules[point.module ?? -1], percentText(point.error))
    }${point.l2 === undefined ? "" : `, ${plainNumber(point.l2)} per L2 byte (ring)`}`,
    ...(roof === undefined ? [] : [`${percentText(flops / roof)} of its roof: ${point.is} at ${flopText(roof)}`]),
  ];
}

function rooflinePicture(trace: Trace, of: PlotOf, level: number, selected: number): Picture {
  const rows = rooflineOf(trace, of, level);
  const points = rows.flatMap((row): Point[] => {
    const { dram: x, flop_per_s: y, error = 0 } = row;
    const [name] = namesOf(trace, row);
    const { module } = row;
    const index = { ...(module === undefined ? { kernel: row.kernel! } : moduleOf(trace, module)), name, y };
    const tip = rooflineTip(trace, row);
    const bars = error > kNarrowBound ? { low: x / (1 + error), high: error < 1 ? x / (1 - error) : Infinity } : {};
    return [...(row.l2 === undefined ? [] : [{ ...index, x: row.l2, ring: true, tip }]), { ...index, x, ...bars, tip }];
  });
  const peaks = peakLines(trace.peakFlops);
  const { peakDram: dram, peakL2: l2 } = trace;
  const highest = peaks[0]?.flops ?? 0;
  const xs = points.map(({ x }) => x);
  const ridge = dram === undefined ? 0 : highest / dram;
  const range = [below(Math.min(...xs)), above(Math.max(...xs, ridge * 3))] as const;
  const lines: Line[] = peaks.map(({ title, flops }) => ({
    from: [Math.max(range[0], flops / (l2 ?? dram ?? Infinity)), flops],
    to: [range[1], flops],
    color: "accent",
    label: `${title} ${flopText(flops)}`,
  }));
  const slope = (rate: number | undefined, color: "warn" | "l2", name: string): void => {
    if (rate === undefined) return;
    const end = highest > 0 ? Math.min(range[1], highest / rate) : range[1];
    lines.push({ from: [range[0], range[0] * rate], to: [end, end * rate], color, label: `${name} ${rateText(rate)}` });
  };
  slope(dram, "warn", "DRAM peak");
  slope(l2, "l2", "L2 peak");
  const chosen = rows.find(({ module, kernel }) => (module ?? kernel) === selected);
  if (chosen?.roof !== undefined) {
    const { roof, dram: x } = chosen;
    // The peak of a mix of types is none of the types' lines.
    if (chosen.is === "compute" && !peaks.some(({ flops }) => Math.abs(flops / roof - 1) < 0.01))
      lines.push({
        ...{ from: [x / 3, roof], to: [x * 3, roof], color: "accent", before: true },
        label: `its types ${flopText(roof)}`,
      });
    lines.push({ from: [x, chosen.flop_per_s], to: [x, roof], color: "warn", dash: true, label: `roof: ${chosen.is}` });
  }
  const ys = points.map(({ y }) => y);
  return {
    points,
    lines,
    isLog: true,
    x: { title: "FLOP per byte of DRAM; rings: of L2", range, text: plainNumber },
    y: { title: "FLOP/s", range: [below(Math.min(...ys)), above(Math.max(...ys, highest * 1.5))], text: flopText },
    note: `${rows.length} ${of === "kernels" ? "kernels" : "modules"}; operations of the FMA pipe are an upper bound`,
  };
}

/** "fit: r 0.97, 1.2 us per MB, 3 outliers"; undefined: there is no line. */
export function fitText(fit: ByteFit, of: "dram" | "l2"): string | undefined {
  const [r, slope, far = 0] = [fit[`${of}_r`], fit[`${of}_us_per_mb`], fit[`${of}_outliers`]];
  if (r === undefined || slope === undefined) return undefined;
  const sign = (value: number): string => (value < 0 ? "-" : "") + unitText(Math.abs(value), "number");
  return `fit: r ${sign(r)}, ${sign(slope)} us per MB, ${far} ${far === 1 ? "outlier" : "outliers"}`;
}

function bytesPicture(trace: Trace, of: "dram" | "l2", level: number): Picture {
  const fit = trace.tables.byte_fit.find(({ depth }) => depth === level)!;
  const { module: modules, ns } = fit.points;
  const peak = of === "dram" ? trace.peakDram : trace.peakL2;
  const points = modules.flatMap((module, i): Point[] => {
    const [bytes, y] = [fit.points[`${of}_bytes`][i] ?? 0, ns[i]!];
    if (bytes <= 0) return [];
    const error = fit.points[`${of}_error`][i]!;
    const [name, path] = namesOf(trace, { module });
    const rate = (bytes / y) * 1e9;
    const share = peak === undefined ? "" : `, ${percentText(rate / peak)} of the peak`;
    const bound = error > 0 ? boundText(trace.modules[module], bytesText(error)) : "";
    const tip = [path.slice(-240), `${durationText(y)} and ${bytesText(bytes)}${bound} a call`, rateText(rate) + share];
    const bars = error > bytes * kNarrowBound ? { low: bytes - error, high: bytes + error } : {};
    return [{ ...moduleOf(trace, module), name, x: bytes, y, ...bars, far: fit.points[`${of}_far`][i]!, tip }];
  });
  const range = [0, Math.max(1, ...points.map(({ x, high = x }) => high)) * 1.05] as const;
  const most = Math.max(1, ...points.map(({ y }) => y)) * 1.05;
  const lines: Line[] = [];
  if (peak !== undefined) {
    const end = Math.min(range[1], (most * peak) / 1e9);
    const label = `${of === "dram" ? "DRAM" : "L2"} peak ${rateText(peak)}`;
    lines.push({ from: [0, 0], to: [end, (end / peak) * 1e9], color: of === "dram" ? "warn" : "l2", label });
  }
  const [label, slope, offset] = [fitText(fit, of), fit[`${of}_us_per_mb`], fit[`${of}_intercept_ns`]];
  if (label !== undefined && slope !== undefined && offset !== undefined)
    lines.push({
      from: [0, offset],
      to: [range[1], offset + (slope / 1e3) * range[1]],
      color: "dim",
      dash: true,
      label,
    });
  return {
    points,
    lines,
    isLog: false,
    x: { title: `${of === "dram" ? "DRAM" : "L2"} bytes a call`, range, text: bytesText },
    y: { title: "GPU busy a call", range: [0, most], text: durationText },
    note: `${points.length} modules of depth ${level}, without warm-up${label === undefined ? "; too few, or too much alike, for a line" : ""}`,
  };
}

/** `selected`: index of a module, or of a kernel; -1: none. `level`: one of levelsOf(). */
export const pictureOf = (trace: Trace, of: PlotOf, level: number, selected: number): Picture =>
  of === "dram" || of === "l2" ? bytesPicture(trace, of, level) : rooflinePicture(trace, of, level, selected);
