// How numbers are written.
const MINUS = "\u2212";

// To make a format takes much longer than to use it.
const format = (least: number, most: number) => new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });
const [whole, cents, fine, thousandths] = [format(0, 0), format(2, 2), format(4, 4), format(0, 3)] as const;

const signed = (text: string) => text.replace("-", MINUS);

/** Dollars: cents, unless all of it, or of what it is a part of, is less than one. */
export function usd(value: number | null, of = value): string {
  if (value === null) return "unknown";
  const digits = Math.abs(of ?? 0) >= 1 || value === 0 ? cents : fine;
  return signed(digits.format(value).replace(/^(-?)/, "$1$"));
}

/** A change, with its sign. */
export function change(value: number | null): string {
  if (value === null) return "";
  const text = (100 * value).toFixed(1);
  return /^-?0\.0$/.test(text) ? "0.0%" : value > 0 ? `+${text}%` : signed(`${text}%`);
}

export function interval(of: [number, number] | null): string {
  return of ? `${change(of[0]).replace("%", "")}…${change(of[1])}` : "";
}

export function share(value: number | null): string {
  return value === null ? "unknown" : `${(100 * value).toFixed(1)}%`;
}

export function count(value: number | null): string {
  return value === null ? "unknown" : whole.format(value);
}

/** A number as a slider shows it: 40,000 or 0.6. */
export function plain(value: number): string {
  return thousandths.format(value);
}

/** A difference in dollars, with its sign: a saving is negative. */
export function delta(value: number | null): string {
  if (value === null) return "";
  return value > 0 ? `+${usd(value)}` : usd(value);
}

/** Whether a change is good, bad, or none: its class. */
export function tone(value: number | null): string {
  return value === null || /^-?0\.0$/.test((100 * value).toFixed(1)) ? "" : value < 0 ? "saves" : "costs";
}

/** What another bill is beside this one, in words: `Costs 2.8×`, `Costs 12.4% more`, `Saves 8.1%`. */
export function verdict(value: number): string {
  if (!tone(value)) return "Costs the same";
  if (value >= 1) return `Costs ${(1 + value).toFixed(1)}×`;
  return value > 0 ? `Costs ${(100 * value).toFixed(1)}% more` : `Saves ${(-100 * value).toFixed(1)}%`;
}

/** Parts of a sum in cents, or in hundredths of them below a dollar, that add up to the rounded sum: what was cut most is rounded up. Shares are of
 * what is seen, as the command line has them. */
export function addingUp(parts: number[]): { dollars: string; share: string }[] {
  const all = parts.reduce((sum, it) => sum + it, 0);
  const unit = all < 1 && all > 0 ? 10_000 : 100;
  const cut = parts.map((it) => Math.floor(it * unit + 1e-9));
  const left = Math.round(all * unit) - cut.reduce((sum, it) => sum + it, 0);
  const order = parts.map((it, at) => ({ at, rest: it * unit - cut[at]! })).sort((one, other) => other.rest - one.rest);
  for (const { at } of order.slice(0, left)) cut[at]!++;
  const sum = cut.reduce((sum, it) => sum + it, 0) || 1;
  return cut.map((it) => ({ dollars: `$${(unit === 100 ? cents : fine).format(it / unit)}`, share: share(it / sum) }));
}

/** A difference in dollars that is not exact, with its sign: cents of a few dollars only, as the command line has it. */
export function rough(value: number): string {
  const text = Math.abs(value) >= 9.995 ? `$${whole.format(Math.abs(Math.round(value)))}` : `$${cents.format(Math.abs(value))}`;
  return text === "$0.00" ? text : `${value > 0 ? "+" : MINUS}${text}`;
}

/** A number of things: `1 session`, `35 sessions`. */
export function plural(n: number, one: string): string {
  return `${count(n)} ${one}${n === 1 ? "" : "s"}`;
}
