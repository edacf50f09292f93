/** A server in a process of its own: what signals and uncaught errors do to it. Uses the built package. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { SLEEP } from "./support/flows.ts";

const PROGRAM = `
  import { start } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
  const server = await start({ port: 0, store: "memory", drainMs: Number(process.argv[1]) });
  console.log(server.url);
  process.on("message", (what) => what === "throw" ? queueMicrotask(() => { throw new Error("lost") }) : Promise.reject(new Error("lost")));
`;

const LEAKING = `
  import { createApp, createServer } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
  const token = process.argv[1];
  const [given, reloaded] = process.argv[2] === "given" ? [token, []] : ["another-0123456789", [token]];
  const { app: first, host, close } = await createServer({ store: "memory", tokens: [given] });
  first.reload({ tokens: [given, ...reloaded] });
  const percent = encodeURIComponent(token);
  const base64 = (text) => Buffer.from(text).toString("base64");
  const forms = [token, percent, percent.toLowerCase(), base64(token), JSON.stringify(token), base64("me:" + token + ":x")];
  const leak = () => { throw new Error("failed with " + forms.join(" and ")); };
  const app = createApp({ ...host, commands: new Map([["get_meta", leak]]) });
  await app.fetch(new Request("http://localhost/api/meta"));
  await close();
`;

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<[number | null, string | null]>;
}

async function spawnServer(drainMs: number): Promise<Served> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM, String(drainMs)], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit") as Promise<[number | null, string | null]>;
  const lines = createInterface(child.stdout as NodeJS.ReadableStream);
  const listening = once(lines, "line") as Promise<[string]>;
  const [url] = await Promise.race([listening, ended]);
  if (typeof url !== "string") throw new Error("the server did not start; is the package built?");
  return { child, url, ended };
}

async function startSleeper(url: string): Promise<Response> {
  return fetch(`${url}/api/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ dsl: SLEEP }),
  });
}

test("SIGTERM ends live runs in order and exits with 0", async () => {
  const { child, url, ended } = await spawnServer(0);
  const stream = (await startSleeper(url)).text();
  child.kill("SIGTERM");
  expect(await stream).toMatch(/"kind":"summary".*"status":"cancelled".*"exitCode":143\}\n\n$/);
  expect(await ended).toEqual([0, null]);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("a second %s exits at once with %i", async (signal, code) => {
  const { child, url, ended } = await spawnServer(600_000);
  const response = await startSleeper(url);
  child.kill(signal);
  for (;;) {
    const ready = await fetch(`${url}/api/ready`);
    await ready.text();
    if (ready.status === 503) break;
  }
  child.kill(signal);
  expect(await ended).toEqual([code, null]);
  // Nobody waited for the run: its stream is cut where it was.
  expect(await response.text().catch(() => "")).not.toContain('"kind":"summary"');
});

test.each(["throw", "reject"])("an uncaught error (%s) ends the process with 70", async (what) => {
  const { child, ended } = await spawnServer(600_000);
  child.send(what);
  expect(await ended).toEqual([70, null]);
});

test.each([
  'throw new Error("nobody catches it")',
  "process.on('exit', () => log.info('last')); process.exit(3)",
])("what was logged before %s is written", async (end) => {
  const program = `
    import { createServer } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
    const { host: { log } } = await createServer({ store: "memory" });
    setTimeout(() => { log.info("first"); log.error("second"); ${end}; });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  for await (const chunk of child.stderr) log += chunk;
  const said = log.split("\n").filter((line) => line.startsWith("{"));
  const messages = said.map((line) => JSON.parse(line).msg);
  expect(messages).toEqual(["first", "second", ...(end.includes("last") ? ["last"] : [])]);
});

test.each(["given", "reloaded"])(
  "a token that was %s never reaches the log, in any form",
  async (how) => {
    const token = "0123456789+secret/token=";
    const child = spawn(process.execPath, ["--input-type=module", "-e", LEAKING, token, how], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    for await (const chunk of child.stderr) log += chunk;
    const lines = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const ends = ["server.draining", "server.stopped"];
    expect(lines.map(({ msg }) => msg)).toEqual(["request.failed", "request", ...ends]);
    // Of base64 that holds more than the token, what is not the token's alone stays.
    expect(lines[0].err.message).toMatch(
      /^failed with \[redacted\] and \[redacted\] and \[redacted\] and \[redacted\] and "\[redacted\]" and bW[\w+/=]{0,6}\[redacted\][\w+/=]{0,8}$/,
    );
    expect(lines[1]).toMatchObject({
      method: "GET",
      route: "/api/meta",
      status: 500,
      tokenId: null,
    });
  },
);
