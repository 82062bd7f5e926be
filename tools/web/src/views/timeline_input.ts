// SPDX-License-Identifier: Apache-2.0
//
// Wheel, pointer and keys of the timeline.
//
//   wheel with Ctrl, + and −, W and S   zoom at the pointer          drag, A and D, arrows   move
//   double click, Enter                 zoom to the piece            F                       everything
//   N, P                                next, previous instance of the selected module
import type { TimelineCanvas } from "./timeline_canvas";
import type { Hit } from "./timeline_hit";
import { kLabels, kOverview } from "./timeline_scene";
import { moved, zoomed, type Range } from "./timeline_zoom";

/** A press that moves further is a drag. */
const kDragPixels = 3;
const kZoomStep = 0.7;
const kMoveStep = 0.15;
const kPixelsOfWheelLine = 20;

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
  escape: () => void;
}

export class TimelineInput {
  private drag: { x: number; range: Range; overview: boolean; far: boolean } | undefined;
  private hovered: Hovered | undefined;

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
  };

  readonly onPointerMove = (event: PointerEvent): void => {
    const { view } = this;
    view.pointer = view.pointOf(event);
    const held = this.drag;
    if (held === undefined) {
      const hit = view.find(view.pointer);
      this.hovered = hit && { hit, x: event.clientX, y: event.clientY, nsOfPixel: view.nsOfPixel };
      this.events.hover(this.hovered);
      return view.request();
    }
    const by = (view.pointer.x - held.x) / view.width;
    if (Math.abs(by * view.width) > kDragPixels) held.far = true;
    if (!held.far) return;
    const { all } = view;
    const part = held.overview ? (all.to - all.from) / (held.range.to - held.range.from) : -1;
    view.show(moved(held.range, by * part));
  };

  readonly onPointerDown = (event: PointerEvent): void => {
    const { view } = this;
    const at = view.pointOf(event);
    if (event.button !== 0 || at.x < kLabels) return;
    view.scroller!.focus();
    view.canvas!.setPointerCapture(event.pointerId);
    const overview = at.y < kOverview;
    if (overview) this.bringInto(view.all.from + ((at.x - kLabels) / view.width) * (view.all.to - view.all.from));
    this.drag = { x: at.x, range: view.range, overview, far: false };
  };

  readonly onPointerUp = (event: PointerEvent): void => {
    const held = this.drag;
    this.drag = undefined;
    if (held !== undefined && !held.far && !held.overview) this.events.choose(this.view.find(this.view.pointOf(event)));
  };

  readonly onPointerLeave = (): void => {
    this.view.pointer = undefined;
    this.hovered = undefined;
    this.events.hover(undefined);
    this.view.request();
  };

  readonly onDoubleClick = (event: MouseEvent): void => this.view.zoomTo(this.view.find(this.view.pointOf(event)));

  readonly onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = this.actions()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    action();
    event.preventDefault();
  };

  private actions(): Record<string, () => void> {
    const { view, events } = this;
    const at = view.pointer !== undefined && view.pointer.x > kLabels ? view.timeAt(view.pointer.x) : view.middle;
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
      f: () => view.show(view.all),
      n: () => events.instance(1),
      p: () => events.instance(-1),
      Enter: () => view.zoomTo(this.hovered?.hit),
      Escape: events.escape,
    };
  }

  /** Centres the range on `time` if `time` is outside of it. */
  private bringInto(time: number): void {
    const { from, to } = this.view.range;
    const half = (to - from) / 2;
    if (time < from || time > to) this.view.show({ from: time - half, to: time + half });
  }
}
