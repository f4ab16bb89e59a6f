// How numbers are written.
const MINUS = "\u2212";

// To make a format takes much longer than to use it.
const format = (least: number, most: number) => new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: most });
const [whole, cents, fine, thousandths] = [format(0, 0), format(2, 2), format(4, 4), format(0, 3)] as const;

const signed = (text: string) => text.replace("-", MINUS);

export function usd(value: number | null): string {
  if (value === null) return "unknown";
  const digits = Math.abs(value) >= 1 || value === 0 ? cents : fine;
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
