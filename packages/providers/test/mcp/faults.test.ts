/** Programs that are no servers, and servers that go away. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { McpSource } from "@millrace/providers/mcp";
import { notLinux, testUnless } from "@millrace/test-support";
import { isAlive } from "@millrace/test-support/processes";
import { bundleProgram } from "@millrace/test-support/program";
import { afterEach, expect, test, vi } from "vitest";
import { contextOf, everything, processesWith, program, sourceOf } from "./support.ts";

let source: McpSource | undefined;
afterEach(async () => {
  await source?.close();
});

/** A whole server in a few lines; `onCall` is what its one tool does. */
const server = (onCall: string): string => `
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } } });
    if (method === "tools/list") say({ id, result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } });
    if (method === "tools/call") { ${onCall} }
  });`;

const ANSWER = 'say({ id, result: { content: [{ type: "text", text: "fine" }] } });';

test.each([
  [
    "junk on its output",
    program("console.log('hello there'); setInterval(() => {}, 1000)"),
    "mcp_protocol",
  ],
  ["an end before it says a word", program("process.exit(3)"), "mcp_exited"],
  ["silence", program("setInterval(() => {}, 1000)", { connectMs: 200 }), "mcp_timeout"],
  ["a program that is not there", program("", { command: "/no/such/program" }), "mcp_exited"],
  [
    "a line without end",
    program("process.stdout.write('x'.repeat(20e6)); setInterval(() => {}, 1000)"),
    "mcp_protocol",
  ],
])("%s is told as what it is", async (_, settings, code) => {
  source = sourceOf({ bad: settings });
  await expect(source.list("bad", contextOf())).rejects.toMatchObject({ code });
});

test("what a server wrote before it died is in the error, without its secrets", async () => {
  const secret = "key-that-nobody-sees";
  source = sourceOf(
    {
      bad: program("console.error('no licence for ' + process.env.KEY); process.exit(1)", {
        secrets: { KEY: "ai:x" },
      }),
    },
    { credentials: { secret: async () => secret } },
  );
  const error = await source.list("bad", contextOf()).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: "mcp_exited" });
  expect((error as Error).message).toContain("no licence for [redacted]");
});

test.each([
  ["its error output", "console.error(text); process.exit(1)"],
  ["its refusal", "say({ id, error: { code: -32000, message: text.slice(40) } });"],
])("a secret that is cut in %s is not half there", async (_, what) => {
  const secret = `key-${"s".repeat(60)}-end`;
  // The last 1,000 units, and the first 1,000, end in the middle of the secret.
  const text = 'const text = " ".repeat(40) + "x".repeat(970) + process.env.KEY + "y".repeat(970);';
  source = sourceOf(
    { s: program(server(`${text} ${what}`), { secrets: { KEY: "ai:x" } }) },
    { credentials: { secret: async () => secret } },
  );
  const error = await source
    .call("s", { tool: "t", args: {} }, contextOf())
    .catch((thrown: Error) => thrown);
  expect((error as Error).message).toMatch(/[xy]{900}/);
  expect((error as Error).message).not.toMatch(/s{5}/);
});

test("a server that goes on with junk until it is gone fills nothing", async () => {
  // As much as a pipe takes would cost a processor until the end.
  const flood = `const junk = Buffer.alloc(1 << 20, 120); setInterval(() => process.stdout.write(junk), 10);`;
  source = sourceOf({ s: program(`process.on("SIGTERM", () => {}); ${flood}`) });
  await expect(source.list("s", contextOf())).rejects.toMatchObject({ code: "mcp_protocol" });
  const before = process.memoryUsage().arrayBuffers;
  await source.endRun("r1");
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
});

test("a server that dies in the middle of a call fails that call; the next one starts it anew", async () => {
  source = sourceOf({
    s: program(server(`if (params.arguments.die) process.exit(7); ${ANSWER}`)),
  });
  const call = (die: boolean) => source?.call("s", { tool: "t", args: { die } }, contextOf());
  await expect(call(true)).rejects.toMatchObject({
    code: "mcp_exited",
    message: expect.stringContaining("code 7"),
  });
  expect(await call(false)).toBe("fine");
});

test("a list that changes during a run is the old one still, and a warning says so", async () => {
  const onCall = `say({ method: "notifications/tools/list_changed" }); ${ANSWER}`;
  source = sourceOf({ s: program(server(onCall)) });
  const context = contextOf();
  await source.call("s", { tool: "t", args: {} }, context);
  await source.call("s", { tool: "t", args: {} }, context);
  expect(context.warnings).toEqual(["mcp_list_changed"]);
  expect(await source.list("s", context)).toHaveLength(1);
});

test("a tool whose schema is too long or too deep is left out; a long description is cut", async () => {
  const tools = `
    const deep = (n) => n === 0 ? { type: "string" } : { type: "object", properties: { a: deep(n - 1) } };
    const list = [
      { name: "deep", inputSchema: deep(40) },
      { name: "long", inputSchema: { type: "object", description: "x".repeat(70000) } },
      { name: "t", description: "y".repeat(5000), inputSchema: { type: "object" } },
    ];`;
  const text = server(ANSWER).replace('[{ name: "t", inputSchema: { type: "object" } }]', "list");
  source = sourceOf({ s: program(tools + text, { tools: ["deep", "long", "t"] }) });
  const context = contextOf();
  const found = await source.list("s", context);
  expect(found.map(({ name }) => name)).toEqual(["t"]);
  expect(found[0]?.description).toHaveLength(1_024);
  expect(context.warnings).toEqual(["mcp_tool_dropped", "mcp_tool_dropped"]);
});

test("a server that asks for a model, a person or folders is refused, and goes on", async () => {
  const onCall = `
    say({ id: 900, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
    globalThis.asked = id;`;
  const text = server(onCall).replace(
    "const { id, method, params } = JSON.parse(line);",
    `const { id, method, params, error } = JSON.parse(line);
     if (id === 900) say({ id: globalThis.asked, result: { content: [{ type: "text", text: "refused " + error.code }] } });`,
  );
  source = sourceOf({ s: program(text) });
  expect(await source.call("s", { tool: "t", args: {} }, contextOf())).toBe("refused -32601");
});

test("a server that ends neither with its input nor on SIGTERM is killed, with what it has started", async () => {
  const mark = `stubborn-${process.pid}`;
  const child = `require("node:child_process").spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)", ${JSON.stringify(mark)}], { stdio: "inherit" });`;
  const text = `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); ${child} ${server(ANSWER)}`;
  source = sourceOf({ s: { ...program(text), args: ["-e", text, mark] } });
  expect(await source.call("s", { tool: "t", args: {} }, contextOf())).toBe("fine");
  await vi.waitUntil(() => processesWith(mark).length === 2, { timeout: 30_000 });
  await source.endRun("r1");
  expect(processesWith(mark)).toEqual([]);
});

test("a run that ends while a server is starting leaves nothing behind", async () => {
  const mark = `starting-${process.pid}`;
  const text = "setInterval(() => {}, 1000)";
  source = sourceOf({ s: { ...program(text), args: ["-e", text, mark] } });
  const listing = source.list("s", contextOf());
  const refused = expect(listing).rejects.toThrow();
  await vi.waitUntil(() => processesWith(mark).length === 1, { timeout: 30_000 });
  await source.endRun("r1");
  await refused;
  expect(processesWith(mark)).toEqual([]);
});

/** Opens a server that ignores everything but SIGKILL, tells its process id, and stays. */
const HOST = `
  import { createMcpSource } from "@millrace/providers/mcp";
  const text = ${JSON.stringify(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); ${server('say({ id, result: { content: [{ type: "text", text: String(process.pid) }] } });')}`)};
  const source = createMcpSource({
    servers: { s: { command: process.execPath, args: ["-e", text], tools: ["t"] } },
    credentials: { secret: async () => undefined },
    references: { resolve: async () => ({}) },
    fetch: async () => { throw new Error("none"); },
  });
  const context = { runId: "r", signal: new AbortController().signal, timeoutMs: 30000, progress() {}, warn() {} };
  console.log(await source.call("s", { tool: "t", args: {} }, context));
  setInterval(() => {}, 1000);
`;

testUnless(notLinux)(
  "when this very process is killed, a server that does not care goes too",
  async () => {
    const host = spawn(process.execPath, [await bundleProgram(HOST, import.meta.url)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [chunk] = (await once(host.stdout, "data")) as [Buffer];
    const pid = Number(chunk.toString());
    expect(isAlive(pid)).toBe(true);
    host.kill("SIGKILL");
    await vi.waitUntil(() => !isAlive(pid), { timeout: 30_000 });
  },
);

test("a real server ends by itself when its input does: nobody has to be killed", async () => {
  source = sourceOf({ all: everything(["echo"], "ends-by-itself") });
  await source.list("all", contextOf());
  await source.endRun("r1");
  expect(processesWith("ends-by-itself")).toEqual([]);
});
