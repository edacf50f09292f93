/** Nodes of a text, with their bodies, to nodes of the graph. */

import type { FlowBody, FlowNode, Json } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { setMember } from "../data.ts";
import { shown } from "../diagnostics/quote.ts";
import { NODE_POLICIES } from "../language/blocks.ts";
import type { BlockItem } from "../language/items.ts";
import { typeText } from "../language/types.ts";
import { type Mutable, refuseHead, takeBlock } from "./declarations.ts";
import { mapEdge } from "./edges.ts";
import { type Level, type MappingContext, twinsOf } from "./mapping-context.ts";
import { mapPolicy } from "./policies.ts";

/** Adds a node. */
export function mapNode(context: MappingContext, item: BlockItem, level: Level): void {
  const pointer = `${level.pointer}/nodes/${level.nodes.length}`;
  const id = level.nameOf(item, pointer);
  const { type } = item;
  if (id === undefined || !type) return;
  if (type.kind !== "name") {
    context.report.add("FLOW1006", type.start, type.end, {
      parts: { what: "a node type", found: shown(typeText(type)) },
    });
    return;
  }
  takeBlock(context, item, pointer, "id");
  context.take(type);
  context.marks?.add(`${pointer}/type`, type.start, type.nameEnd);
  if (type.version !== undefined) {
    context.marks?.add(`${pointer}/typeVersion`, type.nameEnd, type.end);
  }
  refuseHead(context, item, "node");
  const fields: Record<string, Json> = {};
  let policy: Record<string, Json> | undefined;
  let body: FlowBody | undefined;
  const items = item.items ?? [];
  const twins = twinsOf(items);
  for (const inner of items) {
    if (context.report.full) break;
    if (!context.admits(inner, "node", twins)) continue;
    if (inner.kind === "block") {
      if (body) level.twice(inner, "body");
      else body = mapBody(context, inner, level.bodyOf(pointer));
    } else if (inner.kind === "attr" && inner.policy) {
      policy ??= {};
      mapPolicy(context, inner, policy, { pointer: `${pointer}/policy`, table: NODE_POLICIES });
    } else if (inner.kind === "attr") {
      const place = context.marks ? `${pointer}/fields${pointerSegment(inner.name)}` : "";
      setMember(fields, inner.name, context.value(inner.value, place));
      context.take(inner);
    }
  }
  const node: Mutable<FlowNode> = { id, type: type.name, fields };
  if (type.version !== undefined) node.typeVersion = type.version;
  if (policy && Object.keys(policy).length > 0) node.policy = policy;
  if (body) node.body = body;
  level.nodes.push(node);
}

function mapBody(context: MappingContext, item: BlockItem, level: Level): FlowBody {
  const { pointer, nodes, edges } = level;
  let output: Json | undefined;
  context.take(item);
  context.marks?.add(pointer, item.start, item.end);
  refuseHead(context, item, "body");
  const items = item.items ?? [];
  const twins = twinsOf(items);
  for (const inner of items) {
    if (context.report.full) break;
    if (!context.admits(inner, "body", twins)) continue;
    if (inner.kind === "edge") mapEdge(context, inner, level);
    else if (inner.kind === "block") mapNode(context, inner, level);
    else if (inner.name === "output" && !inner.policy) {
      output = context.value(inner.value, `${pointer}/output`);
      context.take(inner);
    } else context.unknown(inner, "body", inner.policy ? [] : ["output"]);
  }
  return { nodes, edges, ...(output !== undefined && { output }) };
}
