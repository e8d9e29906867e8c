/** Numbers as readers write and read them. */

/** A number as the figures write it: a real minus, no trailing zeros, ∞ and NaN as such. */
export const number = (value, digits = 2) => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  let text = value.toFixed(digits);
  if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  return (text === "-0" ? "0" : text).replace("-", "−");
};

/** A share in percent, which no line is broken within. */
export const percent = (share, digits = 1) => `${number(100 * share, digits)}\u00a0%`;

/** A whole number as an English reader writes it; the browser's own formatter is slow to load. */
export const grouped = (whole) => String(whole).replace(/\B(?=(\d{3})+$)/g, ",");

/** What a reader typed as a number: takes a comma, a real minus and ∞; NaN if it is none. */
export const parse = (text) => {
  const plain = text
    .trim()
    .replace("−", "-")
    .replace(",", ".")
    .replace("∞", "Infinity")
    .replace(/^([+-]?)inf$/i, "$1Infinity");
  return plain === "" ? NaN : Number(plain);
};

/** A number moved into a range. */
export const clamp = (value, least, most) => Math.min(Math.max(value, least), most);
