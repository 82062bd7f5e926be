// SPDX-License-Identifier: Apache-2.0
//
// The button that hands a trace to Perfetto, and says how far it is.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { openInPerfetto } from "./perfetto";

export function PerfettoButton(props: { query: string | undefined; title: string }): JSX.Element {
  const [said, say] = useState("");
  const open = async (query: string): Promise<void> => {
    say("Exporting …");
    try {
      await openInPerfetto(query, props.title);
      say("Handed over");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <button
        type="button"
        disabled={props.query === undefined || said === "Exporting …"}
        title="Opens ui.perfetto.dev, on the internet, and hands the exported trace to that window"
        onClick={() => props.query !== undefined && void open(props.query)}
      >
        Open in Perfetto
      </button>
      <span class="dim" role="status">
        {said}
      </span>
    </>
  );
}
