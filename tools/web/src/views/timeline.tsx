// SPDX-License-Identifier: Apache-2.0
//
// The timeline: a fixed canvas inside a scroller as tall as all rows, its buttons, the tip at the pointer, and below
// the clicked piece or the sums of the selected part. timeline_canvas.ts draws, timeline_input.ts handles keys and
// pointer.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";
import { current, update, useStore, type State } from "../state";
import { nameColor, useTheme } from "../theme";
import { Tip } from "../ui/tip";
import { AreaStrip } from "./timeline_area";
import { TimelineCanvas } from "./timeline_canvas";
import { HitTip, type Hit } from "./timeline_hit";
import { TimelineInput, type Hovered } from "./timeline_input";
import { PieceStrip } from "./timeline_piece";
import { kTop, type Arrangement, type Piece } from "./timeline_scene";
import { fold, HelpSheet, pin, RowsSheet, startArrangement } from "./timeline_sheets";
import { TimelineNote, TimelineTools, type TimelineOptions } from "./timeline_tools";
import type { Range } from "./timeline_zoom";

const kLabel = "Timeline. W and S zoom, A and D move. The question mark shows all keys.";

function useColors(trace: Trace): { kernelColors: string[]; moduleColors: string[] } {
  const theme = useTheme();
  return useMemo(
    () => ({
      kernelColors: trace.tables.kernels.map((row) => nameColor(theme, row.name)),
      moduleColors: trace.modules.map((row) => nameColor(theme, row.name)),
    }),
    [trace, theme],
  );
}

function withinOf(trace: Trace, path: string | undefined): Uint8Array | undefined {
  const above = trace.placeOf(path);
  if (above === undefined) return undefined;
  return Uint8Array.from(trace.modules, (_, module) => (trace.isWithin(module, above) ? 1 : 0));
}

function rangeOf(from: number | undefined, to: number | undefined): Range | undefined {
  return from !== undefined && to !== undefined && from < to ? { from, to } : undefined;
}

/** Selects a part of the time; undefined: none. */
function mark(area: Range | undefined): void {
  update({ start: area && Math.round(area.from), end: area && Math.round(area.to) });
}

/** Goes to an instance of the selected kernel, else of the selected module. */
function goToSelected(view: TimelineCanvas, step: number): void {
  const { trace } = view;
  const { kernel, module } = current();
  const ofKernel = trace.kernelByName.get(kernel ?? "");
  const ofModule = trace.placeOf(module);
  if (ofKernel !== undefined) view.goToKernel(ofKernel, step);
  else if (ofModule !== undefined) view.goToInstance(ofModule, step);
}

function choose(hit: Hit | undefined): void {
  if (hit?.module !== undefined || hit?.kernel !== undefined) update({ module: hit.module, kernel: hit.kernel });
}

/**
 * Connects the canvas to its elements, to the keys of the window, and to the time range in the link: before it is
 * visible, so that no key is lost.
 */
function useElements(view: TimelineCanvas, input: TimelineInput, state: State): { current: HTMLDivElement | null } {
  const scroller = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = scroller.current!;
    view.scroller = element;
    view.canvas = element.querySelector("canvas");
    view.rested = (range) => update({ from: range?.from, to: range?.to });
    const observer = new ResizeObserver(() => view.request());
    observer.observe(element);
    // Not passive, so that Ctrl + wheel does not zoom the browser.
    element.addEventListener("wheel", input.onWheel, { passive: false });
    window.addEventListener("keydown", input.onKeyDown);
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", input.onWheel);
      window.removeEventListener("keydown", input.onKeyDown);
      view.stop();
    };
  }, [view, input]);
  useLayoutEffect(() => {
    const named = rangeOf(state.from, state.to) ?? view.opening;
    const { from, to } = view.range;
    if (Math.abs(named.from - from) > 1 || Math.abs(named.to - to) > 1) view.show(named);
  }, [state.from, state.to]);
  return scroller;
}

/** Height of what is above and below the rows. */
const kAround = 240;

type SheetName = "rows" | "help";

/** What of the timeline is no part of the link. */
function useLocal(trace: Trace, timeline: TimelineData) {
  const [hovered, hover] = useState<Hovered>();
  const [picked, pick] = useState<Piece>();
  const [sheet, show] = useState<SheetName>();
  const [options, setOptions] = useState<TimelineOptions>({ arrows: false, deep: false, fits: false, selects: false });
  const choose = (change: Partial<TimelineOptions>): void => setOptions((before) => ({ ...before, ...change }));
  const view = useMemo(() => {
    const { from, to } = current();
    return new TimelineCanvas(trace, timeline, options.deep, rangeOf(from, to));
  }, [trace, timeline, options.deep]);
  const [arrangement, arrange] = useState<Arrangement>(() => {
    const room = window.innerHeight - kAround;
    return startArrangement(view.groups, view.height < room);
  });
  useMemo(() => view.arrange(arrangement), [view, arrangement]);
  return { hovered, hover, picked, pick, sheet, show, arrangement, arrange, options, choose, view };
}

function useInput(view: TimelineCanvas, { hover, pick, show, arrange }: ReturnType<typeof useLocal>): TimelineInput {
  return useMemo(
    () =>
      new TimelineInput(view, {
        hover,
        mark,
        choose: (hit) => {
          pick(hit?.piece);
          choose(hit);
        },
        instance: (step) => goToSelected(view, step),
        label: (y) => {
          const group = view.rowAt(y)?.group;
          if (group === undefined) return;
          arrange((of) => (group.title === group.head ? fold(of, view.groups, group.head) : pin(of, group.key)));
        },
        search: () => document.querySelector<HTMLElement>(".timeline .find input")?.focus(),
        help: () => show("help"),
        escape: () => {
          pick(undefined);
          mark(undefined);
        },
      }),
    [view],
  );
}

function Drawn({ trace, timeline }: { trace: Trace; timeline: TimelineData }): JSX.Element {
  const state = useStore();
  const theme = useTheme();
  const colors = useColors(trace);
  const local = useLocal(trace, timeline);
  const { view, hovered, picked, sheet, options } = local;
  const input = useInput(view, local);
  input.selects = options.selects;
  const scroller = useElements(view, input, state);
  const within = useMemo(() => withinOf(trace, state.module), [trace, state.module]);
  const kernel = trace.kernelByName.get(state.kernel ?? "") ?? -1;
  const area = rangeOf(state.start, state.end);
  const { arrows: allArrows, fits } = options;
  view.look = { theme, ...colors, within, kernel, picked, hovered: hovered?.hit.piece, allArrows, area, fits };
  useEffect(() => view.request());
  const { onPointerMove, onPointerDown, onPointerUp, onPointerLeave, onDoubleClick } = input;
  const pointer = { onPointerMove, onPointerDown, onPointerUp, onPointerLeave, onDblClick: onDoubleClick };
  const instance = (step: number): void => goToSelected(view, step);
  const hasSelection = kernel >= 0 || trace.placeOf(state.module) !== undefined;
  const close = (): void => local.show(undefined);

  return (
    <div class="view timeline">
      <TimelineTools
        view={view}
        instance={hasSelection ? instance : undefined}
        found={instance}
        show={local.show}
        options={options}
        choose={local.choose}
      />
      <div
        class="scroller"
        ref={scroller}
        tabIndex={0}
        role="application"
        aria-label={kLabel}
        onScroll={() => {
          view.request();
          input.moved();
        }}
      >
        <div style={{ height: `${view.height + kTop}px`, minHeight: "100%" }}>
          <canvas {...pointer} onPointerCancel={onPointerLeave} />
        </div>
      </div>
      <AreaStrip trace={trace} timeline={timeline} area={area} origin={view.origin} close={() => mark(undefined)} />
      <PieceStrip
        trace={trace}
        timeline={timeline}
        piece={picked}
        origin={view.origin}
        close={() => local.pick(undefined)}
      />
      <TimelineNote timeline={timeline} />
      {hovered !== undefined && !input.dragging && (
        <Tip x={hovered.x} y={hovered.y}>
          <HitTip
            trace={trace}
            timeline={timeline}
            hit={hovered.hit}
            nsOfPixel={hovered.nsOfPixel}
            origin={view.origin}
          />
        </Tip>
      )}
      {sheet === "help" && <HelpSheet close={close} />}
      {sheet === "rows" && (
        <RowsSheet groups={view.groups} arrangement={local.arrangement} arrange={local.arrange} close={close} />
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
