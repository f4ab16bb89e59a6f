// Small helpers over the document.
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

type Child = Node | string | null | false | undefined;
type Props = Record<string, unknown>;

function fill(node: Element, props: Props, children: Child[]): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value as EventListener);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((it): it is Node | string => it !== null && it !== false && it !== undefined));
}

/** Makes an element; attributes that begin with `on` are listeners. */
export function el<T extends keyof HTMLElementTagNameMap>(tag: T, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[T] {
  const node = document.createElement(tag);
  fill(node, props, children);
  return node;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag) as SVGElement;
  fill(node, props, children);
  return node;
}

/** The caption of a table. It is seen above the table, where it does not scroll away. */
export function captioned(at: HTMLTableElement, text: string): HTMLElement {
  byId(`${at.id}-caption`).textContent = text;
  return el("caption", { class: "hidden" }, text);
}

/** Says something to screen readers, and in the line under the head. */
export function say(text: string, isWrong = false): void {
  const status = byId("status");
  status.textContent = text;
  status.classList.toggle("wrong", isWrong);
}

/** Offers a text as a file. */
export function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies a text, and says so. */
export async function copy(text: string, said: HTMLElement): Promise<void> {
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error());
  said.textContent = await copied.then(() => "Copied.", () => "This browser does not let a page copy: select the text and copy it.");
}
