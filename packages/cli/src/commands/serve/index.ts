/** `millrace serve`: the HTTP surface in this process, or its desktop channels on the standard streams, until a signal ends it. */

import { resolve } from "node:path";
import type { SchedulePage } from "@millrace/contracts";
import type { CreateServerOptions, RunningServer, ServerLimits } from "@millrace/server";
import { LIMITS } from "@millrace/server/limits";
import { proposedLine } from "../../api/proposed-schedules.ts";
import { command, ENV_FLAG, option } from "../../argv/flags.ts";
import {
  type CliCommand,
  type CommandIo,
  flagList,
  flagText,
  type Input,
  isOn,
} from "../../argv/spec.ts";
import { readPort } from "../../argv/values.ts";
import { configOptions, warnOn } from "../../config/files.ts";
import { variablesOf } from "../../config/keys.ts";
import { type Config, environmentIn, loadConfig, serverOptions } from "../../config/load.ts";
import { type ChosenFile, chooseFile } from "../../credentials/store.ts";
import { CliError, usage } from "../../errors.ts";
import { debugLines } from "../../output/debug-lines.ts";
import { clean } from "../../output/text.ts";
import { clusterOf, credentialsOfCluster } from "./cluster.ts";
import { openPage, type PageFiles, pageOf, readPage } from "./page.ts";

export const commands: readonly CliCommand[] = [
  command("serve", "serve flows over HTTP", {
    flags: [
      option("host", "<host>", "address to listen on (default 127.0.0.1)"),
      option("port", "<port>", "port; 0 for any free one (default 6455)"),
      option("executor", "<name>", "what drives runs: local, postgres or restate (default local)"),
      ENV_FLAG,
      option("store-url", "<ref>", "PostgreSQL that servers share: env:NAME or file:PATH"),
      option("token-file", "<file>", "bearer tokens, one a line: token or id:role:token"),
      { long: "allow-open", summary: "serve other machines without a token" },
      option("log-level", "<level>", "least level of the log (default info)", {
        choices: ["debug", "info", "warn", "error"],
      }),
      option("log-format", "<how>", "json, or pretty: the default on a terminal", {
        choices: ["json", "pretty"],
      }),
      option("limit", "<name=n>", "another limit than the default: config explain serve.limits", {
        multiple: true,
      }),
      { long: "stdio", summary: "no HTTP: commands and events as lines on stdin and stdout" },
      { long: "no-studio", summary: "do not show the web page at /studio" },
      { long: "no-mcp", summary: "offer no flows as tools at /mcp" },
      { long: "open", summary: "open the web page in the browser of this machine" },
      { long: "webhooks", summary: "let webhooks be called: POST /hooks/<token>" },
      option("allow-host", "<host>", "a further Host name to answer to", { multiple: true }),
      option("allow-origin", "<origin>", "a further browser origin to answer to", {
        multiple: true,
      }),
      option("trust-proxy", "<address>", "a proxy, or range of proxies, that says who calls", {
        multiple: true,
      }),
    ],
    output: "stream",
    examples: [
      ["serve --port 0 --json", "any free port, told on stdout"],
      ["serve --stdio", "the sidecar of a desktop shell"],
    ],
    run,
  }),
];

/** Flags of the HTTP surface; the standard streams have no address, and belong to whoever started the process. */
const HTTP_FLAGS = [
  ...["host", "port", "token-file", "allow-open", "webhooks", "allow-host", "allow-origin"],
  "trust-proxy",
  ...["no-studio", "no-mcp", "open", "json"],
];

/** The command, all of whose lines on stderr are JSON where that is asked for: its warnings, and the error that ends it. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const format = flagText(input, "log-format") ?? io.env["MILLRACE_SERVE_LOG_FORMAT"];
  if (format !== "json") return serve(input, io, warnOn(io));
  const at = (level: string) => (fields: object, msg: string) => {
    const time = new Date(io.now()).toISOString();
    return io.err.write(`${JSON.stringify({ level, time, ...fields, msg })}\n`);
  };
  const log = { warn: at("warn"), error: at("error") };
  try {
    return await serve(input, io, (problem) => void log.warn({ problem }, "server.warning"));
  } catch (thrown) {
    const { toCliError } = await import("../../api/errors.ts");
    const error = toCliError(thrown);
    const { message } = error as Error;
    const end = error instanceof CliError ? error : new CliError("internal", message);
    const { code, hint = null } = end;
    await log.error({ code, problem: end.message, hint }, "server.failed");
    throw new CliError(code, end.message, { problem: end.problem, reported: "log" });
  }
}

/** Serves until SIGINT or SIGTERM, with `--stdio` also until stdin ends; then drains; exit code 0. SIGHUP reads the token file again. */
async function serve(input: Input, io: CommandIo, warn: (line: string) => void): Promise<number> {
  const isStdio = isOn(input, "stdio");
  const other = HTTP_FLAGS.find((name) => isGiven(input, name));
  if (isStdio && other !== undefined) throw usage(`--stdio does not go with --${other}`);
  const opens = isOn(input, "open");
  if (opens && isOn(input, "no-studio")) throw usage("--open does not go with --no-studio");
  const { createChannelHost, createServer, start } = await import("@millrace/server");
  const tokenFile = flagText(input, "token-file");
  const read = await loadConfig(configOptions(input, io), io, warn);
  const environment = environmentIn(flagText(input, "env"), "--env") ?? read.environment;
  const loaded = { ...read, environment };
  const port = readPort(flagText(input, "port")) ?? loaded.serve.port;
  const host = flagText(input, "host") ?? loaded.serve.host;
  const cluster = await clusterOf(
    loaded,
    { executor: flagText(input, "executor"), storeUrl: flagText(input, "store-url") },
    io,
  );
  // Servers of a cluster have theirs in its store, and beside a desktop there is a keyring.
  const chosen = cluster === undefined && !isStdio ? await chooseFile(loaded) : undefined;
  const config = chosen?.config ?? loaded;
  const log = logOf(input, config, io);
  const common: CreateServerOptions = {
    ...(await serverOptions(config, io, debugLines(io))),
    ...log,
    ...(cluster !== undefined && { cluster, credentials: credentialsOfCluster(config) }),
    ...limitsOf(flagList(input, "limit"), config, io),
    env: io.env,
    ai: config.ai,
    ...(config.filesRoot !== undefined && { files: { root: config.filesRoot } }),
  };
  const running = await import("./running.ts");
  const { reloadOnHangup, serveToEnd, stoppedBy } = running;
  const started = <T>(starting: Promise<T>): Promise<T> =>
    running.startOrStop(starting, io).catch((error) => running.refuseStart(error, port));
  if (isStdio) {
    const { serveStdio } = await import("./stdio.ts");
    const server = await started(createServer(common));
    const { lost } = server.host.store;
    return serveToEnd(server, serveStdio(createChannelHost(server), io, io.signal), lost);
  }
  const isShown = opens || (!isOn(input, "no-studio") && config.serve.studio !== false);
  const page = isShown ? await readPage() : undefined;
  const proxies = flagList(input, "trust-proxy");
  const starting = start({
    ...common,
    signals: false,
    ...(page !== undefined && "files" in page && { studio: page.files }),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(io.cwd, tokenFile) }),
    ...(isOn(input, "allow-open") ? { allowOpen: true } : {}),
    ...(isOn(input, "webhooks") ? { webhooks: true } : {}),
    ...(isOn(input, "no-mcp") || config.serve.mcp === false ? { mcp: false } : {}),
    ...(proxies.length > 0 && { trustProxy: [...proxies] }),
    allowedHosts: [...flagList(input, "allow-host")],
    allowedOrigins: [...flagList(input, "allow-origin")],
  });
  const server = await started(starting);
  const onStop = (): void => {
    server.log.info({ signal: String(io.signal.reason).toUpperCase() }, "server.stopping");
  };
  io.signal.addEventListener("abort", onStop, { once: true });
  const lines = await readyLines(server, { config, page, cluster, chosen });
  if (log.logFormat === "json") {
    if (chosen !== undefined) {
      server.log.warn({ key: chosen.key, config: chosen.file ?? null }, "credentials.file_chosen");
    }
    if (page !== undefined && "problem" in page) {
      server.log.warn({ problem: page.problem }, "server.no_page");
    }
    for (const proposed of lines.proposed) server.log.info(proposed, "schedule.proposed");
  } else if (io.json === undefined) await io.err.write(lines.text);
  if (io.json !== undefined) {
    const studio = page !== undefined && "files" in page ? { studio: pageOf(server) } : {};
    await io.json.result({ kind: "listening", url: server.url, ...studio, pid: process.pid });
  }
  if (opens && page !== undefined && "files" in page) await openPage(server, io);
  const ignoreHangups = reloadOnHangup(server);
  return serveToEnd(server, stoppedBy(io), server.lost).finally(ignoreHangups);
}

/**
 * Limits that the command line or the file name, such as `maxRunMs=60000`; the server reads variables, which win over the file, and says
 * which values one may have. What is no limit stays here: it may be the name of another option.
 */
function limitsOf(
  texts: readonly string[],
  { serve: { limits = {} } }: Config,
  { env }: CommandIo,
): Partial<ServerLimits> {
  const ofFile = Object.entries(limits).filter(
    ([name]) =>
      Object.hasOwn(LIMITS, name) &&
      !variablesOf(`serve.limits.${name}`).some((variable) => env[variable]),
  );
  const pairs = texts.map((text) => {
    const [, name = "", number] = /^(\w+)=(\d+)$/.exec(text) ?? [];
    if (number === undefined)
      throw usage(`--limit takes name=number, such as maxRunMs=60000, unlike "${text}"`);
    if (!Object.hasOwn(LIMITS, name)) {
      throw usage(
        `--limit: there is no limit ${name}`,
        `the limits are ${Object.keys(LIMITS).join(", ")}`,
      );
    }
    return [name, Number(number)] as const;
  });
  return Object.fromEntries([...ofFile, ...pairs]);
}

/** The log: for people on a terminal, else for programs, from the first line on. */
function logOf(
  input: Input,
  { serve }: Config,
  { isTTY }: CommandIo,
): Required<Pick<CreateServerOptions, "logLevel" | "logFormat">> {
  const logLevel = flagText(input, "log-level") ?? serve.logLevel ?? "info";
  const byPlace = isTTY.stderr ? "pretty" : "json";
  const logFormat = flagText(input, "log-format") ?? serve.logFormat ?? byPlace;
  return { logLevel, logFormat } as Required<Pick<CreateServerOptions, "logLevel" | "logFormat">>;
}

/** Lines for a person about a listening server: addresses, access, and schedules that do not fire. */
async function readyLines(
  server: RunningServer,
  {
    config: { credentials, environment },
    page,
    cluster,
    chosen,
  }: {
    readonly config: Config;
    readonly chosen: ChosenFile | undefined;
    readonly page: PageFiles | undefined;
    readonly cluster: CreateServerOptions["cluster"];
  },
): Promise<{
  readonly text: string;
  readonly proposed: readonly {
    readonly template: string;
    readonly schedule: string | undefined;
  }[];
}> {
  const { url, app, requiresToken } = server;
  const caller = { tokenId: null, role: "admin", requestId: "serve", remote: null } as const;
  const schedules = (await app.invoke("list_schedules", { limit: 1 }, caller)) as SchedulePage;
  const proposed = schedules.proposed ?? [];
  const lines = [
    `listening on ${url}`,
    ...(page === undefined
      ? []
      : ["files" in page ? `page: ${pageOf(server)}` : `page: cannot be read: ${page.problem}`]),
    `API: ${url}/api/docs`,
    `data: ${credentials.dir}`,
    ...(environment === undefined ? [] : [`environment: ${environment}`]),
    ...(chosen === undefined
      ? []
      : [`credentials: an encrypted file, as this machine has no keyring; its key: ${chosen.key}`]),
    ...(cluster === undefined ? [] : [`store: PostgreSQL, runs driven by ${driversOf(cluster)}`]),
    requiresToken
      ? "requests need a token: Authorization: Bearer TOKEN"
      : "requests need no token: whoever reaches this address may do everything",
    ...proposed.map(({ template, schedule }) => proposedLine(schedule, template)),
  ];
  return {
    text: `${lines.map(clean).join("\n")}\n`,
    proposed: proposed.map(({ template, schedule }) => ({ template, schedule: schedule.name })),
  };
}

function driversOf({ alone, restate }: NonNullable<CreateServerOptions["cluster"]>): string {
  if (alone === true) return "this server alone";
  return `any server of it, as ${restate === undefined ? "PostgreSQL" : "Restate"} says`;
}

function isGiven(input: Input, name: string): boolean {
  const value = input.flags[name];
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}
