/**
 * The functions that make definitions. Each checks what it is given, and answers a frozen copy that carries
 * `apiVersion` and the mark `Symbol.for("millrace.extension.v1")`; nothing is registered and nothing is run. A bad
 * definition throws `ExtensionError` code `extension_definition_invalid` with a JSON Pointer to the first problem.
 *
 * These functions know no reserved names: core types (`http.request`, `map`, `ai`, …) are made with them too. A host
 * that loads packages of others refuses the ids that core has taken, and a second definition of an id.
 */

import type { JsonObject } from "../json.ts";
import type { ServiceSpec } from "../service.ts";
import { problemsOf, type Shape } from "../shape/index.ts";
import { checkService } from "./check-service.ts";
import {
  actionShape,
  adapterShape,
  extensionShape,
  nodeTypeShape,
  providerShape,
} from "./definition-shapes.ts";
import { ExtensionError } from "./extension-error.ts";
import { frozenJson } from "./json-data.ts";
import { isZodSchema } from "./schema.ts";
import {
  type ActionAdapterDefinition,
  type ActionAdapterSpec,
  type ActionDefinition,
  type ActionSpec,
  type DefinitionKind,
  definitionKind,
  EXTENSION_API_VERSION,
  EXTENSION_MARK,
  type ExtensionDefinition,
  type ExtensionSpec,
  type NodeTypeDefinition,
  type NodeTypeSpec,
  type ProviderDefinition,
  type ProviderSpec,
  type ServiceDefinition,
  type Stamp,
} from "./types.ts";

/** An action of an adapter: one effect with fields and an output. It becomes a node type by `defineActionAdapter`. */
export function defineAction<F = JsonObject, O = unknown>(
  spec: ActionSpec<F, O>,
): ActionDefinition<NoInfer<F>, NoInfer<O>> {
  return define("action", `action "${nameOf(spec, "name")}"`, spec, actionShape);
}

/** A family of actions: action `a` of adapter `x` is the node type `x.a`. */
export function defineActionAdapter(spec: ActionAdapterSpec): ActionAdapterDefinition {
  return define("adapter", `adapter "${nameOf(spec, "id")}"`, spec, adapterShape);
}

/** An AI provider: an id usable as `provider` and in failover targets. */
export function defineProvider(spec: ProviderSpec): ProviderDefinition {
  return define("provider", `provider "${nameOf(spec, "id")}"`, spec, providerShape);
}

/** A node type with ports from data or waits; for a plain effect an action is less work. */
export function defineNodeType<F = JsonObject, O = unknown>(
  spec: NodeTypeSpec<F, O>,
): NodeTypeDefinition<NoInfer<F>, NoInfer<O>> {
  return define("nodeType", `node type "${nameOf(spec, "type")}"`, spec, nodeTypeShape);
}

/** A service as data: every rule of `checkService` holds, else the first finding is thrown. */
export function defineService(spec: ServiceSpec): ServiceDefinition {
  const who = `service "${nameOf(spec, "slug")}"`;
  const finding = checkService(spec)[0];
  if (finding !== undefined) throw invalid(who, finding.pointer ?? "", finding.message);
  return stamp("service", frozenJson(spec as unknown as JsonObject, who) as unknown as ServiceSpec);
}

/** Makes the default export of a package. Each member comes from one of the other functions; ids are unique. */
export function defineExtension(spec: ExtensionSpec): ExtensionDefinition {
  const lists = { adapters: [], providers: [], nodeTypes: [], services: [] };
  return define("extension", "extension", { ...lists, ...spec }, extensionShape);
}

function define<S extends object, K extends DefinitionKind>(
  kind: K,
  who: string,
  spec: S,
  shape: Shape,
): S & Stamp<K> {
  const problem = problemsOf(spec, shape)[0];
  if (problem !== undefined) throw invalid(who, problem.pointer, problem.message);
  const members = Object.entries(spec).filter(([, value]) => value !== undefined);
  return stamp(kind, Object.fromEntries(members.map(([k, v]) => [k, frozen(v)])) as S);
}

function stamp<S extends object, K extends DefinitionKind>(kind: K, members: S): S & Stamp<K> {
  const marks: Stamp<K> = { apiVersion: EXTENSION_API_VERSION, [EXTENSION_MARK]: kind };
  return Object.freeze({ ...members, ...marks });
}

/** Data is copied and frozen; schemas of zod, functions and definitions stay what they are. */
function frozen(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isZodSchema(value)) return value;
  if (definitionKind(value) !== undefined) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozen));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([k, v]) => [k, frozen(v)])));
}

function invalid(who: string, pointer: string, message: string): ExtensionError {
  const where = pointer === "" ? who : `${who}: ${pointer}`;
  return new ExtensionError("extension_definition_invalid", `${where} ${message}`, { pointer });
}

function nameOf(spec: unknown, member: string): string {
  const name: unknown = (spec as { [name: string]: unknown } | null)?.[member];
  return typeof name === "string" ? name.slice(0, 64) : "?";
}
