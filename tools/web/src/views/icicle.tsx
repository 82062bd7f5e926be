// SPDX-License-Identifier: Apache-2.0
//
// The icicle: every module as a box. Width: GPU time, DRAM or L2 bytes. Colour: share of the nearest limit.
// A click selects. A double click or Enter zooms into a module, Escape zooms out.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytesText, durationText, percentText } from "../data/numbers";
import { metricTitle, type Metric, type Trace } from "../data/trace";
import { shareColor, useTheme, type Theme } from "../theme";
import { fitted, kFont, useCanvas, type Surface } from "../ui/canvas";
import { Tip } from "../ui/tip";
import { layoutOf, type Box } from "./icicle_layout";

const kRow = 22;

const shareOf = (trace: Trace, box: Box): number | undefined =>
  box.module >= 0
    ? trace.modules[box.module]!.limit_share
    : box.module === -1
      ? trace.tables.outside.limit_share
      : undefined;

function paint(
  surface: Surface,
  boxes: Box[],
  trace: Trace,
  theme: Theme,
  selected: number,
  hovered: Box | undefined,
): void {
  const { context, width, height } = surface;
  context.clearRect(0, 0, width, height);
  context.font = kFont;
  context.textBaseline = "middle";
  let edge = -1;
  let row = -1;
  for (const box of boxes) {
    const x = box.x0 * width;
    const wide = (box.x1 - box.x0) * width;
    // Draw one box for all that are narrower than half a pixel at the same place.
    if (row === box.depth && x + wide < edge + 0.5) continue;
    row = box.depth;
    edge = x + wide;
    const colors = shareColor(theme, shareOf(trace, box));
    const y = box.depth * kRow;
    context.fillStyle = colors.fill;
    context.fillRect(x, y, Math.max(0.5, wide - 1), kRow - 1);
    if (box === hovered || (box.module === selected && selected >= 0)) {
      context.strokeStyle = box.module === selected ? theme.warn : theme.text;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), kRow - 3);
    }
    const label = fitted(context, box.name, wide - 8);
    if (label !== "") {
      context.fillStyle = colors.text;
      context.fillText(label, x + 4, y + kRow / 2);
    }
  }
}

function BoxTip(props: { trace: Trace; box: Box; metric: Metric; all: number }): JSX.Element {
  const { trace, box } = props;
  const row = box.module >= 0 ? trace.modules[box.module]! : trace.tables.outside;
  const share = shareOf(trace, box);
  const text = props.metric === "gpu" ? durationText : bytesText;
  return (
    <>
      <b>
        <bdi>{box.name.slice(0, 300)}</bdi>
      </b>
      <div>
        {metricTitle[props.metric]}: {text(box.value)}, {percentText(box.value / props.all)}
      </div>
      {box.module >= 0 && (
        <div>
          {trace.modules[box.module]!.calls.toLocaleString("en-US")} calls, {row.kernels.toLocaleString("en-US")}{" "}
          kernels
        </div>
      )}
      {box.module >= -1 && (
        <div>
          {share === undefined ? "Share of limit not measured" : `${percentText(share)} of the nearest limit`}
          {row.limiter !== undefined ? `, bound by ${row.limiter}` : ""}
        </div>
      )}
    </>
  );
}

export function ShareLegend(): JSX.Element {
  const theme = useTheme();
  const draw = ({ context, width, height }: Surface): void => {
    for (let x = 0; x < width; ++x) {
      context.fillStyle = shareColor(theme, (x / width) ** 2).fill;
      context.fillRect(x, 0, 1, height);
    }
  };
  const canvas = useCanvas(draw, [theme]);
  return (
    <span class="legend">
      <span>share of limit 0</span>
      <canvas ref={canvas} aria-hidden="true" title="Square-root scale: 25 % is in the middle" />
      <span>100 %</span>
      <span class="swatch unknown" />
      <span>not measured</span>
    </span>
  );
}

/** The box that an arrow key selects. */
function neighbour(boxes: Box[], from: Box, key: string): Box | undefined {
  const middle = (from.x0 + from.x1) / 2;
  if (key === "ArrowUp")
    return boxes.find((box) => box.depth === from.depth - 1 && box.x0 <= middle && middle <= box.x1);
  if (key === "ArrowDown")
    return boxes
      .filter((box) => box.depth === from.depth + 1 && box.x0 >= from.x0 - 1e-12 && box.x1 <= from.x1 + 1e-12)
      .sort((a, b) => b.value - a.value)[0];
  const row = boxes.filter((box) => box.depth === from.depth).sort((a, b) => a.x0 - b.x0);
  return row[row.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
}

export interface IcicleProps {
  trace: Trace;
  metric: Metric;
  selected: number;
  select: (module: number) => void;
}

export function Icicle(props: IcicleProps): JSX.Element {
  const { trace, metric, selected } = props;
  const theme = useTheme();
  const [top, setTop] = useState(-2);
  const [over, setOver] = useState<{ box: Box; x: number; y: number }>();
  const boxes = useMemo(() => layoutOf(trace, metric, top), [trace, metric, top]);
  const levels = boxes.reduce((max, box) => Math.max(max, box.depth), 0) + 1;
  const canvas = useCanvas(
    (surface) => paint(surface, boxes, trace, theme, selected, over?.box),
    [boxes, theme, selected, over?.box],
  );
  const at = (event: MouseEvent): Box | undefined => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - bounds.left) / bounds.width;
    const depth = Math.floor((event.clientY - bounds.top) / kRow);
    return boxes.find((box) => box.depth === depth && box.x0 <= x && x < box.x1);
  };
  const zoomInto = (module: number): void => setTop(module < 0 || module === top ? -2 : module);
  const onKeyDown = (event: KeyboardEvent): void => {
    const from = boxes.find((box) => box.module === selected) ?? boxes[0];
    if (event.key === "Enter" && selected >= 0) zoomInto(selected);
    else if (event.key === "Escape")
      setTop(top >= 0 ? (trace.modules[top]!.parent < 0 ? -2 : trace.modules[top]!.parent) : -2);
    else if (event.key.startsWith("Arrow") && from !== undefined) {
      const next = neighbour(boxes, from, event.key);
      if (next !== undefined) props.select(next.module);
    } else return;
    event.preventDefault();
  };
  if (boxes.length === 0) return <p class="empty">No {metricTitle[metric]} was measured in any module.</p>;
  return (
    <div class="icicle">
      <canvas
        ref={canvas}
        style={{ height: `${levels * kRow}px` }}
        tabIndex={0}
        role="application"
        aria-label={`Modules by ${metricTitle[metric]}. Arrow keys move, Enter zooms into a module, Escape zooms out. The table below has the same data.`}
        onKeyDown={onKeyDown}
        onClick={(event) => props.select(at(event)?.module ?? -2)}
        onDblClick={(event) => zoomInto(at(event)?.module ?? -2)}
        onPointerMove={(event) => {
          const box = at(event);
          setOver(box && { box, x: event.clientX, y: event.clientY });
        }}
        onPointerLeave={() => setOver(undefined)}
      />
      {top >= 0 && (
        <button type="button" class="out" onClick={() => setTop(-2)}>
          Show all modules
        </button>
      )}
      {over !== undefined && (
        <Tip x={over.x} y={over.y}>
          <BoxTip trace={trace} box={over.box} metric={metric} all={boxes[0]!.value} />
        </Tip>
      )}
    </div>
  );
}
