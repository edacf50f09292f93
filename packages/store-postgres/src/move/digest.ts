/**
 * A digest over the rows of a table: the sum of the SHA-256 of each row. It does not depend on the order of the rows, which two
 * databases may see differently.
 */
import { createHash, type Hash } from "node:crypto";
import { type SqlValue, storable } from "@millrace/store/sql";

const MODULUS = 2n ** 256n;

/** How many rows there are, and a digest over them: 64 hex digits. */
export interface RowsDigest {
  readonly rows: number;
  readonly digest: string;
}

export class DigestOfRows {
  #rows = 0;
  #sum = 0n;

  add(row: readonly SqlValue[]): void {
    const hash = createHash("sha256");
    for (const value of row) addValue(hash, value);
    this.#sum = (this.#sum + BigInt(`0x${hash.digest("hex")}`)) % MODULUS;
    this.#rows += 1;
  }

  result(): RowsDigest {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(64, "0") };
  }
}

/** Type, length and bytes, so that no two rows are the same text. */
function addValue(hash: Hash, value: SqlValue): void {
  if (value === null) {
    hash.update("n;");
    return;
  }
  const kind = typeof value === "number" ? "i" : typeof value === "string" ? "t" : "b";
  const known = storable(value);
  const bytes = known instanceof Uint8Array ? known : Buffer.from(String(known));
  hash.update(`${kind}${bytes.length};`).update(bytes);
}
