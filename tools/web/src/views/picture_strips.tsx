// SPDX-License-Identifier: Apache-2.0
//
// One replay over time: NVTX layers as lanes, kernels by limiter, DRAM and L2 as steps.
//
//   100 % of peak ┄┄┄┄┄┄┄┄┄┄┄┄   read up, written down, at a fixed scale
//             0   ▁▂▇▇▅▇▇▂▁      a band: the layer's bytes within their error, over its time
//   100 % of peak ┄┄┄┄┄┄┄┄┄┄┄┄   hatched: samples were lost, or the profiler held the program
//
// Shapes have presentation attributes only, so that the picture can be kept as a file.
import type { JSX } from "preact";
import { axisText } from "../data/numbers";
import { workOf, type LimitKey, type Picture, type Replay, type Scale } from "../data/overview";
import { layerColors, mixed, type Theme } from "../theme";

const kLane = 18;
const kKernels = 20;
const kGap = 16;
const kHalf = 62;
const kL2 = 56;
const kAxis = 20;
const kLetter = 6.4;
export const kLeft = 112;
export const kRight = 10;

export interface StripShapes {
  x: (ns: number) => number;
  /** Inverse of x. */
  at: (x: number) => number;
  rows: Map<string, number>;
  lanes: number;
  kernels: number;
  dram: number;
  l2: number;
  bottom: number;
}

/** Vertical places of the strips in a picture of this width. */
export function stripShapes(replay: Replay, width: number): StripShapes {
  const keys = [...new Set((replay.spans ?? []).map(([, , level, lane]) => `${level}/${lane}`))].sort((a, b) => {
    const [one, other] = [a.split("/").map(Number), b.split("/").map(Number)];
    return one[0]! - other[0]! || one[1]! - other[1]!;
  });
  const rows = new Map(keys.map((key, i) => [key, i]));
  const scale = Math.max(1, width - kLeft - kRight) / Math.max(1, replay.to - replay.from);
  const kernels = keys.length * kLane + kGap;
  const dram = kernels + kKernels + kGap;
  const l2 = dram + 2 * kHalf + kGap + 4;
  return {
    x: (ns) => kLeft + ns * scale,
    at: (x) => (x - kLeft) / scale,
    rows,
    lanes: keys.length,
    kernels,
    dram,
    l2,
    bottom: l2 + kL2 + kAxis,
  };
}

export function limitColor(theme: Theme, key: LimitKey): string {
  switch (key) {
    case "dram":
      return theme.names[1]!;
    case "l2":
      return theme.names[0]!;
    case "compute":
      return theme.names[2]!;
    case "latency":
      return theme.names[3]!;
    default:
      return key === "" ? theme.line : mixed(theme.unknown, theme.dim, 0.35);
  }
}

/** The name, or only its number, if it fits. `short`: only the number. */
function labelIn(name: string, width: number, short: boolean): string {
  if (!short && name.length * kLetter + 4 <= width) return name;
  const number = /\d+$/.exec(name)?.[0];
  if (number !== undefined) return number.length * kLetter + 2 <= width ? number : "";
  const letters = Math.floor((width - 6) / kLetter);
  return letters >= 4 ? `${name.slice(0, letters - 1)}…` : "";
}

function Layers(props: { picture: Picture; replay: Replay; shapes: StripShapes; theme: Theme }): JSX.Element {
  const { picture, replay, shapes, theme } = props;
  const colors = layerColors(theme, picture.layers);
  // Families whose names do not all fit.
  const short = new Set(
    (replay.spans ?? [])
      .filter(([, ns, , , layer]) => {
        const name = picture.layers[layer]?.name;
        return name !== undefined && name.length * kLetter + 4 > shapes.x(ns) - kLeft;
      })
      .map(([, , , , layer]) => picture.layers[layer]!.family),
  );
  return (
    <g>
      {(replay.spans ?? []).map(([start, ns, level, lane, layer, path], i) => {
        const of = picture.layers[layer];
        const name = of?.name ?? picture.paths[path]?.[0] ?? "";
        const fill = colors[layer] ?? theme.unknown;
        const y = (shapes.rows.get(`${level}/${lane}`) ?? 0) * kLane;
        const [left, right] = [shapes.x(start), shapes.x(start + ns)];
        const text = labelIn(name, right - left, of !== undefined && of.members > 1 && short.has(of.family));
        return (
          <g key={i}>
            <rect x={left} y={y} width={Math.max(0.3, right - left - 0.4)} height={kLane - 2} fill={fill} />
            {text !== "" && (
              <text
                x={(left + right) / 2}
                y={y + 12}
                text-anchor="middle"
                font-size="11"
                fill={of === undefined ? theme.text : theme.onNames}
              >
                {text}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

function Kernels(props: { picture: Picture; replay: Replay; shapes: StripShapes; theme: Theme }): JSX.Element {
  const { picture, replay, shapes, theme } = props;
  const paths = new Map<LimitKey | "copy", string>();
  for (const [start, ns, kernel, , isKernel] of workOf(replay).pieces) {
    const key = !isKernel ? "copy" : (picture.limits[kernel] ?? "");
    const [left, wide] = [shapes.x(start), Math.max(0.25, shapes.x(start + ns) - shapes.x(start))];
    const [top, high] = !isKernel ? [shapes.kernels + kKernels - 6, 6] : [shapes.kernels, kKernels];
    const one = `M${left.toFixed(2)} ${top}h${wide.toFixed(2)}v${high}h${(-wide).toFixed(2)}z`;
    paths.set(key, (paths.get(key) ?? "") + one);
  }
  return (
    <g>
      {[...paths].map(([key, d]) => (
        <path key={key} d={d} fill={key === "copy" ? theme.names[5]! : limitColor(theme, key)} />
      ))}
    </g>
  );
}

/** The area of steps from `zero`; `up`: pixels of the full scale, negative for downwards. */
function steps(replay: Replay, shapes: StripShapes, column: 2 | 3 | 4, scale: Scale, zero: number, up: number): string {
  let d = "";
  let until = Number.NEGATIVE_INFINITY;
  for (const point of workOf(replay).points) {
    const [start, ns] = point;
    const share = Math.min(1, ((point[column] / Math.max(1, ns)) * 1e9) / scale.full_bytes_per_s);
    const [left, right] = [Math.max(0, start), Math.min(replay.to - replay.from, start + ns)].map(shapes.x) as [
      number,
      number,
    ];
    if (right <= left) continue;
    const y = (zero - share * up).toFixed(1);
    // Between samples that do not touch almost nothing moved.
    if (start > until + 1) d += `${d === "" ? "" : `V${zero}`}M${left.toFixed(1)} ${zero}`;
    d += `V${y}H${right.toFixed(1)}`;
    until = start + ns;
  }
  return d === "" ? "" : `${d}V${zero}`;
}

function bandRects(
  replay: Replay,
  shapes: StripShapes,
  key: "read" | "write" | "l2",
  scale: Scale,
  zero: number,
  up: number,
): JSX.Element[] {
  const share = (bytes: number, ns: number): number =>
    Math.max(0, Math.min(1, ((bytes / ns) * 1e9) / scale.full_bytes_per_s));
  const times = new Map<number, number>();
  for (const [, ns, , , layer] of replay.spans ?? []) times.set(layer, (times.get(layer) ?? 0) + ns);
  return (replay.spans ?? []).flatMap(([start, ns, , , layer], i) => {
    const of = replay.bands?.[layer]?.[key] ?? null;
    const all = times.get(layer) ?? 0;
    if (of === null || all <= 0) return [];
    const [low, high] = [share(of[0] - of[1], all), share(of[0] + of[1], all)];
    const [a, b] = [zero - low * up, zero - high * up];
    const [left, right] = [shapes.x(start), shapes.x(start + ns)];
    const [y, height] = [Math.min(a, b), Math.max(0.8, Math.abs(a - b))];
    return [<rect key={i} x={left} y={y} width={Math.max(0.3, right - left)} height={height} />];
  });
}

function Scales(props: { shapes: StripShapes; theme: Theme; picture: Picture; width: number }): JSX.Element {
  const { shapes, theme, picture, width } = props;
  const { dram, l2 } = picture.scales;
  const right = width - kRight;
  const line = (y: number, dashed: boolean): JSX.Element => (
    <line
      x1={kLeft}
      x2={right}
      y1={y}
      y2={y}
      stroke={dashed ? theme.dim : theme.line}
      {...(dashed ? { "stroke-dasharray": "4 3" } : {})}
    />
  );
  const label = (y: number, text: string, bold = false): JSX.Element => (
    <text
      x={kLeft - 8}
      y={y}
      text-anchor="end"
      font-size="11"
      fill={bold ? theme.text : theme.dim}
      {...(bold ? { "font-weight": "600" } : {})}
    >
      {text}
    </text>
  );
  const zero = shapes.dram + kHalf;
  return (
    <g>
      {label(12, "NVTX layers", true)}
      {label(shapes.kernels + 14, "kernels", true)}
      {[0, 0.5, 1.5, 2].map((part) => (
        <g key={part}>{line(shapes.dram + part * kHalf, part === 0 || part === 2)}</g>
      ))}
      {line(zero, false)}
      {[0, 0.5].map((part) => (
        <g key={part}>{line(shapes.l2 + part * kL2, part === 0)}</g>
      ))}
      {line(shapes.l2 + kL2, false)}
      {label(shapes.dram + 9, dram.peak ? "100 %" : "")}
      {label(zero - 14, "DRAM read ↑", true)}
      {label(zero + 4, "0")}
      {label(zero + 22, "written ↓", true)}
      {label(shapes.dram + 2 * kHalf, dram.peak ? "100 %" : "")}
      {label(shapes.l2 + kL2 / 2, "L2", true)}
      {label(shapes.l2 + kL2, "0")}
      <text x={right} y={shapes.dram - 3} text-anchor="end" font-size="10" fill={theme.dim}>
        {dram.text}
      </text>
      <text x={right} y={shapes.l2 - 2} text-anchor="end" font-size="10" fill={theme.dim}>
        {l2.text}
      </text>
    </g>
  );
}

/** About one tick each 90 px: 1, 2 or 5 times a power of ten. */
export function ticksOf(ns: number, width: number): { step: number; at: number[] } {
  const least = (ns * 90) / Math.max(90, width);
  const size = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= least) ?? size * 10;
  return { step, at: Array.from({ length: Math.floor(ns / step) + 1 }, (_, i) => i * step) };
}

function TimeAxis(props: { replay: Replay; shapes: StripShapes; theme: Theme; width: number }): JSX.Element {
  const { replay, shapes, theme, width } = props;
  const y = shapes.l2 + kL2;
  const { step, at } = ticksOf(replay.to - replay.from, width - kLeft - kRight);
  return (
    <g>
      {at.map((ns) => (
        <g key={ns}>
          <line x1={shapes.x(ns)} x2={shapes.x(ns)} y1={y} y2={y + 4} stroke={theme.dim} />
          {shapes.x(ns) < width - 26 && (
            <text x={shapes.x(ns)} y={y + 15} text-anchor="middle" font-size="11" fill={theme.dim}>
              {axisText(ns, step)}
            </text>
          )}
        </g>
      ))}
    </g>
  );
}

/** Lost samples and holds. */
function Hatched(props: { replay: Replay; shapes: StripShapes }): JSX.Element {
  const { replay, shapes } = props;
  const part = ([from, to]: [number, number], top: number, i: number): JSX.Element => (
    <rect
      key={`${top}-${i}`}
      x={shapes.x(from)}
      y={top}
      width={Math.max(1, shapes.x(to) - shapes.x(from))}
      height={shapes.l2 + kL2 - top}
      fill="url(#hatched)"
    />
  );
  return (
    <g>
      {(replay.lost ?? []).map((one, i) => part(one, shapes.dram, i))}
      {(replay.held ?? []).map((one, i) => part(one, 0, i))}
    </g>
  );
}

export function PictureStrips(props: {
  picture: Picture;
  replay: Replay;
  shapes: StripShapes;
  theme: Theme;
  width: number;
}): JSX.Element {
  const { picture, replay, shapes, theme } = props;
  const { dram, l2 } = picture.scales;
  const zero = shapes.dram + kHalf;
  const bottom = shapes.l2 + kL2;
  const area = (d: string, color: string): JSX.Element | null =>
    d === "" ? null : <path d={d} fill={color} fill-opacity="0.55" stroke={color} stroke-width="1" />;
  return (
    <g>
      <Scales shapes={shapes} theme={theme} picture={picture} width={props.width} />
      <Layers picture={picture} replay={replay} shapes={shapes} theme={theme} />
      <Kernels picture={picture} replay={replay} shapes={shapes} theme={theme} />
      {area(steps(replay, shapes, 2, dram, zero, kHalf), theme.accent)}
      {area(steps(replay, shapes, 3, dram, zero, -kHalf), theme.names[1]!)}
      {area(steps(replay, shapes, 4, l2, bottom, kL2), theme.names[4]!)}
      <g fill={theme.text} fill-opacity="0.32">
        {bandRects(replay, shapes, "read", dram, zero, kHalf)}
        {bandRects(replay, shapes, "write", dram, zero, -kHalf)}
        {bandRects(replay, shapes, "l2", l2, bottom, kL2)}
      </g>
      <Hatched replay={replay} shapes={shapes} />
      <TimeAxis replay={replay} shapes={shapes} theme={theme} width={props.width} />
    </g>
  );
}
