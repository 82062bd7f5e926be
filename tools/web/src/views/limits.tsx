// SPDX-License-Identifier: Apache-2.0
//
// What limits modules and kernels: the roofline, and GPU time over bytes. On a line the row does all that its limit
// allows; below all lines it waits.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { levelsOf, pictureOf, plotsOf, plotTitle, type Point } from "../data/limits";
import { optionFor } from "../data/named";
import { kernelKey, type Trace } from "../data/trace";
import { update, useStore } from "../state";
import { PointPlot } from "../ui/point_plot";
import { Switch } from "../ui/switch";
import { KernelDetails } from "./kernel_details";
import { ModuleDetails } from "./module_details";

export function LimitsView({ trace }: { trace: Trace }): JSX.Element {
  const state = useStore();
  const plots = useMemo(() => plotsOf(trace), [trace]);
  const of = plots.includes(state.plot) ? state.plot : plots[0];
  const levels = useMemo(() => (of === undefined ? [] : levelsOf(trace, of)), [trace, of]);
  const kernel = state.kernel === undefined ? undefined : trace.kernelByName.get(state.kernel);
  const module = trace.placeOf(state.module);
  const selected = (of === "kernels" ? kernel : module) ?? -1;
  // The level with the most modules.
  const widest = (): number => {
    const fits = trace.tables.byte_fit.filter(({ depth }) => levels.includes(depth));
    return fits.reduce((best, fit) => (fit.modules > best.modules ? fit : best), fits[0]!).depth;
  };
  const level = levels.includes(state.level) ? state.level : of === "dram" || of === "l2" ? widest() : levels[0];
  const picture = useMemo(
    () => (of === undefined || level === undefined ? undefined : pictureOf(trace, of, level, selected)),
    [trace, of, level, selected],
  );
  const missing = plots.includes("roofline") || plots.includes("kernels") ? "" : optionFor(["roofline"]);
  if (picture === undefined || of === undefined)
    return (
      <div class="view">
        <p class="empty">
          Neither bytes nor operations were measured. Record with <code>--counters sampled</code>, or{" "}
          <code>{missing}</code>
        </p>
      </div>
    );
  const indexOf = (point: Point): number => point.module ?? point.kernel!;
  return (
    <div class="view limits">
      <div class="tools">
        <Switch
          label="Show"
          options={plots.map((one) => [one, plotTitle[one]] as const)}
          value={of}
          choose={(plot) => update({ plot })}
        />
        {levels.length > 1 && (
          <Switch
            label="Level"
            options={levels.map((one) => [one, one === 0 ? "leaves" : String(one)] as const)}
            value={level!}
            choose={(next) => update({ level: next })}
          />
        )}
        <span class="fill" />
        <span class="dim">{picture.note}</span>
      </div>
      <div class="beside">
        <PointPlot
          picture={picture}
          isSelected={(point) => indexOf(point) === selected}
          isFaded={(point) =>
            selected >= 0 && (of === "kernels" ? point.kernel !== selected : !trace.isWithin(point.module!, selected))
          }
          select={(point) =>
            update(
              point.kernel === undefined
                ? { module: trace.modules[point.module!]!.path }
                : { kernel: kernelKey(trace.tables.kernels[point.kernel]!) },
            )
          }
          label={`${plotTitle[of]}: ${picture.note}. ${picture.lines.map(({ label }) => label).join("; ")}`}
        />
        {of === "kernels" ? (
          <KernelDetails trace={trace} kernel={trace.kernel(state.kernel)} />
        ) : (
          <ModuleDetails trace={trace} path={state.module} />
        )}
      </div>
      {missing !== "" && (
        <p class="note">
          Roofline: no operations were counted. Record with <code>{missing}</code>
        </p>
      )}
    </div>
  );
}
