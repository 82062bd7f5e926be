// SPDX-License-Identifier: Apache-2.0
//
// The button that opens a trace in Perfetto, with its progress.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { openInPerfetto } from "./perfetto";

export function PerfettoButton(props: { query: string | undefined; title: string }): JSX.Element {
  const [status, setStatus] = useState("");
  const open = async (query: string): Promise<void> => {
    setStatus("Exporting …");
    try {
      await openInPerfetto(query, props.title);
      setStatus("Opened in Perfetto");
    } catch (error) {
      setStatus(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <button
        type="button"
        disabled={props.query === undefined || status === "Exporting …"}
        title="Opens ui.perfetto.dev, on the internet, and passes the exported trace to that window"
        onClick={() => props.query !== undefined && void open(props.query)}
      >
        Open in Perfetto
      </button>
      <span class="dim" role="status">
        {status}
      </span>
    </>
  );
}
