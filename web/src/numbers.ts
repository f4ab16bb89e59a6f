// How numbers are written.
const MINUS = "\u2212";

const signed = (text: string) => text.replace("-", MINUS);

export function usd(value: number | null): string {
  if (value === null) return "unknown";
  const digits = Math.abs(value) >= 1 || value === 0 ? 2 : 4;
  return signed(value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).replace(/^(-?)/, "$1$"));
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
  return value === null ? "unknown" : value.toLocaleString("en-US");
}

/** A number as a slider shows it: 40,000 or 0.6. */
export function plain(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

export function bytes(value: number): string {
  return value >= 1e6 ? `${(value / 1e6).toFixed(1)} MB` : `${Math.ceil(value / 1e3)} kB`;
}
