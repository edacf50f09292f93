/**
 * What a process owes its servers: SIGTERM and SIGINT stop them in order, a second signal at once; SIGHUP makes them read their
 * tokens again; and an uncaught error ends the process: a server that goes on after one is a server in an unknown state.
 */
import type { Logger } from "../ports.ts";

/** A server as this file sees it. */
interface Watched {
  close(options: { readonly graceMs?: number }): Promise<void>;
  reload(): Promise<void>;
  readonly log: Logger;
  /** Resolves, with why, when nothing that it does is stored any more. */
  readonly lost?: Promise<string>;
  /** The extension whose code an error came through, where that is known. */
  readonly blame?: (error: unknown) => string | undefined;
}

const SIGNALS = { SIGTERM: 143, SIGINT: 130 } as const;
const EXIT_INTERNAL = 70;
/** Time to write pending data after an uncaught error. */
const FATAL_DRAIN_MS = 2_000;

const watched = new Set<Watched>();
let stopping = false;

function onSignal(name: keyof typeof SIGNALS): void {
  if (stopping) process.exit(SIGNALS[name]);
  stopping = true;
  for (const { log } of watched) log.info({ signal: name }, "server.stopping");
  closeAll({}).then(
    () => process.exit(0),
    () => process.exit(EXIT_INTERNAL),
  );
}

const onSigterm = () => onSignal("SIGTERM");
const onSigint = () => onSignal("SIGINT");
const onSighup = () => {
  for (const server of watched) void server.reload();
};

function onFatal(error: unknown): void {
  for (const { log, blame } of watched) {
    const extension = blame?.(error);
    log.error({ err: error, ...(extension !== undefined && { extension }) }, "process.fatal");
  }
  setTimeout(() => process.exit(EXIT_INTERNAL), FATAL_DRAIN_MS).unref();
  const exit = () => process.exit(EXIT_INTERNAL);
  closeAll({ graceMs: 0 }).then(exit, exit);
}

async function closeAll(options: { readonly graceMs?: number }): Promise<void> {
  await Promise.all([...watched].map((server) => server.close(options)));
}

/** Watches the process for a server until the answer is called. */
export function watchProcess(server: Watched): () => void {
  if (watched.size === 0) {
    process.on("SIGTERM", onSigterm).on("SIGINT", onSigint).on("SIGHUP", onSighup);
    process.on("uncaughtException", onFatal).on("unhandledRejection", onFatal);
  }
  watched.add(server);
  void server.lost?.then((why) => {
    if (watched.has(server))
      onFatal(new Error(`the store is lost (${why}); start again to recover`));
  });
  return () => {
    watched.delete(server);
    if (watched.size > 0 || stopping) return;
    process.off("SIGTERM", onSigterm).off("SIGINT", onSigint).off("SIGHUP", onSighup);
    process.off("uncaughtException", onFatal).off("unhandledRejection", onFatal);
  };
}
