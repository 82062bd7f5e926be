// SPDX-License-Identifier: Apache-2.0
//
// Sheets over the timeline: its keys, and which rows it shows.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Arrangement } from "./timeline_scene";
import type { TrackGroup } from "./timeline_tracks";

/** Escape and a click beside it close it; the browser keeps the focus inside. */
function Sheet(props: { title: string; close: () => void; children: ComponentChildren }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current!.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sheet-over"
      aria-label={props.title}
      onClose={props.close}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
      onKeyDown={(event) => event.key === "?" && dialog.current!.close()}
    >
      <div class="line">
        <h2>{props.title}</h2>
        <span class="fill" />
        <button type="button" onClick={() => dialog.current!.close()}>
          Close
        </button>
      </div>
      {props.children}
    </dialog>
  );
}

const kKeys: readonly (readonly [keys: string, what: string])[] = [
  ["W, S or Ctrl + wheel", "zoom in, out at the pointer"],
  ["A, D or drag", "move left, right"],
  ["Shift + wheel", "move"],
  ["Shift + drag", "select a part: its sums appear below"],
  ["M", "select the piece under the pointer, else the view; again: nothing"],
  ["F", "show the selected part or piece, else everything"],
  ["Double click, Enter", "zoom to the piece under the pointer"],
  ["N, P", "next, previous instance of the selected module or kernel"],
  ["/", "search modules and kernels"],
  ["Escape", "clear the selection"],
  ["Click on a heading, on a label", "fold its rows, pin the row"],
  ["?", "these keys"],
];

export function HelpSheet({ close }: { close: () => void }): JSX.Element {
  return (
    <Sheet title="Keys of the timeline" close={close}>
      <dl class="keys">
        {kKeys.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

/** What one compares with the ranges above. */
const kPinned = ["DRAM", "L2"];

/** Rows of bytes stay visible if not all rows do. */
export function startArrangement(groups: readonly TrackGroup[], fits: boolean): Arrangement {
  const bytes = groups.filter(({ title, tracks }) => kPinned.includes(title) && tracks[0]!.type === "rate");
  return { hidden: new Set(), pinned: new Set(fits ? [] : bytes.map(({ key }) => key)) };
}

const toggled = (all: ReadonlySet<string>, key: string): Set<string> => {
  const out = new Set(all);
  if (!out.delete(key)) out.add(key);
  return out;
};

export const pin = (of: Arrangement, key: string): Arrangement => ({ ...of, pinned: toggled(of.pinned, key) });
export const hide = (of: Arrangement, key: string): Arrangement => ({ ...of, hidden: toggled(of.hidden, key) });

/** Folds a head's rows; if all are folded, unfolds them. */
export function fold(of: Arrangement, groups: readonly TrackGroup[], head: string): Arrangement {
  const keys = groups.filter((group) => group.head === head && group.title !== head).map((group) => group.key);
  const hidden = new Set(of.hidden);
  const folds = keys.some((key) => !hidden.has(key));
  for (const key of keys)
    if (folds) hidden.add(key);
    else hidden.delete(key);
  return { ...of, hidden };
}

export function RowsSheet(props: {
  groups: readonly TrackGroup[];
  arrangement: Arrangement;
  arrange: (of: Arrangement) => void;
  close: () => void;
}): JSX.Element {
  const { groups, arrangement, arrange } = props;
  return (
    <Sheet title="Rows of the timeline" close={props.close}>
      <table class="rows-shown">
        <thead>
          <tr>
            <th>Row</th>
            <th>Shown</th>
            <th>Pinned</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ key, head, title }) =>
            head === title ? (
              <tr key={key}>
                <th colSpan={3}>{title}</th>
              </tr>
            ) : (
              <tr key={key}>
                <td>{title}</td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Show ${key}`}
                    checked={!arrangement.hidden.has(key)}
                    onChange={() => arrange(hide(arrangement, key))}
                  />
                </td>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Pin ${key}`}
                    checked={arrangement.pinned.has(key)}
                    onChange={() => arrange(pin(arrangement, key))}
                  />
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </Sheet>
  );
}
