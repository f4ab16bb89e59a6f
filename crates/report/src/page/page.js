/*<![CDATA[*/
// Adds to a page that is complete without it: sorting, filtering, hovering, copying.
"use strict";
(() => {
  const SHORT = 12;
  const all = (from, what) => [...from.querySelectorAll(what)];
  const make = (name, words, kind) => {
    const it = document.createElement(name);
    it.textContent = words;
    if (kind) it.className = kind;
    return it;
  };
  document.documentElement.classList.add("scripted");

  // A cell as a number: −1.5%, 12.3k, $0.04, "98.0% … 99.0%" by its first; nothing sorts last.
  const SIZES = { k: 1e3, M: 1e6, G: 1e9 };
  const number = (words) => {
    const plain = words.replace(/−/g, "-").replace(/,/g, "");
    const found = /^[^\d+-]*([+-]?\$?\d*\.?\d+)\s*([kMG]?)/.exec(plain);
    return found ? Number(found[1].replace("$", "")) * (SIZES[found[2]] || 1) : NaN;
  };
  const cell = (row, at) => row.cells[at] ? row.cells[at].textContent.trim() : "";
  const compare = (at, isNumber, sign) => (one, other) => {
    const [a, b] = [cell(one, at), cell(other, at)];
    if (!isNumber) return sign * a.localeCompare(b, "en", { numeric: true });
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return sign * (x - y);
  };
  const sortable = (table) => {
    const body = table.tBodies[0];
    const asWritten = [...body.rows];
    if (asWritten.length < 2) return;
    all(table.tHead, "th").forEach((head, at) => {
      const button = make("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const was = head.getAttribute("aria-sort");
        all(table.tHead, "th").forEach((it) => it.removeAttribute("aria-sort"));
        const next = was === "ascending" ? "descending" : was === "descending" ? null : "ascending";
        if (next) head.setAttribute("aria-sort", next);
        const isNumber = !head.classList.contains("name");
        const rows = next ? [...asWritten].sort(compare(at, isNumber, next === "ascending" ? 1 : -1)) : asWritten;
        body.append(...rows);
      });
    });
  };

  const filterable = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (SHORT > rows.length) return;
    const tools = make("div", "", "tools");
    const label = make("label", "Filter ");
    const field = document.createElement("input");
    field.type = "search";
    field.setAttribute("aria-controls", table.id);
    const count = make("span", "");
    count.setAttribute("role", "status");
    label.append(field);
    tools.append(label, count);
    table.closest(".wide").before(tools);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => {
        const told = row.textContent.toLowerCase();
        row.hidden = !words.every((it) => told.includes(it));
      });
      const shown = rows.filter((it) => !it.hidden).length;
      count.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} rows`;
    });
  };

  const tip = make("div", "");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);
  const place = (x, y) => {
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - width - 8))}px`;
    tip.style.top = `${y + height + 24 > innerHeight ? y - height - 10 : y + 14}px`;
  };
  const rowOf = (spot) => {
    const link = spot.getAttribute("href");
    return link ? document.getElementById(link.slice(1)) : null;
  };
  const bySpot = new Map();
  all(document, ".spot").forEach((spot) => {
    const row = rowOf(spot);
    const told = spot.querySelector("title");
    // The browser's own tip would come on top of ours.
    const words = told ? told.textContent : "";
    if (told) told.remove();
    if (row) bySpot.set(row, [...(bySpot.get(row) || []), spot]);
    const show = (x, y) => {
      tip.textContent = words;
      tip.hidden = false;
      place(x, y);
      if (row) row.classList.add("seen");
    };
    const hide = () => {
      tip.hidden = true;
      if (row) row.classList.remove("seen");
    };
    spot.addEventListener("pointermove", (it) => show(it.clientX, it.clientY));
    spot.addEventListener("pointerleave", hide);
    spot.addEventListener("focus", () => {
      const at = spot.getBoundingClientRect();
      show(at.right, at.bottom);
    });
    spot.addEventListener("blur", hide);
  });
  bySpot.forEach((spots, row) => {
    const light = (isOn) => spots.forEach((it) => it.classList.toggle("lit", isOn));
    row.addEventListener("pointerenter", () => light(true));
    row.addEventListener("pointerleave", () => light(false));
  });

  // A row that is pointed at is opened up: its command is what comes next.
  const open = () => {
    const row = document.getElementById(location.hash.slice(1));
    if (!row || row.tagName !== "TR") return;
    for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const more = row.querySelector("details");
    if (more) more.open = true;
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", open);
  open();

  all(document, "table").forEach((it) => {
    sortable(it);
    filterable(it);
  });
  all(document, "pre, .do details").forEach((it) => {
    const code = it.querySelector("code");
    const button = make("button", "Copy", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    if (it.tagName === "PRE") it.after(button);
    else it.append(button);
  });
})();
/*]]>*/
