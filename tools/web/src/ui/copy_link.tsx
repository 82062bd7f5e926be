// SPDX-License-Identifier: Apache-2.0
//
// Copies the address of what is shown: view, selection, order and search of the table, times, colours.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { link } from "../state";
import { copyText } from "./csv";

export function CopyLink(): JSX.Element {
  const [said, say] = useState("");
  const copy = async (): Promise<void> => {
    say((await copyText(link())) ? "Link copied" : "Clipboard denied");
    window.setTimeout(() => say(""), 2500);
  };
  return (
    <button type="button" class="copy-link" aria-live="polite" onClick={() => void copy()}>
      {said === "" ? "Copy link" : said}
    </button>
  );
}
