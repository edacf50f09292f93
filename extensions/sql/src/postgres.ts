/**
 * PostgreSQL: a connection and a transaction for each node.
 *   Q1  Statements go by the extended protocol: one each, with parameters that the server never reads as SQL.
 *   Q2  A node that does not write runs in a READ ONLY transaction.
 *   Q3  A node that ends early cancels its statement on the server, which rolls back.
 */
import net from "node:net";
import { NodeError } from "@millrace/contracts";
import pg from "pg";
import type { PostgresAddress } from "./address.ts";
import { toParameter, types } from "./postgres-values.ts";
import { type Result, Rows, refused, type Statement, TIMEOUT_MS, type Work } from "./statement.ts";

const CONNECT_MS = 10_000;
/** Milliseconds in which a cancel reaches the server; it is sent on a connection of its own. */
const CANCEL_MS = 1_000;
/** Code of a request to cancel. @see PostgreSQL, "Message Formats", CancelRequest */
const CANCEL_REQUEST = 80_877_102;

/** Runs statements in one transaction. Throws `NodeError` with a code by what went wrong, or the reason of the signal. */
export async function runPostgres(
  address: PostgresAddress,
  work: Work,
): Promise<readonly Result[]> {
  const { signal } = work;
  const client = new pg.Client(configOf(address));
  client.on("error", () => {}); // what ends a connection is the error of its query, too
  let isConnected = false;
  let isIdle = false;
  const stopped = new AbortController();
  const stop = (): void => stopped.abort(signal.reason);
  const aborted = new Promise<never>((_, reject) => {
    stopped.signal.addEventListener("abort", () => reject(stopped.signal.reason), { once: true });
  });
  aborted.catch(() => {});
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([client.connect(), aborted]);
    isConnected = true;
    const results = await Promise.race([transaction(client, work), aborted]);
    isIdle = true;
    return results;
  } catch (error) {
    isIdle = SQLSTATE.test(stateOf(error)); // the server has ended the statement itself
    throw signal.aborted
      ? signal.reason
      : failureOf(error, { host: address.url.hostname, isConnected, work });
  } finally {
    signal.removeEventListener("abort", stop);
    if (isConnected && !isIdle) await cancel(client);
    await ended(client);
  }
}

function configOf({ url, mode, ca }: PostgresAddress): pg.ClientConfig {
  const connection = new URL(url);
  // The driver would take them before the `ssl` below, and "require" for "verify-full".
  for (const name of ["sslmode", "ssl"]) connection.searchParams.delete(name);
  const ssl = mode === "require" ? { rejectUnauthorized: false } : { ...(ca && { ca }) };
  return {
    connectionString: connection.href,
    ssl: mode === "disable" ? false : ssl,
    application_name: "millrace",
    connectionTimeoutMillis: CONNECT_MS,
  };
}

async function transaction(client: pg.Client, work: Work): Promise<readonly Result[]> {
  const { statements, writes, timeoutMs = TIMEOUT_MS } = work;
  const settings = ["timezone = 'UTC'", "datestyle = 'ISO'", "intervalstyle = 'iso_8601'"];
  const local = [`statement_timeout = ${timeoutMs}`, "bytea_output = 'hex'", ...settings];
  const begin = [`BEGIN ${writes ? "READ WRITE" : "READ ONLY"}`];
  await client.query([...begin, ...local.map((each) => `SET LOCAL ${each}`)].join("; "));
  const rows = new Rows(work);
  const results: Result[] = [];
  for (const each of statements) {
    const rowCount = await send(client, each, rows);
    results.push({ rows: rows.take(), rowCount });
  }
  await client.query("COMMIT");
  return results;
}

/** Sends one statement, and answers how many rows it answered or changed. */
function send(
  client: pg.Client,
  { statement, parameters = [] }: Statement,
  rows: Rows,
): Promise<number> {
  return new Promise((done, fail) => {
    const config = { text: statement, values: parameters.map(toParameter), types };
    const extended = { ...config, rowMode: "array", queryMode: "extended" };
    const query = new pg.Query(extended);
    query.on("row", (row: unknown, result?: pg.ResultBuilder) => {
      try {
        const names = result?.fields.map(({ name }) => name) ?? [];
        rows.add(names, row as Parameters<Rows["add"]>[1]);
      } catch (error) {
        fail(error);
      }
    });
    query.on("end", ({ rowCount }) => done(rowCount ?? 0));
    query.on("error", fail);
    client.query(query);
  });
}

/** Asks the server to end what the connection runs; resolves when it was asked, or cannot be. */
async function cancel(client: pg.Client): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, CANCEL_REQUEST, processID, secretKey].entries()) {
    request.writeInt32BE(value, at * 4);
  }
  await new Promise<void>((done) => {
    const socket = net.connect(client.port, client.host);
    socket.setTimeout(CANCEL_MS, () => socket.destroy());
    socket.on("error", () => {});
    socket.once("close", () => done());
    socket.end(request);
  });
}

async function ended(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: net.Socket } }).connection;
  const closed = client.end().catch(() => {});
  const late = setTimeout(() => stream.destroy(), CANCEL_MS);
  await closed;
  clearTimeout(late);
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

function stateOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? String(error.code) : "";
}

/** Codes of failures by the class of a state; what is transient may come out otherwise the next time. */
const FAILURES: readonly (readonly [state: RegExp, code: string, retryable: boolean])[] = [
  [/^57014/, "timeout", true],
  [/^25006/, "sql_read_only", false],
  [/^23/, "sql_constraint", false],
  [/^(?:22|08P01)/, "sql_value", false], // 08P01: another number of parameters than the statement has
  [/^42/, "sql_statement", false],
  [/^28/, "sql_login", false],
  [/^(?:40001|40P01|55P03)/, "sql_conflict", true],
  [/^(?:53|57P0[123]|08)/, "sql_unavailable", true],
];

/** The failure with a code, and without the address. */
function failureOf(
  error: unknown,
  { host, isConnected, work }: { host: string; isConnected: boolean; work: Work },
): unknown {
  if (NodeError.isInstance(error)) return error;
  const state = stateOf(error);
  const { message, code } = error as Error & { readonly code?: unknown };
  if (SQLSTATE.test(state)) {
    const [, name = "sql_failed", retryable = false] =
      FAILURES.find(([pattern]) => pattern.test(state)) ?? [];
    return new NodeError(name, `${message} (SQLSTATE ${state})`, { retryable });
  }
  if (/SASL|password/i.test(message)) {
    return refused("sql_login", `the database at ${host} does not take the password`);
  }
  const problem = tlsProblem(String(code), message);
  if (problem !== undefined) return refused("sql_tls", `the database at ${host} ${problem}`);
  const what = isConnected
    ? "the connection to the database at"
    : "no connection to the database at";
  const text = `${what} ${host}${isConnected ? " broke" : ""}`;
  return new NodeError("network", `${text} (${typeof code === "string" ? code : "no code"})`, {
    reason: "network",
    retryable: !isConnected || !work.writes, // what a broken write came to nobody knows
    sent: isConnected,
  });
}

/** What is wrong with the certificate of a server or its TLS, and what mends it; undefined: it is something else. */
function tlsProblem(code: string, message: string): string | undefined {
  if (/does not support SSL/.test(message)) return "offers no TLS, which its address asks for";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `has a certificate for other hosts (${code}): use a host that it names`;
  }
  if (/^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|CERT_SIGNATURE_)/.test(code)) {
    const mend = 'set "ca" in the configuration to the certificate of its CA';
    return `has a certificate of a CA that is not known (${code}): ${mend}`;
  }
  return /^(?:ERR_TLS_|ERR_SSL_|CERT_|EPROTO$)/.test(code)
    ? `offers no TLS that can be trusted (${code})`
    : undefined;
}
