/**
 * SQLite behind one small port, over `node:sqlite` or the package `libsql`. Plain JavaScript: the writer thread loads this
 * file as it stands, also where the sources run without a build. Its types are in `sqlite.d.ts`.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const FAULTS = {
  5: "BUSY",
  6: "LOCKED",
  8: "READONLY",
  10: "IOERR",
  11: "CORRUPT",
  13: "FULL",
  14: "CANTOPEN",
  19: "CONSTRAINT",
  26: "NOTADB",
};

// For as long as a start waits for another connection that recovers or closes the WAL, before any other statement of it.
const BUSY = "PRAGMA busy_timeout=5000";

export function findDriver(name) {
  return name === "node" ? nodeDriver() : libsqlDriver();
}

export function faultOf(error) {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, errcode, rawCode, message } = error;
  const named = /^SQLITE_([A-Z]+)/.exec(typeof code === "string" ? code : "")?.[1];
  if (named !== undefined) return Object.values(FAULTS).find((fault) => fault === named);
  // libsql names no code when it cannot open a file: the number ends its message
  const number = errcode ?? rawCode ?? /ConnectionFailed.*: (\d+)"\)$/.exec(String(message))?.[1];
  return FAULTS[Number(number) & 0xff]; // the upper bits are the extended code
}

function nodeDriver() {
  const sqlite = quietly(() => process.getBuiltinModule?.("node:sqlite"));
  if (sqlite === undefined) return undefined;
  return {
    name: "node",
    open(path, { readonly = false } = {}) {
      const db = new sqlite.DatabaseSync(path, { readOnly: readonly });
      db.exec(BUSY);
      return {
        exec: (sql) => db.exec(sql),
        prepare(sql) {
          const statement = db.prepare(sql);
          return {
            run: (values) => ({ changes: Number(statement.run(...bound(values)).changes) }),
            get: (values) => statement.get(...bound(values)),
            all: (values) => statement.all(...bound(values)),
          };
        },
        close: () => db.close(),
      };
    },
  };
}

/**
 * Text of SQLite ends for its readers at NUL, and text of PostgreSQL has none: its picture stands in its place, in what is stored and
 * in what is looked for.
 */
export function storable(value) {
  return hasNul(value) ? value.replaceAll("\0", "␀") : value;
}

function hasNul(value) {
  return typeof value === "string" && value.includes("\0");
}

function bound(values) {
  return values.some(hasNul) ? values.map(storable) : values;
}

/** Node 22 warns once that its SQLite is experimental; the conformance suites are what that is judged by here. */
function quietly(load) {
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    if (!String(warning).includes("SQLite is an experimental feature")) {
      emitWarning.call(process, warning, ...rest);
    }
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function libsqlDriver() {
  let Database;
  try {
    // A bundle of CommonJS has no address; the package is looked for from the folder of the process then.
    Database = createRequire(import.meta.url ?? join(process.cwd(), "bundle.js"))("libsql");
  } catch {
    return undefined; // an optional dependency that was left out, or has no binary for this platform
  }
  return {
    name: "libsql",
    open(path, { readonly = false } = {}) {
      // it has no option for it, but takes the URI of SQLite
      const db = new Database(readonly ? `${pathToFileURL(path).href}?mode=ro` : path);
      db.exec(BUSY);
      return {
        exec: (sql) => void db.exec(sql),
        prepare(sql) {
          const statement = db.prepare(sql);
          return {
            run: (values) => ({ changes: statement.run([...bound(values)]).changes }),
            get(values) {
              const row = statement.get([...bound(values)]);
              if (row !== undefined) delete row._metadata; // its timing, not a column
              return row;
            },
            all: (values) => statement.all([...bound(values)]).map(withBytes),
          };
        },
        close: () => void db.close(),
      };
    },
  };
}

/** Its lists of rows hold blobs as buffers without a view. */
function withBytes(row) {
  for (const name in row) {
    if (row[name] instanceof ArrayBuffer) row[name] = new Uint8Array(row[name]);
  }
  return row;
}
