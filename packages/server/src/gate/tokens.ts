/**
 * Bearer tokens: reading their written form, and finding the one that a request shows without telling by time which one,
 * or how much of one, was right.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { badOption, type ConfigError } from "../errors.ts";
import type { Role } from "../ports.ts";

/** Who sends a request. `id`: 1 to 64 characters of `A-Za-z0-9._-`, in logs and in the scope of idempotency keys. */
export interface CallerIdentity {
  readonly id: string;
  readonly role: Role;
}

/** A configured token without its secret. */
export interface TokenIdentity extends CallerIdentity {
  /** Of the secret, under the key of the set: of no use elsewhere, and another one when the secret is replaced. */
  readonly digest: Buffer;
}

/** Shorter ones can be guessed; longer ones do not fit a header beside everything else. */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,4096}$/;
const TOKEN_ID = /^[A-Za-z0-9._-]{1,64}$/;
const ROLES: ReadonlySet<string> = new Set(["read", "run", "admin"]);
const BEARER = /^bearer ([A-Za-z0-9._~+/=-]{16,4096})$/i;

interface WrittenToken extends Omit<TokenIdentity, "digest"> {
  readonly secret: string;
}

/**
 * Reads `token` or `id:role:token`; a bare token has role `admin` and an id made of its hash. Throws `ConfigError` with
 * code `option_invalid`, never with the token in the message.
 */
export function parseToken(written: string): WrittenToken {
  const parts = written.split(":");
  const bare = parts.length === 1;
  const secret = parts.at(-1) ?? "";
  const [id = "", role = ""] = bare ? [`tok-${shortHash(secret)}`, "admin"] : parts;
  if (!TOKEN.test(secret) || !(bare || parts.length === 3)) {
    throw invalid("must be 16 to 4096 characters of A-Za-z0-9._~+/=-, or id:role:token");
  }
  if (!TOKEN_ID.test(id)) throw invalid("has an id that is not 1 to 64 characters of A-Za-z0-9._-");
  if (!ROLES.has(role)) throw invalid(`"${id}" has a role that is not read, run or admin`);
  return { id, role: role as Role, secret };
}

/** Reads the answer of the option `caller`. Throws `TypeError` for a value that is no identity. */
export function readIdentity(answer: unknown): TokenIdentity {
  const { id, role } = Object(answer) as { readonly id?: unknown; readonly role?: unknown };
  if (typeof id !== "string" || !TOKEN_ID.test(id)) {
    throw new TypeError("option caller: the id must be 1 to 64 characters of A-Za-z0-9._-");
  }
  if (typeof role !== "string" || !ROLES.has(role)) {
    throw new TypeError("option caller: the role must be read, run or admin");
  }
  return { id, role: role as Role, digest: NO_DIGEST };
}

const NO_DIGEST = Buffer.alloc(0); // the identity was made by no token

function invalid(what: string): ConfigError {
  return badOption(`tokens: a token ${what}`);
}

function shortHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 8);
}

/** A header by which a socket has shown a token. */
interface Proof {
  readonly header: Buffer;
  readonly token: TokenIdentity;
}

/**
 * The tokens that are valid now.
 *   S1  What a socket has shown is forgotten with the set, so at every `reload`, and with the socket.
 *   S2  A header is compared with what its socket has shown in a time that says nothing of either; any other goes the long way, against
 *       every token.
 */
export class TokenSet {
  readonly #key: Uint8Array;
  readonly #tokens: readonly TokenIdentity[];
  readonly #proofs = new WeakMap<object, Proof>();

  /** `key` is random and stays in this process; sets with the same key know each other's tokens. */
  constructor(written: readonly string[], key: Uint8Array) {
    this.#key = key;
    this.#tokens = written.map((text) => {
      const { id, role, secret } = parseToken(text);
      return { id, role, digest: this.#digest(secret) };
    });
    const ids = new Set(this.#tokens.map((token) => token.id));
    if (ids.size < this.#tokens.length) throw invalid("has the id of another one");
    for (const { id, role, digest } of this.#tokens) {
      // Which of the roles would hold depended on the order of the lines.
      const other = this.#tokens.find((each) => each.digest.equals(digest) && each.role !== role);
      if (other !== undefined) throw invalid(`has two roles, as "${id}" and as "${other.id}"`);
    }
  }

  /** No token: every request is let in. */
  get open(): boolean {
    return this.#tokens.length === 0;
  }

  /** Whether a token, perhaps of an earlier set, is still valid: its id and its secret. */
  has({ id, digest }: TokenIdentity): boolean {
    return this.#tokens.some((token) => token.id === id && token.digest.equals(digest));
  }

  /**
   * The token of an `Authorization` value; undefined for a missing, malformed or wrong one, in equal time. `socket`: where it came
   * from, if that is one.
   */
  find(authorization: string = "", socket: object | null = null): TokenIdentity | undefined {
    const proof = socket === null ? undefined : this.#proofs.get(socket);
    if (proof !== undefined && isSame(authorization, proof.header)) return proof.token;
    const found = this.#match(authorization);
    if (found !== undefined && socket !== null) {
      this.#proofs.set(socket, { header: Buffer.from(authorization, "latin1"), token: found });
    }
    return found;
  }

  #match(authorization: string): TokenIdentity | undefined {
    const secret = BEARER.exec(authorization)?.[1] ?? "";
    const digest = this.#digest(secret);
    let found: TokenIdentity | undefined;
    for (const token of this.#tokens) {
      if (timingSafeEqual(token.digest, digest)) found = token;
    }
    return found;
  }

  #digest(secret: string): Buffer {
    return createHmac("sha256", this.#key).update(secret).digest();
  }
}

const scratch = Buffer.alloc(8_192); // longer than any header with a token

/** Whether a text is these bytes, in a time that depends on how many they are alone. */
function isSame(text: string, bytes: Buffer): boolean {
  const shown = scratch.subarray(0, bytes.length);
  shown.fill(0);
  shown.write(text, "latin1");
  const isEqual = timingSafeEqual(shown, bytes);
  return isEqual && text.length === bytes.length;
}
