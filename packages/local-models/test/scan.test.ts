import { execFileSync } from "node:child_process";
import {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import {
  type GgufParts,
  type Pair,
  type Tensor,
  tinyGguf,
  VALUE,
  writeGguf,
} from "@millrace/test-support/gguf";
import { expect, test } from "vitest";
import { Runners } from "../src/runner/runners.ts";
import { codeOf, openManager, put } from "./opened.ts";

const TINY = tinyGguf();
const ARCH: Pair = ["general.architecture", VALUE.string, "llama"];
const F32 = (name: string, more: Partial<Tensor> = {}): Tensor => ({
  name,
  dims: [32],
  data: Buffer.alloc(128),
  ...more,
});

/** A small good file, with changes. */
const gguf = (parts: Partial<GgufParts> = {}): Buffer =>
  writeGguf({ pairs: [ARCH], tensors: [F32("a")], ...parts });
const u64 = (bytes: Buffer, at: number, value: bigint): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeBigUInt64LE(value, at);
  return copy;
};
const firstKeyLength = 24; // where the length of the first key stands

/** Files that are skipped, by reason. */
const SKIPPED: { readonly [reason: string]: { readonly [what: string]: Buffer } } = {
  not_gguf: {
    empty: Buffer.alloc(0),
    short: TINY.subarray(0, 23),
    foreign: gguf({ magic: "GGML" }),
    "another text": Buffer.from("<html>this is not the model that you look for</html>"),
  },
  unsupported_version: {
    "version 1": gguf({ version: 1 }),
    "version 4": gguf({ version: 4 }),
    "big endian": gguf({ version: 0x03000000 }),
  },
  corrupt_header: {
    "a header cut off": TINY.subarray(0, 4_000),
    "more tensors than there may be": gguf({ claims: { tensors: 100_001n } }),
    "more pairs than there may be": gguf({ claims: { pairs: 100_001n } }),
    "numbers beyond the exact ones": gguf({ claims: { tensors: 2n ** 63n } }),
    "no tensors": gguf({ tensors: [] }),
    "a key longer than 64 KiB": gguf({ pairs: [["x".repeat(65_537), VALUE.bool, true], ARCH] }),
    "a key longer than the file": u64(gguf(), firstKeyLength, 60_000n),
    "a key as long as nothing can be": u64(gguf(), firstKeyLength, 2n ** 64n - 1n),
    "a text longer than the file": gguf({ pairs: [ARCH], tensors: [], claims: { pairs: 2n } }),
    "a kind of value that is not known": gguf({ pairs: [["x", 13, 1], ARCH] }),
    "an array in an array": gguf({
      pairs: [["x", VALUE.array, { type: VALUE.array, items: [] }], ARCH],
    }),
    "an array that is too long": u64(
      gguf({ pairs: [["x", VALUE.array, { type: VALUE.i32, items: [] }], ARCH] }),
      24 + 8 + 1 + 8,
      10_000_001n,
    ),
    "no architecture": gguf({ pairs: [] }),
    "an architecture that is a number": gguf({ pairs: [["general.architecture", VALUE.u32, 1]] }),
    "an alignment of 24": gguf({ pairs: [ARCH, ["general.alignment", VALUE.u32, 24]] }),
    "an alignment of 4": gguf({ pairs: [ARCH, ["general.alignment", VALUE.u32, 4]] }),
    "an alignment of 131072": gguf({ pairs: [ARCH, ["general.alignment", VALUE.u32, 131_072]] }),
    "an alignment that is a text": gguf({
      pairs: [ARCH, ["general.alignment", VALUE.string, "32"]],
    }),
    "a tensor out of line": gguf({ tensors: [F32("a"), F32("b", { offset: 129 })] }),
    "tensors over each other": gguf({ tensors: [F32("a"), F32("b", { offset: 96 })] }),
    "five dimensions": gguf({ tensors: [F32("a", { dims: [2, 2, 2, 2, 2] })] }),
    "dimensions beyond all numbers": gguf({ tensors: [F32("a", { dims: [2 ** 40, 2 ** 40] })] }),
    "half a block": gguf({ tensors: [F32("a", { type: 8, dims: [33] })] }),
  },
  truncated: {
    "one byte short": TINY.subarray(0, TINY.length - 1),
    "only the header": gguf().subarray(0, gguf().length - 128),
    "an offset beyond the file": gguf({ tensors: [F32("a", { offset: 2 ** 40 })] }).subarray(
      0,
      400,
    ),
  },
};

test("a file that is no whole model is skipped, each with its reason", async () => {
  const all = Object.entries(SKIPPED).flatMap(([reason, files]) =>
    Object.entries(files).map(([name, bytes]) => ({ file: `${name}.gguf`, reason, bytes })),
  );
  const files = Object.fromEntries(all.map(({ file, bytes }) => [file, bytes]));
  const { manager, sent } = openManager({ dir: prepared(files) });
  const { skipped, count } = await manager.scan();
  const expected = all.map(({ file, reason }) => ({ file, reason }));
  expect(count).toBe(0);
  expect(skipped).toEqual(expected.sort((a, b) => (a.file < b.file ? -1 : 1)));
  expect(sent.at(-1)).toEqual({
    channel: "models:scan_complete",
    payload: { count: 0, skipped, ms: expect.any(Number) },
  });
});

/** A folder of models that holds these files from the beginning. */
function prepared(files: { readonly [name: string]: Uint8Array }): string {
  const dir = join(temporaryFolder(), "models");
  put(join(dir, "files"), files);
  return dir;
}

test("types of tensors that are not known are no fault; an odd alignment and version 2 neither", async () => {
  const bert: Pair = ["general.architecture", VALUE.string, "bert"];
  const items = { type: VALUE.i32, items: [2, 8, 4] };
  const heads: Pair = ["llama.attention.head_count_kv", VALUE.array, items];
  const aligned = { pairs: [ARCH, ["general.alignment", VALUE.u32, 64] as const], alignment: 64 };
  const { manager, dir } = openManager({
    dir: prepared({
      "new.gguf": gguf({ tensors: [F32("a", { type: 99 })] }),
      "old.gguf": gguf({ version: 2 }),
      "aligned.gguf": gguf({ ...aligned, tensors: [F32("a"), F32("b")] }),
      "longer.gguf": Buffer.concat([gguf(), Buffer.alloc(1000)]),
      "ballast.gguf": tinyGguf({ ballast: 3_000_000 }),
      "bert.gguf": gguf({ pairs: [bert, ["general.file_type", VALUE.u32, 1]] }),
      "pooled.gguf": gguf({ pairs: [ARCH, ["llama.pooling_type", VALUE.u32, 1]] }),
      "uneven.gguf": gguf({ pairs: [ARCH, heads] }),
    }),
  });
  expect((await manager.scan()).skipped).toEqual([]);
  const { models } = JSON.parse(readFileSync(join(dir, "registry.json"), "utf8"));
  expect(models.find(({ id }: { id: string }) => id === "uneven").gguf.kvHeads).toBe(8);
  const unknown = { quant: "unknown", parameters: 32, contextLength: 0, chatTemplate: false };
  expect(manager.get("new").gguf).toMatchObject(unknown);
  expect(manager.get("new").error).toBeNull();
  expect(manager.get("bert").gguf).toMatchObject({ quant: "F16", embedding: true });
  expect(manager.get("pooled").gguf).toMatchObject({ embedding: true });
  const ballast = { contextLength: 2048, quant: "F32", embedding: false };
  expect(manager.get("ballast").gguf).toMatchObject(ballast);
});

test("split models are one, when all parts are there and agree", async () => {
  const part = (no: number, count: number): Buffer => {
    const split: Pair[] = [
      ["split.no", VALUE.u16, no],
      ["split.count", VALUE.u16, count],
    ];
    return gguf({ pairs: no === 0 ? [ARCH, ...split] : split });
  };
  const { manager } = openManager({
    dir: prepared({
      "big/q8-00001-of-00002.gguf": part(0, 2),
      "big/q8-00002-of-00002.gguf": part(1, 2),
      "half-00001-of-00002.gguf": part(0, 2),
      "wrong-00001-of-00002.gguf": part(0, 2),
      "wrong-00002-of-00002.gguf": part(0, 2),
      "alone.gguf": part(0, 2),
    }),
  });
  const { skipped } = await manager.scan();
  expect(
    manager.list().map(({ id, files, gguf: facts }) => [id, files.length, facts?.parameters]),
  ).toEqual([["big:q8", 2, 64]]);
  expect(skipped.map(({ file, reason }) => `${file} ${reason}`)).toEqual([
    "alone.gguf missing_part",
    "half-00001-of-00002.gguf missing_part",
    "wrong-00002-of-00002.gguf missing_part",
  ]);
});

test("folders are looked through three levels deep, links may not lead out, and hidden files stay hidden", async () => {
  const outside = temporaryFolder();
  put(outside, { "out.gguf": TINY });
  const dir = prepared({
    "a/b/deep.gguf": TINY,
    "a/b/c/deeper.gguf": TINY,
    ".hidden.gguf": TINY,
    "m.gguf.part": TINY,
    "readme.md": TINY,
  });
  const files = join(dir, "files");
  symlinkSync(join(outside, "out.gguf"), join(files, "link.gguf"));
  symlinkSync(outside, join(files, "folder"));
  symlinkSync(join(files, "a/b/c/deeper.gguf"), join(files, "near.gguf"));
  symlinkSync("nothing", join(files, "dangling.gguf"));
  execFileSync("mkfifo", [join(files, "pipe.gguf")]);
  const { manager } = openManager({ dir });
  const { skipped } = await manager.scan();
  expect(manager.list().map(({ id }) => id)).toEqual(["b:deep", "near"]);
  expect(skipped).toEqual([
    { file: "dangling.gguf", reason: "unreadable" },
    { file: "folder", reason: "outside" },
    { file: "link.gguf", reason: "outside" },
    { file: "pipe.gguf", reason: "unreadable" },
  ]);
});

test("ids come from paths, clashes are numbered in the order of paths, and a known path keeps its id", async () => {
  const dir = prepared({
    "Qwen/4B Q4_K.gguf": TINY,
    "qwen/4b-q4_k.gguf": TINY,
    "ＱＷＥＮ.gguf": TINY,
    "a..b.gguf": TINY,
    "§.gguf": TINY,
    [`${"x".repeat(80)}.gguf`]: TINY,
  });
  const extra = temporaryFolder();
  put(extra, { "qwen.gguf": TINY });
  const opened = openManager({ dir, settings: { folders: [extra, join(extra, "none")] } });
  await opened.manager.scanned;
  const ids = opened.manager.list().map(({ id, origin }) => `${id} ${origin}`);
  expect(ids).toEqual([
    "a.b managed",
    "model managed",
    "qwen managed",
    "qwen:4b-q4_k managed",
    "qwen:4b-q4_k-2 managed",
    `${"x".repeat(64)} managed`,
    "qwen-2 folder",
  ]);
  expect(opened.logged).toEqual(["warn: folder 2 of models cannot be read (ENOENT)"]);
  const registered = opened.sent.flatMap(({ channel, payload }) =>
    channel === "models:registered" ? [payload] : [],
  );
  expect(registered).toEqual(ids.map((id) => id.split(" ")[0]).sort());
  const complete = { channel: "models:scan_complete", payload: { count: 7 } };
  expect(opened.sent.at(-1)).toMatchObject(complete);
  expect(await codeOf(() => opened.manager.remove("qwen-2"))).toBe("operator_required");
  await opened.manager.remove("qwen:4b-q4_k");
  await opened.manager.close();
  const next = openManager({ dir, settings: { folders: [extra] } });
  await next.manager.scanned;
  expect(next.manager.list().map(({ id }) => id)).toContain("qwen:4b-q4_k-2");
});

test("what has not changed is not read again; what has is, and what is gone leaves", async () => {
  const dir = prepared({ "a.gguf": TINY, "b.gguf": TINY, "c.gguf": TINY });
  const first = openManager({ dir });
  await first.manager.scanned;
  await first.manager.close();
  const files = join(dir, "files");
  const { mtime, size } = statSync(join(files, "a.gguf"));
  writeFileSync(join(files, "a.gguf"), Buffer.alloc(size)); // the same inode, length and time: it is believed
  utimesSync(join(files, "a.gguf"), mtime, mtime);
  const registry = JSON.parse(readFileSync(join(dir, "registry.json"), "utf8"));
  registry.models[0].files[0].mtimeMs = statSync(join(files, "a.gguf")).mtimeMs;
  writeFileSync(join(dir, "registry.json"), JSON.stringify(registry));
  writeFileSync(join(files, "b.gguf"), "broken now");
  rmSync(join(files, "c.gguf"));

  const next = openManager({ dir });
  expect(next.manager.list().map(({ id }) => id)).toEqual(["a", "b", "c"]); // what the last process knew
  await next.manager.scanned;
  expect(next.manager.list().map(({ id, state, error }) => [id, state, error?.message])).toEqual([
    ["a", "ready", undefined],
    ["b", "invalid", "not_gguf"],
  ]);
  expect(next.logged).toEqual(["info: the files of the model c are gone"]);
  expect(next.sent.at(-1)?.payload).toMatchObject({
    count: 1,
    skipped: [{ file: "b.gguf", reason: "not_gguf" }],
  });
  writeFileSync(join(files, "b.gguf"), tinyGguf({ ctx: 512 }));
  await next.manager.scan();
  const read = { state: "ready", gguf: { contextLength: 512 }, error: null };
  expect(next.manager.get("b")).toMatchObject(read);
});

test("a file that changed since it was checked is not loaded, and is looked at again", async () => {
  const opened = openManager({ dir: prepared({ "a.gguf": TINY }) });
  await opened.manager.scanned;
  writeFileSync(join(opened.dir, "files/a.gguf"), "something else");
  opened.sent.length = 0;
  expect(await codeOf(() => opened.manager.acquire("a"))).toBe("invalid_model");
  expect(opened.manager.get("a")).toMatchObject({
    state: "invalid",
    error: { code: "invalid_model" },
  });
  await opened.seen(({ channel }) => channel === "models:scan_complete");
  expect(await codeOf(() => opened.manager.load("a"))).toBe("invalid_model");
});

test.each([
  ["broken", "{"],
  ["newer", '{"version":2,"models":[]}'],
  ["of another shape", '{"version":1,"models":[{"id":"../x","files":[]}]}'],
])("a registry that is %s is put aside and rebuilt", async (_, text) => {
  const dir = prepared({ "a.gguf": TINY });
  for (const at of [1, 2, 3]) writeFileSync(join(dir, `registry.json.bad-${at}`), "");
  writeFileSync(join(dir, "registry.json"), text);
  const opened = openManager({ dir, clock: { now: () => 4, setTimer: () => () => undefined } });
  await opened.manager.scanned;
  expect(opened.logged).toEqual([
    "warn: the registry of models is broken or newer; it is rebuilt from the files",
  ]);
  const bad = readdirSync(dir).filter((name) => name.includes(".bad-"));
  expect(bad.sort()).toEqual([2, 3, 4].map((at) => `registry.json.bad-${at}`));
  expect(JSON.parse(readFileSync(join(dir, "registry.json"), "utf8"))).toMatchObject({
    version: 1,
    models: [{ id: "a", files: [{ path: "a.gguf", bytes: TINY.length }] }],
  });
});

test("a registry that leads out of the folders removes nothing there", async () => {
  const dir = prepared({ "a.gguf": TINY });
  const first = openManager({ dir });
  await first.manager.scanned;
  await first.manager.close();
  const victim = join(dir, "victim.gguf");
  writeFileSync(victim, TINY);
  const { size: bytes, mtimeMs, ino } = statSync(victim);
  const path = `${join(dir, "files")}/../victim.gguf`;
  const registry = JSON.parse(readFileSync(join(dir, "registry.json"), "utf8"));
  registry.models[0].files[0] = { path, bytes, mtimeMs, ino };
  writeFileSync(join(dir, "registry.json"), JSON.stringify(registry));
  const next = openManager({ dir });
  await next.manager.scanned;
  expect(next.manager.list().map(({ id }) => id)).toEqual(["a"]);
  await next.manager.remove("a");
  expect(readFileSync(victim).equals(TINY)).toBe(true);
  expect(readdirSync(join(dir, "files"))).toEqual([]);
});

test("nobody loads a model while it is removed, and a model whose file is gone gives up its process", async () => {
  const dir = prepared({ "a.gguf": TINY, "b.gguf": TINY });
  const seen: unknown[] = [];
  const opened = openManager({
    dir,
    parts: {
      createRunners: (context) =>
        Object.assign(new Runners(context), {
          state: () => "loaded" as const,
          async unload(id: string) {
            seen.push(id, await codeOf(() => opened.manager.acquire(id)));
          },
        }),
    },
  });
  await opened.manager.scanned;
  expect(await codeOf(() => opened.manager.remove("a"))).toBe("in_use");
  await opened.manager.remove("a", { force: true });
  expect(seen).toEqual(["a", "not_found"]);
  rmSync(join(dir, "files/b.gguf"));
  await opened.manager.scan();
  expect(seen[2]).toBe("b");
});

test("a manager that is closed, or is closing, scans no more; who waits twice waits for the same", async () => {
  const { manager, dir } = openManager({ dir: prepared({ "a.gguf": TINY }) });
  await manager.scanned;
  const reason = new Error("enough");
  await expect(manager.scan({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const closing = manager.close();
  expect(await codeOf(() => manager.scan())).toBe("state_conflict");
  await expect(manager.scan({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await manager.close();
  expect(readdirSync(dir)).not.toContain("manager.lock");
  expect(await codeOf(() => manager.scan())).toBe("state_conflict");
  await closing;
});
