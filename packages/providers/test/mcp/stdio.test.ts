/** Real servers of the protocol as children of this process. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { McpSource } from "@millrace/providers/mcp";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contextOf, everything, filesystem, processesWith, sourceOf } from "./support.ts";

let folder: string;
let source: McpSource;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-mcp-test-"));
});
afterEach(async () => {
  await source.close();
  await rm(folder, { recursive: true, force: true });
});

test("the listed tools of a server are shown with their schemas, and nothing else is", async () => {
  source = sourceOf({
    all: { ...everything(["echo", "get-sum", "no-such-tool"]), trusted: ["echo"] },
  });
  const context = contextOf();
  const tools = await source.list("all", context);
  expect(tools.map(({ name, trusted }) => [name, trusted])).toEqual([
    ["echo", true],
    ["get-sum", false],
  ]);
  expect(tools[0]?.inputSchema).toMatchObject({ type: "object", required: ["message"] });
  expect(context.warnings).toEqual(["mcp_tool_missing"]);
  const hidden = source.call("all", { tool: "get-env", args: {} }, context);
  await expect(hidden).rejects.toMatchObject({ code: "mcp_tool_error" });
});

test("text comes as text, data as data, an image by its name", async () => {
  source = sourceOf({ all: everything(["echo", "get-structured-content", "get-tiny-image"]) });
  const call = (tool: string, args = {}) => source.call("all", { tool, args }, contextOf());
  expect(await call("echo", { message: "hello" })).toBe("Echo: hello");
  expect(await call("get-structured-content", { location: "Chicago" })).toMatchObject({
    conditions: expect.any(String),
  });
  expect(await call("get-tiny-image")).toContain("[image image/png]");
});

test("arguments that a tool refuses are its error, not a broken connection", async () => {
  source = sourceOf({ all: everything(["get-sum"]) });
  const call = (args: object) =>
    source.call("all", { tool: "get-sum", args: { ...args } }, contextOf());
  await expect(call({ a: "x", b: 1 })).rejects.toMatchObject({ code: "mcp_tool_error" });
  expect(await call({ a: 2, b: 3 })).toContain("5");
});

test("a long call tells how far it is, and at most five times a second", async () => {
  source = sourceOf({ all: everything(["trigger-long-running-operation"]) });
  const context = contextOf();
  const args = { duration: 0.5, steps: 50 };
  await source.call("all", { tool: "trigger-long-running-operation", args }, context);
  expect(context.steps.length).toBeGreaterThan(0);
  expect(context.steps.length).toBeLessThan(50);
});

test("an aborted call is left at once; the server goes on for others", async () => {
  source = sourceOf({ all: everything(["trigger-long-running-operation", "echo"]) });
  const controller = new AbortController();
  const context = contextOf("r1", {
    signal: controller.signal,
    progress: () => controller.abort(new Error("stop")),
  });
  const args = { duration: 600, steps: 6_000 };
  const call = source.call("all", { tool: "trigger-long-running-operation", args }, context);
  await expect(call).rejects.toThrow("stop");
  const echo = { tool: "echo", args: { message: "still here" } };
  expect(await source.call("all", echo, contextOf())).toBe("Echo: still here");
});

test("a call that takes too long is over in its time", async () => {
  source = sourceOf({ all: everything(["trigger-long-running-operation"]) });
  const context = contextOf("r1", { timeoutMs: 200 });
  const args = { duration: 600, steps: 1 };
  const call = source.call("all", { tool: "trigger-long-running-operation", args }, context);
  await expect(call).rejects.toMatchObject({ code: "mcp_timeout" });
});

test("files are read by the server of files, whatever the run does in parallel", async () => {
  await writeFile(join(folder, "a.txt"), "one");
  source = sourceOf({ fs: filesystem(folder, ["read_text_file"]) });
  const path = join(folder, "a.txt");
  const calls = [1, 2, 3].map(() =>
    source.call("fs", { tool: "read_text_file", args: { path } }, contextOf()),
  );
  for (const answer of await Promise.all(calls)) expect(JSON.stringify(answer)).toContain("one");
  expect(processesWith(folder)).toHaveLength(1);
});

test("each run has a process of its own, and none when it has ended", async () => {
  source = sourceOf({ fs: filesystem(folder, ["list_allowed_directories"]) });
  const call = (runId: string) =>
    source.call("fs", { tool: "list_allowed_directories", args: {} }, contextOf(runId));
  await Promise.all([call("r1"), call("r2")]);
  expect(processesWith(folder)).toHaveLength(2);
  await source.endRun("r1");
  expect(processesWith(folder)).toHaveLength(1);
  await source.close();
  expect(processesWith(folder)).toHaveLength(0);
});

test("a server sees the minimal variables, those of its setting, and nothing else", async () => {
  process.env["MILLRACE_TEST_CANARY"] = "canary-of-the-parent";
  const secret = "s3cret-value-of-search";
  source = sourceOf(
    {
      all: {
        ...everything(["get-env"]),
        env: { LANG: "C" },
        secrets: { API_KEY: "ai:search" },
      },
    },
    { credentials: { secret: async (name) => (name === "ai:search" ? secret : undefined) } },
  );
  try {
    const text = String(await source.call("all", { tool: "get-env", args: {} }, contextOf()));
    const variables = JSON.parse(text.slice(text.indexOf("{"))) as { [name: string]: string };
    const minimal = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    const known = minimal.filter((name) => process.env[name] !== undefined);
    expect(Object.keys(variables).sort()).toEqual([...known, "LANG", "API_KEY"].sort());
    // It got the value; it may not give it back.
    expect(variables["API_KEY"]).toBe("[redacted]");
  } finally {
    delete process.env["MILLRACE_TEST_CANARY"];
  }
});

test("a secret that is not stored stops the server before it starts", async () => {
  source = sourceOf({
    fs: { ...filesystem(folder, ["read_text_file"]), secrets: { K: "ai:none" } },
  });
  await expect(source.list("fs", contextOf())).rejects.toMatchObject({
    code: "credentials_missing",
    message: expect.stringContaining("ai:none"),
  });
  expect(processesWith(folder)).toHaveLength(0);
});

test("without a folder of its own a server runs in an empty one, which goes with the run", async () => {
  const settings = {
    command: process.execPath,
    args: [
      "-e",
      `require("node:fs").writeFileSync(${JSON.stringify(join(folder, "cwd"))}, process.cwd())`,
    ],
    tools: ["t"],
  };
  source = sourceOf({ own: settings });
  await expect(source.list("own", contextOf())).rejects.toMatchObject({ code: "mcp_exited" });
  const cwd = await readFile(join(folder, "cwd"), "utf8");
  expect(cwd).toContain("millrace-mcp-");
  await source.close();
  await expect(readFile(cwd)).rejects.toMatchObject({ code: "ENOENT" });
});
