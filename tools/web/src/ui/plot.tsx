// SPDX-License-Identifier: Apache-2.0
//
// uPlot as a component. Rebuilds the plot when the options change, updates its data, and follows the size of its
// element.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

export type PlotOptions = Omit<uPlot.Options, "width" | "height">;

export function Plot(props: {
  options: PlotOptions;
  data: uPlot.AlignedData;
  label: string;
  onPlot?: (plot: uPlot) => void;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const made = useRef<uPlot | undefined>(undefined);
  useEffect(() => {
    const element = box.current!;
    // The legend may need more than one row. Its height is known only after the plot exists.
    const size = (): { width: number; height: number } => ({
      width: Math.max(200, element.clientWidth),
      height: Math.max(
        140,
        element.clientHeight - (element.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 0),
      ),
    });
    const plot = new uPlot({ ...props.options, ...size() }, props.data, element);
    plot.setSize(size());
    made.current = plot;
    props.onPlot?.(plot);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [props.options]);
  useEffect(() => {
    if (made.current !== undefined && made.current.data !== props.data) made.current.setData(props.data);
  }, [props.data]);
  return <div class="plot" ref={box} role="img" aria-label={props.label} />;
}
