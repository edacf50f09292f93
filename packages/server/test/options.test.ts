/** Options: what keeps a server from starting, and where options come from. */
import { execFileSync } from "node:child_process";
import { chmod, open, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DEFAULT_LIMITS } from "@millrace/engine";
import { ConfigError, type StartOptions, start } from "@millrace/server";
import { LIMITS } from "@millrace/server/limits";
import { notLinux, testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { gatherOptions, type OptionSources } from "../src/config/environment.ts";
import { invoke, keepLog, serve } from "./support/server.ts";

const TOKEN = "0123456789abcdef";

async function refusal(options: Record<string, unknown>): Promise<ConfigError> {
  try {
    await serve(options as StartOptions);
  } catch (error) {
    if (ConfigError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("the server started");
}

describe("a server does not start", () => {
  test.each([
    [{ colour: "red" }, "colour"],
    [{ port: 70_000 }, "port"],
    [{ port: "6455" }, "port"],
    [{ host: "" }, "host"],
    [{ host: "a b" }, "host"],
    [{ tokens: "one" }, "tokens"],
    [{ tokens: ["short"] }, "tokens"],
    [{ tokens: [""] }, "tokens"],
    [{ tokens: [`a:king:${TOKEN}`] }, "tokens"],
    [{ tokens: [TOKEN, TOKEN] }, "tokens"],
    [{ tokens: [`a:admin:${TOKEN}`, `b:read:${TOKEN}`] }, "two roles"],
    [{ allowOpen: "yes" }, "allowOpen"],
    [{ allowedHosts: ["a.example:80"] }, "allowedHosts"],
    [{ allowedOrigins: ["*"] }, "allowedOrigins"],
    [{ allowedOrigins: ["null"] }, "allowedOrigins"],
    [{ allowedOrigins: ["https://a.example/"] }, "allowedOrigins"],
    [{ publicUrl: "ftp://a.example" }, "publicUrl"],
    [{ publicUrl: "https://a.example/api/" }, "publicUrl"],
    [{ publicUrl: "https://a.example/mcp" }, "publicUrl"],
    [{ publicUrl: "https://a.example/studio" }, "publicUrl"],
    [{ maxLiveRuns: 0 }, "maxLiveRuns"],
    [{ heartbeatMs: 1.5 }, "heartbeatMs"],
    [{ log: false }, "log"],
    [{ log: { info() {} } }, "log"],
    [{ clock: 0 }, "clock"],
    [{ egress: "all" }, "egress"],
    [{ files: "/srv" }, "files"],
    [{ shell: ["git"] }, "shell"],
    [{ env: { MILLRACE_SERVE_MAX_STREAMS: "many" } }, "maxStreams"],
    [{ env: { MILLRACE_TOKEN: " " } }, "MILLRACE_TOKEN"],
    [{ tokenFile: "/no/such/file" }, "tokenFile"],
    [{ env: { MILLRACE_CREDENTIAL_KEY_FILE: "/no/such/file" } }, "MILLRACE_CREDENTIAL_KEY_FILE"],
  ])("with %o", async (options, name) => {
    const error = await refusal(options);
    expect(error.code).toBe("option_invalid");
    expect(error.message).toContain(name);
    expect(error.message).not.toContain("\n");
    expect(error.message).not.toContain(TOKEN);
  });

  test.each(["0.0.0.0", "::"])("on %s without a token", async (host) => {
    const error = await refusal({ host });
    expect(error.code).toBe("open_bind_refused");
  });

  test("on a port that is taken, with the error of Node", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as { port: number };
    const options = { port, signals: false, log: keepLog(), store: "memory" };
    await expect(start(options)).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

test("an open address needs a token, or the operator's word, which is warned of", async () => {
  await serve({ host: "0.0.0.0", tokens: [TOKEN] });
  const log = keepLog();
  await serve({ host: "0.0.0.0", allowOpen: true, log });
  expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
});

test("an option beats the environment, which beats the default", async () => {
  const env = {
    MILLRACE_PORT: "0",
    MILLRACE_SERVE_MAX_LIVE_RUNS: "3",
    MILLRACE_SERVE_MAX_STREAMS: "9",
  };
  const server = await serve({ env, maxStreams: 5 });
  const { limits } = await invoke<{ limits: Record<string, number> }>(server, "get_meta", {});
  expect(limits).toMatchObject({ maxLiveRuns: 3, maxStreams: 5, maxQueuedRuns: 256 });
  // What Kubernetes sets for a Service of this name is no port of ours.
  const linked = await gatherOptions({ env: { MILLRACE_PORT: "tcp://10.0.0.1:80" } });
  expect(linked.port).toBeUndefined();
});

test("tokens come from a file and from the environment", async () => {
  const tokenFile = join(temporaryFolder(), "tokens");
  await writeFile(tokenFile, `# tokens\n\nreader:read:${TOKEN}-file\n`);
  const secret = join(temporaryFolder(), "token");
  await writeFile(secret, `${TOKEN}-env\n`);
  const server = await serve({ tokenFile, env: { MILLRACE_TOKEN_FILE: secret } });
  const ask = async (token: string, method: string) => {
    const path = method === "GET" ? "/api/meta" : "/api/runs";
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    return response.status;
  };
  expect(await ask(`${TOKEN}-file`, "GET")).toBe(200);
  expect(await ask(`${TOKEN}-file`, "POST")).toBe(403);
  expect(await ask(`${TOKEN}-env`, "POST")).toBe(422);
  expect(await ask(`${TOKEN}-none`, "GET")).toBe(401);
});

testUnless(notLinux)(
  "a token file that others can read or change is named with the command that closes it",
  async () => {
    const tokenFile = join(temporaryFolder(), "tokens");
    await writeFile(tokenFile, TOKEN);
    const warnings = async (mode: number, sources: StartOptions & OptionSources) => {
      await chmod(tokenFile, mode);
      const log = keepLog();
      await serve({ ...sources, log });
      return log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields);
    };
    const problem = `other users of this machine can read or change the tokens in ${tokenFile}; run chmod 600 ${tokenFile}`;
    expect(await warnings(0o644, { tokenFile })).toEqual([{ problem }]);
    const env = { MILLRACE_SERVE_TOKEN_FILE: tokenFile };
    expect(await warnings(0o640, { env })).toEqual([{ problem }]);
    expect(await warnings(0o602, { tokenFile })).toEqual([{ problem }]);
    for (const mode of [0o600, 0o711]) expect(await warnings(mode, { tokenFile })).toEqual([]);
  },
);

testUnless(notLinux)("a token file may be a pipe that is gone once it was read", async () => {
  const tokenFile = join(temporaryFolder(), "tokens");
  execFileSync("mkfifo", [tokenFile]);
  const starting = serve({ tokenFile });
  const pipe = await open(tokenFile, "w");
  await rm(tokenFile);
  await pipe.writeFile(TOKEN);
  await pipe.close();
  const { url } = await starting;
  expect((await fetch(`${url}/api/meta`)).status).toBe(401);
});

test("port 0 is any free port, and the address says which", async () => {
  const server = await serve();
  expect(server.url).toBe(`http://127.0.0.1:${server.address.port}`);
  expect(await (await fetch(`${server.url}/api/health`)).json()).toEqual({ status: "ok" });
});

test("a server lets in whoever asks for the loopback address it listens on", async () => {
  const server = await serve({ host: "127.0.0.2" });
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
});

test("limits of runs are the engine's where nobody sets them, but for the size and the time of a run", () => {
  const same = {
    maxEdges: "edges",
    maxEvents: "events",
    maxOutputBytes: "outputBytes",
    maxLiveBytes: "liveBytes",
    maxInputBytes: "inputBytes",
    maxExprSteps: "exprSteps",
    maxExprBytes: "exprBytes",
    maxConfirmations: "confirmations",
    maxMapItems: "map.items",
    maxLoopRounds: "loop.max",
    maxDepth: "depth",
    stepGraceMs: "graceMs",
    maxLogBytes: "logBytes",
  } as const;
  for (const [name, ofEngine] of Object.entries(same)) {
    expect(LIMITS[name as keyof typeof same].default, name).toBe(DEFAULT_LIMITS[ofEngine]);
  }
});
