// SPDX-License-Identifier: Apache-2.0
//
// A plot with one point for each module: the tip of the point at the pointer, and a click that selects its module.
import type { ComponentChildren, JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Trace } from "../data/trace";
import { update } from "../state";
import { Plot, type PlotOptions } from "./plot";
import { nearest, type Place } from "./points";
import { Tip } from "./tip";

interface ModulePoint {
  /** Index in trace.modules. */
  module: number;
}

export function ModulePlot<Point extends ModulePoint>(props: {
  trace: Trace;
  points: readonly Point[];
  /** Must not change: the data of the plot are made anew only for new `points`. */
  placeOf: (point: Point) => Place;
  options: PlotOptions;
  label: string;
  tip: (point: Point) => ComponentChildren;
}): JSX.Element {
  const { trace, points, placeOf } = props;
  const plot = useRef<uPlot | undefined>(undefined);
  const [over, setOver] = useState<{ point: Point; x: number; y: number }>();
  const data = useMemo(() => {
    const places = points.map(placeOf).sort((a, b) => a.x - b.x);
    return [places.map(({ x }) => x), places.map(({ y }) => y)] as uPlot.AlignedData;
  }, [points]);
  plot.current?.redraw(false);
  return (
    <>
      <div
        class="plot-box"
        onPointerMove={(event) => {
          const point = plot.current && nearest(plot.current, points, placeOf, event);
          setOver(point && { point, x: event.clientX, y: event.clientY });
        }}
        onPointerLeave={() => setOver(undefined)}
        onClick={() => over !== undefined && update({ module: trace.modules[over.point.module]!.path })}
      >
        <Plot options={props.options} data={data} label={props.label} onPlot={(made) => (plot.current = made)} />
      </div>
      {over !== undefined && (
        <Tip x={over.x} y={over.y}>
          {props.tip(over.point)}
        </Tip>
      )}
    </>
  );
}
