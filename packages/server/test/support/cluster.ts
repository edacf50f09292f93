/** Servers of one cluster in processes of their own, over PostgreSQL and three nodes of Restate. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnyEvent, checkLog, parseEventStrict } from "@millrace/contracts";
import { openPostgresDatabase } from "@millrace/store-postgres";
import { type ClusterGround, startClusterGround } from "@millrace/test-support/executor";
import { bundleProgram } from "@millrace/test-support/program";
import { expect } from "vitest";

/** How long a state is waited for. */
export const PATIENCE = { timeout: 60_000, interval: 50 };

/** `process.argv[2]` is the folder, `[3]` the cluster, `[4]` other options; `skewMs`: how far its clock is from the right time. */
const PROGRAM = `
import { start } from "@millrace/server";
const [store, shared, more] = process.argv.slice(2);
const { key, ...cluster } = JSON.parse(shared);
const { skewMs = 0, ...options } = JSON.parse(more);
const { now } = Date;
if (skewMs !== 0) {
  const Right = Date;
  globalThis.Date = class extends Right {
    constructor(...words) {
      if (words.length === 0) super(now() + skewMs);
      else super(...words);
    }
    static now() { return now() + skewMs; }
  };
}
const { url } = await start({ store, port: 0, credentials: { store: "memory" }, ...options,
  cluster: { ...cluster, key: Buffer.from(key, "hex") } });
console.log(url);
`;

/** Nodes one after another, each of which takes a tenth of a second, or nothing. */
export function flowOf(nodes: number, ms = 100): string {
  const ids = Array.from({ length: nodes }, (_, at) => `n${at}`);
  const body = ms === 0 ? "transform {\n  value = 1\n}" : `delay {\n  for = ${ms}ms\n}`;
  return `flow 1 slow\n\n${ids.map((id) => `node ${id}: ${body}`).join("\n\n")}\n\n${ids.join(" -> ")}\n`;
}

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
  /** The lines of its log. */
  readonly told: string[];
}

/** What a cluster is started with. `homes`: how many servers there may be; `wired`: the number of one with wires. */
export interface ClusterOptions {
  readonly homes: number;
  readonly wired?: number;
  /** What it stands on, in place of loopback. */
  readonly ground?: ClusterGround;
  /** The command line that runs these words where the server with this number is. */
  readonly within?: (at: number, words: readonly string[]) => readonly string[];
  /** Options of the server with this number. */
  readonly optionsOf: (at: number) => object;
}

export class TestServers {
  readonly ground: ClusterGround;
  readonly database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  readonly folder: string;
  readonly #program: string;
  readonly #optionsOf: ClusterOptions["optionsOf"];
  readonly #within: NonNullable<ClusterOptions["within"]>;
  readonly #servers: Server[] = [];

  private constructor(
    parts: Pick<TestServers, "ground" | "database" | "folder"> & {
      readonly program: string;
      readonly optionsOf: ClusterOptions["optionsOf"];
      readonly within: ClusterOptions["within"];
    },
  ) {
    this.#within = parts.within ?? ((_, words) => words);
    this.ground = parts.ground;
    this.database = parts.database;
    this.folder = parts.folder;
    this.#program = parts.program;
    this.#optionsOf = parts.optionsOf;
  }

  /** Starts what servers stand on, and none of them. */
  static async open(options: ClusterOptions): Promise<TestServers> {
    const { homes, wired, optionsOf, within } = options;
    const [ground, program] = await Promise.all([
      options.ground ?? startClusterGround(homes, wired === undefined ? {} : { wired }),
      bundleProgram(PROGRAM, import.meta.url),
    ]);
    const key = Buffer.from(ground.key, "hex");
    const database = await openPostgresDatabase({ url: ground.postgres.url, key }); // makes the tables
    const folder = mkdtempSync(join(tmpdir(), "millrace-cluster-"));
    return new TestServers({ ground, database, folder, program, optionsOf, within });
  }

  homeOf(at: number): string {
    return join(this.folder, String(at));
  }

  /** Starts a server; resolves when it serves. */
  async begin(at: number): Promise<Server> {
    const options = JSON.stringify(this.#optionsOf(at));
    const words = [this.#program, this.homeOf(at), this.ground.optionOf(at), options];
    const [command = "", ...rest] = this.#within(at, [process.execPath, ...words]);
    const child = spawn(command, rest, { stdio: ["ignore", "pipe", "pipe"] });
    const told: string[] = [];
    child.stderr.setEncoding("utf8").on("data", (text: string) => told.push(text));
    let text = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      text += chunk;
      if (text.endsWith("\n")) break;
    }
    const server = { url: text.trim(), child, told };
    this.#servers[at] = server;
    return server;
  }

  /** A server that has ended is asked no more; it must be the one with the highest number. */
  forget(at: number): void {
    this.#servers.length = at;
  }

  at(at: number): Server {
    return this.#servers[at % this.#servers.length] as Server;
  }

  async start(
    at: number,
    { dsl = flowOf(20), runId, key }: { dsl?: string; runId?: string; key?: string } = {},
  ): Promise<Response> {
    return this.post(
      at,
      "/api/runs",
      { dsl, ...(runId && { options: { runId } }) },
      key === undefined ? {} : { "idempotency-key": key },
    );
  }

  async post(at: number, path: string, body: object, headers: object = {}): Promise<Response> {
    return fetch(`${this.at(at).url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Starts a run; answers its id. */
  async started(at: number, dsl = flowOf(20)): Promise<string> {
    const response = await this.start(at, { dsl });
    expect(response.status).toBe(202);
    return ((await response.json()) as { runId: string }).runId;
  }

  /** What a server answers as JSON; undefined: nothing good. */
  async json(at: number, path: string): Promise<unknown> {
    const response = await fetch(`${this.at(at).url}${path}`).catch(() => undefined);
    return response?.ok ? response.json() : undefined;
  }

  async statusOf(runId: string, at = 0): Promise<unknown> {
    return ((await this.json(at, `/api/runs/${runId}`)) as { status: unknown } | undefined)?.status;
  }

  /** Whether it says that it takes work. */
  async readyOf(at: number): Promise<unknown> {
    return (await fetch(`${this.at(at).url}/api/ready`)).json();
  }

  /** The log of a run as this server tells it. */
  async textOf(runId: string, at: number): Promise<string> {
    const headers = { accept: "application/x-ndjson" };
    return (await fetch(`${this.at(at).url}/api/runs/${runId}/events`, { headers })).text();
  }

  /** Waits for the end of a run, whose log is legal and the same at every server; answers its events. */
  async endOf(runId: string): Promise<readonly AnyEvent[]> {
    await expect.poll(() => this.statusOf(runId), PATIENCE).toBe("succeeded");
    const text = await this.textOf(runId, 0);
    for (let at = 1; at < this.#servers.length; at += 1) {
      expect(await this.textOf(runId, at)).toBe(text);
    }
    const events = text.trim().split("\n").map(parseEventStrict);
    expect(checkLog(events)).toEqual([]);
    return events;
  }

  /** The number of the server that drives a run, or drove it last; -1: none yet. */
  async driverOf(runId: string): Promise<number> {
    const sql = "SELECT s.url FROM run r JOIN server s ON s.id = r.holder WHERE r.id = ?";
    const row = await this.database.get(sql, [runId]);
    return this.#servers.findIndex(({ url }) => url === row?.["url"]);
  }

  /** Starts runs until this server drives one that has begun; answers all of them, that one first. */
  async drivenBy(at: number, dsl: string): Promise<readonly string[]> {
    const runs: string[] = [];
    const { url } = this.at(at);
    const find = async (): Promise<unknown> => {
      const live = await this.database.all("SELECT id FROM run WHERE ended_at IS NULL");
      if (live.length === 0) runs.push(await this.started(at + 1, dsl));
      const sql =
        "SELECT r.id FROM run r JOIN server s ON s.id = r.holder WHERE s.url = ? AND r.ended_at IS NULL AND r.last_seq > 2";
      return (await this.database.get(sql, [url]))?.["id"];
    };
    let found: unknown;
    const isFound = async (): Promise<boolean> => {
      found = await find();
      return found !== undefined;
    };
    this.ground.callOnly(at);
    await expect.poll(isFound, PATIENCE).toBe(true);
    this.ground.callOnly(undefined);
    return [String(found), ...runs.filter((runId) => runId !== found)];
  }

  async lengthOf(runId: string): Promise<number> {
    const row = await this.database.get("SELECT last_seq FROM run WHERE id = ?", [runId]);
    return Number(row?.["last_seq"] ?? 0);
  }

  async close(): Promise<void> {
    await this.database.close();
    for (const { child } of this.#servers) child.kill("SIGKILL");
    await this.ground.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
