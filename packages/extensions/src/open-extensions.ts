/**
 * The extensions of a host: read without running them, given to the engine as node types, providers and services, and loaded
 * when something uses them. What fails later is seen in the catalog from then on.
 */
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type AiProvider,
  type CatalogEntry,
  defineService,
  type FetchLike,
  type FieldFinding,
  type Json,
  type JsonObject,
  NodeError,
  type ServiceDefinition,
} from "@millrace/contracts";
import type { EgressPolicy, Fields, Grants, NodeType } from "@millrace/engine";
import type { EgressResolver } from "@millrace/engine/node";
import type { ServiceEntry } from "@millrace/engine/pack";
import { EXTENSION_BYTES, sizeOf } from "@millrace/engine/pack";
import { createChildCode } from "./child-code.ts";
import { nameOf } from "./code.ts";
import { GuardedContext } from "./context.ts";
import {
  CODE_TIMES,
  type CodeTimes,
  type HostBody,
  type HostCode,
  lazyProvider,
} from "./host-code.ts";
import { createHostLog, type HostLog } from "./host-log.ts";
import { createInProcessCode } from "./in-process-code.ts";
import {
  failed,
  type InspectedExtension,
  type ListedExtension,
  type ReadExtensionsOptions,
  readExtensions,
} from "./inspect.ts";
import { foldersOf, isFolderName } from "./locate.ts";
import type { OutputLine } from "./output-lines.ts";
import { resolveGrants } from "./permissions.ts";
import { type ExtensionProblem, ProblemFound } from "./problem.ts";
import { treeDigest } from "./tree-digest.ts";

/** Options of a host beside the folder of its extensions. */
export interface OpenExtensionsOptions extends ReadExtensionsOptions {
  /** Data folder of the installation; `$data` of an extension is a folder of its own in it. */
  readonly data: string;
  /** Folder for `$project` in grants, where files of runs are elsewhere; default the project. */
  readonly filesRoot?: string | undefined;
  /** Configuration of adapters and providers by id. */
  readonly config?: { readonly [id: string]: JsonObject } | undefined;
  /** The network of the host, for what extensions do outside of runs. */
  readonly openFetch: (policy: EgressPolicy) => FetchLike;
  /** The addresses that sockets of extensions may use. Absent: no extension opens any. */
  readonly openResolver?: ((policy: EgressPolicy) => EgressResolver) | undefined;
  readonly egress?: EgressPolicy | undefined;
  /** Told of what an operator should know; `extension` is its name in the list. */
  readonly warn: (warning: {
    readonly extension: string;
    readonly code: string;
    readonly message: string;
  }) => void;
  /** Receives lines that processes of extensions write with `console.log` and the like, without secrets; absent: they are not read. */
  readonly output?: ((line: OutputLine) => void) | undefined;
  /** Lengths of time; defaults are those of the documentation. */
  readonly times?: Partial<CodeTimes> | undefined;
}

/** The extensions of a host. */
export interface Extensions {
  /** For `createRegistry`, failed ones too: their entries say why. */
  readonly types: readonly NodeType[];
  readonly services: readonly ServiceDefinition[];
  /** The same for `createRegistry`: entries say which package they are of. */
  readonly serviceEntries: readonly ServiceEntry[];
  /** For `createEngine`. */
  readonly providers: readonly AiProvider[];
  /** For `createEngine`: configuration by adapter. */
  readonly config: { readonly [adapter: string]: JsonObject };
  /** How each one stands now, in the order of the list. */
  list(): readonly ListedExtension[];
  /** Loads the code of each one that is ready, so that `list` knows whether it can be. */
  load(): Promise<void>;
  /** Name of the extension in this process whose code an error came through, as far as its stack says. */
  blame(error: unknown): string | undefined;
  /** Ends their processes and closes what they have opened. */
  close(): Promise<void>;
}

/** Opens the extensions of a project. Throws what `readExtensions` throws. */
export async function openExtensions(options: OpenExtensionsOptions): Promise<Extensions> {
  const read = await readExtensions(options);
  for (const { name, problem, warnings } of read) {
    if (problem !== undefined) options.warn({ extension: name, ...problem });
    for (const message of warnings) {
      options.warn({ extension: name, code: "extension_manifest", message });
    }
  }
  const all = await Promise.all(
    read.map((extension) =>
      openOne(extension, options).catch((error: unknown) => {
        const { code, name } = error as NodeJS.ErrnoException;
        const message = `it cannot be opened (${code ?? name})`;
        const problem: ExtensionProblem = { code: "extension_load_failed", message };
        options.warn({ extension: extension.name, ...problem });
        return openOne(failed(extension, problem), options);
      }),
    ),
  );
  return {
    types: all.flatMap(({ types }) => types),
    services: all.flatMap(({ serviceEntries }) => serviceEntries.map(serviceOf)),
    serviceEntries: all.flatMap(({ serviceEntries }) => serviceEntries),
    providers: all.flatMap(({ providers }) => providers),
    config: options.config ?? {},
    list: () => all.map(({ now }) => now()),
    async load() {
      await Promise.all(all.map(({ load }) => load()));
    },
    blame: (error) => all.map(({ now }) => now()).find((one) => isIn(error, one))?.name,
    async close() {
      await Promise.all(all.map(({ close }) => close()));
    },
  };
}

function isIn(error: unknown, { mode, inspected }: ListedExtension): boolean {
  if (mode !== "inProcess" || inspected === undefined || !(error instanceof Error)) return false;
  const stack = String(error.stack);
  const { folder } = inspected;
  return stack.includes(folder + sep) || stack.includes(`${pathToFileURL(folder).href}/`);
}

interface Opened {
  readonly types: readonly NodeType[];
  readonly serviceEntries: readonly ServiceEntry[];
  readonly providers: readonly AiProvider[];
  now(): ListedExtension;
  load(): Promise<void>;
  close(): Promise<void>;
}

async function openOne(listed: ListedExtension, options: OpenExtensionsOptions): Promise<Opened> {
  let present = listed;
  const now = (): ListedExtension => present;
  const { inspected } = listed;
  if (listed.state === "failed" || inspected === undefined) {
    const types = listed.entries.filter(isNode).map((entry) => deadType(entry));
    const nothing = async () => {};
    return { types, serviceEntries: [], providers: [], now, load: nothing, close: nothing };
  }
  const fail = (problem: ExtensionProblem): void => {
    if (present.state === "failed") return;
    present = failed(listed, problem);
    present.entries.filter(isNode).forEach((entry, at) => {
      (types[at] as LiveType).entry = entry;
    });
    options.warn({ extension: listed.name, ...problem });
  };
  const { project, filesRoot = project, data } = options;
  const grants = await resolveGrants(listed.name, listed.granted, { project: filesRoot, data });
  const hostLog = createHostLog((code, message) =>
    options.warn({ extension: listed.name, code, message }),
  );
  const code = createCode(listed, inspected, { ...options, grants, fail, hostLog });
  const checks = new Set(inspected.catalog.checks);
  const adapters = new Set(inspected.catalog.adapters.map(({ id }) => id));
  const types = listed.entries.filter(isNode).map((entry) =>
    liveType(entry, {
      code,
      grants,
      adapters,
      learn: hostLog.learn,
      hasCheck: checks.has(nameOf({ entry })),
    }),
  );
  const first = types[0];
  return {
    types,
    serviceEntries: listed.entries.filter(isService),
    providers: listed.providers.map(({ id }) => code.provider(id)),
    now,
    async load() {
      // Any call loads it; what it answers is of no interest.
      if (first !== undefined) await code.check(nameOf(first), {}).catch(() => {});
      else
        for (const { id } of listed.providers)
          await code
            .provider(id)
            .capabilities("")
            .catch(() => {});
    },
    close: () => code.close(),
  };
}

function createCode(
  { name, mode, granted }: ListedExtension,
  { folder, manifest, catalog, treeDigest: reviewed }: InspectedExtension,
  options: OpenExtensionsOptions & {
    readonly grants: Grants;
    readonly fail: (problem: ExtensionProblem) => void;
    readonly hostLog: HostLog;
  },
): HostCode {
  const { grants, egress, openFetch, openResolver = noSockets, hostLog, output } = options;
  const { sockets = [] } = granted;
  const warn = (code: string, message: string): void =>
    options.warn({ extension: name, code, message });
  const stopped = new AbortController();
  const host = {
    fetch: openFetch({ ...egress, only: grants.net }),
    signal: stopped.signal,
    now: () => Date.now(),
    random: () => Math.random(),
    log: hostLog.log,
  };
  const isWorkedIn = isFolderName(name);
  const isWatched = options.watch === true && isWorkedIn;
  const common = {
    folder,
    entry: join(folder, manifest.entry),
    digest: catalog.digest,
    config: options.config ?? {},
    times: { ...CODE_TIMES, ...options.times },
    host,
    failed: options.fail,
    warn,
    said(stream: "stdout" | "stderr", text: string) {
      output?.({ extension: name, stream, text: hostLog.clean(text) });
    },
    /** A host may run for months between the look at its start and the first use. */
    async unchanged() {
      if (isWatched) return;
      if ((await treeDigest(folder, { isWorkedIn }).catch(() => "")) === reviewed) return;
      const text = `its files have changed since the start: millrace ext trust ${name}`;
      throw new ProblemFound("extension_changed", text);
    },
  };
  const code =
    mode === "inProcess"
      ? createInProcessCode(common)
      : lazyChild(async () =>
          createChildCode({
            ...common,
            readable: await foldersOf(folder),
            granted,
            grants,
            addresses: openResolver({
              ...egress,
              ...(!sockets.includes("*") && { only: sockets }),
            }),
            isHeard: output !== undefined,
          }),
        );
  return {
    ...code,
    async close() {
      stopped.abort();
      await code.close();
    },
  };
}

/** Of a host without sockets. */
function noSockets(): EgressResolver {
  return async (host, port) => {
    const text = `this host opens no sockets for extensions, to ${host}:${port} neither`;
    throw new NodeError("permission_denied", text, { reason: "denied", sent: false });
  };
}

/** The folders of dependencies are looked up when there is something to run. */
function lazyChild(create: () => Promise<HostCode>): HostCode {
  let made: Promise<HostCode> | undefined;
  const code = (): Promise<HostCode> => {
    made ??= create();
    return made;
  };
  const provider = (id: string) => async (): Promise<AiProvider> => (await code()).provider(id);
  return {
    body(of) {
      let body: HostBody | undefined;
      return (...call) => {
        if (body !== undefined) return body(...call);
        return code().then((made) => {
          body = made.body(of);
          return body(...call);
        });
      };
    },
    check: async (...call) => (await code()).check(...call),
    provider: (id) => lazyProvider(id, provider(id)),
    close: async () => (await made)?.close(),
  };
}

/** A type of an extension that cannot be used: it is listed, and no flow with it is valid. */
function deadType(entry: CatalogEntry): NodeType {
  const { problem } = entry;
  return {
    entry,
    foreign: true,
    run() {
      throw new NodeError(problem?.code ?? "extension_missing", problem?.message ?? entry.type);
    },
  };
}

/** A type whose entry is written over by one with a problem. A member, not a getter: the engine reads it for each node. */
type LiveType = Omit<NodeType, "entry"> & { entry: CatalogEntry };

function liveType(
  entry: CatalogEntry,
  how: {
    readonly code: HostCode;
    readonly grants: Grants;
    readonly adapters: ReadonlySet<string>;
    readonly hasCheck: boolean;
    readonly learn: (secret: string) => void;
  },
): LiveType {
  const { code, grants } = how;
  const type = nameOf({ entry });
  const family = entry.type.split(".")[0] as string;
  const { effect, idempotent, requires } = entry;
  const guard = { connection: requires.connection, learn: how.learn };
  const isRepeatable = effect === "pure" || effect === "read" || idempotent === true;
  const body = code.body({ type, isRepeatable });
  return {
    entry,
    changes: true,
    foreign: true,
    grants,
    ...(how.adapters.has(family) && { adapter: family }),
    run: (fields, ctx) => {
      refuseLarge(fields);
      return body(fields, new GuardedContext(ctx, fields, guard), ctx);
    },
    ...(how.hasCheck && { check: (fields: Fields) => checked(code, type, fields) }),
  };
}

/** Code that cannot be loaded finds nothing; its nodes say why they fail. */
async function checked(
  code: HostCode,
  type: string,
  fields: Fields,
): Promise<readonly FieldFinding[]> {
  const found: unknown = await code.check(type, fields).catch(() => []);
  return Array.isArray(found) ? found.slice(0, MAX_FINDINGS).filter(isFinding) : [];
}

const MAX_FINDINGS = 100; // of one node; more are not read
const MAX_TEXT = 2_048; // characters

function isFinding(value: unknown): value is FieldFinding {
  const { pointer, code, message, severity } = Object(value) as Partial<FieldFinding>;
  const isText = (text: unknown) => typeof text === "string" && text.length <= MAX_TEXT;
  return [pointer, code, message].every(isText) && /^(?:error|warning)$/.test(String(severity));
}

function refuseLarge(fields: Fields): void {
  if (areSmall(fields)) return;
  const bytes = sizeOf(fields as Json);
  if (bytes <= EXTENSION_BYTES) return;
  const text = `the fields have ${bytes} bytes, at most ${EXTENSION_BYTES} go to an extension`;
  throw new NodeError("output_too_large", text, { reason: "limit", sent: false });
}

/** Whether fields of plain members are surely small, as most are: a look at their lengths takes less than their size. */
function areSmall(fields: Fields): boolean {
  let most = 2; // bytes of their JSON text
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === "object" && value !== null) return false;
    most += (name.length + (typeof value === "string" ? value.length : 0)) * 6 + 29;
  }
  return most <= EXTENSION_BYTES;
}

const isNode = ({ kind }: CatalogEntry): boolean => kind !== "service";

function isService(entry: CatalogEntry): entry is ServiceEntry {
  return entry.serviceIntegration !== undefined;
}

function serviceOf({ serviceIntegration, title, summary, type }: ServiceEntry): ServiceDefinition {
  const slug = type.replace(/^service\./, "");
  return defineService({ slug, title, summary, serviceIntegration });
}
