/**
 * Statements of the store in the words of PostgreSQL: `?` becomes `$1`, and each text that is used again has a name. The name is made of
 * the text: where a pooler lets several servers prepare in one session, no name is ever that of another text.
 */
import { createHash } from "node:crypto";

/** A statement for the driver. Without a name it is not kept by the server. */
export interface Prepared {
  readonly text: string;
  readonly name: string | undefined;
}

const NAME_DIGITS = 32; // names have 63 bytes at most

const named = new Map<string, Prepared>();

/** Strings, quoted names and comments are left as they are. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** Numbers the places of values. */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(TOKENS, (token) => {
    if (token !== "?") return token;
    count += 1;
    return `$${count}`;
  });
}

/** A statement that every connection prepares once. Its text must be one of a fixed set. */
export function prepared(sql: string): Prepared {
  let statement = named.get(sql);
  if (statement === undefined) {
    const text = numbered(sql);
    const digest = createHash("sha256").update(text).digest("hex");
    statement = { text, name: `m_${digest.slice(0, NAME_DIGITS)}` };
    named.set(sql, statement);
  }
  return statement;
}

/** A statement that was composed for one call. */
export function composed(sql: string): Prepared {
  return { text: numbered(sql), name: undefined };
}
