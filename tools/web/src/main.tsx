// SPDX-License-Identifier: Apache-2.0
//
// The page: unpacks and shows the tables, then unpacks the timeline in the background.
//
//   data/    data of the trace              ui/     tables, tips, header
//   state.ts what is shown and selected     views/  one or more files per view
import { render, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Diff } from "./data/diff";
import type { Tables } from "./data/rows";
import { Trace } from "./data/trace";
import { unpack } from "./data/unpack";
import { readTimelines, type TimelineData } from "./data/timeline";
import { current, startState, useStore } from "./state";
import { chooseTheme, startTheme } from "./theme";
import { Header } from "./ui/header";
import { SelectionBar } from "./ui/selection_bar";
import { AboutView } from "./views/about";
import { CopiesView } from "./views/copies";
import { DiffView } from "./views/diff";
import { FindingsView } from "./views/findings";
import { IterationsView } from "./views/iterations";
import { KernelView } from "./views/kernel_details";
import { KernelsView } from "./views/kernels";
import { LimitsView } from "./views/limits";
import { MemoryView } from "./views/memory";
import { ModulesView } from "./views/modules";
import { OverviewView } from "./views/overview";
import { TimelineView } from "./views/timeline";
import "uplot/dist/uPlot.min.css";
import "./style.css";

function Body(props: {
  trace: Trace;
  traces: readonly Trace[];
  timelines: readonly TimelineData[] | undefined;
  diff: Diff | undefined;
}): JSX.Element {
  const { trace } = props;
  switch (useStore().view) {
    case "modules":
      return <ModulesView trace={trace} />;
    case "limits":
      return <LimitsView trace={trace} />;
    case "timeline":
      return <TimelineView trace={trace} timeline={props.timelines?.[trace.index]} />;
    case "kernels":
      return <KernelsView trace={trace} />;
    case "kernel":
      return <KernelView trace={trace} />;
    case "copies":
      return <CopiesView trace={trace} />;
    case "memory":
      return <MemoryView trace={trace} />;
    case "iterations":
      return <IterationsView trace={trace} />;
    case "findings":
      return <FindingsView trace={trace} />;
    case "diff":
      return <DiffView diff={props.diff} traces={props.traces} />;
    case "about":
      return <AboutView trace={trace} />;
    default:
      return <OverviewView trace={trace} />;
  }
}

function Page({ traces, diff }: { traces: readonly Trace[]; diff: Diff | undefined }): JSX.Element {
  const state = useStore();
  const [timelines, setTimelines] = useState<readonly TimelineData[]>();
  useEffect(() => {
    // After the first paint, because the timeline is most of the data.
    const timer = window.setTimeout(() => void readTimelines(traces).then(setTimelines), 30);
    return () => window.clearTimeout(timer);
  }, []);
  const trace = traces[state.trace] ?? traces[0]!;
  return (
    <>
      <Header traces={traces} trace={trace} hasDiff={diff !== undefined} />
      <SelectionBar trace={trace} />
      <main key={trace.index}>
        <div id="view" class="panel" role="tabpanel" aria-labelledby={`tab-${state.view}`}>
          <Body trace={trace} traces={traces} timelines={timelines} diff={diff} />
        </div>
      </main>
    </>
  );
}

async function start(): Promise<void> {
  const place = document.getElementById("page")!;
  place.textContent = "";
  try {
    const tables = await unpack<Tables>("tables");
    const named = { metrics: tables.named_metrics, topics: tables.metric_topics };
    const traces = tables.traces.map((one, i) => new Trace(one, i, named, tables.columns, tables.diff));
    // For two traces show the difference first.
    if (tables.diff !== undefined && location.hash === "") history.replaceState(null, "", "#view=diff");
    startState();
    startTheme();
    chooseTheme(current().theme);
    document.title = `${traces
      .map((trace) => trace.title)
      .join(", ")
      .slice(0, 200)} · Rangefinder`;
    render(<Page traces={traces} diff={tables.diff} />, place);
  } catch (error) {
    const text = document.createElement("p");
    text.className = "loading";
    text.textContent = error instanceof Error ? error.message : String(error);
    place.append(text);
  }
}

void start();
