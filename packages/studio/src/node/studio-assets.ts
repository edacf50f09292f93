/** The files that the build of the page wrote, read once for a server. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One file of the page, as `ServerOptions.studio` of `@millrace/server` takes it. */
export interface StudioAsset {
  readonly body: Uint8Array;
  /** The same as Brotli. */
  readonly br: Uint8Array;
  /** The same as gzip. */
  readonly gzip: Uint8Array;
  /** Its media type. */
  readonly type: string;
  /** A strong entity tag, with its quotes. */
  readonly etag: string;
  /** Its name says what is in it, so it never changes. */
  readonly immutable: boolean;
}

/** Where the build puts the page; the same from the sources and from `dist`. */
const FOLDER = fileURLToPath(new URL("../../dist/page/", import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Reads the files of the page: `/studio`, the document, and those below `/studio/assets/`, whose names change with what is in them.
 * Rejects when the package was not built.
 */
export async function studioAssets(): Promise<ReadonlyMap<string, StudioAsset>> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name));
  return new Map(
    await Promise.all(files.map(({ parentPath, name }) => read(join(parentPath, name)))),
  );
}

async function read(file: string): Promise<[string, StudioAsset]> {
  const [body, br, gzip] = await Promise.all([
    readFile(file),
    readFile(`${file}.br`),
    readFile(`${file}.gz`),
  ]);
  const path = `/${relative(FOLDER, file).split(sep).join("/")}`;
  const isDocument = path === "/index.html";
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return [isDocument ? "/studio" : path, { body, br, gzip, type, etag, immutable: !isDocument }];
}
