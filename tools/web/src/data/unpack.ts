// SPDX-License-Identifier: Apache-2.0
//
// Reads the data inside the page: base64 of deflated JSON.
//
//   <script type="text/plain" id="tables">eNq9…</script> ─▶ unpack("tables") ─▶ JSON.parse
//
// Written by tools/page/packed_text.cpp. Uses the browser's inflate. Makes no request.

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
  return out;
}

/** Throws if the page has no such data, as the empty template. */
export async function unpack<T>(id: string): Promise<T> {
  const element = document.getElementById(id);
  const packed = element?.textContent?.trim() ?? "";
  if (packed === "" || packed.startsWith("@"))
    throw new Error("This page contains no trace. Make one with rangefinder report --html.");
  const inflated = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const text = await new Response(inflated).text();
  // Free the packed text, which is most of the document.
  element?.remove();
  return JSON.parse(text) as T;
}
