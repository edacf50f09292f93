/**
 * Reads the tarball of an npm package, as little of the format as such tarballs use (POSIX ustar).
 *   U1  Regular files and directories below `package/` alone: a link, a device, an absolute path or `..` ends it.
 *   U2  Nothing is written beside the target, and nothing that is there is replaced.
 *   U3  The budget is counted in unpacked bytes, so that a small archive cannot fill a disk.
 */
import { createReadStream } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createGunzip } from "node:zlib";
import { ModelError } from "../errors.ts";

const BLOCK = 512;
const ROOT = "package/";
const MAX_PATH = 1_024; // more than any package has, less than any system refuses

/** Remaining limits of the unpacking; counted down. */
export interface Budget {
  files: number;
  bytes: number;
}

/** Unpacks a tarball into a folder that need not exist. Throws `download_failed` for a forbidden entry. */
export async function unpack(
  tarball: string,
  into: string,
  { budget, signal }: { readonly budget: Budget; readonly signal: AbortSignal },
): Promise<void> {
  const packed = createReadStream(tarball);
  const plain = createGunzip();
  packed.once("error", (error) => plain.destroy(error));
  try {
    const from = new Blocks(packed.pipe(plain));
    for (;;) {
      signal.throwIfAborted();
      const header = await from.take(BLOCK);
      if (header.every((byte) => byte === 0)) return;
      await unpackOne(from, readEntry(header), { into, budget });
    }
  } catch (error) {
    throw signal.aborted || ModelError.isInstance(error) ? error : unreadable(error);
  } finally {
    packed.destroy();
    plain.destroy();
  }
}

interface TarEntry {
  readonly kind: "file" | "directory" | "comment";
  /** Below the package. */
  readonly path: string;
  readonly size: number;
  readonly executable: boolean;
}

function readEntry(header: Buffer): TarEntry {
  const sum = header.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  if (octal(header, 148, 8) !== sum) throw refused("a header whose checksum is wrong");
  const size = octal(header, 124, 12);
  const type = String.fromCharCode(header[156] || 0x30);
  if (type === "g") return { kind: "comment", path: "", size, executable: false };
  if (type !== "0" && type !== "5") throw refused("something that is neither file nor directory");
  const prefix = text(header, 345, 155);
  const path = `${prefix === "" ? "" : `${prefix}/`}${text(header, 0, 100)}`;
  return {
    kind: type === "5" ? "directory" : "file",
    path: checkPath(path.replace(/\/+$/, "")),
    size: type === "5" ? 0 : size,
    executable: (octal(header, 100, 8) & 0o111) !== 0,
  };
}

function checkPath(path: string): string {
  if (`${path}/` === ROOT) return "";
  const rest = path.slice(ROOT.length);
  const isPlain = rest.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const isOdd = /[\\:\u0000-\u001f\u007f]/.test(path) || path.length > MAX_PATH;
  if (!path.startsWith(ROOT) || !isPlain || isOdd) throw refused("a path that leaves the package");
  return rest;
}

async function unpackOne(
  from: Blocks,
  { kind, path, size, executable }: TarEntry,
  { into, budget }: { readonly into: string; readonly budget: Budget },
): Promise<void> {
  budget.files -= 1;
  budget.bytes -= size;
  if (budget.files < 0 || budget.bytes < 0) throw refused("more than an engine has");
  const padded = Math.ceil(size / BLOCK) * BLOCK;
  if (kind === "comment") return from.skip(padded);
  const target = join(into, path);
  if (kind === "directory") return void (await mkdir(target, { recursive: true, mode: 0o755 }));
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const file = await open(target, "wx", executable ? 0o755 : 0o644);
  try {
    for (let rest = size; rest > 0; ) {
      const chunk = await from.some(rest);
      await file.writeFile(chunk);
      rest -= chunk.length;
    }
  } finally {
    await file.close();
  }
  await from.skip(padded - size);
}

/** Bytes of a stream, as many as are asked for. */
class Blocks {
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Between 1 and `most` bytes. Throws when the stream has ended. */
  async some(most: number): Promise<Buffer> {
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) throw refused("an end in the middle of a file");
      this.#chunk = next.value;
    }
    const taken = this.#chunk.subarray(0, most);
    this.#chunk = this.#chunk.subarray(taken.length);
    return taken;
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let rest = length; rest > 0; ) {
      const part = await this.some(rest);
      parts.push(part);
      rest -= part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(length: number): Promise<void> {
    for (let rest = length; rest > 0; ) rest -= (await this.some(rest)).length;
  }
}

/** An octal number, ended by blank, NUL or the end of the field. */
function octal(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw refused("a number that is not octal");
  return Number.parseInt(digits || "0", 8);
}

function text(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString("utf8");
}

function refused(what: string): ModelError {
  return new ModelError("download_failed", `a package of the engine holds ${what}`);
}

/** A fault of gzip, or of the file system, whose message has the path. */
function unreadable(cause: unknown): unknown {
  const code = (cause as NodeJS.ErrnoException).code ?? "unknown";
  return /^(?:Z_|ERR_)/.test(code)
    ? new ModelError("download_failed", `a package of the engine cannot be unpacked (${code})`, {
        cause,
      })
    : cause;
}
