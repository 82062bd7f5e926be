// SPDX-License-Identifier: Apache-2.0
//
// The data inside the page: base64 of deflated JSON, back to an object.
//
//   <script type="text/plain" id="tables">eNq9…</script> ─▶ unpack("tables") ─▶ JSON.parse
//
// Written by tools/page/packed_text.cpp. Uses the browser's own inflate; makes no request.

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) out[i] = text.charCodeAt(i);
  return out;
}

/** Throws where the page holds no such data: it is the empty template then. */
export async function unpack<T>(id: string): Promise<T> {
  const element = document.getElementById(id);
  const packed = element?.textContent?.trim() ?? "";
  if (packed === "" || packed.startsWith("@"))
    throw new Error("This page holds no trace: make one with rangefinder report --html.");
  const inflated = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const text = await new Response(inflated).text();
  // The packed text is not needed again, and is most of the document.
  element?.remove();
  return JSON.parse(text) as T;
}
