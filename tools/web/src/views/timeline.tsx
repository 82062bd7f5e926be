// SPDX-License-Identifier: Apache-2.0
//
// The timeline: a fixed canvas inside a scroller as tall as all rows, its buttons, the tip at the pointer and the
// clicked piece. timeline_canvas.ts draws, timeline_input.ts handles keys and pointer.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";
import { current, update, useStore, type State } from "../state";
import { nameColor, useTheme } from "../theme";
import { Tip } from "../ui/tip";
import { TimelineCanvas } from "./timeline_canvas";
import { HitTip, type Hit } from "./timeline_hit";
import { TimelineInput, type Hovered } from "./timeline_input";
import { PieceStrip } from "./timeline_piece";
import { kTop, type Piece } from "./timeline_scene";
import { TimelineNote, TimelineTools } from "./timeline_tools";
import type { Range } from "./timeline_zoom";

const kLabel =
  "Timeline. W and S zoom, A and D move, N and P go to the next and previous instance of the selected module.";

function useColors(trace: Trace): { kernelColors: string[]; moduleColors: string[] } {
  const theme = useTheme();
  return useMemo(
    () => ({
      kernelColors: trace.tables.kernels.map((row) => nameColor(theme, row.name)),
      moduleColors: trace.modules.map((row) => nameColor(theme, row.name.replace(/\d+/g, "*"))),
    }),
    [trace, theme],
  );
}

function withinOf(trace: Trace, path: string | undefined): Uint8Array | undefined {
  const above = trace.placeOf(path);
  if (above === undefined) return undefined;
  return Uint8Array.from(trace.modules, (_, module) => (trace.isWithin(module, above) ? 1 : 0));
}

function rangeOf({ from, to }: State): Range | undefined {
  return from !== undefined && to !== undefined && from < to ? { from, to } : undefined;
}

function choose(hit: Hit | undefined): void {
  if (hit?.module !== undefined || hit?.kernel !== undefined) update({ module: hit.module, kernel: hit.kernel });
}

/** Connects the canvas to its elements, and to the time range in the link. */
function useElements(view: TimelineCanvas, input: TimelineInput, state: State): { current: HTMLDivElement | null } {
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = scroller.current!;
    view.scroller = element;
    view.canvas = element.querySelector("canvas");
    view.rested = (range) => update({ from: range?.from, to: range?.to });
    const observer = new ResizeObserver(() => view.request());
    observer.observe(element);
    // Not passive, so that Ctrl + wheel does not zoom the browser.
    element.addEventListener("wheel", input.onWheel, { passive: false });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", input.onWheel);
      view.stop();
    };
  }, [view, input]);
  useEffect(() => {
    const named = rangeOf(state);
    const { from, to } = view.range;
    if (named !== undefined && (Math.abs(named.from - from) > 1 || Math.abs(named.to - to) > 1)) view.show(named);
  }, [state.from, state.to]);
  return scroller;
}

function Drawn({ trace, timeline }: { trace: Trace; timeline: TimelineData }): JSX.Element {
  const state = useStore();
  const theme = useTheme();
  const colors = useColors(trace);
  const [hovered, hover] = useState<Hovered>();
  const [picked, pick] = useState<Piece>();
  const [allArrows, showArrows] = useState(false);
  const [deep, showDeep] = useState(false);
  const view = useMemo(() => new TimelineCanvas(trace, timeline, deep, rangeOf(current())), [trace, timeline, deep]);
  const instance = (step: number): void => {
    const module = trace.placeOf(current().module);
    if (module !== undefined) view.goToInstance(module, step);
  };
  const input = useMemo(() => {
    const onClick = (hit: Hit | undefined): void => {
      pick(hit?.piece);
      choose(hit);
    };
    return new TimelineInput(view, { hover, choose: onClick, instance, escape: () => pick(undefined) });
  }, [view]);
  const scroller = useElements(view, input, state);
  const within = useMemo(() => withinOf(trace, state.module), [trace, state.module]);
  const kernel = trace.kernelByName.get(state.kernel ?? "") ?? -1;
  view.look = { theme, ...colors, within, kernel, picked, hovered: hovered?.hit.piece, allArrows };
  useEffect(() => view.request());
  const { onPointerMove, onPointerDown, onPointerUp, onPointerLeave, onDoubleClick, onKeyDown } = input;
  const pointer = { onPointerMove, onPointerDown, onPointerUp, onPointerLeave, onDblClick: onDoubleClick };
  const module = trace.placeOf(state.module);

  return (
    <div class="view timeline">
      <TimelineTools
        view={view}
        instance={module === undefined ? undefined : instance}
        allArrows={allArrows}
        showArrows={showArrows}
        deep={deep}
        showDeep={showDeep}
      />
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="application"
        aria-label={kLabel}
        onKeyDown={onKeyDown}
        onScroll={() => view.request()}
      >
        <div style={{ height: `${view.height + kTop}px`, minHeight: "100%" }}>
          <canvas {...pointer} />
        </div>
      </div>
      <PieceStrip trace={trace} timeline={timeline} piece={picked} close={() => pick(undefined)} />
      <TimelineNote timeline={timeline} />
      {hovered !== undefined && !input.dragging && (
        <Tip x={hovered.x} y={hovered.y}>
          <HitTip trace={trace} timeline={timeline} hit={hovered.hit} nsOfPixel={hovered.nsOfPixel} />
        </Tip>
      )}
    </div>
  );
}

export function TimelineView({ trace, timeline }: { trace: Trace; timeline: TimelineData | undefined }): JSX.Element {
  if (timeline !== undefined) return <Drawn trace={trace} timeline={timeline} />;
  return (
    <div class="view">
      <p class="empty">Unpacking the timeline …</p>
    </div>
  );
}
