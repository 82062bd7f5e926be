// SPDX-License-Identifier: Apache-2.0
//
// "Open in Perfetto": the only case in which data leaves this page, on a click.
//
//   click ─▶ window of ui.perfetto.dev ◀─ PING, PONG ─▶ postMessage: the exported trace
//
// The trace goes from this page to that window. We upload nothing.
const kPerfetto = "https://ui.perfetto.dev";
const kTimeoutMs = 60_000;

/** Resolves when the window answers PONG. */
function listening(there: Window): Promise<void> {
  return new Promise((resolve, reject) => {
    const began = Date.now();
    const hear = (event: MessageEvent): void => {
      if (event.source === there && event.origin === kPerfetto && event.data === "PONG") end(resolve);
    };
    const timer = window.setInterval(() => {
      if (there.closed) end(() => reject(new Error("The window of Perfetto was closed.")));
      else if (Date.now() - began > kTimeoutMs) end(() => reject(new Error("ui.perfetto.dev does not answer.")));
      else there.postMessage("PING", kPerfetto);
    }, 100);
    const end = (how: () => void): void => {
      window.clearInterval(timer);
      window.removeEventListener("message", hear);
      how();
    };
    window.addEventListener("message", hear);
  });
}

/** Call it in a click handler, or the browser blocks the window. Throws an error with a message for the user. */
export async function openInPerfetto(query: string, title: string): Promise<void> {
  const there = window.open(kPerfetto);
  if (there === null) throw new Error("The browser blocked the new window.");
  try {
    const answer = await fetch(`/api/perfetto?${query}`);
    if (!answer.ok) throw new Error(((await answer.json()) as { error?: string }).error ?? "The export failed.");
    const buffer = await answer.arrayBuffer();
    await listening(there);
    there.postMessage({ perfetto: { buffer, title } }, kPerfetto);
  } catch (error) {
    there.close();
    throw error;
  }
}
