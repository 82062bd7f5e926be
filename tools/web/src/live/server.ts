// SPDX-License-Identifier: Apache-2.0
//
// Requests to the page's own server: the lists, polled, and the events of one program.
import { useEffect, useState } from "preact/hooks";
import type { StatedColumn } from "../ui/stated_columns";
import type { LiveEvent } from "./history";

const kRetryMs = 2000;

export interface ProgramRow {
  pid: number;
  name: string;
  executable: string;
  state: string;
  counters: string;
  launches: number;
  rank?: string;
  window_number?: number;
  window_folder?: string;
  window_records?: number;
  window_lost?: number;
}

export interface TraceRow {
  trace: string;
  executable?: string;
  command?: string;
  host?: string;
  pid?: number;
  rank?: string;
  counters?: string;
  started_unix_ms?: number;
  changed_unix_ms: number;
  bytes: number;
}

/** Of /api/columns. */
export type ListColumns = Record<"processes" | "traces", StatedColumn[]>;

/** An answer, requested every `ms` while the page is visible, and the error of the last request. 0: until there is one. */
export function useAnswer<Answer>(path: string, ms: number): { answer: Answer | undefined; error: string } {
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState("");
  useEffect(() => {
    let timer = 0;
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const response = await fetch(path, { signal: leaving.signal });
          setAnswer((await response.json()) as Answer);
          setError("");
          if (ms === 0) return;
        }
      } catch {
        if (!leaving.signal.aborted) setError("The server does not answer: it has ended, or is busy.");
      }
      if (!leaving.signal.aborted) timer = window.setTimeout(() => void ask(), ms || kRetryMs);
    };
    void ask();
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [path, ms]);
  return { answer, error };
}

export type Connection = "connecting" | "open" | "ended" | "refused";

/** Follows a program until it ends or `stop` is called. */
export function follow(
  pid: number,
  onEvent: (event: LiveEvent) => void,
  onConnection: (state: Connection) => void,
): () => void {
  const events = new EventSource(`/api/live?pid=${pid}`);
  onConnection("connecting");
  events.onopen = () => onConnection("open");
  events.onmessage = (message) => onEvent(JSON.parse(String(message.data)) as LiveEvent);
  events.addEventListener("gone", () => {
    events.close();
    onConnection("ended");
  });
  // EventSource reconnects by itself, unless the answer was not an event stream.
  events.onerror = () => onConnection(events.readyState === EventSource.CLOSED ? "refused" : "connecting");
  return () => events.close();
}
