/** A drawing in the language of Mermaid: ids are numbers, because words such as `end` break it, and labels are quoted. */
import type { Drawing, DrawnNode } from "./drawing.ts";
import { strokeOf } from "./states.ts";

/** The drawing as a `flowchart TD`. @see https://mermaid.js.org/syntax/flowchart.html */
export function toMermaid(drawing: Drawing): string {
  const names = new Map<string, string>();
  const lines = ["flowchart TD"];
  const styles: string[] = [];
  write(drawing, "  ");
  return `${[...lines, ...styles].join("\n")}\n`;

  function write({ nodes, edges }: Drawing, indent: string): void {
    for (const node of nodes) writeNode(node, indent);
    for (const { from, to, port, implied } of edges) {
      const arrow = implied ? "-.->" : "-->";
      const label = port === undefined ? "" : `|"${escapeLabel(port)}"|`;
      lines.push(`${indent}${names.get(from)} ${arrow}${label} ${names.get(to)}`);
    }
  }

  function writeNode(node: DrawnNode, indent: string): void {
    const name = `n${names.size}`;
    names.set(node.path, name);
    const stroke = strokeOf(node);
    if (stroke !== undefined) styles.push(`  style ${name} stroke:${stroke},stroke-width:2px`);
    const label = `${escapeLabel(node.id)}<br/>${escapeLabel(node.type)}`;
    if (node.body === undefined) {
      lines.push(`${indent}${name}["${label}"]`);
      return;
    }
    lines.push(`${indent}subgraph ${name}["${label}"]`);
    write(node.body, `${indent}  `);
    lines.push(`${indent}end`);
  }
}

function escapeLabel(text: string): string {
  return text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, " ")
    .replace(/[#&<>"`\\]/g, (char) => `#${char.charCodeAt(0)};`);
}
