/** A real engine around one extension, with time, network and secrets in the hands of a test. */
import { aiSettings } from "@millrace/ai";
import {
  type AiProvider,
  type CredentialsPort,
  type ExecutionEvent,
  type ExtensionDefinition,
  type FetchLike,
  type FilePort,
  type FlowGraph,
  type Journal,
  type Json,
  type JsonObject,
  NodeError,
  type ServiceDefinition,
  type Summary,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import {
  type ConfirmHandler,
  compileFlow,
  createEngine,
  type EgressPolicy,
  type FilePolicy,
  type Plan,
  type Run,
} from "@millrace/engine";
import { createEgressCheck, createNodeHost } from "@millrace/engine/node";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import {
  createRecordingFetch,
  type HttpExchange,
  type RecordedRequest,
} from "./recording-fetch.ts";
import { type Call, type Parts, partsOf, watchedRegistry } from "./watched-types.ts";

/** Options of `createTestHost`. */
export interface TestHostOptions {
  /** The default export of the extension. */
  readonly extension: ExtensionDefinition;
  /** Secrets by the names that the extension declares. */
  readonly secrets?: { readonly [name: string]: string };
  /** Expected requests with their answers; any other request fails with `http_not_expected`. */
  readonly http?: readonly HttpExchange[];
  /** Requests reach real servers on this machine, and no others, under the rules of the engine's own client. */
  readonly loopback?: true;
  /** Tokens of connections by their slug; each is of the service of that slug. */
  readonly connections?: { readonly [slug: string]: string };
  /** Configuration of adapters and providers by their id. */
  readonly config?: { readonly [adapter: string]: JsonObject };
  /** Answers of people; absent: a question stays open. */
  readonly confirm?: ConfirmHandler;
  /** A folder that bodies may read and write; absent: none. */
  readonly files?: FilePolicy;
  /** For `ai` nodes, beside those of the extension; such as `createScriptedProvider`. */
  readonly providers?: readonly AiProvider[];
  /** Its time; default one of its own. */
  readonly clock?: SimClock;
  /** Absent: a run lives and dies with the host. */
  readonly journal?: Journal;
}

const OPTIONS: OptionNames<TestHostOptions> = {
  ...{ extension: true, secrets: true, http: true, connections: true, config: true, confirm: true },
  ...{ files: true, providers: true, clock: true, journal: true, loopback: true },
};

/** A host for tests. Its time stands still but for `clock`. */
export interface TestHost {
  /**
   * Runs one node of a type and answers its output. Rejects with `NodeError` and the code of the failure; its `cause` is what the
   * body threw. A body that waits for time goes on when `clock` moves.
   */
  run(type: string, fields: JsonObject): Promise<Json>;
  /** The same as a run that can be watched and cancelled. */
  start(type: string, fields: JsonObject): Promise<StartedNode>;
  /** Takes up the run of one node from the journal, as another process would. */
  resume(runId: string, type: string, fields: JsonObject): Promise<StartedNode>;
  /** Events of all runs so far. */
  readonly events: readonly ExecutionEvent[];
  /** Requests so far. */
  readonly requests: readonly RecordedRequest[];
  readonly clock: SimClock;
}

/** One node at work. */
export interface StartedNode {
  readonly run: Run;
  /** Every try of the body, the last one at the end. */
  readonly calls: readonly Call[];
  /** Answers of the network that are still on their way. */
  readonly open: () => number;
  /** Work that is under way on real files, or in another process: time must not move meanwhile. */
  readonly busy: () => number;
  /** Resolves with the end of the run, once all of its events are there. */
  readonly summary: Promise<Summary>;
  readonly events: readonly ExecutionEvent[];
}

/** Makes a host. Throws `EngineError` for an extension that no host takes. */
export function createTestHost(options: TestHostOptions): TestHost {
  return createHost(options, partsOf(options.extension));
}

/** A host for an extension whose bodies may be elsewhere. `elsewhere`: a body that does not wait is at work, which takes real time. */
export function createHost(options: TestHostOptions, parts: Parts, elsewhere = false): TestHost {
  checkOptions("createTestHost", options, OPTIONS);
  const { clock = createSimClock(), config = {} } = options;
  const network = createRecordingFetch(options.http ?? []);
  const machine = createNodeHost();
  const files = countedFiles(machine);
  const calls: Call[] = [];
  const registry = watchedRegistry(parts, (call) => void calls.push(call));
  const events: ExecutionEvent[] = [];
  const engine = createEngine({
    host: {
      ...clock,
      openFetch: ({ only }) => {
        if (options.loopback === true) return machine.openFetch(LOOPBACK);
        return only === undefined ? network.fetch : granted(network.fetch, only);
      },
      openFiles: files.open,
    },
    credentials: credentialsOf(options),
    services: { get: (slug) => serviceOf(options.extension, slug) },
    freeze: true,
    config,
    settings: [
      aiSettings({
        providers: [
          ...(options.providers ?? []),
          ...options.extension.providers.map((definition) =>
            definition.create(config[definition.id] ?? {}, {
              ...{ fetch: network.fetch, signal: new AbortController().signal, log() {} },
              ...{ now: clock.now, random: clock.random },
            }),
          ),
        ],
      }),
    ],
    ...(options.files !== undefined && { files: options.files }),
    ...(options.journal !== undefined && { journal: options.journal }),
  });
  const answers = options.confirm === undefined ? {} : { confirm: options.confirm };
  let runs = 0;

  const atWork = (): number =>
    elsewhere && network.hanging === 0
      ? calls.filter(({ state, waits }) => state === "running" && waits === 0).length
      : 0;

  async function planOf(type: string, fields: JsonObject): Promise<Plan> {
    const slugs = Object.keys(options.connections ?? {});
    const connections = slugs.map((slug) => ({ name: slug, service: slug }));
    const compiled = await compileFlow(graphOf(type, fields, connections), { registry });
    if (compiled.ok) return compiled.plan;
    const [first] = compiled.diagnostics;
    throw new NodeError("flow_invalid", `${first?.code}: ${first?.message}`);
  }

  async function follow(run: Run, from: number): Promise<StartedNode> {
    const mine: ExecutionEvent[] = [];
    const reading = collect(run, (event) => {
      mine.push(event);
      events.push(event);
    });
    reading.catch(() => {}); // the result rejects with the same error
    const summary = run.result.then(async (end) => {
      await reading;
      return end;
    });
    await clock.settle();
    return {
      run,
      get calls() {
        return calls.slice(from);
      },
      open: () => network.open,
      busy: () => files.busy + atWork(),
      summary,
      events: mine,
    };
  }

  async function start(type: string, fields: JsonObject): Promise<StartedNode> {
    const plan = await planOf(type, fields);
    runs += 1;
    // The same id in every host: two hosts that do the same have the same log.
    return follow(engine.run(plan, {}, { ...answers, runId: `run_${runs}` }), calls.length);
  }

  return {
    events,
    requests: network.requests,
    clock,
    start,
    async resume(runId, type, fields) {
      const plan = await planOf(type, fields);
      const from = calls.length;
      return follow(await engine.resume(runId, { ...answers, plan }), from);
    },
    async run(type, fields) {
      const started = await start(type, fields);
      const { error, status } = await started.summary;
      if (status !== "succeeded") {
        const { code = status, message = `the run ended as ${status}`, retryable } = error ?? {};
        throw new NodeError(code, message, {
          retryable: retryable ?? false,
          ...causeOf(started),
        });
      }
      return outputOf(started.events) ?? null;
    },
  };
}

/** What the node of a run has answered. */
export function outputOf(events: readonly ExecutionEvent[]): Json | undefined {
  const done = events.findLast((event) => event.kind === "node.succeeded");
  return done?.kind === "node.succeeded" ? done.output : undefined;
}

/** The unmodified error of the last attempt: events hold only its class. */
export function causeOf({ calls }: Pick<StartedNode, "calls">): { readonly cause?: unknown } {
  const last = calls.at(-1);
  return last?.state === "threw" ? { cause: last.outcome } : {};
}

/** The network with the grants of the manifest: other hosts are refused, as outside of tests. */
function granted(fetch: FetchLike, only: readonly string[]): FetchLike {
  const check = createEgressCheck({ only, allow: ANYWHERE });
  return async (url, init) => {
    check.url(new URL(url));
    return fetch(url, init);
  };
}

/** Where sockets of a fixture go: to the servers that a test starts. */
export const LOOPBACK: EgressPolicy = {
  only: ["127.0.0.1", "[::1]", "localhost"],
  allow: [{ cidr: "127.0.0.0/8" }, { cidr: "::1/128" }, { host: "localhost" }],
};

/** Fixtures may name any address: nothing leaves the process. */
const ANYWHERE = [{ cidr: "0.0.0.0/0" }, { cidr: "::/0" }, { host: "localhost" }];

/** Real files, and how many of their calls are under way. */
function countedFiles(host: ReturnType<typeof createNodeHost>): {
  readonly busy: number;
  open(policy: FilePolicy): FilePort;
} {
  let busy = 0;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    busy += 1;
    try {
      return await work;
    } finally {
      busy -= 1;
    }
  };
  return {
    get busy() {
      return busy;
    },
    open(policy) {
      const port = host.openFiles(policy);
      return {
        read: (...args) => counted(port.read(...args)),
        write: (...args) => counted(port.write(...args)),
        list: (...args) => counted(port.list(...args)),
      };
    },
  };
}

async function collect(run: Run, told: (event: ExecutionEvent) => void): Promise<void> {
  for await (const batch of run.batches()) for (const event of batch) told(event);
}

/** A flow of one node. */
export function graphOf(
  type: string,
  fields: JsonObject,
  connections: readonly object[],
): FlowGraph {
  return {
    version: 1,
    id: "test",
    meta: {},
    inputs: [],
    nodes: [{ id: "node", type, fields: fields as never }],
    edges: [],
    outputs: [],
    connections,
    schedules: [],
    layout: {},
  } as unknown as FlowGraph;
}

function serviceOf(extension: ExtensionDefinition, slug: string): ServiceDefinition | undefined {
  return extension.services.find((service) => service.slug === slug);
}

function credentialsOf({
  extension,
  secrets = {},
  connections = {},
}: TestHostOptions): CredentialsPort {
  return {
    secret: async (name) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined),
    async resolve(slug) {
      const token = Object.hasOwn(connections, slug) ? connections[slug] : undefined;
      const scheme = serviceOf(extension, slug)?.serviceIntegration.auth.scheme;
      if (token === undefined || scheme === undefined) {
        throw new NodeError("credentials_missing", `no connection ${slug}`);
      }
      return { scheme, scopes: [], reveal: () => token };
    },
    async renew(slug) {
      throw new NodeError("reconnect_service", `the token of ${slug} was refused`);
    },
  };
}
