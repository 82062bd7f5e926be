// SPDX-License-Identifier: Apache-2.0
//
// A tooltip beside the pointer. It stays inside the window and never covers the pointer.
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function Tip(props: { x: number; y: number; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ left: -9999, top: -9999 });
  useLayoutEffect(() => {
    const { offsetWidth: wide, offsetHeight: high } = box.current!;
    const left = props.x + 14 + wide > window.innerWidth ? Math.max(4, props.x - wide - 10) : props.x + 14;
    const top = props.y + 16 + high > window.innerHeight ? Math.max(4, props.y - high - 10) : props.y + 16;
    setPlace({ left, top });
  }, [props.x, props.y]);
  return (
    <div class="tip" role="tooltip" ref={box} style={{ left: `${place.left}px`, top: `${place.top}px` }}>
      {props.children}
    </div>
  );
}
