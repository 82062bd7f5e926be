// SPDX-License-Identifier: Apache-2.0
//
// The strip below the timeline: all values of the clicked kernel or copy.
import type { JSX } from "preact";
import type { TimelineData } from "../data/timeline";
import type { Trace } from "../data/trace";
import { update } from "../state";
import { pieceFacts } from "./timeline_hit";
import { laneLabel } from "./timeline_paint";
import type { Origin } from "./timeline_origin";
import type { Piece } from "./timeline_scene";

export function PieceStrip(props: {
  trace: Trace;
  timeline: TimelineData;
  piece: Piece | undefined;
  origin: Origin;
  close: () => void;
}): JSX.Element | null {
  const { trace, timeline, piece, origin } = props;
  if (piece === undefined) return null;
  const lane = timeline.lanes[piece.lane]!;
  const path = trace.modules[lane.module[piece.place]!]?.path;
  return (
    <section class="strip" aria-label="Selected piece of work">
      <div class="line">
        <b class="code">
          <bdi>{laneLabel(trace, lane, piece.place, true).slice(0, 400)}</bdi>
        </b>
        {path !== undefined && (
          <button type="button" class="link" onClick={() => update({ view: "modules", module: path })}>
            <bdi>{path.slice(-300)}</bdi>
          </button>
        )}
        {lane.kind[piece.place] === 0 && (
          <button type="button" onClick={() => update({ view: "kernels" })}>
            Show this kernel
          </button>
        )}
        <span class="fill" />
        <button type="button" aria-label="Close" onClick={props.close}>
          ×
        </button>
      </div>
      <dl>
        {pieceFacts(trace, timeline, piece, origin).map(([name, value, plain]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd title={plain ?? ""}>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
