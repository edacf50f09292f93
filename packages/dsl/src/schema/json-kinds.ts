/** JSON values as a schema sees them, with the formats that types of the language name: `date`, `datetime` (`date-time`) and `uri`. */

/** The JSON Schema name of a value's type; what JSON has not is called by its JavaScript name. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isNaN(value) ? "NaN" : typeof value;
}

/** Whether a value has a JSON Schema type. */
export function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number") return typeof value === "number" && Number.isFinite(value);
  return typeName(value) === type;
}

/**
 * A text that two values share exactly when they are equal as JSON: key order does not count. `read` tells what members
 * and elements stand for; undefined when one of them is not known.
 */
export function equalityKey(
  value: unknown,
  read: (value: unknown) => unknown = (it) => it,
): string | undefined {
  if (typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value === 0 ? 0 : value) ?? "";
  }
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const key of isList ? value.keys() : Object.keys(value).sort()) {
    const inner = equalityKey(read((value as Record<string | number, unknown>)[key]), read);
    if (inner === undefined) return undefined;
    parts.push(isList ? inner : `${JSON.stringify(key)}:${inner}`);
  }
  return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/;

/** Whether a text has a format; formats that are not the language's are only notes and always fit. */
export function hasFormat(format: string, text: string): boolean {
  if (format === "date") return isDate(text);
  if (format === "date-time") return isDateTime(text);
  return format !== "uri" || URI.test(text);
}

/** An RFC 3339 full-date that the calendar has. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

/** An RFC 3339 date-time with an offset. */
export function isDateTime(text: string): boolean {
  const at = text.search(/[Tt]/);
  return at === 10 && isDate(text.slice(0, at)) && TIME.test(text.slice(at + 1));
}
