/**
 * Compiling a flow: the registry, the flows that it calls, and what compiling finds beyond the language. For a check no code of
 * extensions runs, so that it needs no trust.
 */
import { join } from "node:path";
import type { CatalogEntry, Diagnostic, FlowNode } from "@millrace/contracts";
import { digest, mergeDiagnostics, parseFlow } from "@millrace/dsl";
import {
  type CompileResult,
  compileFlow,
  createRegistry,
  EngineError,
  type Registry,
  type SubflowPort,
  type TypeSource,
} from "@millrace/engine";
import { nodePack } from "@millrace/engine/node";
import { dataFolder } from "../config/files.ts";
import { CliError, usage } from "../errors.ts";
import { readFound } from "../files.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";
import type { FlowSource } from "./load-flow.ts";
import { flowsFolder } from "./project-catalog.ts";

/** Dependencies of compiling a checked flow. */
interface CompileParts {
  /** Node types and services beside core's. */
  readonly types: readonly TypeSource[];
  readonly subflows: SubflowPort;
  readonly withoutCode?: boolean;
  /** Whether the types are those of the check: then the flow is not checked again. */
  readonly sameTypes: boolean;
}

/** Compiles a flow that was checked; its findings come before those of compiling. */
export async function compileSource(
  { graph, document, diagnostics }: FlowSource,
  { types, sameTypes, ...options }: CompileParts,
): Promise<CompileResult> {
  const registry = await registryOf(graph.nodes, types);
  const checked = sameTypes ? diagnostics : undefined;
  return compileFlow(graph, { ...options, registry, checked, ...(document && { document }) });
}

/** The findings of a flow that has no error so far, with those of compiling it. */
export async function withCompileProblems(
  source: FlowSource,
  io: CliIo,
): Promise<readonly Diagnostic[]> {
  const { folder, services, extensions, sources } = source;
  const { diagnostics } = await compileSource(source, {
    types: [...services, ...extensions.map(toType)],
    subflows: subflowsOf([folder, flowsFolder(sources)], dataFolder(sources.options.home, io)),
    withoutCode: true,
    sameTypes: true,
  });
  return mergeDiagnostics(diagnostics);
}

/**
 * Core and the added types; packs for models and services are loaded for flows that may need them. A descriptor may have a schema that cannot
 * be checked: a usage error says so.
 */
async function registryOf(
  nodes: readonly FlowNode[],
  types: readonly TypeSource[],
): Promise<Registry> {
  if (types.length === 0) {
    const here = createRegistry([nodePack()]);
    if (hasAll(here, nodes)) return here;
  }
  const { createStandardRegistry } = await import("@millrace/server/registry");
  try {
    return createStandardRegistry(types);
  } catch (error) {
    if (EngineError.isInstance(error)) throw usage(clean(error.message));
    throw error;
  }
}

/** Whether the types of these nodes and of all in their bodies are known; a flow that they call may have any. */
function hasAll(registry: Registry, nodes: readonly FlowNode[]): boolean {
  return nodes.every(
    ({ type, typeVersion, body }) =>
      type !== "subflow" &&
      registry.get(type, typeVersion) !== undefined &&
      (body === undefined || hasAll(registry, body.nodes)),
  );
}

/** An entry of an extension as a type that is never run. */
function toType(entry: CatalogEntry): TypeSource {
  const { serviceIntegration } = entry;
  if (serviceIntegration !== undefined) return { ...entry, serviceIntegration };
  return { entry, foreign: true, run: () => ({}) };
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Looks flows up in folders, in order. One whose text cannot be read whole is refused, not run as far as it could be read. */
export function subflowsIn(folders: readonly (string | undefined)[]): SubflowPort {
  return {
    async get({ slug }) {
      if (!SLUG.test(slug)) return null;
      for (const folder of folders) {
        if (folder === undefined) continue;
        let bytes: Uint8Array;
        try {
          bytes = readFound(join(folder, `${slug}.flow`));
        } catch {
          continue;
        }
        const { graph, diagnostics, ok } = parseFlow(bytes);
        if (!ok) throw unreadable(join(folder, `${slug}.flow`), diagnostics);
        return { graph, digest: digest(graph) };
      }
      return null;
    },
  };
}

function unreadable(file: string, diagnostics: readonly Diagnostic[]): CliError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const place = first?.range === undefined ? "" : `, line ${first.range.start.line}`;
  return new CliError("flow_invalid", `${file}${place}: ${first?.message}`, {
    hint: `millrace validate ${file} shows the whole`,
  });
}

/** The same, and then the templates of the data directory, which is opened for what is found in no folder alone. */
export function subflowsOf(folders: readonly (string | undefined)[], dir: string): SubflowPort {
  const files = subflowsIn(folders);
  return { get: async (wanted) => (await files.get(wanted)) ?? storedSubflow(dir, wanted) };
}

async function storedSubflow(
  dir: string,
  wanted: Parameters<SubflowPort["get"]>[0],
): ReturnType<SubflowPort["get"]> {
  const [{ openStore, StoreError }, { subflowPort }] = await Promise.all([
    import("@millrace/store"),
    import("@millrace/server/local"),
  ]);
  try {
    const store = await openStore({ dir, readonly: true });
    try {
      return await subflowPort(store.templates).get(wanted);
    } finally {
      await store.close();
    }
  } catch (error) {
    // Where nothing was ever kept, nothing is found.
    if (StoreError.isInstance(error) && error.code === "store_unavailable") return null;
    throw error;
  }
}
