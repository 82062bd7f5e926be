// SPDX-License-Identifier: Apache-2.0
//
// "Open in Perfetto": the one thing that leaves this page, when the reader asks for it.
//
//   click ─▶ window of ui.perfetto.dev ◀─ PING, PONG ─▶ postMessage: the exported trace
//
// The trace goes from this page to that window; nothing is uploaded by us.
const kPerfetto = "https://ui.perfetto.dev";
const kPatienceMs = 60_000;

/** Resolves when the window says that it listens. */
function listening(there: Window): Promise<void> {
  return new Promise((resolve, reject) => {
    const began = Date.now();
    const hear = (event: MessageEvent): void => {
      if (event.source === there && event.origin === kPerfetto && event.data === "PONG") end(resolve);
    };
    const timer = window.setInterval(() => {
      if (there.closed) end(() => reject(new Error("The window of Perfetto was closed.")));
      else if (Date.now() - began > kPatienceMs) end(() => reject(new Error("ui.perfetto.dev does not answer.")));
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

/** To be called in a click, or the browser refuses the window. Throws what to tell the reader. */
export async function openInPerfetto(query: string, title: string): Promise<void> {
  const there = window.open(kPerfetto);
  if (there === null) throw new Error("The browser refused a new window.");
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
