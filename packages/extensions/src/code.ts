/**
 * The code of an extension, wherever it runs: its entry is imported once, its default export is checked, and its parts are
 * called by name. Nothing here knows of processes or engines.
 */
import { pathToFileURL } from "node:url";
import {
  type ActionAdapterDefinition,
  type AiProvider,
  type ControlContext,
  definitionKind,
  EXTENSION_API_VERSION,
  type ExtensionDefinition,
  type FieldFinding,
  type HostContext,
  isNodeExit,
  isZodSchema,
  type JsonObject,
  NodeError,
  type Schema,
} from "@millrace/contracts";
import { compileSchema } from "@millrace/dsl";
import type { CoreContext, Fields, NodeType } from "@millrace/engine";
import { isPromise, toOutput, typesOf } from "@millrace/engine/pack";
import { catalogOf } from "./catalog.ts";
import { ProblemFound } from "./problem.ts";

/** What the code of an extension is given when it is loaded. */
export interface CodeOptions {
  /** Configuration of adapters and providers by id. */
  readonly config: { readonly [id: string]: JsonObject };
  readonly host: HostContext;
}

/**
 * Runs the body of one type. Answers what the body answers, at once where it does; throws what it throws, and `field_invalid`,
 * `output_schema`.
 */
export type Body = (fields: Fields, ctx: ControlContext) => unknown;

/** The loaded code of an extension, in this process or in a process of its own. */
export interface ExtensionCode {
  /** Digest of the catalog that the definition has. */
  readonly digest: string;
  /** The body of `type@version`. Throws `extension_catalog_stale` for a type that the code has not. */
  body(type: string): Body;
  /** Findings of the type's own check of literal fields. */
  check(type: string, fields: Fields): Promise<readonly FieldFinding[]>;
  provider(id: string): AiProvider;
  /** Closes what adapters and providers have opened. */
  close(): Promise<void>;
}

/** Imports `entry` and returns its definition. Throws `ProblemFound` for a module that is no extension, and errors of the import. */
export async function importDefinition(entry: string): Promise<ExtensionDefinition> {
  const module = (await import(pathToFileURL(entry).href)) as { readonly default?: unknown };
  const definition = module.default;
  if (definitionKind(definition) !== "extension") {
    const what =
      "default" in module
        ? "its default export is not of defineExtension"
        : "it has no default export";
    const text = `${what}: write export default defineExtension({ … })`;
    throw new ProblemFound("extension_load_failed", text);
  }
  const { apiVersion } = definition as ExtensionDefinition;
  if (apiVersion !== EXTENSION_API_VERSION) {
    const text = `its definition is of version ${apiVersion} of the extension API`;
    throw new ProblemFound("extension_api_unsupported", text);
  }
  return definition as ExtensionDefinition;
}

/** Imports `entry`. Throws what `importDefinition` and `catalogOf` throw. */
export async function loadCode(entry: string, options: CodeOptions): Promise<ExtensionCode> {
  const definition = await importDefinition(entry);
  const { digest } = catalogOf(definition);
  const adapters = new Map(definition.adapters.map((one) => [one.id, { one, isReady: false }]));
  const types = new Map(
    typesOf(definition).map((type) => {
      return [nameOf(type), { type, adapter: adapters.get(type.adapter ?? "") }];
    }),
  );
  const opened = new Map<string, Promise<{ close(): Promise<void> } | undefined>>();
  const providers = new Map<string, AiProvider>();
  const configs = new Map<string, JsonObject>();

  const configOf = (id: string, schema: Schema<JsonObject> | undefined): JsonObject => {
    let config = configs.get(id);
    if (config === undefined) {
      config = checkedConfig(id, schema, ownConfig(options.config, id));
      configs.set(id, config);
    }
    return config;
  };
  /** An adapter is opened before its first action; one that could not be is tried again. */
  const open = (adapter: Adapter): Promise<unknown> | undefined => {
    const { one } = adapter;
    const config = configOf(one.id, one.config);
    if (one.open === undefined) {
      adapter.isReady = true;
      return undefined;
    }
    let made = opened.get(one.id);
    if (made === undefined) {
      made = Promise.resolve(one.open(config, options.host));
      opened.set(one.id, made);
      made.then(
        () => {
          adapter.isReady = true;
        },
        () => opened.delete(one.id),
      );
    }
    return made;
  };
  const typeOf = (
    name: string,
  ): { readonly type: NodeType; readonly adapter: Adapter | undefined } => {
    const known = types.get(name);
    if (known !== undefined) return known;
    throw new NodeError("extension_catalog_stale", `the extension has no type ${name}`);
  };

  return {
    digest,
    body(name) {
      const { type, adapter } = typeOf(name);
      return (given, ctx) => {
        const fields = type.parseFields === undefined ? given : type.parseFields(given);
        const opening = adapter === undefined || adapter.isReady ? undefined : open(adapter);
        if (opening === undefined) return runBody(type, fields, ctx);
        return opening.then(() => runBody(type, fields, ctx));
      };
    },
    async check(name, fields) {
      const found = (await typeOf(name).type.check?.(fields, {})) ?? [];
      return Array.isArray(found) ? found : [];
    },
    provider(id) {
      const known = providers.get(id);
      if (known !== undefined) return known;
      const provider = definition.providers.find((one) => one.id === id);
      if (provider === undefined) throw new NodeError("provider_unavailable", `no provider ${id}`);
      const made = provider.create(configOf(id, provider.config), options.host);
      providers.set(id, made);
      return made;
    },
    async close() {
      await Promise.allSettled([
        ...[...opened.values()].map(async (one) => (await one)?.close()),
        ...[...providers.values()].map(async (one) => one.dispose?.()),
      ]);
    },
  };
}

/** An adapter, and whether its actions may begin. */
interface Adapter {
  readonly one: ActionAdapterDefinition;
  isReady: boolean;
}

function runBody(type: NodeType, fields: Fields, ctx: ControlContext): unknown {
  const result: unknown = type.run(fields, ctx as CoreContext);
  if (type.outputProblem === undefined) return result; // the engine knows all of its schema
  // Not every holder of a `then` answers one with another.
  if (isPromise(result)) return Promise.resolve(result).then((value) => checkedOutput(type, value));
  return checkedOutput(type, result);
}

function checkedOutput(type: NodeType, result: unknown): unknown {
  const problem = type.outputProblem?.(toOutput(isNodeExit(result) ? result.output : result));
  if (problem === null || problem === undefined) return result;
  throw new NodeError("output_schema", problem, { reason: "output" });
}

/** `weather.forecast@1`, the name of a type between host and code. */
export function nameOf({ entry }: Pick<NodeType, "entry">): string {
  return `${entry.type}@${entry.version}`;
}

function checkedConfig(
  id: string,
  schema: Schema<JsonObject> | undefined,
  config: JsonObject,
): JsonObject {
  if (schema === undefined) return config;
  if (isZodSchema(schema)) {
    const parsed = schema.safeParse(config);
    if (parsed.success) return parsed.data as JsonObject;
    const [issue] = parsed.error.issues;
    throw badConfig(id, `${issue?.path.map(String).join("/") ?? ""} ${issue?.message ?? ""}`);
  }
  const made = compileSchema(schema);
  const problem = made.ok ? made.check(config)[0] : made.problems[0];
  if (problem === undefined) return config;
  throw badConfig(id, `${problem.pointer} ${problem.message}`);
}

/** An id such as `constructor` is on every object. */
function ownConfig(config: CodeOptions["config"], id: string): JsonObject {
  return (Object.hasOwn(config, id) ? config[id] : undefined) ?? {};
}

function badConfig(id: string, what: string): NodeError {
  return new NodeError("field_invalid", `configuration of ${id}: ${what.trim()}`, {
    reason: "input",
    sent: false,
  });
}
