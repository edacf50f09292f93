/** The formats that types of the language name: `date`, `datetime` (`date-time`) and `uri`. */

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
