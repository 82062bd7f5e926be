// SPDX-License-Identifier: Apache-2.0
//
// Above and below the timeline: its buttons, and a note on what the page omits.
import type { JSX } from "preact";
import { countText, durationText } from "../data/numbers";
import type { TimelineData } from "../data/timeline";
import type { TimelineCanvas } from "./timeline_canvas";
import { deepest } from "./scatter_points";
import { kLevels } from "./timeline_tracks";
import { zoomed } from "./timeline_zoom";

function Windows({ view }: { view: TimelineCanvas }): JSX.Element | null {
  const { windows } = view.timeline;
  if (windows.length === 0) return null;
  const go = (place: string): void => {
    const window = windows[Number(place)];
    if (window !== undefined) view.show({ from: window.start_ns, to: window.end_ns });
  };
  return (
    <select aria-label="Times with single kernels" value="" onChange={(event) => go(event.currentTarget.value)}>
      <option value="">Single kernels at …</option>
      {windows.map((window, i) => (
        <option key={window.start_ns} value={i}>
          {window.why}, {durationText(window.start_ns)}
        </option>
      ))}
    </select>
  );
}

export interface TimelineToolsProps {
  view: TimelineCanvas;
  /** undefined: no module is selected. */
  instance: ((step: number) => void) | undefined;
  allArrows: boolean;
  showArrows: (all: boolean) => void;
  /** Show all levels of ranges. */
  deep: boolean;
  showDeep: (all: boolean) => void;
}

export function TimelineTools(props: TimelineToolsProps): JSX.Element {
  const { view, instance, allArrows, deep } = props;
  const zoom = (factor: number) => (): void => view.show(zoomed(view.range, view.middle, factor));
  return (
    <div class="tools">
      <button type="button" onClick={() => view.show(view.all)}>
        Everything
      </button>
      <button type="button" aria-label="Zoom in" onClick={zoom(0.5)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={zoom(2)}>
        −
      </button>
      <button type="button" disabled={instance === undefined} onClick={() => instance?.(-1)}>
        Previous instance
      </button>
      <button type="button" disabled={instance === undefined} onClick={() => instance?.(1)}>
        Next instance
      </button>
      <Windows view={view} />
      <label class="check" title="For up to 150 visible launches: zoom in if there are more">
        <input
          type="checkbox"
          checked={allArrows}
          onChange={(event) => props.showArrows(event.currentTarget.checked)}
        />
        arrows from launch to kernel
      </label>
      {deepest(view.trace) > kLevels && (
        <label class="check">
          <input type="checkbox" checked={deep} onChange={(event) => props.showDeep(event.currentTarget.checked)} />
          all {deepest(view.trace)} levels
        </label>
      )}
      <span class="fill" />
      <span class="dim hint">Ctrl + wheel, W S: zoom · drag, A D: move · F: everything · N P: next, previous</span>
    </div>
  );
}

export function TimelineNote({ timeline }: { timeline: TimelineData }): JSX.Element {
  const { whole, work, rangesLeftOut, syncsLeftOut } = timeline;
  return (
    <p class="note">
      {!whole &&
        `${countText(work)} kernels, copies and memsets. At the orange marks at the top the page has each of them, ` +
          "elsewhere it shows how busy each stream was. "}
      {rangesLeftOut > 0 && `${countText(rangesLeftOut)} shorter ranges are not in this page. `}
      {syncsLeftOut > 0 && `${countText(syncsLeftOut)} shorter waits are not in this page. `}
      {"The span of a range on the GPU is from its first to its last kernel or copy. "}
      {timeline.samples.length > 0 && "Grey in rows of bytes: work ran without being sampled."}
    </p>
  );
}
