/** A drawing in the language of Graphviz, with clusters for bodies. */
import type { Drawing, DrawnNode } from "./drawing.ts";
import { strokeOf } from "./states.ts";

/** The drawing as a `digraph`. @see https://graphviz.org/doc/info/lang.html */
export function toDot(drawing: Drawing, title: string): string {
  const names = new Map<string, string>();
  const lines = [`digraph ${quoted(title)} {`, "  compound=true; node [shape=box, style=rounded];"];
  write(drawing, "  ");
  lines.push("}");
  return `${lines.join("\n")}\n`;

  function write({ nodes, edges }: Drawing, indent: string): void {
    for (const node of nodes) writeNode(node, indent);
    for (const { from, to, port, implied } of edges) {
      const how = [
        ...(port === undefined ? [] : [`label=${quoted(port)}`]),
        ...(implied ? ["style=dashed"] : []),
      ];
      const attributes = how.length === 0 ? "" : ` [${how.join(", ")}]`;
      lines.push(`${indent}${names.get(from)} -> ${names.get(to)}${attributes};`);
    }
  }

  function writeNode(node: DrawnNode, indent: string): void {
    const name = `n${names.size}`;
    names.set(node.path, name);
    const stroke = strokeOf(node);
    const colour = stroke === undefined ? "" : `, color="${stroke}", penwidth=2`;
    lines.push(`${indent}${name} [label=${quoted(`${node.id}\n${node.type}`)}${colour}];`);
    if (node.body === undefined) return;
    lines.push(`${indent}subgraph cluster_${name} {`, `${indent}  label=${quoted(node.id)};`);
    write(node.body, `${indent}  `);
    lines.push(`${indent}}`);
  }
}

function quoted(text: string): string {
  const safe = text
    .replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, " ")
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
  return `"${safe}"`;
}
