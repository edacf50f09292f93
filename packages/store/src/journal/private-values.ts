/**
 * Values that the log must not show, sealed with AES-256-GCM under the key of the installation, which lies beside the database
 * and is in no backup. A value is bound to its run and its name: moved elsewhere it does not open.
 *   P1  Private values are deleted with the `summary` of their run; kept ones with its log.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Json } from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import type { Op, SqlReader, SqlRow, SqlValue } from "../sql/port.ts";

/** Of AES-256. */
export const KEY_BYTES = 32;
const NONCE_BYTES = 12; // NIST SP 800-38D, 8.2
const TAG_BYTES = 16;

export interface Sealed {
  readonly nonce: Uint8Array;
  readonly body: Uint8Array;
}

/** The key in the file `path`; made, readable by its owner alone, when there is none. */
export function installationKey(path: string): Uint8Array {
  if (!existsSync(path)) writeFileSync(path, randomBytes(KEY_BYTES), { mode: 0o600, flag: "wx" });
  const key = readFileSync(path);
  if (key.length !== KEY_BYTES) {
    throw new StoreError("store_corrupt", `${path} is not a key of ${KEY_BYTES} bytes`);
  }
  return key;
}

/** Name of the inputs of a run, where their schemas call some of them secret. */
const INPUTS = "~inputs";

/** `attempt` of a row without one: attempts count from 1. */
const NO_ATTEMPT = 0;
const KEPT = -1;

/** Statements that delete the private values of a run; `kept` values stay. */
export function endOfPrivate(run: number): Op {
  return { sql: `DELETE FROM private_value WHERE run = ? AND attempt <> ${KEPT}`, rows: [[run]] };
}

/** The private values of a store, under one key. `key` null: none can be written, and none read. */
export class PrivateValues {
  readonly #reader: SqlReader;
  readonly #key: Uint8Array | null;

  constructor(reader: SqlReader, key: Uint8Array | null) {
    this.#reader = reader;
    this.#key = key;
  }

  /** The statement that keeps a value of a run, whose row is there. Throws `store_read_only`. */
  put(runId: string, name: string, value: Json, { kept = false }: { kept?: boolean } = {}): Op {
    if (this.#key === null) {
      throw new StoreError("store_read_only", "the store is open for reading only");
    }
    const { node, attempt } = kept ? { node: name, attempt: KEPT } : placeOf(name);
    const { nonce, body } = seal(this.#key, boundTo(runId, name), value);
    return {
      sql:
        "INSERT INTO private_value(run, node, attempt, nonce, body) VALUES((SELECT no FROM run WHERE id = ?), ?, ?, ?, ?) " +
        "ON CONFLICT(run, node, attempt) DO UPDATE SET nonce = excluded.nonce, body = excluded.body",
      rows: [[runId, node, attempt, nonce, body]],
    };
  }

  /** The same for inputs. */
  putInputs(runId: string, inputs: Json): Op {
    return this.put(runId, INPUTS, inputs, { kept: true });
  }

  /** All of a run by their names, but its inputs. Rejects with `store_corrupt` when they do not open. */
  async all(run: number, runId: string): Promise<{ [name: string]: Json }> {
    if (this.#key === null) return {};
    const rows = await this.#reader.all("SELECT * FROM private_value WHERE run = ? AND node <> ?", [
      run,
      INPUTS,
    ]);
    return Object.fromEntries(
      rows.map((row) => {
        const name = nameOf(row);
        return [name, this.#open(runId, name, row)];
      }),
    );
  }

  /** Inputs with their secrets; undefined: there are no secret ones. Rejects with `store_corrupt` when they do not open. */
  async inputs(run: number, runId: string): Promise<Json | undefined> {
    const row = await this.#reader.get("SELECT * FROM private_value WHERE run = ? AND node = ?", [
      run,
      INPUTS,
    ]);
    return row === undefined ? undefined : this.#open(runId, INPUTS, row);
  }

  #open(runId: string, name: string, { nonce, body }: SqlRow): Json {
    const sealed = { nonce: nonce as Uint8Array, body: body as Uint8Array };
    const value = this.#key === null ? undefined : unseal(this.#key, boundTo(runId, name), sealed);
    if (value !== undefined) return value;
    throw new StoreError(
      "store_corrupt",
      `the private values of ${runId} do not open with the file "key" of the data directory; ` +
        "put the key back that the store was written with, or start the flow again",
    );
  }
}

/** The JSON text of the value in a row of `private_value`. Throws `store_corrupt` when it does not open with the key. */
export function openedRow(key: Uint8Array, runId: string, row: SqlRow): string {
  const { nonce, body } = row;
  const sealed = { nonce: nonce as Uint8Array, body: body as Uint8Array };
  const value = unseal(key, boundTo(runId, nameOf(row)), sealed);
  if (value !== undefined) return JSON.stringify(value);
  throw new StoreError("store_corrupt", `the private values of ${runId} do not open with the key`);
}

/** Seals the JSON text of the value in a row anew: the `nonce` and the `body` of the same row under another key. */
export function resealedRow(
  key: Uint8Array,
  runId: string,
  { row, text }: { readonly row: SqlRow; readonly text: string },
): { readonly nonce: SqlValue; readonly body: SqlValue } {
  const { nonce, body } = seal(key, boundTo(runId, nameOf(row)), JSON.parse(text));
  return { nonce, body };
}

/** The name that a value was kept by. */
function nameOf({ node, attempt }: SqlRow): string {
  return attempt === NO_ATTEMPT || attempt === KEPT ? String(node) : `${node}#${attempt}`;
}

function boundTo(runId: string, name: string): string {
  return `${runId}\n${name}`;
}

/** The engine names a private value `path#attempt`; any other name is kept as it is. */
function placeOf(name: string): { readonly node: string; readonly attempt: number } {
  const [, node = name, attempt = "0"] = /^(.*)#([1-9]\d{0,8})$/s.exec(name) ?? [];
  return { node, attempt: Number(attempt) };
}

/** Seals a value; it opens with the same key and the same `bound` alone. */
export function seal(key: Uint8Array, bound: string, value: Json): Sealed {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(bound));
  const text = cipher.update(JSON.stringify(value), "utf8");
  return { nonce, body: Buffer.concat([text, cipher.final(), cipher.getAuthTag()]) };
}

/** Opens a value. Undefined: it was changed, moved, or sealed with another key. */
export function unseal(key: Uint8Array, bound: string, { nonce, body }: Sealed): Json | undefined {
  const text = body.subarray(0, body.length - TAG_BYTES);
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(bound))
      .setAuthTag(body.subarray(body.length - TAG_BYTES));
    return JSON.parse(Buffer.concat([decipher.update(text), decipher.final()]).toString("utf8"));
  } catch {
    return undefined;
  }
}
