/** Calls of services against their descriptors, where the catalog knows them (FLOW3002-3006). */
import type { Effect, JsonObject, ServiceOperation } from "@millrace/contracts";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { operationEffect, serviceArguments } from "@millrace/contracts/service";
import { isObject, listOrNone, markerOf, objectOrNone, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { NodeModel } from "../model/bodies.ts";
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

/** What the call of a node does; `undefined` where the catalog does not know its operation. */
export function effectOfCall(ctx: Validation, node: NodeModel): Effect | undefined {
  const id = literalText(own(node.node.fields, "operation"));
  const operation = operationsOf(ctx, node)?.find((each) => each.id === id);
  return operation === undefined ? undefined : operationEffect(operation);
}

/** The operations of the service behind the connection that a node names. */
function operationsOf(ctx: Validation, node: NodeModel): readonly ServiceOperation[] | undefined {
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
