// SPDX-License-Identifier: Apache-2.0
//
// Below the strips, a row a layer: its DRAM bytes in each replay against their median, and a bar of the bytes that
// it moves in a replay, with a line at the declared bytes.
//
//   layer 17   ▒▒▓▒▒░▒▒▒  ▮▮▮▮▮▮▮▮|  168 MB  1.00x       a dot: the difference is larger than the error
import type { JSX } from "preact";
import type { HeatCell, Picture, PictureLayer } from "../data/overview";
import { layerColors, mixed, type Theme } from "../theme";
import { kFont } from "../ui/canvas";
import { kLeft, kRight } from "./picture_strips";

export const kRow = 15;
export const kHead = 22;
/** Colours end at this difference from the median. */
const kFull = 0.2;
const kBars = 300;
const kText = 112;

export interface RowShapes {
  top: number;
  cell: number;
  bars: number;
  barWidth: number;
  bottom: number;
}

export function rowShapes(picture: Picture, top: number, width: number): RowShapes {
  const inside = width - kLeft - kRight;
  const bars = Math.min(kBars, inside * 0.5);
  const cell = Math.min(56, Math.max(2, (inside - bars - 16) / Math.max(1, picture.replays.length)));
  return {
    top,
    cell,
    bars: kLeft + cell * picture.replays.length + 16,
    barWidth: Math.max(20, width - kRight - (kLeft + cell * picture.replays.length + 16) - kText),
    bottom: top + kHead + picture.layers.length * kRow,
  };
}

export const rowAt = (picture: Picture, shapes: RowShapes, y: number): number => {
  const row = Math.floor((y - shapes.top - kHead) / kRow);
  return row >= 0 && row < picture.layers.length ? row : -1;
};
export const replayAt = (picture: Picture, shapes: RowShapes, x: number): number => {
  const replay = Math.floor((x - kLeft) / shapes.cell);
  return replay >= 0 && replay < picture.replays.length ? replay : -1;
};

/** undefined: no number. */
export function heatColor(theme: Theme, cell: HeatCell, median: number): string | undefined {
  if (cell === null || cell[2] === 0 || median <= 0) return undefined;
  const difference = Math.max(-1, Math.min(1, (cell[0] / median - 1) / kFull));
  const middle = theme.dark ? "#3a4350" : "#e9edf2";
  return mixed(middle, difference > 0 ? theme.warn : theme.accent, Math.abs(difference));
}

/** The bound, or why there is no number. */
export const errorText = ({ shown, error }: PictureLayer): string | undefined =>
  error === undefined ? undefined : shown ? `± ${error}` : error;

let measure: CanvasRenderingContext2D | null | undefined;

/** The end of a text that fits: the end of a path says most. */
function endOf(text: string, room: number): string {
  measure ??= document.createElement("canvas").getContext("2d");
  if (measure === null) return text;
  measure.font = kFont.replace("12px", "11px");
  let shown = text;
  for (let from = 1; measure.measureText(shown).width > room && from < text.length; ++from)
    shown = `…${text.slice(from)}`;
  return shown;
}

function Row(props: {
  picture: Picture;
  layer: number;
  shapes: RowShapes;
  theme: Theme;
  color: string;
  most: number;
  width: number;
}): JSX.Element {
  const { picture, layer, shapes, theme } = props;
  const of = picture.layers[layer]!;
  const y = shapes.top + kHead + layer * kRow;
  const median = picture.heat.medians[layer] ?? 0;
  const long = (bytes: number): number => (bytes / props.most) * shapes.barWidth;
  return (
    <g>
      <text x={kLeft - 8} y={y + 11} text-anchor="end" font-size="11" fill={theme.text}>
        {endOf(of.name, kLeft - 12)}
      </text>
      {picture.heat.cells[layer]!.map((cell, i) => {
        const fill = heatColor(theme, cell, median);
        const x = kLeft + i * shapes.cell;
        return (
          <g key={i}>
            <rect
              x={x + 0.5}
              y={y + 1}
              width={Math.max(1, shapes.cell - 1)}
              height={kRow - 2}
              fill={fill ?? "none"}
              {...(fill === undefined ? { stroke: theme.line } : {})}
            />
            {cell?.[3] === 1 && cell[2] === 1 && (
              <circle cx={x + shapes.cell / 2} cy={y + kRow / 2} r="1.8" fill={theme.text} />
            )}
          </g>
        );
      })}
      {of.shown && <rect x={shapes.bars} y={y + 2} width={long(of.each_bytes)} height={kRow - 4} fill={props.color} />}
      {of.declared_each_bytes !== undefined && (
        <rect x={shapes.bars + long(of.declared_each_bytes) - 1} y={y} width="2" height={kRow} fill={theme.text} />
      )}
      <text x={shapes.bars + shapes.barWidth + 6} y={y + 11} font-size="11" fill={theme.text}>
        {[of.text, of.ratio_text ?? errorText(of)].filter((text) => text !== undefined).join("  ")}
      </text>
    </g>
  );
}

export function PictureRows(props: {
  picture: Picture;
  shapes: RowShapes;
  theme: Theme;
  width: number;
  replay: number;
  what: string;
}): JSX.Element {
  const { picture, shapes, theme, replay } = props;
  const most = Math.max(1, ...picture.layers.flatMap((one) => [one.each_bytes, one.declared_each_bytes ?? 0]));
  const declared = picture.layers.some((one) => one.declared_each_bytes !== undefined);
  const head = (x: number, text: string): JSX.Element => (
    <text x={x} y={shapes.top + 14} font-size="11" font-weight="600" fill={theme.text}>
      {text}
    </text>
  );
  const colors = layerColors(theme, picture.layers);
  const heatWide = shapes.cell * picture.replays.length;
  return (
    <g>
      {head(
        kLeft,
        heatWide > 340
          ? `DRAM bytes in each ${props.what}, against the layer's median`
          : heatWide > 150
            ? "DRAM, against median"
            : "DRAM",
      )}
      {head(shapes.bars, declared ? "moved, | declared" : "moved (mean)")}
      {picture.layers.map((_, layer) => (
        <Row key={layer} layer={layer} color={colors[layer]!} most={most} {...props} />
      ))}
      <rect
        x={kLeft + replay * shapes.cell}
        y={shapes.top + kHead}
        width={shapes.cell}
        height={picture.layers.length * kRow}
        fill="none"
        stroke={theme.text}
      />
    </g>
  );
}
