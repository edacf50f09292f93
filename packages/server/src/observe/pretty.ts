/** Lines of the log for a person at a terminal: time, level, message, then the fields as `name=value`. */

const LEVEL_WIDTH = 5;
const DATE_LENGTH = "2026-01-01T".length;
/** A text that needs no quotes. */
const PLAIN = /^[\w./:@+-]+$/;

/** One JSON line of the log as text for people. */
export function prettyLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as { [name: string]: unknown };
  const { message, stack } = (err ?? {}) as {
    readonly message?: unknown;
    readonly stack?: unknown;
  };
  const words = Object.entries({ ...fields, error: message ?? null })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${written(value)}`);
  const clock = String(time).slice(DATE_LENGTH, -1);
  const head = [clock, String(level).padEnd(LEVEL_WIDTH), String(msg), ...words].join(" ");
  const trace = typeof stack === "string" ? stack.split("\n").slice(1) : [];
  return [head, ...trace.map((text) => `    ${clean(text.trim())}`), ""].join("\n");
}

function written(value: unknown): string {
  return typeof value === "string" && PLAIN.test(value) ? value : clean(JSON.stringify(value));
}

/** Without what a terminal would obey. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "");
}
