/** The files of the page, as a server gets them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { ServerOptions } from "@millrace/server";
import { studioAssets } from "@millrace/studio";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));
const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
/** What a person installs, packed. */
const MAX_TARBALL_BYTES = 1_500_000;

test("are one document and files beside it, which a server takes as they are", async () => {
  const assets: NonNullable<ServerOptions["studio"]> = await studioAssets();
  const paths = [...assets.keys()];
  expect(paths.filter((path) => !path.startsWith("/studio/assets/"))).toEqual(["/studio"]);
  for (const [path, { body, br, gzip, type, etag, immutable }] of assets) {
    expect(type, path).not.toBe("application/octet-stream");
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect(immutable).toBe(path !== "/studio");
    const bytes = Buffer.from(body);
    expect(brotliDecompressSync(br ?? "").equals(bytes)).toBe(true);
    expect(gunzipSync(gzip ?? "").equals(bytes)).toBe(true);
  }
});

test("the document has no script, style or handler of its own", async () => {
  const html = Buffer.from((await studioAssets()).get("/studio")?.body ?? "").toString();
  expect(html.match(/<script(?![^>]*\ssrc=)/g)).toBeNull();
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:/);
});

test("every style sheet says the order of the layers, so that it does not matter which is loaded first", async () => {
  const order = /@layer ([\w, ]+);/.exec(
    readFileSync(join(SOURCES, "styles/tokens.css"), "utf8"),
  )?.[1];
  const sheets = [...(await studioAssets())].filter(([path]) => path.endsWith(".css"));
  expect(sheets.length).toBeGreaterThan(5);
  for (const [path, { body }] of sheets) {
    const start = Buffer.from(body).toString().split(";")[0];
    expect(start, path).toBe(`@layer ${order?.replaceAll(" ", "")}`);
  }
});

test("the licence of every package in the page is packed with it", () => {
  const notices = readFileSync(join(DIST, "licenses.txt"), "utf8");
  for (const name of ["preact", "@preact/signals"]) {
    expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, "m"));
  }
});

test("the packed files stay below their ceiling", () => {
  const files = readdirSync(DIST, { recursive: true, withFileTypes: true });
  const sizes = files.map((entry) => {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile()) return 0;
    // Brotli and gzip are not made smaller by the packing; the others become about as small as their gzip.
    return statSync(
      /\.(?:js|css|html|svg)$/.test(file) && file.startsWith(join(DIST, "page"))
        ? `${file}.gz`
        : file,
    ).size;
  });
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_TARBALL_BYTES);
});

test("no source of the page makes HTML or code of text, opens windows, or keeps a token where others read it", () => {
  const forbidden =
    /\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function|window\.open|document\.cookie|createContextualFragment|DOMParser/;
  const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true });
  const found = files.flatMap((entry) => {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) return [];
    const text = readFileSync(join(entry.parentPath, entry.name), "utf8");
    return forbidden.test(text) ? [entry.name] : [];
  });
  expect(found).toEqual([]);
});
