/**
 * `millrace studio`: the flows of a folder on the web page, until a signal ends it.
 *   S1  Who starts it lets the page read, write and delete the `.flow` files of that folder. Nothing else gives that permission.
 *   S2  It listens on this machine alone, whatever the configuration says of `serve`.
 */

import { mkdir, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Logger, RunningServer, ServerOptions } from "@millrace/server";
import { command, option } from "../argv/flags.ts";
import { type CliCommand, type CommandIo, flagText, type Input, isOn } from "../argv/spec.ts";
import { readPort } from "../argv/values.ts";
import { configFlags, warnOn } from "../config/files.ts";
import { type Config, loadConfig, modelsOf, serverOptions } from "../config/load.ts";
import { CliError, reason, usage } from "../errors.ts";
import { debugLines } from "../output/debug-lines.ts";
import { clean } from "../output/text.ts";
import { openPage, pageOf, readPage } from "./serve/page.ts";

export const commands: readonly CliCommand[] = [
  command("studio", "open the flows of a folder in the browser", {
    args: [{ name: "folder", summary: "folder of a project, or of flows (default: this one)" }],
    flags: [
      option("port", "<port>", "port to listen on (default any free one)"),
      { long: "no-open", summary: "only print the address to open" },
      option("store", "<where>", "memory: keep nothing of this session (default home)", {
        choices: ["home", "memory"],
      }),
    ],
    output: "stream",
    examples: [
      ["studio", "what is saved on the page is saved in the files"],
      ["studio examples/01-hello --no-open", "on a machine without a screen"],
    ],
    run,
  }),
];

const HOST = "127.0.0.1";
/** Hint where another process has the data directory. */
const LOCKED = "--store memory works beside it and keeps nothing of this session";

/** Serves the page until SIGINT or SIGTERM, then drains; exit code 0. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const folder = await folderOf(input.args[0], io);
  const config = await loadConfig({ folder, ...configFlags(input) }, io, warnOn(io));
  const page = await readPage();
  if ("problem" in page) {
    throw new CliError("unavailable", `the page cannot be read: ${clean(page.problem)}`);
  }
  const project = config.flows === undefined ? folder : config.folder;
  const dir = await flowsOf(config, project);
  const port = readPort(flagText(input, "port")) ?? 0;
  const [{ start }, { refuseStart, serveToEnd, stoppedBy }] = await Promise.all([
    import("@millrace/server"),
    import("./serve/running.ts"),
  ]);
  const server = await start({
    ...(await serverOptions(config, io, debugLines(io))),
    ...(flagText(input, "store") === "memory" ? inMemory(config, io) : {}),
    env: io.env,
    ai: config.ai,
    files: { root: config.filesRoot ?? project },
    host: HOST,
    port,
    studio: page.files,
    flows: { dir, report: (text) => warn(text, io) },
    log: logTo(io),
    signals: false,
  }).catch(async (error: unknown) => {
    const { StoreError } = await import("@millrace/store");
    if (StoreError.isInstance(error) && error.code === "store_locked") {
      throw new CliError("unavailable", clean(error.message), { hint: LOCKED });
    }
    return refuseStart(error, port);
  });
  const studio = pageOf(server);
  if (io.json === undefined) await io.err.write(readyLines(server, dir, io));
  else {
    const { url } = server;
    await io.json.result({ kind: "listening", url, studio, flows: dir, pid: process.pid });
  }
  if (io.json === undefined && !isOn(input, "no-open")) await openPage(server, io);
  return serveToEnd(server, stoppedBy(io), server.lost);
}

async function folderOf(word: string | undefined, io: CommandIo): Promise<string> {
  const folder = resolve(io.cwd, word ?? ".");
  const found = await stat(folder).catch((error: unknown) => {
    throw usage(`cannot read ${clean(word ?? folder)}: ${reason(error)}`);
  });
  if (found.isDirectory()) return folder;
  throw usage(`${clean(word ?? folder)} is no folder`, "name the folder that the flow is in");
}

/** Where the flows are: in the folder that the project says, else in the folder itself, as in one that has nothing but flows. */
async function flowsOf({ flows }: Config, project: string): Promise<string> {
  if (flows === undefined) return project;
  const names = async (dir: string): Promise<readonly string[]> => readdir(dir).catch(() => []);
  const isBare =
    (await names(flows)).length === 0 &&
    (await names(project)).some((name) => name.endsWith(".flow"));
  if (isBare) return project;
  await mkdir(flows, { recursive: true }).catch((error: unknown) => {
    throw new CliError("unavailable", `cannot make ${clean(flows)}: ${reason(error)}`);
  });
  return flows;
}

/** Runs and versions end with the process; models stay where they are. */
function inMemory(config: Config, io: CommandIo): Pick<ServerOptions, "store" | "models"> {
  const models = modelsOf(config, io);
  const dir = join(config.credentials.dir, "models");
  return { store: "memory", models: models === false ? false : { dir, ...models } };
}

function readyLines(server: RunningServer, dir: string, { env }: Pick<CommandIo, "env">): string {
  const lines = [
    `studio: ${pageOf(server)}`,
    `flows: ${dir}`,
    ...(server.requiresToken && (env["MILLRACE_TOKEN"] || env["MILLRACE_TOKEN_FILE"])
      ? ["the page asks for the token in MILLRACE_TOKEN"]
      : []),
    "Ctrl-C ends it",
  ];
  return `${lines.map(clean).join("\n")}\n`;
}

function warn(text: string, io: CommandIo): void {
  void io.err.write(`warning: ${clean(text)}\n`);
}

/** A log for a person at a terminal: failures only. */
function logTo(io: CommandIo): Logger {
  const told = (fields: object, message = ""): void => {
    const { err, problem } = fields as { readonly err?: unknown; readonly problem?: unknown };
    const why = err === undefined ? problem : reason(err);
    warn(why === undefined ? message : `${message}: ${String(why)}`, io);
  };
  return { debug() {}, info() {}, warn: told, error: told };
}
