// SPDX-License-Identifier: Apache-2.0
//
// The width of an element, which follows the window.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export function useWidth<Of extends Element>(): [RefObject<Of | null>, number] {
  const of = useRef<Of>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = of.current!;
    const read = (): void => setWidth(Math.floor(element.getBoundingClientRect().width));
    read();
    const seen = new ResizeObserver(read);
    seen.observe(element);
    return () => seen.disconnect();
  }, []);
  return [of, width];
}

/** Of a pointer over a picture. */
export type SvgPointer = (PointerEvent | MouseEvent) & { readonly currentTarget: SVGSVGElement };
