// Tables that can be sorted by their heads.
import { captioned, el } from "./dom";

export interface Column<R> {
  head: string;
  /** What the cell shows. */
  cell(row: R): Node | string;
  /** What it is sorted by; null stands last. */
  by(row: R): number | string | null;
  isLeft?: boolean;
  mark?(row: R): string;
}

export interface Sort {
  column: number;
  isDown: boolean;
}

/** The rows that are made at a time. */
const CHUNK = 60;

/** Fills a table; the way it is sorted stays with the table. */
export function table<R>(at: HTMLTableElement, caption: string, columns: Column<R>[], rows: R[], first: Sort, row: (it: R) => string = () => ""): void {
  const sort: Sort = at.dataset.sort ? JSON.parse(at.dataset.sort) : first;
  const { by } = columns[sort.column]!;
  const sorted = [...rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = a < b ? -1 : a > b ? 1 : 0;
    return sort.isDown ? -order : order;
  });
  const heads = columns.map((it, nth) => {
    const again = () => {
      at.dataset.sort = JSON.stringify({ column: nth, isDown: sort.column === nth && !sort.isDown });
      table(at, caption, columns, rows, first, row);
      at.querySelectorAll<HTMLElement>("thead button")[nth]?.focus();
    };
    const isBy = nth === sort.column && (sort.isDown ? "descending" : "ascending");
    return el("th", { scope: "col", class: it.isLeft && "left", "aria-sort": isBy || undefined }, el("button", { type: "button", onclick: again }, it.head));
  });
  const line = (it: R) =>
    el("tr", { class: row(it) || undefined }, ...columns.map((column, nth) => {
      const props = { class: [column.isLeft && "left", column.mark?.(it)].filter(Boolean).join(" ") || undefined };
      return nth === 0 ? el("th", { ...props, scope: "row" }, column.cell(it)) : el("td", props, column.cell(it));
    }));
  const body = el("tbody");
  // Long tables come in pieces, so that none holds the page up.
  const more = (from: number) => {
    body.append(...sorted.slice(from, from + CHUNK).map(line));
    if (from + CHUNK < sorted.length) requestAnimationFrame(() => body.isConnected && more(from + CHUNK));
  };
  more(0);
  at.replaceChildren(captioned(at, caption), el("thead", {}, el("tr", {}, ...heads)), body);
}
