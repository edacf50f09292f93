/** A server on loopback, and the built command that talks to it. */
import { type RunningServer, type StartOptions, start as startServer } from "@millrace/server";
import { onTestFinished } from "vitest";
import { type Ended, postJson, scratch } from "./cli.ts";
import { inside, millrace, type Told } from "./inside.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** A flow that greets, and one that asks before it does. */
export const HELLO = `flow 1 hello

input name: string = "world"

node say: log {
  message = "Hi \${inputs.name}"
}

output text = inputs.name
`;
export const ASKS = `flow 1 asks

node ok: confirm {
  prompt = "Go on?"
}

node say: log {
  message = "on"
}

ok.approved -> say
`;

/** One server, and everything that is asked of it. */
export interface World {
  readonly url: string;
  readonly cwd: string;
  /** The built command in a process of its own: exit code, stdout and stderr. */
  spawned(words: string, stdin?: string): Promise<readonly [number | null, string, string]>;
  /** The same command in this process, for what differs in words only. */
  inside(words: readonly string[], more?: Parameters<typeof inside>[1]): Promise<Told>;
  /** The answer of `POST /api/invoke`, as text. */
  invoke(command: string, args?: object): Promise<string>;
}

/** A server in memory that ends with the test. Words are split at blanks. */
export async function world(options: StartOptions = {}): Promise<World> {
  const server: RunningServer = await startServer({
    port: 0,
    signals: false,
    store: "memory",
    credentials: { store: "memory" },
    log: QUIET,
    ...options,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const cwd = scratch({ "hello.flow": HELLO, "asks.flow": ASKS });
  const { url } = server;
  const env = { MILLRACE_SERVER_URL: url };
  return {
    url,
    cwd,
    async spawned(words, stdin = "") {
      const ended: Ended = await millrace(words.split(" "), { cwd, env, stdin });
      return [ended.code, ended.stdout, ended.stderr];
    },
    inside: (words, more = {}) => inside(words, { cwd, ...more, env: { ...env, ...more.env } }),
    async invoke(command, args = {}) {
      return (await postJson(`${url}/api/invoke`, { command, args })).text();
    },
  };
}

/** Text with ids, times and digests as words, and with gaps that do not depend on their lengths. */
export function steady(text: string): string {
  return text
    .replace(/run_[0-9A-HJKMNP-TV-Z]{26}/g, "RUN")
    .replace(/run_\w{4}…\w\w/g, "RUN")
    .replace(/sch_[0-9A-HJKMNP-TV-Z]{26}/g, "SCH")
    .replace(/whk_[0-9A-HJKMNP-TV-Z]{26}/g, "WHK")
    .replace(/\/hooks\/[\w-]{43}/g, "/hooks/TOKEN")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME")
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "CLOCK")
    .replace(/(?:sha256:)?[0-9a-f]{64}/g, "DIGEST")
    .replace(/\b\d+(?:\.\d+)? ?m?s\b/g, "TOOK")
    .replace(/(?<=\S) {2,}/g, "  ");
}

/** What each line wrote, with its exit code, in order: stdout, then stderr after bars. `noun` stands before every line. */
export async function transcript(
  at: World,
  lines: readonly string[],
  noun?: string,
): Promise<string> {
  let text = "";
  for (const words of lines) {
    const line = noun === undefined ? words : `${noun} ${words}`;
    const [code, stdout, stderr] = await at.spawned(line);
    text += `$ ${line} [${code}]\n${stdout}${stderr.replace(/^(?=.)/gm, "| ")}`;
  }
  return steady(text);
}
