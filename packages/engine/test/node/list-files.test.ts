/** Listing files: which names come, in which order, and which patterns fit. */
import { execFileSync } from "node:child_process";
import { symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytes, tempRoot } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";

describe("listing", () => {
  async function tree(paths: readonly string[]) {
    const made = tempRoot();
    for (const path of paths) await made.files.write(path, bytes(path));
    const list = async (path: string, glob?: string, max?: number) => {
      const found = await made.files.list(path, {
        ...(glob !== undefined && { glob }),
        ...(max !== undefined && { max }),
      });
      return [...found.files.map((file) => file.path), ...(found.truncated ? ["…"] : [])];
    };
    return { ...made, list };
  }

  test("gives path, name, size and time of regular files", async () => {
    const { files, root } = await tree(["a/b.txt"]);
    utimesSync(join(root, "a/b.txt"), 1_000_000, 1_700_000_000);
    expect(await files.list("a")).toEqual({
      files: [{ path: "a/b.txt", name: "b.txt", bytes: 7, modifiedAt: "2023-11-14T22:13:20.000Z" }],
      truncated: false,
    });
  });

  test("sorts whole paths by code point, in folders and across them", async () => {
    const { list } = await tree(["b", "a/z", "a.txt", "a!x", "B", "é", "𝒳", "\uFF5Ex", "a/b/c"]);
    expect(await list(".", "**")).toEqual([
      "B",
      "a!x",
      "a.txt",
      "a/b/c",
      "a/z",
      "b",
      "é",
      "\uFF5Ex",
      "𝒳",
    ]);
  });

  test.each([
    ["*", ["a.md", "b.txt"]],
    ["*.md", ["a.md"]],
    ["?.txt", ["b.txt"]],
    ["**/*.md", ["a.md", "d/c.md", "d/e/f.md"]],
    ["**", ["a.md", "b.txt", "d/c.md", "d/e/f.md", "d/e/g"]],
    ["d/*", ["d/c.md"]],
    ["d/**", ["d/c.md", "d/e/f.md", "d/e/g"]],
    ["**/e/*", ["d/e/f.md", "d/e/g"]],
    ["d/**/**/g", ["d/e/g"]],
    ["*/*/*", ["d/e/f.md", "d/e/g"]],
    ["[ab].md", []],
    ["{a,b}.*", []],
    ["a.m", []],
  ])("the pattern %j", async (glob, found) => {
    const { list } = await tree(["a.md", "b.txt", "d/c.md", "d/e/f.md", "d/e/g"]);
    expect(await list(".", glob)).toEqual(found);
  });

  test("special characters of other pattern languages stand for themselves", async () => {
    const { list } = await tree(["a[1].md", "a1.md", "b{2}", "c(3)+"]);
    expect(await list(".", "a[1].md")).toEqual(["a[1].md"]);
    expect(await list(".", "c(3)+")).toEqual(["c(3)+"]);
  });

  test("a pattern is relative to the folder, paths to the root", async () => {
    const { list } = await tree(["d/e/f.md", "d/g.md"]);
    expect(await list("d", "e/*")).toEqual(["d/e/f.md"]);
    expect(await list("d/", "*")).toEqual(["d/g.md"]);
  });

  test("stops at the most that is asked for and says so", async () => {
    const { list } = await tree(["a", "b", "c/d"]);
    expect(await list(".", "**", 2)).toEqual(["a", "b", "…"]);
    expect(await list(".", "**", 3)).toEqual(["a", "b", "c/d"]);
  });

  test("links, FIFOs and names that no flow can write are left out", async () => {
    const { list, root, outside } = await tree(["a"]);
    writeFileSync(join(outside, "secret"), "s");
    symlinkSync(join(outside, "secret"), join(root, "link"));
    symlinkSync(outside, join(root, "far"));
    execFileSync("mkfifo", [join(root, "fifo")]);
    writeFileSync(join(root, "c:d"), "x");
    expect(await list(".", "**")).toEqual(["a"]);
  });

  test("a folder that is not there and a file in its place are not found", async () => {
    const { files } = await tree(["a"]);
    await expect(files.list("none")).rejects.toMatchObject({ code: "file_not_found" });
    await expect(files.list("a")).rejects.toMatchObject({ code: "file_not_found" });
  });

  test("a pattern of many stars is as quick as any other", async () => {
    const { list } = await tree(["a".repeat(200)]);
    expect(await list(".", `${"*a".repeat(200)}b`)).toEqual([]);
  });
});
