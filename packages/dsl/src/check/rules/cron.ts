/** Cron expressions: five fields, or six with seconds in front. */

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly Field[] = [
  { name: "second", min: 0, max: 59 },
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day of the week", min: 0, max: 7, names: DAYS },
];

const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The problem of a cron expression; undefined: none. */
export function cronProblem(cron: string): string | undefined {
  const words = cron.trim().split(/[ \t]+/);
  if (words.length !== 5 && words.length !== 6) {
    return "five fields (minute hour day month weekday), or six with seconds in front";
  }
  const fields = FIELDS.slice(FIELDS.length - words.length);
  for (const [at, field] of fields.entries()) {
    const problem = fieldProblem(words[at] ?? "", field);
    if (problem !== undefined) return problem;
  }
  const [day = "", month = "", weekday = ""] = words.slice(-3);
  return weekday === "*" && neverComes(day, month) ? "no month has that day" : undefined;
}

function fieldProblem(word: string, field: Field): string | undefined {
  const wrong = `${field.name} is ${field.min} to ${field.max}`;
  for (const part of word.split(",")) {
    const match = /^(\*|\?|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:\/(\d+))?$/.exec(part);
    const special = field.name.startsWith("day") && isSpecial(part, field);
    if (special) continue;
    if (match === null) return wrong;
    const [, from = "", to, every] = match;
    const wild = from === "*" || from === "?";
    if (wild && to !== undefined) return wrong;
    const first = wild ? field.min : numberOf(from, field);
    const last = to === undefined ? first : numberOf(to, field);
    if (!(first >= field.min && last <= field.max && first <= last)) return wrong;
    if (every !== undefined && !(Number(every) >= 1 && Number(every) <= field.max)) return wrong;
  }
  return undefined;
}

/** `L` (last), `15W` (nearest weekday), `fri#2` (second Friday), `friL`. */
function isSpecial(part: string, field: Field): boolean {
  if (field.names === undefined) return /^(?:L|LW|([1-9]|[12]\d|3[01])W)$/i.test(part);
  const match = /^([A-Za-z]{3}|[0-7])(?:#[1-5]|#?L)$/i.exec(part);
  return match !== null && !Number.isNaN(numberOf(match[1] ?? "", field));
}

function numberOf(word: string, field: Field): number {
  if (/^\d+$/.test(word)) return Number(word);
  const at = field.names?.indexOf(word.toLowerCase()) ?? -1;
  return at === -1 ? Number.NaN : at + field.min;
}

/** A single day in a list of months none of which has it. */
function neverComes(day: string, month: string): boolean {
  if (!/^\d+$/.test(day) || !/^\d+(?:,\d+)*$/.test(month)) return false;
  return month.split(",").every((it) => Number(day) > (LONGEST[Number(it) - 1] ?? 31));
}
