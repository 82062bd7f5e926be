// SPDX-License-Identifier: Apache-2.0
//
// Copies a table as CSV (RFC 4180) to the clipboard: plain numbers, keys with units as titles.
import type { TableColumn } from "./columns";

export function csvField(value: string | number | undefined): string {
  if (value === undefined) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map((column) => csvField(column.key)).join(",")];
  for (const row of rows) lines.push(columns.map((column) => csvField(column.value(row))).join(","));
  return lines.join("\r\n") + "\r\n";
}

/** True if the text is on the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers may deny the clipboard API to pages from disk.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "offscreen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
