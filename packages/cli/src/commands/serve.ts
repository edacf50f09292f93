/** `millrace serve`: the HTTP surface in this process, until a signal ends it. */
import { once } from "node:events";
import { resolve } from "node:path";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../command.ts";
import { loadConfig } from "../config/load.ts";
import { CliError, usage } from "../errors.ts";

/** Serves until SIGINT or SIGTERM, then drains; exit code 0. */
export async function run(input: Input, io: CommandIo): Promise<number> {
  const [{ ConfigError, start }, { StoreError }] = await Promise.all([
    import("@millrace/server"),
    import("@millrace/store"),
  ]);
  const tokenFile = flagText(input, "token-file");
  const config = await loadConfig(
    { folder: io.cwd, file: flagText(input, "config"), home: flagText(input, "home") },
    io,
    (line) => void io.err.write(`warning: ${line}\n`),
  );
  const port = readPort(flagText(input, "port")) ?? config.serve.port;
  const host = flagText(input, "host") ?? config.serve.host;
  const server = await start({
    env: io.env,
    signals: false,
    egress: config.egress,
    services: config.services,
    credentials: config.credentials,
    ai: config.ai,
    store: config.credentials.dir,
    ...(config.filesRoot === undefined ? {} : { files: { root: config.filesRoot } }),
    ...(config.shell === undefined ? {} : { shell: config.shell }),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(tokenFile === undefined ? {} : { tokenFile: resolve(io.cwd, tokenFile) }),
    ...(isOn(input, "allow-open") ? { allowOpen: true } : {}),
    ...(isOn(input, "webhooks") ? { webhooks: true } : {}),
    allowedHosts: [...flagList(input, "allow-host")],
    allowedOrigins: [...flagList(input, "allow-origin")],
  }).catch((error: unknown) => {
    if (ConfigError.isInstance(error)) throw usage(error.message);
    // Whoever has the folder is named, and what to do.
    if (StoreError.isInstance(error)) throw new CliError("unavailable", error.message);
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") {
      throw new CliError("unavailable", `port ${port ?? ""} is in use`, {
        hint: "choose another with --port",
      });
    }
    throw error;
  });
  if (io.json === undefined) await io.err.write(`listening on ${server.url}\n`);
  else await io.json.result({ kind: "listening", url: server.url, pid: process.pid });
  const stopped = io.signal.aborted ? undefined : once(io.signal, "abort").then(() => undefined);
  const lost = await Promise.race([stopped, server.lost]);
  await server.close(lost === undefined ? {} : { graceMs: 0 });
  if (lost === undefined) return 0;
  throw new CliError("internal", `the store is lost (${lost})`, {
    hint: "start again: the runs go on where they were",
  });
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw usage(`--port takes 0 to 65535, found "${text}"`);
  return port;
}
