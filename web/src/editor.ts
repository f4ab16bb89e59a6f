// A text with line numbers, and what is wrong with it at its line.
import type { Problem } from "./answers";
import { el } from "./dom";

export class Editor {
  readonly #text: HTMLTextAreaElement;
  readonly #gutter: HTMLElement;
  #wrong = new Set<number>();

  constructor(text: HTMLTextAreaElement, gutter: HTMLElement, changed: () => void) {
    [this.#text, this.#gutter] = [text, gutter];
    text.addEventListener("input", () => {
      this.#number();
      changed();
    });
    text.addEventListener("scroll", () => (gutter.scrollTop = text.scrollTop));
    new ResizeObserver(() => (gutter.style.height = `${text.clientHeight}px`)).observe(text);
  }

  get value(): string {
    return this.#text.value;
  }

  set value(text: string) {
    this.#text.value = text;
    this.#wrong.clear();
    this.#number();
  }

  #number(): void {
    const lines = this.#text.value.split("\n");
    const numbers = lines.map((_, at) => el("span", { class: this.#wrong.has(at + 1) && "at" }, `${at + 1}\n`));
    this.#gutter.replaceChildren(...numbers);
    this.#gutter.scrollTop = this.#text.scrollTop;
  }

  /** Puts the cursor at a place. */
  go(line: number, column: number): void {
    const before = this.#text.value.split("\n").slice(0, line - 1);
    const at = before.reduce((sum, it) => sum + it.length + 1, 0) + column - 1;
    this.#text.focus();
    this.#text.setSelectionRange(at, at);
  }

  /** Lists problems, and marks their lines. */
  show(problems: Problem[], list: HTMLElement): void {
    this.#wrong = new Set(problems.flatMap((it) => it.line ?? []));
    this.#text.setAttribute("aria-invalid", String(problems.some((it) => !it.isWarning)));
    this.#number();
    const items = problems.map((it) => {
      const at = it.line === null ? "" : `line ${it.line}, column ${it.column ?? 1}: `;
      const go = () => this.go(it.line ?? 1, it.column ?? 1);
      return el("li", { "data-line": it.line ?? undefined }, el("button", { type: "button", onclick: go }, at + it.message), it.help && el("span", { class: "help" }, ` ${it.help}`));
    });
    list.replaceChildren(...(items.length ? items : [el("li", { class: "fine" }, "Nothing is wrong with it.")]));
  }
}
