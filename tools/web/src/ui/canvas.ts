// SPDX-License-Identifier: Apache-2.0
//
// A canvas in device pixels, drawn at most once per frame.
import { useEffect, useRef } from "preact/hooks";

export interface Surface {
  context: CanvasRenderingContext2D;
  width: number;
  height: number;
}

/** Sizes the canvas to its element; undefined while it has no size. */
export function surfaceOf(canvas: HTMLCanvasElement): Surface | undefined {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return undefined;
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d");
  if (context === null) return undefined;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

export const kFont = '12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const widths = new Map<string, number>();
/** Longest beginning of `text` that fits, with an ellipsis; "" if fewer than three characters fit. */
export function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (room < 18) return "";
  const short = text.length > 300 ? text.slice(0, 300) : text;
  let width = widths.get(short);
  if (width === undefined) {
    width = context.measureText(short).width;
    if (widths.size > 20000) widths.clear();
    widths.set(short, width);
  }
  if (width <= room) return short;
  const characters = Math.floor((short.length * (room - 15)) / width);
  return characters < 3 ? "" : `${short.slice(0, characters)}…`;
}

/** Draws when a value in `on` or the element's size changes. */
export function useCanvas(
  draw: (surface: Surface) => void,
  on: readonly unknown[],
): { current: HTMLCanvasElement | null } {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const frame = useRef(0);
  const request = (): void => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const surface = canvas.current === null ? undefined : surfaceOf(canvas.current);
      if (surface !== undefined) latest.current(surface);
    });
  };
  useEffect(request, on);
  useEffect(() => {
    const observer = new ResizeObserver(request);
    if (canvas.current !== null) observer.observe(canvas.current);
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, []);
  return canvas;
}
