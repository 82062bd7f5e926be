// SPDX-License-Identifier: Apache-2.0
//
// The icicle: every module as a box, with its kernels as pale leaves. Width: GPU time, bytes, host time, saving, change.
// Hue: the family of modules that differ by numbers only. What the search does not find is dim. A click selects. A double
// click or Enter zooms into a module, Escape zooms out.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { countText, durationText, percentText } from "../data/numbers";
import { kernelKey, metricText, metricTitle, type Metric, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { hueColor, mixed, useTheme, type Theme } from "../theme";
import { fitted, kFont, useCanvas, type Surface } from "../ui/canvas";
import { Tip } from "../ui/tip";
import { layoutOf, neighbour, type Box } from "./icicle_layout";

const kRow = 22;

interface Look {
  trace: Trace;
  theme: Theme;
  metric: Metric;
  selected: Box | undefined;
  hovered: Box | undefined;
  /** In small letters; "": everything. */
  find: string;
}

function colorOf({ trace, theme, metric }: Look, box: Box): string {
  const row = trace.modules[box.module];
  if (row === undefined) return theme.unknown;
  if (metric !== "change") return hueColor(theme, row.family, box.kernel !== undefined);
  const difference = trace.changes.get(row.path)?.difference ?? 0;
  if (difference === 0) return theme.unknown;
  return mixed(difference > 0 ? theme.warn : theme.accent, theme.dark ? "#000000" : "#ffffff", 0.4);
}

/** What the search finds is in the path, as in the table, or in the kernel's name. */
const isFound = ({ trace, find }: Look, { module, name }: Box): boolean =>
  `${trace.modules[module]?.path ?? ""} ${name}`.toLowerCase().includes(find);

function paint({ context, width, height }: Surface, boxes: readonly Box[], look: Look): void {
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
    const y = box.depth * kRow;
    context.globalAlpha = isFound(look, box) ? 1 : 0.3;
    context.fillStyle = colorOf(look, box);
    context.fillRect(x, y, Math.max(0.5, wide - 1), kRow - 1);
    const whole = fitted(context, box.name, wide - 8);
    // Of "layer 12" the number tells more than the beginning.
    const number = /(?:^|[ _.-])(\d+)$/.exec(box.name)?.[1] ?? "";
    const label = whole.endsWith("…") || whole === "" ? fitted(context, number, wide - 4) || whole : whole;
    if (label !== "") {
      context.fillStyle = look.theme.text;
      context.fillText(label, x + 4, y + kRow / 2);
    }
    context.globalAlpha = 1;
    if (box !== look.hovered && box !== look.selected) continue;
    context.strokeStyle = box === look.selected ? look.theme.warn : look.theme.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), kRow - 3);
  }
}

function tipLines(trace: Trace, { module, kernel, value }: Box, metric: Metric, all: number): string[] {
  const row = trace.modules[module];
  const { limit_share: share, limiter } = row ?? trace.tables.outside;
  const out = [`${metricTitle[metric]}: ${metricText(value, metric)}, ${percentText(value / all)}`];
  const change = metric === "change" ? trace.changes.get(row?.path ?? "") : undefined;
  if (change !== undefined)
    out.push(`${durationText(change.a ?? 0)} in A, ${durationText(change.b ?? 0)} in B: ${change.verdict}`);
  if (kernel !== undefined) {
    const { library = "" } = trace.tables.kernels[kernel]!;
    return [...out, library];
  }
  if (row !== undefined) out.push(`${countText(row.calls)} calls, ${countText(row.kernels)} kernels`);
  const bound = limiter === undefined ? "" : `, bound by ${limiter}`;
  if (module >= -1)
    out.push(
      (share === undefined ? "Share of limit not measured" : `${percentText(share)} of the nearest limit`) + bound,
    );
  return out;
}

export function Icicle({ trace, metric }: { trace: Trace; metric: Metric }): JSX.Element {
  const state = useStore();
  const theme = useTheme();
  const top = trace.placeOf(state.zoom) ?? -2;
  const [over, setOver] = useState<{ box: Box; x: number; y: number }>();
  const boxes = useMemo(() => layoutOf(trace, metric, top), [trace, metric, top]);
  const levels = boxes.reduce((max, box) => Math.max(max, box.depth), 0) + 1;
  const module = trace.placeOf(state.module);
  const kernel = state.kernel === undefined ? undefined : trace.kernelByName.get(state.kernel);
  const ofModule = module === undefined ? [] : boxes.filter((box) => box.module === module);
  const selected = ofModule.find((box) => box.kernel === kernel) ?? ofModule[0];
  const find = (state.find ?? "").toLowerCase();
  const look: Look = { trace, theme, metric, selected, hovered: over?.box, find };
  const canvas = useCanvas((surface) => paint(surface, boxes, look), [boxes, theme, metric, selected, over?.box, find]);
  const select = (box: Box | undefined): void =>
    update({
      module: trace.modules[box?.module ?? -2]?.path,
      kernel: box?.kernel === undefined ? undefined : kernelKey(trace.tables.kernels[box.kernel]!),
    });
  const at = (event: MouseEvent): Box | undefined => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = (event.clientX - bounds.left) / bounds.width;
    const depth = Math.floor((event.clientY - bounds.top) / kRow);
    return boxes.find((box) => box.depth === depth && box.x0 <= x && x < box.x1);
  };
  const zoomInto = (one: number): void => update({ zoom: one === top ? undefined : trace.modules[one]?.path });
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && selected !== undefined) zoomInto(selected.module);
    else if (event.key === "Escape") zoomInto(trace.modules[top]?.parent ?? -2);
    else if (event.key.startsWith("Arrow")) {
      const next = neighbour(boxes, selected, event.key);
      if (next !== undefined) select(next);
    } else return;
    event.preventDefault();
  };
  const all = top >= 0 && (
    <button type="button" class="out" onClick={() => zoomInto(-2)}>
      Show all modules
    </button>
  );
  if (boxes.length === 0)
    return (
      <div class="icicle">
        <p class="empty">
          No {metricTitle[metric]} was measured in {top >= 0 ? "this module" : "any module"}.
        </p>
        {all}
      </div>
    );
  return (
    <div class="icicle">
      <canvas
        ref={canvas}
        style={{ height: `${levels * kRow}px` }}
        tabIndex={0}
        role="application"
        aria-label={`Modules by ${metricTitle[metric]}. Arrow keys move, Enter zooms into a module, Escape zooms out. The table below has the same data.`}
        onKeyDown={onKeyDown}
        onClick={(event) => select(at(event))}
        onDblClick={(event) => zoomInto(at(event)?.module ?? -2)}
        onPointerMove={(event) => {
          const box = at(event);
          setOver(box && { box, x: event.clientX, y: event.clientY });
        }}
        onPointerLeave={() => setOver(undefined)}
      />
      {top >= 0 && (
        <>
          {all}
          {!boxes.some((box) => isFound(look, box)) && <p class="empty">The search finds nothing in this module.</p>}
        </>
      )}
      {over !== undefined && (
        <Tip x={over.x} y={over.y}>
          <b>
            <bdi>{over.box.name.slice(0, 300)}</bdi>
          </b>
          {tipLines(trace, over.box, metric, boxes[0]!.value).map((line) => (
            <div key={line}>{line}</div>
          ))}
        </Tip>
      )}
    </div>
  );
}
