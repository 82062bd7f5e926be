// SPDX-License-Identifier: Apache-2.0
//
// A bar an iteration: its GPU time by module, and its wall time as a line. A click goes to the timeline.
//
//   arrow keys move from bar to bar, Enter goes to the timeline at it
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { countText, durationText } from "../data/numbers";
import type { Bar, Strip } from "../data/overview";
import type { Trace } from "../data/trace";
import { layerColors, useTheme } from "../theme";
import { Tip } from "../ui/tip";
import { useWidth, type SvgPointer } from "../ui/width";
import { follow } from "./overview";

const kHeight = 120;
const kAxis = 64;
const kBottom = 16;
/** Longer bars end here, above the scale. */
const kOver = 1.12;
const kMaxInLegend = 9;

const nameAt = (strip: Strip, layer: number): string => strip.layers[layer]?.name ?? "other";

function BarTip({ strip, bar, what }: { strip: Strip; bar: Bar; what: string }): JSX.Element {
  const order = bar.parts.map((ns, layer) => [ns, layer] as const).filter(([ns]) => ns > 0);
  order.sort((a, b) => b[0] - a[0]);
  return (
    <>
      <b>
        {what} {countText(bar.iteration)}
      </b>
      {bar.excluded !== undefined && ` (${bar.excluded})`}
      {bar.wall_ns !== undefined && <div>wall time {durationText(bar.wall_ns)}</div>}
      <div>GPU time {durationText(bar.gpu_ns)}</div>
      {order.slice(0, 6).map(([ns, layer]) => (
        <div key={layer}>
          <bdi>{nameAt(strip, layer)}</bdi> {durationText(ns)}
        </div>
      ))}
    </>
  );
}

interface Shapes {
  x: (bar: number) => number;
  wide: number;
  y: (ns: number) => number;
}

/** The longest time of the counted iterations: a warm-up may take a thousand times as long. */
function mostOf({ bars }: Strip): number {
  const counted = bars.filter((bar) => bar.excluded === undefined);
  return Math.max(1, ...(counted.length > 0 ? counted : bars).map((bar) => Math.max(bar.wall_ns ?? 0, bar.gpu_ns)));
}

function shapesOf(strip: Strip, width: number): Shapes {
  const most = mostOf(strip);
  const step = (width - kAxis - 4) / Math.max(1, strip.bars.length);
  return {
    x: (bar) => kAxis + bar * step,
    wide: Math.max(0.5, Math.min(step - (step > 4 ? 1 : 0), Math.max(40, step * 0.75))),
    y: (ns) => kBottom + (kHeight - 2 * kBottom) * (1 - Math.min(kOver, ns / most)),
  };
}

/** All parts of one colour as one path. */
function partPath(strip: Strip, { x, wide, y }: Shapes, layer: number): string {
  return strip.bars
    .map((bar, i) => {
      const below = bar.parts.slice(0, layer).reduce((sum, ns) => sum + ns, 0);
      const ns = bar.parts[layer] ?? 0;
      return ns === 0
        ? ""
        : `M${x(i).toFixed(2)} ${y(below).toFixed(2)}h${wide.toFixed(2)}V${y(below + ns).toFixed(2)}h${(-wide).toFixed(2)}z`;
    })
    .join("");
}

export function IterationStrip({ trace, strip }: { trace: Trace; strip: Strip }): JSX.Element {
  const theme = useTheme();
  const [box, width] = useWidth<HTMLDivElement>();
  const [at, setAt] = useState<number>();
  const [tip, setTip] = useState<{ x: number; y: number }>();
  const { what = "iteration", of = "" } = trace.tables.overview;
  const shapes = shapesOf(strip, width);
  const colors = [...layerColors(theme, strip.layers), theme.unknown];
  const bar = at === undefined ? undefined : strip.bars[at];
  const most = mostOf(strip);
  const open = (one: Bar | undefined): void =>
    one && follow(trace, { text: "", view: "timeline", from: one.from, to: one.to });
  const barAt = (event: SvgPointer): number => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const step = shapes.x(1) - shapes.x(0);
    return Math.min(strip.bars.length - 1, Math.max(0, Math.floor((event.clientX - left - kAxis) / step)));
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Enter") open(bar);
    if (step === undefined) return;
    event.preventDefault();
    setAt(Math.min(strip.bars.length - 1, Math.max(0, (at ?? strip.median ?? 0) + step)));
  };
  return (
    <section class="bars" aria-label="Iterations">
      <h2>
        {countText(strip.count)} {what}s of <bdi>{of}</bdi>: GPU time by module
        {strip.group > 1 && `; each bar is the slowest of ${countText(strip.group)} neighbours`}
      </h2>
      <div ref={box}>
        <svg
          width={width}
          height={kHeight}
          tabindex={0}
          role="slider"
          aria-label={`${what}s; arrow keys move, Enter opens the timeline`}
          aria-valuemin={0}
          aria-valuemax={strip.bars.length - 1}
          aria-valuenow={at ?? strip.median ?? 0}
          aria-valuetext={bar === undefined ? "" : `${what} ${bar.iteration}: GPU time ${durationText(bar.gpu_ns)}`}
          onKeyDown={onKey}
          onPointerMove={(event) => {
            setAt(barAt(event));
            setTip({ x: event.clientX, y: event.clientY });
          }}
          onPointerLeave={() => {
            setAt(undefined);
            setTip(undefined);
          }}
          onClick={(event) => open(strip.bars[barAt(event)])}
        >
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <line x1={kAxis} x2={width} y1={shapes.y(part * most)} y2={shapes.y(part * most)} stroke={theme.line} />
              <text x={kAxis - 6} y={shapes.y(part * most) + 4} text-anchor="end" font-size="11" fill={theme.dim}>
                {durationText(part * most)}
              </text>
            </g>
          ))}
          {colors.map((color, layer) => (
            <path key={layer} d={partPath(strip, shapes, layer)} fill={color} />
          ))}
          <path
            d={strip.bars
              .map((one, i) =>
                one.wall_ns === undefined || one.wall_ns > most * kOver
                  ? ""
                  : `M${shapes.x(i)} ${shapes.y(one.wall_ns)}h${shapes.wide}`,
              )
              .join("")}
            stroke={theme.text}
            stroke-width="1.5"
          />
          {strip.bars.map((one, i) => {
            const longest = Math.max(one.wall_ns ?? 0, one.gpu_ns);
            return longest <= most * kOver ? null : (
              <text key={i} x={Math.min(width - 60, shapes.x(i))} y={10} font-size="10" fill={theme.warn}>
                ▲ {durationText(longest)}
              </text>
            );
          })}
          {strip.median !== undefined && (
            <text
              x={Math.min(width - 32, shapes.x(strip.median) + shapes.wide / 2)}
              y={kHeight - 3}
              text-anchor="middle"
              font-size="11"
              fill={theme.dim}
            >
              ▲ median
            </text>
          )}
          {bar !== undefined && (
            <rect
              x={shapes.x(at!) - 1}
              y={2}
              width={shapes.wide + 2}
              height={kHeight - kBottom - 2}
              fill="none"
              stroke={theme.accent}
              stroke-width="2"
            />
          )}
        </svg>
      </div>
      <div class="keys">
        {strip.layers.slice(0, kMaxInLegend).map((layer, i) => (
          <span key={i}>
            <svg width="11" height="11" aria-hidden="true">
              <rect width="11" height="11" fill={colors[i]} />
            </svg>
            <bdi>{layer.name}</bdi>
          </span>
        ))}
        {strip.layers.length > kMaxInLegend && <span>… {countText(strip.layers.length)} modules</span>}
        <span>– wall time</span>
      </div>
      {tip !== undefined && bar !== undefined && (
        <Tip x={tip.x} y={tip.y}>
          <BarTip strip={strip} bar={bar} what={what} />
        </Tip>
      )}
    </section>
  );
}
