// SPDX-License-Identifier: Apache-2.0
//
// Light, dark, or the system's theme.
import type { JSX } from "preact";
import { chooseTheme, type Choice } from "../theme";

export function ThemeSelect(): JSX.Element {
  return (
    <select class="theme" aria-label="Colours" onChange={(event) => chooseTheme(event.currentTarget.value as Choice)}>
      <option value="auto">Auto</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
