/** The edits that add a node to a flow, with fields that cause no finding where that is possible. */
import type { FieldValue, FlowNode } from "@millrace/contracts";
import {
  type Analyser,
  type Analysis,
  applyEdits,
  editFlow,
  type TextEdit,
} from "@millrace/dsl/editor";
import type { NewField, NewNode } from "./protocol.ts";

/**
 * Adds a node. Its fields begin as in the example of its type; where that causes findings, such as unknown names, each field with
 * a finding gets its placeholder.
 */
export function newNodeEdits(
  analyser: Analyser,
  analysis: Analysis,
  node: NewNode,
): readonly TextEdit[] {
  const before = problemsOf(analysis);
  const problemsWith = (plain: ReadonlySet<NewField>): number => {
    const edits = editFlow(analysis, { kind: "addNode", node: nodeOf(node, plain) });
    return problemsOf(analyser.analyse(applyEdits(analysis.text, edits))) - before;
  };
  let plain: ReadonlySet<NewField> = new Set();
  let problems = problemsWith(plain);
  for (const field of node.fields) {
    if (problems <= 0) break;
    const next = new Set([...plain, field]);
    const left = problemsWith(next);
    if (left <= problems) {
      plain = next;
      problems = left;
    }
  }
  return editFlow(analysis, { kind: "addNode", node: nodeOf(node, plain) });
}

/** Number of errors and warnings of a flow, without remarks. */
function problemsOf(analysis: Analysis): number {
  return analysis.diagnostics().filter(({ severity }) => severity !== "info").length;
}

/** The node; `plain`: fields that have their placeholders. */
function nodeOf({ id, type, fields, hasBody }: NewNode, plain: ReadonlySet<NewField>): FlowNode {
  const values = fields.flatMap((field): [string, FieldValue][] => {
    const { name, example, placeholder } = field;
    const value = plain.has(field) ? placeholder : (example ?? placeholder);
    return value === undefined ? [] : [[name, value]];
  });
  const body = hasBody ? { body: { nodes: [], edges: [] } } : {};
  return { id, type, fields: Object.fromEntries(values), ...body };
}
