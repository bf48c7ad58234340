/**
 * Two ways to write JSON. The airline answers as Python's json.dumps writes (", " and ": ", ASCII only); the digest
 * of a database is taken over canonical JSON (keys by code unit, no white space, numbers as ECMAScript has them).
 */

/** Python leaves exponents out between these powers of ten. */
const PLAIN_EXPONENT_MIN = -4;
const PLAIN_EXPONENT_MAX = 16;

/** A number as Python prints a float: "255.0", "1e-07", "1e+16". */
export const floatText = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const [digits = '0', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < PLAIN_EXPONENT_MIN || exponent >= PLAIN_EXPONENT_MAX)) {
    const sign = exponent < 0 ? '-' : '+';
    return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  const plain = Object.is(value, -0) ? '-0' : plainText(value, digits, exponent);
  return plain.includes('.') ? plain : `${plain}.0`;
};

/** ECMAScript itself turns to exponents below 1e-6 only, and from 1e21 on. */
const plainText = (value: number, digits: string, exponent: number): string =>
  exponent < 0 ? value.toFixed(digits.replace(/[-.]/g, '').length - 1 - exponent) : String(value);

/** A whole number prints as a Python int, whatever it was: JSON text in JavaScript does not keep "55.0" apart. */
const numberText = (value: number): string => (Number.isInteger(value) ? String(value) : floatText(value));

const stringText = (value: string): string =>
  JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** As Python's json.dumps writes it. */
export const pythonJson = (value: unknown): string => {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${stringText(key)}: ${pythonJson(member)}`);
  return `{${members.join(', ')}}`;
};

/** Canonical JSON: the same text for the same value, whatever the order of its keys. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
};

/** JSON text by what it says, whatever its spaces and the order of its keys; any other text as it is. */
export const meaning = (text: string): string => {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
};
