// SPDX-License-Identifier: Apache-2.0
//
// Light, dark, or the system's theme.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { update, useStore } from "../state";
import { chooseTheme, type Choice } from "../theme";

export function ThemeSelect(): JSX.Element {
  const { theme } = useStore();
  useEffect(() => chooseTheme(theme), [theme]);
  return (
    <select
      class="theme"
      aria-label="Colours"
      value={theme}
      onChange={(event) => update({ theme: event.currentTarget.value as Choice })}
    >
      <option value="auto">Auto</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
