// SPDX-License-Identifier: Apache-2.0
//
// What the page shows and what is selected, mirrored in the URL's hash so that a link restores it.
//
//   #view=timeline&trace=1&module=model/decoder&kernel=_Z4gemm&from=1200&to=3400
//   #view=kernels&sort=-count&find=gemm&theme=dark
//
// All views read and change this one store, so a selection in one view shows in all.
import { useEffect, useState } from "preact/hooks";
import { kPlots, type PlotOf } from "./data/limits";
import { kMetrics, type Metric } from "./data/trace";
import { kChoices, type Choice } from "./theme";

export const kViews = [
  "overview",
  "modules",
  "limits",
  "timeline",
  "kernels",
  "kernel",
  "copies",
  "memory",
  "iterations",
  "findings",
  "diff",
  "about",
] as const;
export type View = (typeof kViews)[number];

export interface State {
  view: View;
  trace: number;
  /** Path of a module; undefined: none. */
  module: string | undefined;
  /** kernelKey(); undefined: none. */
  kernel: string | undefined;
  metric: Metric;
  /** Path of the module that the icicle shows; undefined: all. */
  zoom: string | undefined;
  /** Visible time of the timeline, ns; both undefined: all. */
  from: number | undefined;
  to: number | undefined;
  /** Selected part of the timeline, ns; both undefined: none. */
  start: number | undefined;
  end: number | undefined;
  /** Of the view's table: key of a column, "-" before it for the other direction, "" for none; the text to find. */
  sort: string | undefined;
  find: string | undefined;
  /** Keys of its columns, with commas between; undefined: as many as fit. */
  columns: string | undefined;
  theme: Choice;
  /** Table of kernels: only kernels of the selected module; one row per module. */
  within: boolean;
  grouped: boolean;
  /** Limits: what the plot shows; the level of its modules, 0 for the leaves. */
  plot: PlotOf;
  level: number;
  /** Iteration that the overview's picture shows; undefined: the median one. */
  replay: number | undefined;
  /** Number of the finding to look at, from 0; undefined: all. */
  finding: number | undefined;
}

const kDefaults: State = {
  view: "overview",
  trace: 0,
  module: undefined,
  kernel: undefined,
  metric: "gpu",
  zoom: undefined,
  from: undefined,
  to: undefined,
  start: undefined,
  end: undefined,
  sort: undefined,
  find: undefined,
  columns: undefined,
  theme: "auto",
  within: false,
  grouped: false,
  plot: "roofline",
  level: 0,
  replay: undefined,
  finding: undefined,
};

let state: State = kDefaults;
const listeners = new Set<() => void>();

function number(text: string | null, min = 0): number | undefined {
  const value = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) && value >= min ? value : undefined;
}

export function stateOf(hash: string): State {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const pick = <T extends string>(key: string, known: readonly T[], fallback: T): T => {
    const text = from.get(key) as T | null;
    return text !== null && known.includes(text) ? text : fallback;
  };
  return {
    view: pick("view", kViews, kDefaults.view),
    trace: number(from.get("trace")) ?? 0,
    module: from.get("module") ?? undefined,
    kernel: from.get("kernel") ?? undefined,
    metric: pick("metric", kMetrics, kDefaults.metric),
    zoom: from.get("zoom") ?? undefined,
    from: number(from.get("from"), -1e15),
    to: number(from.get("to"), -1e15),
    start: number(from.get("start"), -1e15),
    end: number(from.get("end"), -1e15),
    sort: from.get("sort") ?? undefined,
    find: from.get("find") ?? undefined,
    columns: from.get("columns") ?? undefined,
    theme: pick("theme", kChoices, kDefaults.theme),
    within: from.get("within") === "1",
    grouped: from.get("grouped") === "1",
    plot: pick("plot", kPlots, kDefaults.plot),
    level: number(from.get("level")) ?? 0,
    replay: number(from.get("replay")),
    finding: number(from.get("finding")),
  };
}

export function hashOf(of: State): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(of)) {
    if (value === undefined || value === (kDefaults as unknown as Record<string, unknown>)[key]) continue;
    out.set(key, value === true ? "1" : typeof value === "number" ? String(Math.round(value)) : String(value));
  }
  const text = out.toString();
  return text === "" ? "#" : `#${text}`;
}

export const current = (): State => state;

let written = "";
let waiting = 0;
/** False: the page of `serve`, whose URL has another meaning. */
let isLinked = false;

function writeHash(): void {
  waiting = 0;
  written = hashOf(state);
  // replaceState, because zooming would fill the history.
  history.replaceState(null, "", written);
}

/** Another view is a step of the browser's history. */
function writeLater(isStep: boolean): void {
  if (isStep) history.pushState(null, "", (written = hashOf(state)));
  // Browsers limit changes of the URL to some hundred in ten seconds.
  else if (waiting === 0) waiting = window.setTimeout(writeHash, 150);
}

/** What the table of a view that was left shows, so that it is there again on the way back. */
const left = new Map<View, Pick<State, "sort" | "find" | "columns">>();

export function update(change: Partial<State>): void {
  const before = state;
  // Another view has another table.
  const isOther = change.view !== undefined && change.view !== state.view;
  const { sort, find, columns } = state;
  if (isOther) left.set(state.view, { sort, find, columns });
  const own = { sort: undefined, find: undefined, columns: undefined, ...left.get(change.view!) };
  state = { ...state, ...(isOther ? own : {}), ...change };
  if ((Object.keys(change) as (keyof State)[]).every((key) => before[key] === state[key])) return;
  if (isLinked) writeLater(before.view !== state.view);
  for (const listener of [...listeners]) listener();
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The address of what is shown now: writing it waits for the wheel to stop. */
export const link = (): string => location.href.replace(/#.*$/, "") + hashOf(state);

export function useStore(): State {
  const [seen, see] = useState(state);
  useEffect(() => {
    see(state);
    return subscribe(() => see(state));
  }, []);
  return seen;
}

/** Call it once, before the first view is drawn. */
export function startState(): void {
  isLinked = true;
  state = stateOf(location.hash);
  const read = (): void => {
    if (location.hash === written || (location.hash === "" && written === "#")) return;
    state = stateOf(location.hash);
    for (const listener of [...listeners]) listener();
  };
  window.addEventListener("hashchange", read);
  window.addEventListener("popstate", read);
}
