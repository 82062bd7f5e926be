// SPDX-License-Identifier: Apache-2.0
//
// Texts of the data, in which `names` and `commands` stand between backticks.
import type { JSX } from "preact";

export function Prose({ text }: { text: string }): JSX.Element {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return <bdi>{text}</bdi>; // one of a name itself
  return <bdi>{parts.map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</bdi>;
}
