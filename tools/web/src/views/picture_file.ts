// SPDX-License-Identifier: Apache-2.0
//
// The picture as a file, with its headline and a caption: SVG, or PNG at twice the size.
//
//   svg of the page ─▶ copy without marks of the pointer ─▶ SVG ─▶ image from a data: URL ─▶ canvas ─▶ PNG
import type { Picture } from "../data/overview";
import type { Theme } from "../theme";

const kSpace = "http://www.w3.org/2000/svg";
const kHead = 30;
const kLine = 15;
const kMargin = 12;

function text(of: string, y: number, size: number, color: string, bold: boolean): SVGTextElement {
  const out = document.createElementNS(kSpace, "text");
  for (const [name, value] of Object.entries({ x: kMargin, y, "font-size": size, fill: color }))
    out.setAttribute(name, String(value));
  if (bold) out.setAttribute("font-weight", "600");
  out.textContent = of;
  return out;
}

/** At spaces, in lines of at most so many letters. */
function wrapped(of: string, letters: number): string[] {
  const out: string[] = [];
  for (const word of of.split(" ")) {
    const last = out.at(-1);
    if (last !== undefined && last.length + word.length < letters) out[out.length - 1] = `${last} ${word}`;
    else out.push(word);
  }
  return out;
}

export interface LegendEntry {
  text: string;
  /** Of a square before it. */
  color?: string;
}

/** An entry of the legend: one line. */
function legendLine({ text: of, color }: LegendEntry, y: number, theme: Theme): SVGElement {
  if (color === undefined) return text(of, y, 11, theme.dim, false);
  const out = document.createElementNS(kSpace, "g");
  const square = document.createElementNS(kSpace, "rect");
  for (const [name, value] of Object.entries({ x: kMargin, y: y - 9, width: 10, height: 10, fill: color }))
    square.setAttribute(name, String(value));
  const after = text(of, y, 11, theme.dim, false);
  after.setAttribute("x", String(kMargin + 15));
  out.append(square, after);
  return out;
}

/** `legend`: lines below the picture. */
export function svgText(svg: SVGSVGElement, picture: Picture, legend: readonly LegendEntry[], theme: Theme): string {
  const { width, height } = svg.getBoundingClientRect();
  const copy = svg.cloneNode(true) as SVGSVGElement;
  for (const mark of copy.querySelectorAll(".live")) mark.remove();
  const moved = document.createElementNS(kSpace, "g");
  const letters = Math.floor((width - 2 * kMargin) / 6);
  const head = wrapped(picture.headline.replaceAll("`", ""), Math.floor(letters * 0.8));
  const wrap = (one: LegendEntry): LegendEntry[] =>
    one.color === undefined ? wrapped(one.text, letters).map((line) => ({ text: line })) : [one];
  const foot = [...legend, { text: picture.caption }].flatMap(wrap);
  const top = kHead + (head.length - 1) * 18;
  moved.setAttribute("transform", `translate(0 ${top})`);
  moved.append(...copy.childNodes);
  const ground = document.createElementNS(kSpace, "rect");
  const all = Math.ceil(top + height + foot.length * kLine + kMargin);
  for (const [name, value] of Object.entries({ width, height: all, fill: theme.page }))
    ground.setAttribute(name, String(value));
  copy.append(ground, ...head.map((line, i) => text(line, 19 + i * 18, 15, theme.text, true)), moved);
  copy.append(...foot.map((line, i) => legendLine(line, top + height + (i + 1) * kLine, theme)));
  for (const name of ["class", "tabindex", "role", "aria-label", "style"]) copy.removeAttribute(name);
  for (const [name, value] of Object.entries({
    xmlns: kSpace,
    width: String(width),
    height: String(all),
    viewBox: `0 0 ${width} ${all}`,
    "font-family": "system-ui, sans-serif",
  }))
    copy.setAttribute(name, value);
  return new XMLSerializer().serializeToString(copy);
}

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.width;
  canvas.height = 2 * image.height;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error("The picture is too large.")) : resolve(blob))),
  );
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
