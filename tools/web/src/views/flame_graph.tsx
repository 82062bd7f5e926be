// SPDX-License-Identifier: Apache-2.0
//
// What the host's threads did in a part of the timeline: samples of their call stacks, the outermost call on top. A
// click on a call makes it as wide as the graph.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { durationText, percentText } from "../data/numbers";
import { flameOf, type Flame, type Stacks } from "../data/stacks";
import type { TimelineData } from "../data/timeline";
import { nameColor, useTheme, type Theme } from "../theme";
import type { Range } from "./timeline_zoom";

/** Narrower calls are not shown. */
const kMinShare = 0.003;
const kMaxDepth = 40;
const kRow = 18;

interface Box {
  flame: Flame;
  depth: number;
  from: number;
  share: number;
}

/** The calls within `root`, with shares of it. */
export function boxesOf(root: Flame): Box[] {
  const out: Box[] = [];
  const add = (flame: Flame, depth: number, from: number): void => {
    const share = flame.ns / Math.max(1, root.ns);
    if (share < kMinShare || depth > kMaxDepth) return;
    out.push({ flame, depth, from, share });
    let at = from;
    for (const child of flame.children) {
      add(child, depth + 1, at);
      at += child.ns / Math.max(1, root.ns);
    }
  };
  add(root, 0, 0);
  return out;
}

function FlameBox({
  box,
  all,
  theme,
  choose,
}: {
  box: Box;
  all: number;
  theme: Theme;
  choose: () => void;
}): JSX.Element {
  const { flame, depth, from, share } = box;
  const title = flame.title === "" ? "all samples" : flame.title;
  const own = flame.selfNs > 0 ? `, ${durationText(flame.selfNs)} in its own lines` : "";
  return (
    <button
      type="button"
      class="flame"
      style={{
        left: `${from * 100}%`,
        width: `${share * 100}%`,
        top: `${depth * kRow}px`,
        background: flame.title === "" ? theme.unknown : nameColor(theme, flame.title),
        color: flame.title === "" ? theme.text : theme.onNames,
      }}
      title={`${title}${flame.source === "" ? "" : `\n${flame.source}`}\n${durationText(flame.ns)}, ${percentText(flame.ns / all)} of the samples${own}`}
      onClick={choose}
    >
      {title}
    </button>
  );
}

export function FlameGraph(props: { timeline: TimelineData; stacks: Stacks; area: Range }): JSX.Element {
  const { timeline, stacks, area } = props;
  const theme = useTheme();
  const [thread, setThread] = useState(stacks.threads[0]?.thread ?? 0);
  const whole = useMemo(() => flameOf(stacks, thread, area.from, area.to), [stacks, thread, area.from, area.to]);
  const [zoomed, zoom] = useState<Flame>();
  const root = zoomed !== undefined && zoomed.ns > 0 && contains(whole, zoomed) ? zoomed : whole;
  const boxes = useMemo(() => boxesOf(root), [root]);
  const rows = 1 + Math.max(0, ...boxes.map((box) => box.depth));
  return (
    <div class="part flames">
      <div class="line">
        <h3>Host code</h3>
        <select aria-label="Thread" value={thread} onChange={(event) => setThread(Number(event.currentTarget.value))}>
          {stacks.threads.map((one) => (
            <option key={one.thread} value={one.thread}>
              {`${timeline.threads.get(one.thread) || "thread"} ${one.thread}`.trim()}
            </option>
          ))}
        </select>
        <span class="dim">
          {whole.ns === 0 ? "no samples of this thread here" : `${durationText(whole.ns)} in samples of its stacks`}
        </span>
        {root !== whole && (
          <button type="button" onClick={() => zoom(undefined)}>
            All calls
          </button>
        )}
      </div>
      {whole.ns > 0 && (
        <div class="flame-rows" style={{ height: `${rows * kRow}px` }}>
          {boxes.map((box) => (
            <FlameBox
              key={`${box.depth} ${box.from}`}
              box={box}
              all={whole.ns}
              theme={theme}
              choose={() => zoom(box.flame === root ? undefined : box.flame)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** Another selection has other calls. */
const contains = (root: Flame, wanted: Flame): boolean =>
  root === wanted || root.children.some((child) => contains(child, wanted));
