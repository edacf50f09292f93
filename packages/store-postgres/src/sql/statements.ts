/** Statements of the store in the words of PostgreSQL: `?` becomes `$1`, and each text that is used again has a name. */

/** A statement for the driver. Without a name it is not kept by the server. */
export interface Prepared {
  readonly text: string;
  readonly name: string | undefined;
}

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
    statement = { text: numbered(sql), name: `m${named.size}` };
    named.set(sql, statement);
  }
  return statement;
}

/** A statement that was composed for one call. */
export function composed(sql: string): Prepared {
  return { text: numbered(sql), name: undefined };
}
