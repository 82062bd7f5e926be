// SPDX-License-Identifier: Apache-2.0
//
// A rate over the last minutes: one line per module, for the heaviest siblings.
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { threeDigits } from "../data/numbers";
import { useTheme, type Theme } from "../theme";
import { Plot, type PlotOptions } from "../ui/plot";
import { heaviest, linesOf, namesOf, type History, type Rate } from "./history";

const kMaxLines = 6;
const kMinSeconds = 60;
/** Minimum range of the axis. Smaller values are negligible in every unit, and would need many digits. */
const kMinHeight = 0.1;

/** Colours by index, so that neighbours in the legend differ. Strokes, so darker than fills. */
const strokeOf = (theme: Theme, i: number): string =>
  (theme.dark
    ? ["#6fa3d6", "#dd9a5a", "#73b985", "#c587b0", "#b5b058", "#5eb5ba"]
    : ["#2569b8", "#c2610c", "#2c8a4b", "#a3478a", "#7d7716", "#1b8389"])[i % kMaxLines]!;

function timeRange(times: ArrayLike<number>): [number, number] {
  const last = times[times.length - 1] ?? Date.now() / 1000;
  return [Math.min(times[0] ?? last, last - kMinSeconds), last];
}

/** Labels with as many digits as the step between neighbours needs. */
export function ticksText(ticks: readonly number[]): string[] {
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  let digits = 0;
  while (digits < 6 && Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6) ++digits;
  return ticks.map((tick) =>
    tick.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
}

function optionsOf(theme: Theme, paths: readonly string[]): PlotOptions {
  const axis = { stroke: theme.dim, grid: { stroke: theme.line, width: 1 }, ticks: { stroke: theme.line, width: 1 } };
  const line = (path: string, i: number): uPlot.Series => {
    const names = namesOf(path);
    const name = path === "" ? "(outside)" : names[names.length - 1]!;
    return {
      label: name.length > 20 ? `${name.slice(0, 19)}…` : name,
      stroke: strokeOf(theme, i),
      width: 2,
      points: { show: (plot) => plot.data[0].length < 3, size: 5 },
      value: (_, value) => (value === null ? "–" : threeDigits(value)),
    };
  };
  return {
    scales: {
      // From the data: uPlot would choose a range of years for a single point.
      x: { range: (plot) => timeRange(plot.data[0]) },
      y: { range: (_, __, max) => [0, Math.max(max * 1.1, kMinHeight)] },
    },
    axes: [
      { ...axis, size: 32 },
      { ...axis, size: 56, values: (_, ticks) => ticksText(ticks) },
    ],
    series: [{ label: "time" }, ...paths.map(line)],
    legend: { live: false },
    cursor: { drag: { x: false, y: false } },
  };
}

export function RateLines(props: {
  history: History;
  paths: readonly string[];
  rate: Rate;
  title: string;
  of: string;
  tools?: ComponentChildren;
}): JSX.Element {
  const theme = useTheme();
  const key = heaviest(props.history, props.paths, props.rate, kMaxLines)
    .sort((a, b) => (a < b ? -1 : 1))
    .join("\n");
  const options = useMemo(() => {
    const paths = key === "" && props.paths.length === 0 ? [] : key.split("\n");
    return { paths, plot: optionsOf(theme, paths) };
  }, [theme, key, props.paths.length === 0]);
  const data = useMemo(
    () => linesOf(props.history, options.paths, props.rate) as uPlot.AlignedData,
    [props.history, options, props.rate],
  );
  return (
    <section class="rate" aria-label={`${props.title}, ${props.of}`}>
      <div class="tools">
        <h2>
          {props.title}
          <span class="dim">
            {" "}
            <bdi>{props.of}</bdi>
          </span>
        </h2>
        <span class="fill" />
        {props.tools}
      </div>
      <Plot
        options={options.plot}
        data={data}
        label={`${props.title} over time, ${props.history.points.length} points; the table below has the last values`}
      />
    </section>
  );
}
