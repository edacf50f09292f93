import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createNodeHost } from "@millrace/engine/node";
import { bytes, tempRoot, text } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";

describe("paths", () => {
  const names = [
    "/etc/passwd",
    "../outside/x",
    "a/../../outside/x",
    "a/..",
    "a\\b",
    "c:x",
    "nul\0x",
    "",
    "a//b",
    "a/",
    "dot.",
    "blank ",
    "a./b",
    "con",
    "NUL.txt",
    "deep/com1.log",
    "x".repeat(1_025),
    ".",
    "..",
    "~/x:y",
  ];

  test.each(names)("%j is refused for reading and writing", async (path) => {
    const { files, root, outside } = tempRoot();
    const denied = { code: "file_denied", reason: "denied", retryable: false };
    await expect(files.read(path)).rejects.toMatchObject(denied);
    for (const mode of ["create", "replace", "append"] as const) {
      await expect(files.write(path, bytes("x"), { mode })).rejects.toMatchObject(denied);
    }
    expect([readdirSync(root), readdirSync(outside)]).toEqual([[], []]);
  });

  test("unusual names that mean nothing special are taken", async () => {
    const { files } = tempRoot();
    for (const path of [
      "…/日本 語.txt",
      "-rf",
      "a&b;c$d",
      "console.txt",
      ".hidden",
      "./x",
      "..x",
    ]) {
      const written = await files.write(path, bytes("x"));
      expect(text((await files.read(path)).data)).toBe("x");
      expect(written.path).toBe(path.replace("./x", "x"));
    }
  });

  test("a root that is not absolute is refused when it is opened", () => {
    expect(() => createNodeHost().openFiles({ root: "here" })).toThrow("not an absolute path");
  });
});

describe("reading", () => {
  test("gives the bytes, the relative path and the time of the last change", async () => {
    const { files, root } = tempRoot();
    mkdirSync(join(root, "in"));
    writeFileSync(join(root, "in/a.bin"), Buffer.from([0, 255, 10]));
    utimesSync(join(root, "in/a.bin"), 1_000_000, 1_700_000_000);
    expect(await files.read("in/a.bin")).toEqual({
      path: "in/a.bin",
      data: new Uint8Array([0, 255, 10]),
      modifiedAt: "2023-11-14T22:13:20.000Z",
    });
  });

  test("says which file is not there", async () => {
    const { files, root } = tempRoot();
    writeFileSync(join(root, "file"), "x");
    for (const path of ["none", "no/folder", "file/below"]) {
      await expect(files.read(path)).rejects.toMatchObject({
        code: "file_not_found",
        message: expect.stringContaining(path),
      });
    }
  });

  test("a file over the limit is refused, of the policy or of the call, whichever is less", async () => {
    const { files, root } = tempRoot({ maxBytes: 10 });
    writeFileSync(join(root, "ten"), "0123456789");
    writeFileSync(join(root, "eleven"), "0123456789a");
    expect((await files.read("ten", { maxBytes: 100 })).data).toHaveLength(10);
    const large = { code: "file_too_large", reason: "limit" };
    await expect(files.read("eleven", { maxBytes: 100 })).rejects.toMatchObject(large);
    await expect(files.read("ten", { maxBytes: 9 })).rejects.toMatchObject(large);
  });

  test("a range is read of a file of any size, and the limit holds for the part", async () => {
    const { files, root } = tempRoot({ maxBytes: 4 });
    writeFileSync(join(root, "ten"), "0123456789");
    const part = async (offset: number, length: number) =>
      text((await files.read("ten", { range: { offset, length } })).data);
    expect(await part(0, 4)).toBe("0123");
    expect(await part(8, 4)).toBe("89");
    expect(await part(10, 4)).toBe("");
    await expect(part(0, 5)).rejects.toMatchObject({ code: "file_too_large" });
  });

  test("folders, FIFOs and devices are refused without waiting for them", async () => {
    const { files, root } = tempRoot();
    mkdirSync(join(root, "folder"));
    execFileSync("mkfifo", [join(root, "fifo")]);
    for (const path of ["folder", "fifo"]) {
      await expect(files.read(path)).rejects.toMatchObject({ code: "file_denied" });
      await expect(files.write(path, bytes("x"), { mode: "append" })).rejects.toMatchObject({
        code: "file_denied",
      });
      await expect(files.write(path, bytes("x"), { mode: "replace" })).rejects.toMatchObject({
        code: "file_denied",
      });
    }
    const devices = createNodeHost().openFiles({ root: "/dev" });
    await expect(devices.read("zero")).rejects.toMatchObject({ code: "file_denied" });
  });

  test("a file that the process may not read is refused", async () => {
    const { files, root } = tempRoot();
    writeFileSync(join(root, "locked"), "x");
    chmodSync(join(root, "locked"), 0);
    const asRoot = process.getuid?.() === 0; // who may read everything
    const read = files.read("locked").then(
      () => "read",
      (error) => error.code,
    );
    expect(await read).toBe(asRoot ? "read" : "file_denied");
  });

  test("a signal that is aborted rejects with its reason", async () => {
    const { files, root } = tempRoot();
    writeFileSync(join(root, "a"), "x");
    const signal = AbortSignal.abort("stop");
    await expect(files.read("a", { signal })).rejects.toBe("stop");
    await expect(files.list(".", { signal })).rejects.toBe("stop");
    await expect(files.write("b", bytes("x"), { signal })).rejects.toBe("stop");
    expect(existsSync(join(root, "b"))).toBe(false);
  });
});

describe("links", () => {
  test("a link as the file itself is refused wherever it leads", async () => {
    const { files, root, outside } = tempRoot();
    writeFileSync(join(outside, "secret"), "s");
    writeFileSync(join(root, "real"), "r");
    symlinkSync(join(outside, "secret"), join(root, "out"));
    symlinkSync("real", join(root, "in"));
    symlinkSync(join(outside, "new"), join(root, "dangling"));
    for (const path of ["out", "in", "dangling"]) {
      await expect(files.read(path)).rejects.toMatchObject({ code: "file_denied" });
      for (const mode of ["replace", "append"] as const) {
        await expect(files.write(path, bytes("x"), { mode })).rejects.toMatchObject({
          code: "file_denied",
        });
      }
      await expect(files.write(path, bytes("x"))).rejects.toMatchObject({ code: "file_exists" });
    }
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("s");
    expect(readFileSync(join(root, "real"), "utf8")).toBe("r");
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  test("a folder that is a link is followed within the root and refused out of it", async () => {
    const { files, root, outside } = tempRoot();
    mkdirSync(join(root, "real"));
    writeFileSync(join(root, "real/a"), "a");
    writeFileSync(join(outside, "a"), "secret");
    symlinkSync("real", join(root, "near"));
    symlinkSync(outside, join(root, "far"));
    expect(text((await files.read("near/a")).data)).toBe("a");
    const denied = { code: "file_denied" };
    await expect(files.read("far/a")).rejects.toMatchObject(denied);
    await expect(files.write("far/b", bytes("x"))).rejects.toMatchObject(denied);
    await expect(files.write("far/new/b", bytes("x"))).rejects.toMatchObject(denied);
    await expect(files.list("far")).rejects.toMatchObject(denied);
    expect(readdirSync(outside)).toEqual(["a"]);
  });

  test("a root that is a link itself is used", async () => {
    const { root, outside } = tempRoot();
    symlinkSync(root, join(outside, "alias"));
    const files = createNodeHost().openFiles({ root: join(outside, "alias") });
    await files.write("x", bytes("x"));
    expect(readFileSync(join(root, "x"), "utf8")).toBe("x");
  });

  test("a folder that turns into a link and back while it is used never leads outside", async () => {
    const { files, root, outside } = tempRoot();
    writeFileSync(join(outside, "a"), "secret");
    mkdirSync(join(root, "real"));
    writeFileSync(join(root, "real/a"), "public");
    const place = join(root, "swap");
    const spare = join(root, "spare");
    symlinkSync(outside, place);
    let linked = true;
    const swap = () => {
      if (linked) {
        unlinkSync(place);
        renameSync(join(root, "real"), place);
      } else {
        renameSync(place, join(root, "real"));
        symlinkSync(outside, spare);
        renameSync(spare, place);
      }
      linked = !linked;
    };
    const seen = new Set<string>();
    for (let round = 0; round < 150; round += 1) {
      const read = files.read("swap/a").then(
        (file) => text(file.data),
        (error) => error.code,
      );
      const write = files.write("swap/w", bytes("w"), { mode: "replace" }).then(
        () => "written",
        (error) => error.code,
      );
      for (let turn = 0; turn <= round % 7; turn += 1) await null;
      swap();
      seen.add(await read).add(await write);
    }
    expect(seen).not.toContain("secret");
    expect([...seen].filter((each) => !["public", "written"].includes(each)).sort()).toEqual(
      expect.arrayContaining(["file_denied"]),
    );
    expect(readdirSync(outside)).toEqual(["a"]);
  });
});

describe("writing", () => {
  test("creates a file with its folders and refuses to do so twice", async () => {
    const { files, root } = tempRoot();
    const written = await files.write("out/deep/a.txt", bytes("grüße"));
    expect(written).toEqual({ path: "out/deep/a.txt", bytes: 7, created: true });
    expect(readFileSync(join(root, "out/deep/a.txt"), "utf8")).toBe("grüße");
    await expect(files.write("out/deep/a.txt", bytes("other"))).rejects.toMatchObject({
      code: "file_exists",
      retryable: false,
    });
    expect(readFileSync(join(root, "out/deep/a.txt"), "utf8")).toBe("grüße");
  });

  test("replaces the whole file, keeps its mode and leaves nothing else behind", async () => {
    const { files, root } = tempRoot();
    const place = join(root, "a");
    expect((await files.write("a", bytes("one"), { mode: "replace" })).created).toBe(true);
    chmodSync(place, 0o640);
    expect((await files.write("a", bytes("two"), { mode: "replace" })).created).toBe(false);
    expect(readFileSync(place, "utf8")).toBe("two");
    expect(statSync(place).mode & 0o777).toBe(0o640);
    expect(readdirSync(root)).toEqual(["a"]);
  });

  test("a reader sees the old content or the new one while a file is replaced", async () => {
    const { files } = tempRoot();
    const old = "a".repeat(200_000);
    const fresh = "b".repeat(300_000);
    await files.write("a", bytes(old));
    const writes = files.write("a", bytes(fresh), { mode: "replace" });
    const reads = await Promise.all(Array.from({ length: 20 }, () => files.read("a")));
    await writes;
    for (const { data } of reads) expect([old, fresh]).toContain(text(data));
  });

  test("appends to what is there, up to the limit of the file", async () => {
    const { files } = tempRoot({ maxBytes: 6 });
    const append = (content: string) => files.write("log", bytes(content), { mode: "append" });
    expect(await append("abc")).toEqual({ path: "log", bytes: 3, created: true });
    expect(await append("def")).toEqual({ path: "log", bytes: 3, created: false });
    await expect(append("g")).rejects.toMatchObject({ code: "file_too_large" });
    expect(text((await files.read("log")).data)).toBe("abcdef");
  });

  test("content over the limit is refused and makes no file", async () => {
    const { files, root } = tempRoot({ maxBytes: 3 });
    await expect(files.write("a", bytes("four"))).rejects.toMatchObject({ code: "file_too_large" });
    expect(readdirSync(root)).toEqual([]);
  });

  test("a read-only policy reads and lists and never writes", async () => {
    const { files, root } = tempRoot({ readOnly: true });
    writeFileSync(join(root, "a"), "x");
    expect(text((await files.read("a")).data)).toBe("x");
    for (const mode of ["create", "replace", "append"] as const) {
      await expect(files.write("b", bytes("x"), { mode })).rejects.toMatchObject({
        code: "file_denied",
        message: expect.stringContaining("read-only"),
      });
    }
    expect(readdirSync(root)).toEqual(["a"]);
  });

  test("a file where a folder must be is refused", async () => {
    const { files, root } = tempRoot();
    writeFileSync(join(root, "file"), "x");
    await expect(files.write("file/below", bytes("x"))).rejects.toMatchObject({
      code: "file_denied",
    });
  });
});
