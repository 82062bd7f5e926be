// SPDX-License-Identifier: Apache-2.0
//
// Wheel, pointer and keys of the timeline.
//
//   wheel with Ctrl, two fingers, + and −, W and S   zoom at the pointer      drag, A and D, arrows   move
//   double click, Enter                              zoom to the piece        drag with Shift         select a part
//   F   the selected part or piece, else everything     M   select the piece under the pointer, or the view
//   N, P   next, previous instance of the selected module or kernel       /   search     ?   help
//
// Letters work without a click: the whole window listens, except while one types.
import type { TimelineCanvas } from "./timeline_canvas";
import type { Hit } from "./timeline_hit";
import { kOverview } from "./timeline_scene";
import { around, moved, zoomed, type Range } from "./timeline_zoom";

/** A press that moves further is a drag. */
const kDragPixels = 3;
const kZoomStep = 0.7;
const kMoveStep = 0.15;
const kPixelsOfWheelLine = 20;
const kRestMs = 100;

export interface Hovered {
  hit: Hit;
  x: number;
  y: number;
  nsOfPixel: number;
}

export interface InputEvents {
  hover: (hovered: Hovered | undefined) => void;
  /** A click; undefined: on an empty place. */
  choose: (hit: Hit | undefined) => void;
  instance: (step: number) => void;
  /** Selects a part; undefined: none. */
  mark: (area: Range | undefined) => void;
  /** A click on the label of a row, or on a head. */
  label: (y: number) => void;
  search: () => void;
  help: () => void;
  escape: () => void;
}

interface Drag {
  x: number;
  y: number;
  range: Range;
  scroll: number;
  kind: "move" | "overview" | "select";
  far: boolean;
}

/** Where letters are text, or a list, a menu or a sheet has its own keys. A checkbox has none but the space bar. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog[open]") !== null) return true;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || target.closest("input, select, textarea, [role=tablist], [role=grid]") !== null;
}

export class TimelineInput {
  /** A drag selects, without Shift: for fingers. */
  selects = false;
  private drag: Drag | undefined;
  private hovered: Hovered | undefined;
  private rest = 0;
  /** Where the pointer is in the window. */
  private client: { x: number; y: number } | undefined;
  /** Fingers on the canvas, by pointer. */
  private readonly fingers = new Map<number, number>();

  constructor(
    private readonly view: TimelineCanvas,
    private readonly events: InputEvents,
  ) {}

  get dragging(): boolean {
    return this.drag?.far === true;
  }

  readonly onWheel = (event: WheelEvent): void => {
    const { view } = this;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? kPixelsOfWheelLine : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      const by = Math.max(-300, Math.min(300, event.deltaY * lines));
      view.show(zoomed(view.range, view.timeAt(view.pointOf(event).x), 1.0015 ** by));
    } else if (event.shiftKey || Math.abs(sideways) > Math.abs(event.deltaY)) {
      view.show(moved(view.range, (sideways * lines) / 1000));
    } else return; // the scroller handles vertical scrolling
    event.preventDefault();
    this.client = { x: event.clientX, y: event.clientY };
    view.pointer = view.pointOf(event);
    this.moved();
  };

  /** The rows or the time moved below the pointer: the tip waits until they rest, and is of what is there then. */
  readonly moved = (): void => {
    if (this.hovered !== undefined) this.events.hover((this.hovered = undefined));
    window.clearTimeout(this.rest);
    this.rest = window.setTimeout(this.hoverAgain, kRestMs);
  };

  readonly hoverAgain = (): void => {
    const { view, client } = this;
    if (client === undefined || view.pointer === undefined || this.drag !== undefined) return;
    const hit = view.find(view.pointer);
    this.hovered = hit && { hit, ...client, nsOfPixel: view.nsOfPixel };
    this.events.hover(this.hovered);
    view.request();
  };

  readonly onPointerMove = (event: PointerEvent): void => {
    const { view } = this;
    const before = this.fingers.get(event.pointerId);
    view.pointer = view.pointOf(event);
    this.client = { x: event.clientX, y: event.clientY };
    if (before !== undefined && this.fingers.size === 2) return this.pinch(event.pointerId, before, view.pointer.x);
    if (before !== undefined) this.fingers.set(event.pointerId, view.pointer.x);
    const held = this.drag;
    if (held === undefined) return this.hoverAgain();
    const by = (view.pointer.x - held.x) / view.width;
    if (Math.hypot(view.pointer.x - held.x, view.pointer.y - held.y) > kDragPixels) held.far = true;
    if (!held.far) return;
    if (held.kind === "select") {
      // Sums wait for the end of the drag.
      view.selecting = this.between(held.x, view.pointer.x);
      return view.request();
    }
    if (event.pointerType === "touch") view.scroller!.scrollTop = held.scroll - (view.pointer.y - held.y);
    const { all } = view;
    const part = held.kind === "overview" ? (all.to - all.from) / (held.range.to - held.range.from) : -1;
    view.show(moved(held.range, by * part));
  };

  readonly onPointerDown = (event: PointerEvent): void => {
    const { view } = this;
    const at = view.pointOf(event);
    if (event.button !== 0) return;
    if (at.x < view.labels || view.rowAt(at.y)?.track.type === "head") return this.events.label(at.y);
    view.scroller!.focus({ preventScroll: true });
    view.canvas!.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, at.x);
    const kind = at.y < kOverview ? "overview" : event.shiftKey || this.selects ? "select" : "move";
    if (kind === "overview")
      this.bringInto(view.all.from + ((at.x - view.labels) / view.width) * (view.all.to - view.all.from));
    this.drag = { ...at, range: view.range, scroll: view.scroller!.scrollTop, kind, far: false };
  };

  readonly onPointerUp = (event: PointerEvent): void => {
    const held = this.drag;
    this.drag = undefined;
    this.fingers.delete(event.pointerId);
    const { selecting } = this.view;
    this.view.selecting = undefined;
    if (selecting !== undefined) this.events.mark(selecting);
    if (held === undefined || held.far || held.kind === "overview") return;
    this.events.choose(this.view.find(this.view.pointOf(event)));
  };

  readonly onPointerLeave = (event: PointerEvent): void => {
    this.fingers.delete(event.pointerId);
    this.view.selecting = undefined;
    this.view.pointer = undefined;
    this.client = undefined;
    this.hovered = undefined;
    this.events.hover(undefined);
    this.view.request();
  };

  readonly onDoubleClick = (event: MouseEvent): void => this.view.zoomTo(this.view.find(this.view.pointOf(event)));

  /** Of the whole window. */
  readonly onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) return;
    const isLetter = event.key.length === 1;
    const isFree = isLetter || event.key === "Escape";
    // Enter and arrows are those of a focused button or link, unless it is the timeline.
    if (!isFree && event.target !== document.body && event.target !== this.view.scroller) return;
    const action = this.actions()[isLetter ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    action();
    event.preventDefault();
    this.moved();
  };

  private actions(): Record<string, () => void> {
    const { view, events } = this;
    const at = view.pointer !== undefined && view.pointer.x > view.labels ? view.timeAt(view.pointer.x) : view.middle;
    const zoom = (factor: number) => (): void => view.show(zoomed(view.range, at, factor));
    const move = (part: number) => (): void => view.show(moved(view.range, part));
    return {
      w: zoom(kZoomStep),
      "+": zoom(kZoomStep),
      "=": zoom(kZoomStep),
      s: zoom(1 / kZoomStep),
      "-": zoom(1 / kZoomStep),
      a: move(-kMoveStep),
      ArrowLeft: move(-kMoveStep),
      d: move(kMoveStep),
      ArrowRight: move(kMoveStep),
      f: () => view.show(this.focused()),
      m: () => events.mark(this.marked()),
      n: () => events.instance(1),
      p: () => events.instance(-1),
      "/": events.search,
      "?": events.help,
      Enter: () => view.zoomTo(this.hovered?.hit),
      Escape: events.escape,
    };
  }

  private focused(): Range {
    const { view } = this;
    const { area, picked } = view.look ?? {};
    if (area !== undefined) return around(area.from, area.to, 0.05);
    const spans = picked && view.timeline.lanes[picked.lane]!.spans;
    return spans === undefined ? view.all : around(spans.start[picked!.place]!, spans.end[picked!.place]!, 0.5);
  }

  /** What M selects; undefined: it is selected. */
  private marked(): Range | undefined {
    const { view } = this;
    const { from, to } = this.hovered?.hit ?? {};
    const range = from !== undefined && to !== undefined ? { from, to } : view.range;
    const { area } = view.look ?? {};
    return area?.from === Math.round(range.from) && area.to === Math.round(range.to) ? undefined : range;
  }

  private between(a: number, b: number): Range {
    const { view } = this;
    const time = (x: number): number => view.timeAt(Math.max(view.labels, x));
    return { from: time(Math.min(a, b)), to: time(Math.max(a, b)) };
  }

  /** Two fingers: the times below them stay there. */
  private pinch(pointer: number, before: number, x: number): void {
    const { view } = this;
    const other = [...this.fingers].find(([id]) => id !== pointer)?.[1] ?? x;
    this.fingers.set(pointer, x);
    this.drag = undefined;
    const factor = Math.abs(before - other) / Math.max(1, Math.abs(x - other));
    view.show(zoomed(view.range, view.timeAt(other), Math.min(4, Math.max(0.25, factor))));
  }

  /** Centres the range on `time` if `time` is outside of it. */
  private bringInto(time: number): void {
    const { from, to } = this.view.range;
    const half = (to - from) / 2;
    if (time < from || time > to) this.view.show({ from: time - half, to: time + half });
  }
}
