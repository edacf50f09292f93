/**
 * Logs: lines on stderr, one a request and one a run. No query, body, header or prompt is ever logged, and one sink replaces
 * every configured secret wherever it occurs.
 */
import { lineForms, secretForms } from "@millrace/contracts";
import { REDACTED } from "@millrace/contracts/kit";
import { pino } from "pino";
import type { LogFormat, LogLevel } from "../config/options.ts";
import type { Logger } from "../ports.ts";

/** Replaces every secret in `text`, in all of its forms: as it is, in JSON, percent-encoded, and inside longer base64. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set(lineForms([...secrets]));
  for (const secret of secrets) for (const form of wholeBase64(secret)) forms.add(form);
  if (forms.size === 0) return (text) => text;
  // Longest first, so that a form that begins another one does not leave its tail behind.
  const pattern = [...forms]
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"))
    .join("|");
  const expression = new RegExp(pattern, "g");
  return (text) => text.replace(expression, REDACTED);
}

/** `secretForms` leaves out what depends on the text around a base64 form; here it stands alone, to its last character. */
function wholeBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64");
  return secretForms(secret).length === 0
    ? []
    : [base64, base64.replace(/=+$/, ""), bytes.toString("base64url")];
}

/** The default logger: `pino` to stderr, each line through `redact`; the level is a word. */
export function createLogger(
  redact: (text: string) => string,
  { level, format }: { readonly level: LogLevel; readonly format: LogFormat },
): Logger {
  const shape = format === "pretty" ? prettyLine : (line: string) => line;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: shownError },
    },
    { write: (line: string) => writeSoon(redact(shape(line))) },
  );
}

/** With the name that an error has: that of its class is another one in a program that was made small. */
function shownError(error: Error): unknown {
  const shown = pino.stdSerializers.err(error);
  return error instanceof Error ? Object.assign(shown, { type: error.name }) : shown;
}

let lines: string[] = [];
let stderr: { write(text: string): unknown } | undefined;
let isExiting = false;

/**
 * Gathers the lines of one turn of the event loop, of all loggers of this process, for one write; the last ones are written when it
 * exits, also for an error that nobody has caught.
 */
function writeSoon(line: string): void {
  if (stderr === undefined) {
    stderr = pino.destination({ fd: 2, sync: true });
    process.on("exit", () => {
      isExiting = true;
      writeLines();
    });
  }
  if (lines.length === 0) setImmediate(writeLines);
  lines.push(line);
  if (isExiting) writeLines();
}

function writeLines(): void {
  if (lines.length === 0) return;
  const text = lines.join("");
  lines = [];
  stderr?.write(text);
}

const LEVEL_WIDTH = 5;
const DATE_LENGTH = "2026-01-01T".length;
/** A text that needs no quotes. */
const PLAIN = /^[\w./:@+-]+$/;

/** One JSON line of the log as text for people. */
function prettyLine(json: string): string {
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
