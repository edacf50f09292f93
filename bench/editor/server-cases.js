// What the server costs as a process: the time until `initialize` is answered, beside an empty script, and the memory that it keeps
// while somebody edits 10,000 lines.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sized, smoke } from "../size.js";
import { flowOf } from "./flows.js";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/millrace.js", import.meta.url));
const URI = "file:///flows/shop.flow";
const EDITS = sized(1_000, 20);
const LINES = sized(10_000, 300);
/** Edits that are sent before their answers are waited for. */
const AT_ONCE = 10;
const MIB = 1_048_576;

const frame = (message) => {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};
const INITIALIZE = frame({
  id: 0,
  method: "initialize",
  params: { processId: null, rootUri: null, capabilities: {} },
});
const LEAVE = frame({ id: 1, method: "shutdown" }) + frame({ method: "exit" });

/** Milliseconds of the processor that a process takes, all its threads together. */
function processorMs(words, input) {
  const timed = ["-c", 'TIMEFORMAT="%3U %3S"; time "$@" 2>&3', "bash", process.execPath, ...words];
  const stdio = ["pipe", "pipe", "pipe", "pipe"];
  const { status, output } = spawnSync("bash", timed, { encoding: "utf8", stdio, input });
  if (status !== 0) throw new Error(`${words.join(" ")}: exit ${status}\n${output[3]}`);
  const [user, system] = output[2].trim().split(" ").map(Number);
  return (user + system) * 1_000;
}

const start = {
  what: "`millrace lsp` from its start to the answer of `initialize` and its end",
  bars: { empty: 3 },
  samples: 4,
  warmMs: 1,
  prepare() {
    const folder = mkdtempSync(join(tmpdir(), "millrace-bench-"));
    const empty = join(folder, "empty.mjs");
    writeFileSync(empty, "");
    return {
      contenders: {
        empty: () => processorMs([empty], ""),
        millrace: () => processorMs([BIN, "lsp"], INITIALIZE + LEAVE),
      },
      close: () => rmSync(folder, { recursive: true }),
    };
  },
};

/** A server, and requests to it one after the other. */
function served() {
  const child = spawn(process.execPath, [BIN, "lsp"], { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let bytes = Buffer.alloc(0);
  child.stdout.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const head = /^Content-Length: (\d+)\r\n\r\n/.exec(bytes.toString("latin1", 0, 64));
      const to = head === null ? Number.POSITIVE_INFINITY : head[0].length + Number(head[1]);
      if (bytes.length < to) return;
      const { id } = JSON.parse(bytes.toString("utf8", head[0].length, to));
      bytes = bytes.subarray(to);
      waiting.get(id)?.();
    }
  });
  let last = 1;
  return {
    child,
    send: (method, params) => child.stdin.write(frame({ method, params })),
    ask(method, params) {
      last += 1;
      const answered = new Promise((resolve) => waiting.set(last, resolve));
      child.stdin.write(frame({ id: last, method, params }));
      return answered;
    },
    residentMiB() {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return (Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) * 1024) / MIB;
    },
  };
}

const memory = {
  what: `memory of \`millrace lsp\` after ${EDITS} edits of 10,000 lines, each with a completion, and after as many again`,
  bars: { "1,000 edits": 1.1 },
  isBytes: true,
  isLong: !smoke,
  samples: 1,
  warmMs: 1,
  async prepare() {
    const { child, send, ask, residentMiB } = served();
    const text = flowOf(LINES);
    const textDocument = { uri: URI };
    await ask("initialize", { processId: null, rootUri: null, capabilities: {} });
    send("textDocument/didOpen", {
      textDocument: { ...textDocument, languageId: "millrace-flow", version: 0, text },
    });
    let version = 0;
    const after = async () => {
      for (let edit = 0; edit < EDITS; edit += AT_ONCE) {
        const asked = Array.from({ length: AT_ONCE }, () => {
          version += 1;
          const at = { line: 9, character: 0 };
          const change = { range: { start: at, end: at }, text: `# ${version}\n` };
          send("textDocument/didChange", {
            textDocument: { ...textDocument, version },
            contentChanges: [change],
          });
          const position = { line: 10 + version, character: 3 };
          return ask("textDocument/completion", { textDocument, position });
        });
        await Promise.all(asked);
      }
      return residentMiB();
    };
    const first = await after();
    const second = await after();
    return {
      contenders: { "1,000 edits": () => first * MIB, millrace: () => second * MIB },
      facts: () => ({ "MiB after 1,000 edits": { value: Math.round(first), bar: 250 } }),
      close: () => child.kill(),
    };
  },
};

export const serverCases = { "server start": start, "server memory": memory };
