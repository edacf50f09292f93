/**
 * The listener that Restate calls. It serves the drives of runs and its health, and nothing else.
 *   E1  With identity keys, nothing but health is answered without a signature of the cluster.
 *   E2  What a drive throws stays here: Restate stores its messages, and gets a fixed text.
 *   E3  After a drive that failed or was for another server, and after a call whose signature does not hold here, as by a clock that is
 *       wrong, the connection takes no further call, so that a balancer of connections chooses again.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { Again, DispatcherError, type DriveResult } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import type { Settings } from "./options.ts";
import { HANDLER, SERVICE, VERSION_PATH } from "./service.ts";

/** Calls on one connection. Restate opens more when these are taken, and a balancer gives each to another server. */
const CALLS_OF_CONNECTION = 4;

const LAST_ANSWERS_MS = 1_000;

/** A drive may take as long as its run: Restate must not take silence for a fault. It sees a dead server by its connection. */
const NO_TIMEOUT = { days: 3_650 };

/** Failed drives are repeated without an end: giving up would lose the ring. */
const RETRY = {
  initialInterval: 100,
  exponentiationFactor: 2,
  maxInterval: 5_000,
  maxAttempts: 1_000_000_000,
};

const OPEN_PATHS: ReadonlySet<string> = new Set([
  "/health",
  `${VERSION_PATH}/health`,
  `${VERSION_PATH}/discover`,
  `${VERSION_PATH}/invoke/${SERVICE}/${HANDLER}`,
]);
/** Status of a call without a signature of the cluster that holds now. */
const UNSIGNED = 401;
const OTHER_VERSION = /^\/v\d+\//;

/** Called for each call of Restate; `lost` aborts when the connection of the call is gone. */
export type OnCall = (runId: string, lost: AbortSignal) => Promise<DriveResult>;

/** The listener; `port` is the one it has. */
export interface Endpoint {
  readonly port: number;
  /** Takes no new connections and no new calls; those at work go on. */
  leave(): void;
  /** Ends it, with its connections. */
  close(): Promise<void>;
}

/** Opens the listener. Rejects with `dispatcher_unavailable` when the address cannot be had. */
export async function openEndpoint(settings: Settings, onCall: OnCall): Promise<Endpoint> {
  const sessions = new Set<Http2Session>();
  const serve = await createHandler(settings, onCall);
  const server = createServer({ settings: { maxConcurrentStreams: CALLS_OF_CONNECTION } }, serve);
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => {}); // a connection that breaks closes its calls, which are told
  });
  const port = await listen(server, settings);
  let closed: Promise<void> | undefined;
  const leave = (): Promise<void> => {
    closed ??= new Promise((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.close();
    return closed;
  };
  return {
    port,
    leave: () => void leave(),
    async close() {
      // The answers of the last drives are on their way; who does not read them is left behind.
      const waited = new AbortController();
      const late = sleep(LAST_ANSWERS_MS, waited.signal).catch(() => {});
      await Promise.race([leave(), late]);
      waited.abort();
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

async function createHandler(settings: Settings, onCall: OnCall): Promise<Handler> {
  const { createEndpointHandler, handlers, object, RetryableError, serde } = await loadSdk();
  const session = new AsyncLocalStorage<Http2Session | undefined>();
  const drive = handlers.object.exclusive(
    {
      ...{ input: serde.empty, output: serde.empty, journalRetention: 0, enableLazyState: true },
      ...{ inactivityTimeout: NO_TIMEOUT, abortTimeout: NO_TIMEOUT, retryPolicy: RETRY },
    },
    async (context) => {
      const { attemptCompletedSignal } = context.request();
      try {
        await onCall(context.key, attemptCompletedSignal);
      } catch (error) {
        session.getStore()?.close();
        const text = Again.isInstance(error)
          ? "another server shall drive the run"
          : "the drive failed";
        const fault = new RetryableError(`${text}; the log of the server says more`);
        fault.stack = "";
        throw fault;
      }
    },
  );
  const answer = createEndpointHandler({
    services: [object({ name: SERVICE, handlers: { [HANDLER]: drive } })],
    identityKeys: [...settings.identityKeys],
    logger: ({ level, context }, message) => {
      if (level !== "error") return;
      settings.log?.warn({ runId: context?.key, text: String(message) }, "restate.sdk_error");
    },
  });
  return (request, response) => {
    const path = request.url.split("?", 1)[0] ?? "";
    if (OPEN_PATHS.has(path)) {
      const own = request.stream.session; // a stream that has ended no longer says
      response.once("finish", () => {
        if (response.statusCode === UNSIGNED) own?.close();
      });
      session.run(own, () => answer(request, response));
      return;
    }
    // Another version of the servers may have registered its own path: it is called for it by another connection.
    const isOther = OTHER_VERSION.test(path) && !path.startsWith(`${VERSION_PATH}/`);
    response.writeHead(isOther ? 503 : 404).end();
    if (isOther) request.stream.session?.close();
  };
}

function listen(server: Http2Server, { host, port }: Settings): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const text = `cannot listen on ${host}:${port}: ${(cause as NodeJS.ErrnoException).code}`;
      reject(new DispatcherError("dispatcher_unavailable", text, { cause }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** The SDK calls it when it answers a request; Node 20 does not have it, and then no call would ever end. */
function fillInWithResolvers(): void {
  if ("withResolvers" in Promise) return;
  Object.defineProperty(Promise, "withResolvers", {
    configurable: true,
    writable: true,
    value<T>(this: PromiseConstructor) {
      let resolve: (value: T | PromiseLike<T>) => void = () => {};
      let reject: (reason?: unknown) => void = () => {};
      const promise = new this<T>((onResolve, onReject) => {
        resolve = onResolve;
        reject = onReject;
      });
      return { promise, resolve, reject };
    },
  });
}

type Sdk = typeof import("@restatedev/restate-sdk");

function loadSdk(): Promise<Sdk> {
  fillInWithResolvers();
  return import("@restatedev/restate-sdk");
}
