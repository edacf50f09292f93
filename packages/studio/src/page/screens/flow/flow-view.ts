/** The view of a flow on the screen, made from the analysis of its text. */

import type { FlowBody } from "@millrace/contracts";
import type { Picture } from "@millrace/graph";
import type { FlowProblem } from "../../../worker/protocol.ts";
import { formatCount } from "../../parts/format.ts";
import type { TreeItem } from "../../parts/tree/node-tree.tsx";
import type { PlacedNode } from "../../state/flow-nodes.ts";

/** How many problems each node has, its body included. */
export function problemCounts(problems: readonly FlowProblem[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { node, severity } of problems) {
    if (node === undefined || severity === "info") continue; // a remark is no problem of a node
    const parts = node.split("/");
    for (let end = parts.length; end > 0; end -= 1) {
      const path = parts.slice(0, end).join("/");
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }
  }
  return counts;
}

/** The nodes as items of the tree. */
export function treeItems(
  { nodes }: Pick<FlowBody, "nodes">,
  counts: ReadonlyMap<string, number>,
  owner = "",
): readonly TreeItem[] {
  return nodes.map(({ id, type, body }) => {
    const path = owner === "" ? id : `${owner}/${id}`;
    const problems = counts.get(path);
    return {
      path,
      id,
      type,
      ...(problems !== undefined && { problems }),
      ...(body !== undefined && { children: () => treeItems(body, counts, path) }),
    };
  });
}

/** Where an edge of a node leads, by the picture. */
export function neighbour(
  { lines }: Picture,
  path: string,
  direction: "next" | "previous",
): string | undefined {
  const [mine, other] =
    direction === "next" ? (["from", "to"] as const) : (["to", "from"] as const);
  return lines.find(({ edge }) => edge[mine] === path)?.edge[other];
}

/** The upper left corner of a node in its body, as `layout` counts it. */
export function cornerOf(
  { boxes, origins }: Picture,
  path: string,
  owner: string | undefined,
): readonly [x: number, y: number] | undefined {
  const box = boxes.find(({ node }) => node.path === path);
  const origin = origins.get(owner ?? "");
  return box && origin && [Math.round(box.x - origin[0]), Math.round(box.y - origin[1])];
}

/** Names of nodes whose fields, policies or edges name a node of the same body. */
export function readersOf({ around, node }: PlacedNode): readonly string[] {
  const name = new RegExp(
    `(?<![\\w.-])${node.id.replace(/[^\w-]/g, "\\$&")}(?![\\w-])|"${node.id.replace(/[^\w-]/g, "\\$&")}"`,
  );
  const reads = (value: unknown): boolean => {
    if (typeof value !== "object" || value === null) return false;
    return Object.entries(value).some(([key, member]) =>
      key === "$" && typeof member === "string" ? name.test(member) : reads(member),
    );
  };
  return around.nodes
    .filter((each) => each !== node && reads([each.fields, each.policy, each.body]))
    .map(({ id }) => id);
}

/** Why a flow cannot be run; undefined: nothing is known against it. */
export function runRefusal(problems: readonly FlowProblem[] | undefined): string | undefined {
  const errors = problems?.filter(({ severity }) => severity === "error") ?? [];
  if (errors.length === 0) return undefined;
  const [first] = errors;
  const count = formatCount(errors.length, "problem has", "problems have");
  return `${count} to be mended before the flow runs: ${first?.code} ${first?.message}`;
}
