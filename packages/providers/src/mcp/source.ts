/**
 * The servers of the operator's settings as a source of tools.
 *   L1  One connection for a run and a server, opened at its first use; a server that ended is connected again.
 *   L2  When the run has ended its connections are closed and nothing of them is left.
 * Neither the protocol's client nor a program is loaded or started before the first use.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  AiCredentialsPort,
  AiSourceTool,
  AiToolContext,
  AiToolSource,
  CredentialsPort,
  FetchLike,
} from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";
import { keyInVariable, missing } from "../credentials.ts";
import type { McpServerSettings } from "../settings/read.ts";
import type { McpConnection, McpTarget } from "./connection.ts";
import { mcpError } from "./failure.ts";

/** Dependencies of the servers. */
export interface McpSourceOptions {
  /** By name. */
  readonly servers: { readonly [name: string]: McpServerSettings };
  /** Secrets of the variables that servers are given. */
  readonly credentials: Pick<CredentialsPort, "secret">;
  /** Credentials of servers at an address, by reference. */
  readonly references: Pick<AiCredentialsPort, "resolve">;
  /** Variables of this process, where a setting says `env:NAME`; default none. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** For servers at an address: behind the egress policy, and independent of any one node. */
  readonly fetch: FetchLike;
}

/** A source that can be closed as a whole. */
export interface McpSource extends AiToolSource {
  endRun(runId: string): Promise<void>;
  /** Closes the connections of all runs. Never rejects. */
  close(): Promise<void>;
}

interface RunState {
  /** Those that work, or are on their way. */
  readonly live: Map<string, Promise<McpConnection>>;
  /** All that there were. */
  readonly opened: Promise<McpConnection>[];
  /** Tools by server, as they were first told. */
  readonly tools: Map<string, readonly AiSourceTool[]>;
  /** Programs that are on their way out. */
  readonly closing: Promise<void>[];
  /** Folders that were made for programs without one. */
  readonly folders: string[];
  readonly end: AbortController;
}

/** The source. Its errors are `NodeError`: `mcp_exited mcp_protocol mcp_timeout mcp_tool_error auth`, and those of credentials and network. */
export function createMcpSource(options: McpSourceOptions): McpSource {
  const runs = new Map<string, RunState>();
  const ending = new Set<Promise<void>>();

  /** An open or opening connection; all waiters fail with one that fails, and the next call tries again. */
  function connection(server: string, ctx: AiToolContext): Promise<McpConnection> {
    if (ctx.signal.aborted) return Promise.reject(ctx.signal.reason);
    const run = runs.get(ctx.runId) ?? newRun();
    runs.set(ctx.runId, run);
    const known = run.live.get(server);
    if (known !== undefined) return known;
    const forget = (): void => {
      if (run.live.get(server) === opening) run.live.delete(server);
    };
    const opening = open(server, { options, run, ctx, onOver: forget });
    run.live.set(server, opening);
    run.opened.push(opening);
    opening.catch(forget);
    return opening;
  }

  async function end(runId: string): Promise<void> {
    const run = runs.get(runId);
    runs.delete(runId);
    if (run === undefined) return;
    const done = endRun(run).finally(() => ending.delete(done));
    ending.add(done);
    await done;
  }

  return {
    async list(server, ctx) {
      const known = runs.get(ctx.runId)?.tools.get(server);
      if (known !== undefined) return known;
      const { tools } = await untilAborted(connection(server, ctx), ctx.signal);
      runs.get(ctx.runId)?.tools.set(server, tools);
      return tools;
    },
    async call(server, { tool, args }, ctx) {
      if (!settingsOf(options, server).tools.includes(tool)) {
        throw mcpError("mcp_tool_error", `the tool ${tool} of ${server} is not allowed here`);
      }
      const open = await untilAborted(connection(server, ctx), ctx.signal);
      return open.call(tool, args, ctx);
    },
    endRun: end,
    async close() {
      for (const runId of [...runs.keys()]) void end(runId);
      await Promise.all(ending);
    },
  };
}

function newRun(): RunState {
  return {
    live: new Map(),
    opened: [],
    closing: [],
    tools: new Map(),
    folders: [],
    end: new AbortController(),
  };
}

interface Opening {
  readonly options: McpSourceOptions;
  readonly run: RunState;
  readonly ctx: AiToolContext;
  /** Called when nothing can come from the connection any more. */
  readonly onOver: () => void;
}

async function open(server: string, opening: Opening): Promise<McpConnection> {
  const { run, ctx, onOver } = opening;
  const target = await targetOf(server, opening);
  const { connect } = await import("./connection.ts");
  return connect(target, {
    signal: run.end.signal,
    warn: ctx.warn,
    onOver,
    leave: (closing) => void run.closing.push(closing),
  });
}

async function targetOf(server: string, { options, run, ctx }: Opening): Promise<McpTarget> {
  const settings = settingsOf(options, server);
  if ("url" in settings) {
    const { url, credential } = settings;
    const token = credential === undefined ? undefined : await tokenOf(credential, options, ctx);
    const secrets = token === undefined ? [] : [token];
    return { server, settings, url, token, secrets, fetch: options.fetch };
  }
  const given = Object.entries(settings.secrets ?? {});
  const secrets = await Promise.all(
    given.map(async ([name, account]) => [name, await secretOf(account, options)] as const),
  );
  return {
    server,
    settings,
    secrets: secrets.map(([, value]) => value),
    start: {
      command: settings.command,
      args: settings.args ?? [],
      env: { ...settings.env, ...Object.fromEntries(secrets) },
      cwd: settings.cwd ?? (await emptyFolder(run)),
    },
  };
}

async function tokenOf(
  reference: string,
  { references, env = {} }: McpSourceOptions,
  { signal }: AiToolContext,
): Promise<string> {
  if (reference.startsWith("env:")) {
    const name = reference.slice("env:".length);
    const value = keyInVariable(env, name);
    if (value) return value;
    throw missing(`the variable ${name} is not set, and a server of tools has its key there`);
  }
  const { apiKey, accessToken } = await references.resolve({ provider: "", reference, signal });
  return accessToken ?? apiKey ?? "";
}

async function secretOf(account: string, { credentials }: McpSourceOptions): Promise<string> {
  const value = await credentials.secret(account);
  if (value !== undefined) return value;
  const text = `the credential "${account}" is not stored; millrace secrets set ${account} stores it`;
  throw missing(text);
}

async function emptyFolder({ folders }: RunState): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-mcp-"));
  folders.push(folder);
  return folder;
}

function settingsOf({ servers }: McpSourceOptions, server: string): McpServerSettings {
  const settings = Object.hasOwn(servers, server) ? servers[server] : undefined;
  if (settings !== undefined) return settings;
  throw mcpError("mcp_unavailable", `no server ${server.slice(0, 64)} is set up in mcpServers`);
}

async function endRun({ end, opened, closing, folders }: RunState): Promise<void> {
  end.abort();
  const found = await Promise.allSettled(opened);
  await Promise.all(found.map((each) => each.status === "fulfilled" && each.value.close()));
  await Promise.all(closing);
  await Promise.all(
    folders.map((folder) => rm(folder, { recursive: true, force: true }).catch(() => {})),
  );
}
