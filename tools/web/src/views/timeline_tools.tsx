// SPDX-License-Identifier: Apache-2.0
//
// Above and below the timeline: its buttons, and a note on what the page omits.
import type { JSX } from "preact";
import { countText, durationText } from "../data/numbers";
import type { TimelineData } from "../data/timeline";
import type { TimelineCanvas } from "./timeline_canvas";
import { TimelineFind } from "./timeline_find";
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
  /** undefined: neither a module nor a kernel is selected. */
  instance: ((step: number) => void) | undefined;
  /** Goes to an instance of what was just selected. */
  found: (step: number) => void;
  show: (sheet: "rows" | "help") => void;
  options: TimelineOptions;
  choose: (change: Partial<TimelineOptions>) => void;
}

export interface TimelineOptions {
  /** Arrows of all visible launches. */
  arrows: boolean;
  /** All levels of ranges. */
  deep: boolean;
  /** Rows of bytes fill their height. */
  fits: boolean;
  /** A drag selects. */
  selects: boolean;
}

function Option(props: { title: string; tip?: string; value: boolean; choose: (value: boolean) => void }): JSX.Element {
  return (
    <label class="check" title={props.tip ?? ""}>
      <input type="checkbox" checked={props.value} onChange={(event) => props.choose(event.currentTarget.checked)} />
      {props.title}
    </label>
  );
}

function Options({ view, options, choose }: Pick<TimelineToolsProps, "view" | "options" | "choose">): JSX.Element {
  const levels = view.trace.deepest;
  return (
    <>
      <Option
        title="select by dragging"
        tip="Without it, hold Shift. The sums of the selected part appear below"
        value={options.selects}
        choose={(selects) => choose({ selects })}
      />
      <Option
        title="arrows"
        tip="From launch to kernel, for up to 150 visible launches: zoom in if there are more"
        value={options.arrows}
        choose={(arrows) => choose({ arrows })}
      />
      {view.timeline.samples.length > 0 && (
        <Option
          title="scale to view"
          tip="Rows of bytes fill their height. Otherwise they go from 0 to the peak"
          value={options.fits}
          choose={(fits) => choose({ fits })}
        />
      )}
      {levels > kLevels && (
        <Option title={`all ${levels} levels`} value={options.deep} choose={(deep) => choose({ deep })} />
      )}
    </>
  );
}

export function TimelineTools(props: TimelineToolsProps): JSX.Element {
  const { view, instance } = props;
  const { open } = view.timeline;
  const zoom = (factor: number) => (): void => view.show(zoomed(view.range, view.middle, factor));
  return (
    <div class="tools">
      {open !== undefined && (
        <button type="button" title={`Shows ${open.why}`} onClick={() => view.show(view.opening)}>
          {open.why.startsWith("the median") ? "Median iteration" : "All GPU work"}
        </button>
      )}
      <button type="button" onClick={() => view.show(view.all)}>
        Everything
      </button>
      <button type="button" aria-label="Zoom in" onClick={zoom(0.5)}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={zoom(2)}>
        −
      </button>
      <TimelineFind trace={view.trace} step={props.found} />
      <button
        type="button"
        aria-label="Previous instance"
        title="Previous instance of what is selected (P)"
        disabled={instance === undefined}
        onClick={() => instance?.(-1)}
      >
        ‹ Previous
      </button>
      <button
        type="button"
        aria-label="Next instance"
        title="Next instance of what is selected (N)"
        disabled={instance === undefined}
        onClick={() => instance?.(1)}
      >
        Next ›
      </button>
      <Windows view={view} />
      <Options {...props} />
      <span class="fill" />
      <button type="button" onClick={() => props.show("rows")}>
        Rows
      </button>
      <button type="button" aria-label="Keys" title="Keys of the timeline (?)" onClick={() => props.show("help")}>
        ?
      </button>
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
      {timeline.samples.length > 0 && "Grey in rows of bytes: work ran without being sampled. "}
      {timeline.held.length > 0 && "Hatched: the profiler held a thread; these times are in no sum."}
    </p>
  );
}
