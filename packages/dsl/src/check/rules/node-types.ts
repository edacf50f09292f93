/** Node types and what a node of a type has: versions, bodies (FLOW3001, 3009, 3010, 3017, 3018). */

import type { CatalogEntry, Effect } from "@millrace/contracts";
import { isObject, own } from "../../data.ts";
import { aliasOf, TYPE_ALIASES, TYPE_HINTS } from "../../diagnostics/aliases.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { NodeModel } from "../model/bodies.ts";
import type { Validation } from "../validation.ts";
import { effectOfCall } from "./calls.ts";

/** Checks the type of a node. */
export function checkNodeType(ctx: Validation, node: NodeModel): void {
  const { entry } = node;
  const { type, typeVersion } = node.node;
  if (entry === undefined) {
    const at = `${node.pointer}/type`;
    const told = aliasOf(type, TYPE_HINTS);
    // A word of another tool is no slip of the pen: `email` is not `fail`.
    const types = told === undefined ? ctx.catalog.types : [];
    const { parts, fix } = ctx.nearest(type, types, at, undefined, TYPE_ALIASES);
    ctx.report("FLOW3001", at, {
      parts: { type: shown(type), ...parts },
      fix,
      hint: parts.near === undefined ? (told ?? "install the extension that brings it") : undefined,
    });
    return;
  }
  if (entry.serviceIntegration !== undefined) {
    ctx.report("FLOW3001", `${node.pointer}/type`, {
      parts: { type: shown(type) },
      hint: "a service is called by `service.call` with a connection to it",
    });
    return;
  }
  if (entry.state !== "ready") {
    const why = entry.problem === undefined ? "" : `: ${entry.problem.code}`;
    ctx.report("FLOW3001", `${node.pointer}/type`, {
      parts: { type: shown(type) },
      hint: `its extension is ${entry.state}${why}; see millrace ext list`,
    });
    return;
  }
  if (Number.isInteger(typeVersion) && entry.version !== typeVersion) {
    ctx.report("FLOW3010", `${node.pointer}/typeVersion`, {
      parts: { type: shown(type), n: String(typeVersion), list: versionsOf(ctx, entry).join(", ") },
    });
  }
  if (typeof entry.deprecated === "string") {
    const parts = { type: shown(type), text: entry.deprecated };
    ctx.report("FLOW3009", `${node.pointer}/type`, { parts });
  }
  checkBody(ctx, node, entry);
  const effect = effectOf(ctx, node, entry);
  if (
    (effect === "write" || effect === "destructive") &&
    own(node.node.policy, "cache") !== undefined
  ) {
    ctx.report("FLOW3018", `${node.pointer}/policy/cache`, { parts: { effect } });
  }
}

/** Effect of a node whose type derives it from a field: a GET only reads. */
function effectOf(ctx: Validation, node: NodeModel, entry: CatalogEntry): Effect {
  // What the operation decides is not held against a flow when the catalog does not know it.
  if (entry.type === "service.call") return effectOfCall(ctx, node) ?? "read";
  if (entry.type !== "http.request") return entry.effect;
  return effectOfMethod(own(node.node.fields, "method") ?? "GET");
}

/** Effect of a request; `write` for an unknown method. */
export function effectOfMethod(method: unknown): Effect {
  if (method === "GET" || method === "HEAD") return "read";
  return method === "DELETE" ? "destructive" : "write";
}

function checkBody(ctx: Validation, node: NodeModel, entry: CatalogEntry): void {
  const has = isObject(node.node.body);
  if (has === entry.body) return;
  const type = shown(entry.type);
  if (has) {
    const message = `${type} takes no body`;
    ctx.report("FLOW3017", `${node.pointer}/body`, { message });
  } else ctx.report("FLOW3017", node.pointer, { parts: { type } });
}

/** How many versions of a type are asked for. */
const MAX_VERSIONS = 100;

function versionsOf({ catalog }: Validation, newest: CatalogEntry): number[] {
  const versions: number[] = [];
  for (let n = newest.version; n >= 1 && n > newest.version - MAX_VERSIONS; n -= 1) {
    if (catalog.exactly(newest.type, n)?.version === n) versions.unshift(n);
  }
  return versions;
}
