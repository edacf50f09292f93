/**
 * Values of any length in a store whose items are short, as those of the Windows Credential Manager are.
 *   C1  What fits stays one item, as it is: other programs can read it.
 *   C2  The item of the account itself is written last and names the pieces: until then the old value is whole.
 *   C3  A value that does not come back as it was written is an error.
 */
import { createHash, randomBytes } from "node:crypto";
import { credentialFailure, OTHER_STORE } from "../credential-failure.ts";
import type { Backend } from "./backend.ts";

/**
 * Characters of a piece. An item of Windows holds 2560 bytes (CRED_MAX_CREDENTIAL_BLOB_SIZE), which is 1280 characters where
 * a library writes UTF-16.
 */
const PIECE_CHARACTERS = 1200;
/** 57600 bytes: no token is longer, and a store of thousands of items is not what users expect. */
const MAX_PIECES = 64;
const FORMAT = "millrace-chunks:1:";
const HEAD = /^millrace-chunks:1:(\d{1,2}):([0-9a-f]{16}):([0-9a-f]{64})$/;
const PIECE_NAME = /#[0-9a-f]{16}#\d{1,2}$/;

/** `backend` for values of up to 57600 bytes; longer ones are `OAuthError` of kind `Credential`, reason `too_large`. */
export function chunkedBackend(backend: Backend): Backend {
  const removePieces = async (account: string, head: Head | undefined) => {
    for (const name of pieceNames(account, head)) await backend.delete(name);
  };
  return {
    async get(account) {
      // Once more: another process may have replaced the value between two pieces.
      for (let tries = 0; tries < 2; tries++) {
        const text = await backend.get(account);
        const head = parseHead(text);
        if (!head) return text;
        const pieces: string[] = [];
        for (const name of pieceNames(account, head)) pieces.push((await backend.get(name)) ?? "");
        const value = Buffer.from(pieces.join(""), "base64url");
        if (hashOf(value) === head.hash) return value.toString("utf8");
      }
      throw damaged();
    },
    async set(account, value) {
      const old = parseHead(await backend.get(account));
      if (fits(value)) {
        await backend.set(account, value);
      } else {
        const { head, text, pieces } = cut(value);
        for (const [i, name] of pieceNames(account, head).entries()) {
          await backend.set(name, pieces[i] as string);
        }
        await backend.set(account, text);
      }
      await removePieces(account, old);
    },
    async delete(account) {
      const head = parseHead(await backend.get(account));
      const isDeleted = await backend.delete(account);
      await removePieces(account, head);
      return isDeleted;
    },
    async list() {
      return (await backend.list()).filter((name) => !PIECE_NAME.test(name));
    },
  };
}

interface Head {
  readonly count: number;
  readonly generation: string;
  readonly hash: string;
}

function fits(value: string): boolean {
  return Buffer.byteLength(value) <= PIECE_CHARACTERS && !value.startsWith(FORMAT);
}

function cut(value: string): { head: Head; text: string; pieces: string[] } {
  const encoded = Buffer.from(value).toString("base64url");
  const count = Math.ceil(encoded.length / PIECE_CHARACTERS);
  if (count > MAX_PIECES) {
    throw credentialFailure(
      "the value is longer than the credential store of Windows takes",
      `Store a shorter one, ${OTHER_STORE}`,
      { reason: "too_large" },
    );
  }
  const pieces = Array.from({ length: count }, (_, i) =>
    encoded.slice(i * PIECE_CHARACTERS, (i + 1) * PIECE_CHARACTERS),
  );
  const head = { count, generation: randomBytes(8).toString("hex"), hash: hashOf(value) };
  return { head, text: `${FORMAT}${count}:${head.generation}:${head.hash}`, pieces };
}

function parseHead(text: string | undefined): Head | undefined {
  const match = HEAD.exec(text ?? "");
  if (!match) return undefined;
  const [, count, generation = "", hash = ""] = match;
  return { count: Number(count), generation, hash };
}

function pieceNames(account: string, head: Head | undefined): string[] {
  const { count, generation } = head ?? { count: 0, generation: "" };
  return Array.from({ length: count }, (_, i) => `${account}#${generation}#${i}`);
}

function hashOf(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("hex");
}

function damaged(): Error {
  return credentialFailure(
    "the pieces of an entry do not fit together",
    "Connect the service again.",
    { reason: "decrypt" },
  );
}
