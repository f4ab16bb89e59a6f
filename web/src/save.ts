// Charts as files: SVG and PNG, with a title and a caption that stand alone.
import { svg } from "./dom";

/** What a style sheet gives, and a file must bring along. */
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "font-variant-numeric"];

export interface Titled {
  name: string;
  title: string;
  caption: string;
}

export interface Key {
  words: string;
  kind: string;
}

/** Returns a drawing with its title, its key and its caption, which needs no style sheet. */
export function standalone(drawn: SVGElement, { title, caption }: Titled, key: Key[], at: HTMLElement): SVGElement {
  const [, , width, height] = drawn.getAttribute("viewBox")!.split(" ").map(Number) as [number, number, number, number];
  const inner = drawn.cloneNode(true) as SVGElement;
  inner.setAttribute("y", "66");
  const lines = wrapped(caption, Math.floor(width / 6.4));
  const swatches = key.reduce<{ x: number; all: SVGElement[] }>(({ x, all }, it) => ({
    x: x + 24 + it.words.length * 6.6,
    all: [...all, it.kind.startsWith("mark") ? svg("path", { class: it.kind, d: `M${x + 5} 52l-4 -8h8z` }) : svg("rect", { class: `part ${it.kind}`, x, y: 42, width: 11, height: 11 }), svg("text", { class: "quiet", x: x + 16, y: 52 }, it.words)],
  }), { x: 8, all: [] }).all;
  const whole = svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height + 82 + lines.length * 16}`, width, height: height + 82 + lines.length * 16, class: drawn.getAttribute("class") },
    svg("rect", { class: "paper", width: "100%", height: "100%" }), svg("text", { class: "title", x: 8, y: 26 }, title), ...swatches, inner,
    ...lines.map((it, nth) => svg("text", { class: "quiet", x: 8, y: height + 84 + nth * 16 }, it)));
  // Styles are known only of what stands in the page.
  const place = at.appendChild(document.createElement("div"));
  place.className = "unseen";
  place.append(whole);
  for (const node of [whole, ...whole.querySelectorAll<SVGElement>("*")]) {
    const style = getComputedStyle(node);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
  }
  place.remove();
  return whole;
}

export function wrapped(text: string, most: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > most && lines.at(-1)) lines.push("");
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  }
  return lines;
}

function offer(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const text = (node: SVGElement) => new XMLSerializer().serializeToString(node);

export function saveSvg(node: SVGElement, name: string): void {
  offer(`${name}.svg`, new Blob([text(node)], { type: "image/svg+xml" }));
}

/** Paints a drawing, twice as large as it is seen. */
export async function savePng(node: SVGElement, name: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text(node))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (blob) offer(`${name}.png`, blob);
}
