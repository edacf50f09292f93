/** Calls of services against their descriptors, and of other flows, where the catalog knows them (FLOW3002-3006, 4010). */

import type { Effect, JsonObject, ServiceOperation } from "@millrace/contracts";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { operationEffect, serviceArguments } from "@millrace/contracts/service";
import { isObject, listOrNone, markerOf, objectOrNone, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { CatalogFlow } from "../catalog.ts";
import type { NodeModel } from "../model/bodies.ts";
import { isHinted } from "../model/deferred.ts";
import type { Site } from "../model/sites.ts";
import { literalText } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import { checkListed, checkValue } from "./check-value.ts";

/** Checks operation, arguments and pages of a node that calls a service. */
export function checkServiceCall(ctx: Validation, node: NodeModel): void {
  const operations = operationsOf(ctx, node);
  const fields = objectOrNone(node.node.fields);
  const id = literalText(own(fields, "operation"));
  if (operations === undefined || id === undefined) return;
  const operation = operations.find((each) => each.id === id);
  if (operation === undefined) {
    const ids = operations.map((each) => each.id);
    checkListed(ctx, "operation", id, ids, `${node.pointer}/fields/operation`);
    return;
  }
  const args = own(fields, "args") ?? {};
  if (isObject(args) && markerOf(args) === undefined && ctx.isReadable(args)) {
    checkArguments(ctx, node, operation, args as JsonObject);
  }
  const pages = own(fields, "pages");
  const isMany = pages === "all" || (typeof pages === "number" && pages > 1);
  if (isMany && operation.pagination === undefined) {
    const parts = { field: "pages", rule: `1: the operation ${shown(id)} has no pages` };
    ctx.report("FLOW3005", `${node.pointer}/fields/pages`, { parts });
  }
}

/** Effect of the call of a node; `undefined` where the catalog does not know its operation. */
export function effectOfCall(ctx: Validation, node: NodeModel): Effect | undefined {
  const id = literalText(own(node.node.fields, "operation"));
  const operation = operationsOf(ctx, node)?.find((each) => each.id === id);
  return operation === undefined ? undefined : operationEffect(operation);
}

/** The operations of the service behind the connection that a node names. */
export function operationsOf(
  ctx: Validation,
  node: NodeModel,
): readonly ServiceOperation[] | undefined {
  const name = literalText(own(node.node.fields, "connection"));
  if (name === undefined) return undefined;
  const declared = ctx.connections.get(name);
  const service = own(declared, "service") ?? own(declared, "slug") ?? name;
  const integration = ctx.catalog.entry(`service.${String(service)}`)?.serviceIntegration;
  const operations = listOrNone(own(integration, "operations")).filter(isObject);
  return integration === undefined ? undefined : (operations as unknown as ServiceOperation[]);
}

function checkArguments(
  ctx: Validation,
  node: NodeModel,
  operation: ServiceOperation,
  args: JsonObject,
): void {
  const { known, open } = serviceArguments(operation);
  const place = `${node.pointer}/fields/args`;
  const type = `args of ${shown(operation.id)}`;
  for (const name of memberNames(args)) {
    const value = args[name];
    const argument = known.get(name);
    const pointer = place + pointerSegment(name);
    if (argument === undefined) {
      if (open) continue;
      const parts = { type, name: shown(name), near: ctx.near(name, known.keys()) };
      ctx.report("FLOW3003", pointer, { parts });
    } else if (value !== undefined && (value !== null || argument.required)) {
      checkValue(ctx, value, argument.schema, { pointer, name: `args.${name}` });
    }
  }
  const at = own(node.node.fields, "args") === undefined ? node.pointer : place;
  for (const [name, { required }] of known) {
    if (!required || own(args, name) !== undefined) continue;
    ctx.report("FLOW3002", at, { parts: { type, name: shown(name) } });
  }
}

/** Flows that are followed to see whether one calls this flow; more are another program. */
const MAX_CALLED = 1000;

/** Whether a field names a flow. */
export function isFlowField({ schemas }: Site): boolean {
  return isHinted(schemas, "flow");
}

/** Checks a field that names a flow; without `catalog.flow` nothing is known of flows. */
export function checkFlowField(ctx: Validation, site: Site): void {
  const { reader: node, value } = site;
  if (!isFlowField(site)) return;
  const text = ctx.catalog.hasFlows ? literalText(value) : undefined;
  if (text === undefined || node === undefined) return;
  const flow = checkCall(ctx, text, site.pointer);
  if (flow !== undefined && node.node.type === "subflow") {
    checkInputs(ctx, node, slugOf(text), flow);
  }
}

/** Checks the flows that an `ai` node has as tools. */
export function checkFlowTools(ctx: Validation, node: NodeModel): void {
  if (!ctx.catalog.hasFlows) return;
  listOrNone(own(node.node.fields, "tools")).forEach((tool, at) => {
    const ref = typeof tool === "string" ? tool : own(tool, "ref");
    if (typeof ref !== "string" || !ref.startsWith("flow:")) return;
    const pointer = `${node.pointer}/fields/tools/${at}`;
    checkCall(ctx, ref.slice("flow:".length), pointer);
  });
}

/** The slug without version or digest. */
export function slugOf(text: string): string {
  return text.replace(/(?:@\d+|#sha256:[0-9a-f]*)$/, "");
}

function checkCall(ctx: Validation, ref: string, pointer: string): CatalogFlow | undefined {
  const { id } = ctx.graph;
  const slug = slugOf(ref);
  const path = slug === id ? [slug] : ctx.callsOf(slug, () => callsTo(ctx, slug, id));
  if (path !== undefined) {
    const calls = [id, ...path].map(shown).join(" -> ");
    ctx.report("FLOW4010", pointer, { message: `flow ${shown(id)} calls itself: ${calls}` });
  }
  const flow = ctx.catalog.flow(slug);
  if (flow === undefined && slug !== id) {
    const hint = ref.endsWith(".flow") ? "a flow is named without `.flow`" : undefined;
    ctx.report("FLOW4010", pointer, { parts: { slug: shown(ref) }, hint });
  }
  return flow;
}

/** The calls that lead from a flow to another. */
function callsTo(ctx: Validation, from: string, to: string): string[] | undefined {
  const callers = new Map<string, string | undefined>([[from, undefined]]);
  const open = [from];
  for (let at = 0; at < open.length && at < MAX_CALLED; at += 1) {
    const slug = open[at] as string;
    for (const called of ctx.catalog.flow(slug)?.flows ?? []) {
      const next = slugOf(called);
      if (callers.has(next)) continue;
      callers.set(next, slug);
      open.push(next);
    }
  }
  if (!callers.has(to)) return undefined;
  const path: string[] = [];
  for (let slug: string | undefined = to; slug !== undefined; slug = callers.get(slug))
    path.push(slug);
  return path.reverse();
}

function checkInputs(ctx: Validation, node: NodeModel, slug: string, flow: CatalogFlow): void {
  const given = own(node.node.fields, "inputs");
  const isProtected = isObject(given) && markerOf(given) === "$lit";
  const values = isProtected ? own(given, "$lit") : (given ?? {});
  if (!isObject(values) || (!isProtected && markerOf(values) !== undefined)) return;
  const pointer = `${node.pointer}/fields/inputs${isProtected ? "/$lit" : ""}`;
  const type = `flow ${shown(slug)}`;
  const names = new Set(flow.inputs.map(({ name }) => name));
  for (const { name, schema, default: fallback } of flow.inputs) {
    if (own(values, name) !== undefined) {
      const place = { pointer: pointer + pointerSegment(name), name: `inputs.${name}` };
      checkValue(ctx, values[name], schema, place);
    } else if (fallback === undefined) {
      const at = given === undefined ? node.pointer : pointer;
      ctx.report("FLOW3002", at, { parts: { type, name: shown(name) } });
    }
  }
  for (const key of memberNames(values)) {
    if (names.has(key)) continue;
    const parts = { type, name: shown(key), near: ctx.near(key, names) };
    ctx.report("FLOW3003", pointer + pointerSegment(key), { parts });
  }
}
