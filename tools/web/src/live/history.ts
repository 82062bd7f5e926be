// SPDX-License-Identifier: Apache-2.0
//
// The last minutes of a running program: one point per event of /api/live. Pure functions.
//
//   event ─▶ withEvent(history, event, time) ─▶ modules as a tree, lines over time
//
// Modules without activity in an interval stay in the table, with 0. A value that was not measured is absent, not 0.

import type { StatedColumn } from "../ui/stated_columns";

export interface LiveRow {
  path: string;
  gpu_ms_per_s: number;
  share: number;
  launches_per_s: number;
  dram_gb_per_s?: number;
  l2_gb_per_s?: number;
  peak_share?: number;
}

export interface LiveEvent {
  event: string;
  state: string;
  seconds: number;
  lost: number;
  left_out: number;
  window?: number;
  folder?: string;
  window_lost?: number;
  columns: StatedColumn[];
  rows: LiveRow[];
}

export interface LiveModule extends LiveRow {
  name: string;
  depth: number;
}

interface Point {
  /** Unix seconds. */
  at: number;
  /** Undefined: no window was open. */
  rows: ReadonlyMap<string, LiveRow> | undefined;
}

export interface History {
  points: readonly Point[];
  /** Modules of the last interval, by path, parents first. */
  modules: ReadonlyMap<string, LiveModule>;
  last: LiveEvent | undefined;
  lost: number;
}

export const kMaxPoints = 600;
const kMaxModules = 2000;
export const kNoHistory: History = { points: [], modules: new Map(), last: undefined, lost: 0 };
const kOutside = "(outside of any range)";

/** Names of a path, outermost first. A '\' escapes a '/' or '\' within a name. */
export function namesOf(path: string): string[] {
  const out = [""];
  for (let i = 0; i < path.length; ++i) {
    const character = path[i]!;
    if (character === "\\" && i + 1 < path.length) out[out.length - 1] += path[++i]!;
    else if (character === "/") out.push("");
    else out[out.length - 1] += character;
  }
  return out;
}

/** The parent path; "" for an outermost path. */
export function parentOf(path: string): string {
  let slash = 0;
  for (let i = 0; i < path.length; ++i) {
    if (path[i] === "\\") ++i;
    else if (path[i] === "/") slash = i;
  }
  return path.slice(0, slash);
}

function moduleOf(path: string, row: LiveRow | undefined): LiveModule {
  const names = namesOf(path);
  const nothing = { path, gpu_ms_per_s: 0, share: 0, launches_per_s: 0 };
  return { ...(row ?? nothing), name: path === "" ? kOutside : names[names.length - 1]!, depth: names.length - 1 };
}

export function withEvent(before: History, event: LiveEvent, at: number): History {
  const recorded = event.event === "delta";
  const rows = recorded ? new Map(event.rows.map((row) => [row.path, row])) : undefined;
  const modules = new Map<string, LiveModule>();
  for (const path of before.modules.keys()) modules.set(path, moduleOf(path, rows?.get(path)));
  for (const [path, row] of rows ?? [])
    if (!modules.has(path) && modules.size < kMaxModules) modules.set(path, moduleOf(path, row));
  return {
    points: [...before.points, { at, rows }].slice(-kMaxPoints),
    modules,
    last: event,
    lost: before.lost + event.lost,
  };
}

/** Paths directly below `under`. Paths without a row (omitted by the server) do not count as parents. */
export function childrenOf(history: History, under: string | undefined): string[] {
  return [...history.modules.keys()].filter((path) =>
    under === undefined
      ? path === "" || parentOf(path) === ""
      : path !== "" && under !== "" && parentOf(path) === under,
  );
}

export type Rate = "gpu_ms_per_s" | "launches_per_s" | "dram_gb_per_s" | "l2_gb_per_s";

export const isMeasured = (history: History, rate: Rate): boolean =>
  history.points.some((point) => [...(point.rows?.values() ?? [])].some((row) => row[rate] !== undefined));

/** The `max` paths with the highest mean, in that order. */
export function heaviest(history: History, paths: readonly string[], rate: Rate, max: number): string[] {
  const sums = new Map(paths.map((path) => [path, 0]));
  for (const point of history.points)
    for (const path of paths) sums.set(path, sums.get(path)! + (point.rows?.get(path)?.[rate] ?? 0));
  return [...paths].sort((a, b) => sums.get(b)! - sums.get(a)!).slice(0, max);
}

/** Times, then one line per path; null: nothing was recorded. */
export function linesOf(history: History, paths: readonly string[], rate: Rate): (number | null)[][] {
  return [
    history.points.map((point) => point.at),
    ...paths.map((path) =>
      history.points.map((point) => {
        if (point.rows === undefined) return null;
        const row = point.rows.get(path);
        return row === undefined ? 0 : (row[rate] ?? null);
      }),
    ),
  ];
}
