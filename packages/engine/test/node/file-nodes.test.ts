import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createPortableHost } from "@millrace/engine";
import { runNode, tempRoot } from "@millrace/test-support/flows";
import { expect, onTestFinished, test, vi } from "vitest";

function nodes(policy: { readOnly?: boolean; maxBytes?: number } = {}) {
  const { root } = tempRoot();
  const files = { root, ...policy };
  return {
    root,
    run: (type: string, fields: Parameters<typeof runNode>[1]) => runNode(type, fields, { files }),
  };
}

test("file.read reads text, JSON and base64", async () => {
  const { root, run } = nodes();
  writeFileSync(join(root, "a.json"), '{"rate": 2}');
  expect((await run("file.read", { path: "a.json" })).output).toEqual({
    path: "a.json",
    content: '{"rate": 2}',
    bytes: 11,
    modifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  const json = await run("file.read", { path: "a.json", encoding: "json" });
  expect(json.output).toMatchObject({ content: { rate: 2 } });
  const base64 = await run("file.read", { path: "a.json", encoding: "base64" });
  expect(base64.output).toMatchObject({ content: "eyJyYXRlIjogMn0=" });
});

test.each([
  ["a file that is not there", { path: "none" }, "file_not_found"],
  ["a path that leaves the root", { path: "../x" }, "file_denied"],
  ["a file over its limit", { path: "bin", maxBytes: 2 }, "file_too_large"],
  ["bytes that are no text", { path: "bin" }, "decode_failed"],
  ["text that is no JSON", { path: "text", encoding: "json" }, "decode_failed"],
])("file.read of %s fails with its code", async (_name, fields, code) => {
  const { root, run } = nodes();
  writeFileSync(join(root, "bin"), Buffer.from([0xff, 0xfe, 0xfd]));
  writeFileSync(join(root, "text"), "text");
  expect((await run("file.read", fields)).error?.code).toBe(code);
});

test("file.write creates, replaces and appends, from text and from base64", async () => {
  const { root, run } = nodes();
  const write = (fields: object) => run("file.write", { path: "out/a", ...fields } as never);
  expect((await write({ content: "ü" })).output).toEqual({
    path: "out/a",
    bytes: 2,
    created: true,
  });
  expect((await write({ content: "x" })).error).toMatchObject({ code: "file_exists" });
  const replaced = await write({ content: "bmV3", encoding: "base64", mode: "replace" });
  expect(replaced.output).toEqual({ path: "out/a", bytes: 3, created: false });
  expect((await write({ content: "er", mode: "append" })).output).toMatchObject({ created: false });
  expect(readFileSync(join(root, "out/a"), "utf8")).toBe("newer");
});

test.each([
  ["text that is no base64", { content: "n*t", encoding: "base64" }, {}, "field_invalid"],
  ["a path that leaves the root", { path: "/etc/x", content: "" }, {}, "file_denied"],
  ["too much", { content: "four" }, { maxBytes: 3 }, "file_too_large"],
  ["anything where files are read-only", { content: "x" }, { readOnly: true }, "file_denied"],
])("file.write of %s fails with its code", async (_name, fields, policy, code) => {
  const { run } = nodes(policy);
  const { error } = await run("file.write", { path: "a", ...fields } as never);
  expect(error).toMatchObject({ code, retryable: false });
});

test("file.list lists by pattern, sorted, with a limit", async () => {
  const { root, run } = nodes();
  for (const name of ["b.md", "a.md", "c.txt"]) writeFileSync(join(root, name), name);
  const names = async (fields: object) => {
    const { output } = await run("file.list", fields as never);
    const { files, truncated } = output as { files: { path: string }[]; truncated: boolean };
    return [...files.map(({ path }) => path), truncated];
  };
  expect(await names({})).toEqual(["a.md", "b.md", "c.txt", false]);
  expect(await names({ glob: "*.md", max: 1 })).toEqual(["a.md", true]);
  expect((await run("file.list", { path: "none" })).error?.code).toBe("file_not_found");
});

test("without a policy files are off, and on a host without files they are not supported", async () => {
  const off = await runNode("file.read", { path: "a" });
  expect(off.error?.code).toBe("capability_denied");
  const { root } = tempRoot();
  const none = await runNode(
    "file.read",
    { path: "a" },
    { host: createPortableHost(), files: { root } },
  );
  expect(none.error?.code).toBe("host_unsupported");
});

test.each(["create", "replace"])(
  "file.write by %s on a full disk fails with disk_full and leaves nothing",
  async (mode) => {
    const { root, run } = nodes();
    const file = await open(join(root, "here"), "w");
    const handles = Object.getPrototypeOf(file) as typeof file;
    await file.close();
    // No test can fill the disk of its machine: what the system says of a full one stands in for it.
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
    });
    const spy = vi.spyOn(handles, "writeFile").mockRejectedValue(full);
    onTestFinished(() => spy.mockRestore());
    const { error } = await run("file.write", { path: "a", content: "x", mode });
    expect(error).toMatchObject({ code: "disk_full", retryable: false });
    expect(error?.message).not.toContain(root);
    expect(readdirSync(root)).toEqual(["here"]);
  },
);
