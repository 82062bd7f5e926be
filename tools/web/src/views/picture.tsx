// SPDX-License-Identifier: Apache-2.0
//
// "One replay, byte by byte": the strips of a replay above the rows of its layers.
//
//   pointer over a layer lights it everywhere      click selects its module, also in the address
//   drag over the strips sums a part of the time   click on a cell shows that replay
//
// Keys: up and down light a layer, Enter selects it, left and right show another replay, with Shift the left and
// right arrows select time, Escape ends the selection.
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { bytesText, durationText, percentText, rateText } from "../data/numbers";
import {
  layerAt,
  layerOfModule,
  sumsOf,
  workOf,
  type LimitKey,
  type Picture,
  type Replay,
  type Sums,
} from "../data/overview";
import { shortName, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { useTheme, type Theme } from "../theme";
import { Prose } from "../ui/prose";
import { Tip } from "../ui/tip";
import { useWidth, type SvgPointer } from "../ui/width";
import { follow } from "./overview";
import { pngOf, save, svgText, type LegendEntry } from "./picture_file";
import { errorText, kRow, kHead, PictureRows, replayAt, rowAt, rowShapes, type RowShapes } from "./picture_rows";
import { kLeft, kRight, limitColor, PictureStrips, stripShapes, type StripShapes } from "./picture_strips";

const kDragPx = 4;

function sumText({ ns, read, write, l2, busy, held, idle }: Sums): string {
  return [
    durationText(ns),
    `DRAM ${bytesText(read)} read, ${bytesText(write)} written`,
    `L2 ${bytesText(l2)}`,
    `GPU busy ${durationText(busy)}, idle ${durationText(idle)}`,
    held > 0 ? `held ${durationText(held)}` : "",
  ]
    .filter((text) => text !== "")
    .join("; ");
}

function Live(props: {
  replay: Replay;
  layer: number;
  pinned: boolean;
  strips: StripShapes;
  rows: RowShapes;
  theme: Theme;
  width: number;
}): JSX.Element | null {
  const { replay, layer, strips, rows, theme } = props;
  if (layer < 0) return null;
  const stroke = props.pinned ? { stroke: theme.accent, "stroke-width": "1.5" } : {};
  return (
    <g class="live" pointer-events="none">
      {(replay.spans ?? [])
        .filter((span) => span[4] === layer)
        .map(([start, ns], i) => (
          <rect
            key={i}
            x={strips.x(start)}
            y={0}
            width={Math.max(1, strips.x(start + ns) - strips.x(start))}
            height={strips.bottom - 20}
            fill={theme.accent}
            fill-opacity="0.16"
            {...stroke}
          />
        ))}
      <rect
        x={0}
        y={rows.top + kHead + layer * kRow}
        width={props.width}
        height={kRow}
        fill={theme.accent}
        fill-opacity="0.16"
        {...stroke}
      />
    </g>
  );
}

function LayerTip(props: { picture: Picture; layer: number; cell: number }): JSX.Element {
  const { picture, layer, cell } = props;
  const of = picture.layers[layer]!;
  const one = picture.heat.cells[layer]?.[cell];
  return (
    <>
      <b>
        <bdi>{of.path}</bdi>
      </b>
      <div>
        DRAM {of.text} {errorText(of)}
        {of.peak_text !== undefined && `, ${of.peak_text} of peak`}
        {of.ratio_text !== undefined && `, ${of.ratio_text} its declared bytes`}
      </div>
      {one !== undefined && one !== null && (
        <div>
          iteration {picture.replays[cell]!.iteration}:{" "}
          {one[2] === 1 ? `${bytesText(one[0])} ± ${bytesText(one[1])}` : "its error forbids a number"}
        </div>
      )}
    </>
  );
}

function TimeTip(props: { trace: Trace; picture: Picture; replay: Replay; at: number; layer: number }): JSX.Element {
  const { trace, picture, replay, at, layer } = props;
  const running = workOf(replay).pieces.filter(([start, ns]) => at >= start && at < start + ns);
  const point = workOf(replay).points.find(([start, ns]) => at >= start && at < start + ns);
  const { dram } = picture.scales;
  const share = (bytes: number, ns: number): string =>
    rateText((bytes / ns) * 1e9) +
    (dram.peak ? `, ${percentText(((bytes / ns) * 1e9) / dram.full_bytes_per_s)} of peak` : "");
  return (
    <>
      <b>+{durationText(at)}</b> <bdi>{picture.layers[layer]?.path ?? ""}</bdi>
      {running.slice(0, 3).map(([start, ns, kernel, , isKernel]) => (
        <div key={`${start}-${kernel}`}>
          <bdi>{!isKernel ? "copy" : shortName(trace.tables.kernels[kernel] ?? ({ name: "kernel" } as never))}</bdi>{" "}
          {durationText(ns)}
          {isKernel && <span class="dim"> {picture.limit_texts[picture.limits[kernel] ?? ""]}</span>}
        </div>
      ))}
      {point !== undefined && (
        <>
          <div>DRAM read {share(point[2], point[1])}</div>
          <div>DRAM written {share(point[3], point[1])}</div>
          <div>L2 {rateText((point[4] / point[1]) * 1e9)}</div>
        </>
      )}
    </>
  );
}

function legendOf(picture: Picture, replay: Replay, theme: Theme): LegendEntry[] {
  const used = new Set<LimitKey>(
    workOf(replay)
      .pieces.filter((one) => one[4])
      .map(([, , kernel]) => picture.limits[kernel] ?? ""),
  );
  const out: LegendEntry[] = [...used].map((key) => ({
    text: `kernel ${picture.limit_texts[key]}`,
    color: limitColor(theme, key),
  }));
  out.push({ text: "less DRAM than the layer's median", color: theme.accent });
  const cells = picture.heat.cells.flat();
  const isSure = cells.some((cell) => cell?.[3] === 1 && cell[2] === 1);
  const dots = `; ${isSure ? "a dot: by more than the error" : "no difference is larger than the error"}`;
  out.push({ text: `more, full at 20 %${dots}; empty: its error forbids a number`, color: theme.warn });
  out.push({ text: "framed: what is drawn above it" });
  if ((replay.bands ?? []).some(({ read, write, l2 }) => read ?? write ?? l2))
    out.push({ text: "grey band: the layer's bytes within their error, over its time" });
  if ((replay.lost ?? []).length > 0) out.push({ text: "hatched: samples were lost" });
  if ((replay.held ?? []).length > 0) out.push({ text: "hatched from the top: held by the profiler" });
  if (replay.omitted !== undefined) out.push({ text: `${replay.omitted} shorter pieces of work are not drawn` });
  return out;
}

function Legend({ entries }: { entries: readonly LegendEntry[] }): JSX.Element {
  return (
    <div class="keys">
      {entries.map(({ text, color }) => (
        <span key={text}>
          {color !== undefined && (
            <svg width="11" height="11" aria-hidden="true">
              <rect width="11" height="11" fill={color} />
            </svg>
          )}
          {text}
        </span>
      ))}
    </div>
  );
}

type Drag = [from: number, to: number];

export function PictureView({ trace, picture }: { trace: Trace; picture: Picture }): JSX.Element {
  const theme = useTheme();
  const state = useStore();
  const [box, width] = useWidth<HTMLDivElement>();
  const svg = useRef<SVGSVGElement>(null);
  const [hover, setHover] = useState<{ layer: number; cell: number; at?: number; x: number; y: number }>();
  const [drag, setDrag] = useState<Drag>();
  const began = useRef<number | undefined>(undefined);
  const chosen = picture.replays.findIndex((one) => one.iteration === state.replay && one.spans !== undefined);
  const shown = chosen < 0 ? picture.median : chosen;
  const replay = picture.replays[shown]!;
  const length = replay.to - replay.from;
  const { what = "iteration" } = trace.tables.overview;
  const strips = stripShapes(replay, width);
  const rows = rowShapes(picture, strips.bottom + 6, width);
  const pinned = layerOfModule(picture.layers, state.module);
  const lit = hover !== undefined && hover.layer >= 0 ? hover.layer : pinned;
  const clamped = (at: number): number => Math.max(0, Math.min(length, at));

  const pin = (layer: number): void =>
    update({ module: layer < 0 || layer === pinned ? undefined : picture.layers[layer]!.path });
  const showReplay = (index: number): void => {
    const of = picture.replays[index];
    if (of === undefined) return;
    if (of.spans === undefined) return follow(trace, { text: "", view: "timeline", from: of.from, to: of.to });
    setDrag(undefined);
    update({ replay: index === picture.median ? undefined : of.iteration });
  };
  const place = (event: SvgPointer): { x: number; y: number } => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const onMove = (event: SvgPointer): void => {
    const { x, y } = place(event);
    const pointer = { x: event.clientX, y: event.clientY };
    const at = clamped(strips.at(x));
    if (began.current !== undefined) {
      if (Math.abs(strips.x(began.current) - x) > kDragPx || drag !== undefined)
        setDrag([Math.min(began.current, at), Math.max(began.current, at)]);
      return;
    }
    if (y < strips.bottom) {
      const inside = x >= kLeft && x <= width - kRight;
      setHover(inside ? { layer: layerAt(replay, at), cell: -1, at, ...pointer } : undefined);
    } else {
      const layer = rowAt(picture, rows, y);
      setHover(layer < 0 ? undefined : { layer, cell: replayAt(picture, rows, x), ...pointer });
    }
  };
  const onDown = (event: SvgPointer & PointerEvent): void => {
    const { x, y } = place(event);
    if (y >= strips.bottom || x < kLeft || event.button !== 0) return;
    began.current = clamped(strips.at(x));
    setDrag(undefined);
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onUp = (event: SvgPointer): void => {
    const { x, y } = place(event);
    const wasDrag = drag !== undefined;
    const inStrips = began.current !== undefined;
    began.current = undefined;
    if (wasDrag && inStrips) return;
    if (inStrips) return pin(layerAt(replay, clamped(strips.at(x))));
    const layer = rowAt(picture, rows, y);
    const cell = replayAt(picture, rows, x);
    if (layer >= 0 && cell >= 0) showReplay(cell);
    else if (layer >= 0) pin(layer);
  };
  const onKey = (event: KeyboardEvent): void => {
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Escape") {
      setDrag(undefined);
      setHover(undefined);
    } else if (event.key === "Enter" && lit >= 0) pin(lit);
    else if (across !== undefined && event.shiftKey) {
      const [from, to] = drag ?? [0, 0];
      setDrag([from, clamped(Math.max(from, to + (across * length) / 50))]);
    } else if (across !== undefined) {
      for (let i = shown + across; i >= 0 && i < picture.replays.length; i += across) {
        if (picture.replays[i]!.spans === undefined) continue;
        showReplay(i);
        break;
      }
    } else if (down !== undefined) {
      const layer = Math.max(0, Math.min(picture.layers.length - 1, lit + down));
      setHover({ layer, cell: -1, x: -1, y: -1 });
    } else return;
    event.preventDefault();
  };
  // The pointer changes only what lies above it.
  const drawn = useMemo(
    () => (
      <>
        <PictureStrips picture={picture} replay={replay} shapes={strips} theme={theme} width={width} />
        <PictureRows picture={picture} shapes={rows} theme={theme} width={width} replay={shown} what={what} />
      </>
    ),
    [picture, shown, theme, width],
  );
  const legend = legendOf(picture, replay, theme);
  const keep = async (png: boolean): Promise<void> => {
    const text = svgText(svg.current!, picture, legend, theme);
    const name = `${trace.title}-${what}-${replay.iteration}`.replace(/[^\w.-]+/g, "_");
    if (png) save(await pngOf(text), `${name}.png`);
    else save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  };
  return (
    <section class="picture" aria-label={`One ${what}, byte by byte`}>
      <h2>
        <Prose text={picture.headline} />
      </h2>
      <div class="tools">
        <span>
          One {what}, byte by byte: {what} {replay.iteration}
          {shown === picture.median && ", the median one"}, {durationText(length)}
        </span>
        {shown !== picture.median && (
          <button type="button" onClick={() => showReplay(picture.median)}>
            Median {what}
          </button>
        )}
        <span class="fill" />
        <button type="button" onClick={() => void keep(false)}>
          SVG
        </button>
        <button type="button" onClick={() => void keep(true)}>
          PNG
        </button>
      </div>
      <div ref={box}>
        <svg
          ref={svg}
          width={width}
          height={rows.bottom + 4}
          tabindex={0}
          role="group"
          aria-label={`${what} ${replay.iteration}: ${picture.layers.length} layers. Up and down light a layer, Enter selects it, left and right show another ${what}, Shift with them selects time`}
          onPointerMove={onMove}
          onPointerDown={onDown}
          onPointerUp={onUp}
          onPointerLeave={() => began.current === undefined && setHover(undefined)}
          onKeyDown={onKey}
        >
          <defs>
            <pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="6" height="6" fill={theme.page} fill-opacity="0.6" />
              <line x1="0" y1="0" x2="0" y2="6" stroke={theme.dim} stroke-width="2" />
            </pattern>
          </defs>
          {drawn}
          <Live
            replay={replay}
            layer={lit}
            pinned={lit === pinned}
            strips={strips}
            rows={rows}
            theme={theme}
            width={width}
          />
          {drag !== undefined && (
            <rect
              class="live"
              x={strips.x(drag[0])}
              y={0}
              width={Math.max(1, strips.x(drag[1]) - strips.x(drag[0]))}
              height={strips.bottom - 20}
              fill={theme.text}
              fill-opacity="0.12"
              stroke={theme.text}
            />
          )}
        </svg>
      </div>
      <p class="sums" aria-live="polite">
        {drag === undefined
          ? "Drag over the strips to sum a part of the time."
          : `Selected: ${sumText(sumsOf(replay, drag[0], drag[1]))}`}
      </p>
      <Legend entries={legend} />
      <p class="caption dim">{picture.caption}</p>
      {hover !== undefined && hover.x >= 0 && drag === undefined && (
        <Tip x={hover.x} y={hover.y}>
          {hover.at === undefined ? (
            <LayerTip picture={picture} layer={hover.layer} cell={hover.cell} />
          ) : (
            <TimeTip trace={trace} picture={picture} replay={replay} at={hover.at} layer={hover.layer} />
          )}
        </Tip>
      )}
    </section>
  );
}
