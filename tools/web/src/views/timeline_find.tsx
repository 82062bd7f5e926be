// SPDX-License-Identifier: Apache-2.0
//
// Finds modules and kernels by words of their names. Enter goes to the next instance, Shift + Enter to the one before.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { kernelKey, shortName, type Trace } from "../data/trace";
import { update } from "../state";

const kMaxFound = 40;

interface Found {
  kind: "module" | "kernel";
  index: number;
  text: string;
}

/** Those that have all words, those with the shortest text first. */
export function foundIn(trace: Trace, wanted: string): Found[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const has = ({ text }: Found): boolean => words.every((word) => text.toLowerCase().includes(word));
  const all: Found[] = [
    ...trace.modules.map((row, index) => ({ kind: "module" as const, index, text: row.path })),
    ...trace.tables.kernels.map((row, index) => ({ kind: "kernel" as const, index, text: shortName(row) })),
  ];
  return all.filter(has).sort((a, b) => a.text.length - b.text.length);
}

export function TimelineFind(props: {
  trace: Trace;
  /** Goes to an instance of what is selected. */
  step: (step: number) => void;
}): JSX.Element {
  const { trace } = props;
  const [wanted, want] = useState("");
  const [place, setPlace] = useState(0);
  const [open, setOpen] = useState(false);
  const found = useMemo(() => foundIn(trace, wanted), [trace, wanted]);
  const shown = found.slice(0, kMaxFound);
  const choose = ({ kind, index }: Found): void => {
    const kernel = kind === "kernel" ? trace.tables.kernels[index] : undefined;
    update({
      module: kernel === undefined ? trace.modules[index]?.path : undefined,
      kernel: kernel && kernelKey(kernel),
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = shown[place];
    if (event.key === "ArrowDown") setPlace(Math.min(shown.length - 1, place + 1));
    else if (event.key === "ArrowUp") setPlace(Math.max(0, place - 1));
    else if (event.key === "Escape") (event.currentTarget as HTMLElement).blur();
    else if (event.key === "Enter" && at !== undefined) {
      choose(at);
      props.step(event.shiftKey ? -1 : 1);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="find" onFocusCapture={() => setOpen(true)} onBlurCapture={() => setOpen(false)}>
      <input
        type="text"
        placeholder="Search ( / )"
        aria-label="Search in the timeline"
        role="combobox"
        aria-expanded={open && shown.length > 0}
        aria-controls="timeline-found"
        value={wanted}
        onInput={(event) => {
          want(event.currentTarget.value);
          setPlace(0);
        }}
        onKeyDown={onKeyDown}
      />
      {open && wanted !== "" && (
        <ul id="timeline-found" role="listbox" aria-label="Found">
          {shown.map((one, i) => (
            <li
              key={`${one.kind} ${one.index}`}
              role="option"
              aria-selected={i === place}
              onPointerDown={(event) => {
                event.preventDefault();
                setPlace(i);
                choose(one);
                props.step(1);
              }}
            >
              <span class="dim">{one.kind}</span> <bdi>{one.text.slice(-160)}</bdi>
            </li>
          ))}
          {shown.length === 0 && <li class="dim">No module or kernel has these words.</li>}
          {found.length > kMaxFound && <li class="dim">{found.length - kMaxFound} more</li>}
        </ul>
      )}
    </div>
  );
}
