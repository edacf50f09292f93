/** `millrace mcp` as an agent starts it: a real process, messages on stdin and stdout. */
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { testWith } from "@millrace/test-support";
import { fencesOf, readPage } from "@millrace/test-support/pages";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { BIN, millrace, scratch, start, urlOf } from "./cli.ts";

/** What the guide tells people to write into the settings of their agent. */
const SETTINGS = JSON.parse(
  fencesOf(readPage("docs/guide/mcp.md")).find(({ marks }) => marks[0] === "mcp.json")?.text ?? "",
);

const ASK = `# Asks whether to go on.
flow 1 ask

node ask: confirm {
  prompt = "Go on?"
}

output answered: bool = ask.value == null
`;

const GREET = `# Greets somebody.
flow 1 greet

input name: string

output text: string = "Hello, \${inputs.name}!"
`;

/** A client of `millrace mcp` in a folder; a person accepts what it asks. */
async function connect(home: string, era: "legacy" | "modern", onTools?: () => void) {
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation: { form: {} } },
      ...(era === "modern" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      ...(onTools && {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onTools } },
      }),
    },
  );
  client.setRequestHandler("elicitation/create", async () => ({ action: "accept", content: {} }));
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [BIN, ...SETTINGS.mcpServers.millrace.args, "--home", home],
      cwd: home,
    }),
  );
  return client;
}

test("an agent uses the flows of this installation, is asked, and is told of new ones", async () => {
  const home = scratch({ "ask.flow": ASK });
  const inHome = async (...words: string[]) => {
    const ended = await millrace([...words, "--home", home], { cwd: home });
    expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)]);
    return ended.stdout;
  };
  await inHome("templates", "save", "ask", "ask.flow");
  let told = 0;
  const clients = {
    modern: await connect(home, "modern"),
    legacy: await connect(home, "legacy", () => {
      told += 1;
    }),
  };
  for (const client of Object.values(clients)) {
    const { tools } = await client.listTools();
    expect(tools.at(-1)).toMatchObject({ name: "ask", description: "Asks whether to go on." });
    expect(await client.callTool({ name: "ask" })).toMatchObject({
      structuredContent: { answered: true },
    });
  }
  const runs = JSON.parse(await inHome("runs", "list", "--json"));
  expect(runs.items).toMatchObject([{ trigger: "mcp" }, { trigger: "mcp" }]);
  await inHome("templates", "save", "other", "ask.flow", "--description", "Another one.");
  await expect.poll(() => told).toBeGreaterThan(0);
  expect(await clients.modern.callTool({ name: "other" })).toMatchObject({
    structuredContent: { answered: true },
  });
});

test("what is no message is answered and passed over, and the end of the input ends the command with 0", async () => {
  const request = (id: unknown, method: string, params: object = {}): string =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const clientInfo = { name: "raw", version: "1" };
  const lines = [
    "{",
    "[".repeat(300),
    '{"jsonrpc":"1.0"}',
    `"${"x".repeat(1_100_000)}"`,
    request("i".repeat(300), "ping"),
    request(1, "initialize", { protocolVersion: "1999-01-01", capabilities: {}, clientInfo }),
    request(2, "none"),
    request(3, "tools/call", { name: "validate_flw", arguments: {} }),
    request(4, "tools/list"),
  ];
  const home = scratch();
  const child = spawn(process.execPath, [BIN, "mcp", "--home", home, "--read-only"], { cwd: home });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.once("close", resolve));
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += String(chunk);
  });
  child.stdin.write(`${lines.join("\n")}\n`);
  await expect.poll(() => stdout).toContain('"tools":[');
  child.stdin.end();
  expect(await ended).toBe(0);
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const refused = answers.filter(({ id }) => id === null).map(({ error }) => error.code);
  expect(refused).toEqual([-32700, -32700, -32600, -32600, -32600]);
  const by = (wanted: number) => answers.find(({ id }) => id === wanted);
  expect(by(1).result.protocolVersion).toBe("2025-11-25");
  expect(by(2).error.code).toBe(-32601);
  expect(by(3).error.message).toContain("did you mean validate_flow?");
  expect(by(4).result.tools.map(({ name }: { name: string }) => name)).not.toContain("run_flow");
});

testWith("mcp-inspector")(
  "the inspector's command line lists and calls a flow, on stdin and over /mcp with a token",
  async () => {
    const home = scratch({ "greet.flow": GREET });
    const inHome = ["--home", home];
    await millrace(["templates", "save", "greet", "greet.flow", ...inHome], { cwd: home });
    const serve = start(["serve", "--port", "0", "--json", ...inHome], {
      env: { MILLRACE_TOKEN: "agent:run:a-token-for-the-agent" },
    });
    const url = await urlOf(serve);
    const inspect = async (...words: string[]) => {
      const env = { PATH: process.env["PATH"], HOME: home };
      const { stdout } = await promisify(execFile)("mcp-inspector", ["--cli", ...words], { env });
      return JSON.parse(stdout);
    };
    const header = ["--header", "Authorization: Bearer a-token-for-the-agent"];
    const targets = [
      [process.execPath, BIN, "mcp", ...inHome],
      [`${url}/mcp`, ...header],
    ];
    await Promise.all(
      targets.map(async (target) => {
        const { tools } = await inspect(...target, "--method", "tools/list");
        expect(tools.at(-1)).toMatchObject({ name: "greet", annotations: { readOnlyHint: true } });
        const call = ["--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ada"];
        expect(await inspect(...target, ...call)).toMatchObject({
          structuredContent: { text: "Hello, Ada!" },
        });
        const { resources } = await inspect(...target, "--method", "resources/list");
        expect(resources.at(-1)).toMatchObject({ uri: "millrace://flows/greet" });
      }),
    );
  },
  120_000,
);
