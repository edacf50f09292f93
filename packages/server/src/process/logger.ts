/**
 * Logs: JSON lines on stderr, one a request. No query, body, header or prompt is ever logged, and one sink replaces
 * every configured secret wherever it occurs.
 */
import { type DestinationStream, pino } from "pino";

/** Where the server logs to; a `pino` logger satisfies it. */
export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

/** Shorter strings occur by chance; every token is longer. */
const MIN_SECRET_LENGTH = 6;
const REDACTED = "[redacted]";

/** Replaces every secret in `text`: as it is, JSON-escaped, percent-encoded and base64-encoded. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    const base64 = Buffer.from(secret).toString("base64");
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      base64,
      base64.replace(/=+$/, ""),
      Buffer.from(secret).toString("base64url"),
    ]) {
      forms.add(form);
    }
  }
  if (forms.size === 0) return (text) => text;
  // Longest first, so that a form that begins another one does not leave its tail behind.
  const pattern = [...forms]
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"))
    .join("|");
  const expression = new RegExp(pattern, "g");
  return (text) => text.replace(expression, REDACTED);
}

/** The default logger: `pino` to stderr, or to `destination`, through the redactor of `secrets()`. */
export function createLogger(options: {
  readonly redact: (text: string) => string;
  readonly destination?: DestinationStream;
}): Logger {
  const sink = options.destination ?? pino.destination({ fd: 2, sync: true });
  return pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => sink.write(options.redact(line)) },
  );
}
