/**
 * Flows that are written as JSON or YAML: their finding gets a fix that writes them as text, where every part is understood. Other
 * parts are named, and the files of other tools with what corresponds to them. Loaded for such a text alone.
 */

import type { Diagnostic, FlowGraph, Json } from "@millrace/contracts";
import type { FlowCatalog } from "../check/catalog.ts";
import { impliedEdges } from "../check/implied-edges.ts";
import { lineIndex } from "../diagnostics/bag.ts";
import { parseFlow } from "../read/parse-flow.ts";
import { isOtherDocument } from "../read/slips.ts";
import type { Span } from "../syntax/ast.ts";
import { parseExpression } from "../syntax/parse-expression.ts";
import { nameText } from "../syntax/print-expression.ts";
import { formatFlow, printFlow } from "../write/print-flow.ts";
import { flowTextOf } from "./flow-text.ts";
import { toolOf } from "./other-tools.ts";
import { Part, type Path, type Problem } from "./part.ts";
import { type OtherText, readYaml, type YamlLibrary } from "./yaml-text.ts";

export type { YamlLibrary } from "./yaml-text.ts";

/** Most problems that are named for a text that is another kind of document. */
const MAX_PROBLEMS = 10;

/**
 * The findings of a text, where one that is a flow in JSON, or in YAML where its library is given, has the fix that writes it as text. All others are
 * given back as they are.
 */
export function withTranslation(
  source: string,
  diagnostics: readonly Diagnostic[],
  catalog: Pick<FlowCatalog, "types" | "entry">,
  yaml?: YamlLibrary,
): readonly Diagnostic[] {
  const at = isOtherDocument(source)
    ? diagnostics.findIndex(({ code }) => code === "FLOW1006")
    : -1;
  const finding = diagnostics[at];
  const read = finding && documentOf(source, yaml);
  if (finding === undefined || read === undefined) return diagnostics;
  const answer = translated(read, catalog);
  const toRange = lineIndex(source);
  const said = (more: Partial<Diagnostic>): readonly Diagnostic[] =>
    diagnostics.with(at, { ...finding, ...more });
  if ("tool" in answer) {
    const message = finding.message.replace(/^this is \w+/, `this is ${answer.tool}`);
    return said({ message, hint: answer.hint });
  }
  if ("text" in answer) {
    const range = toRange(0, source.length);
    const fixes = [{ title: "write it as a flow", edits: [{ range, newText: answer.text }] }];
    return said({ hint: "all of it can be written as a flow", fixes });
  }
  const problems = answer.problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const { start, end } = read.placeOf(path) ?? { start: 0, end: 1 };
    return { code: finding.code, severity: finding.severity, message, range: toRange(start, end) };
  });
  const hint = "with the parts below written otherwise it could be written as a flow";
  return [...said({ hint }), ...problems];
}

function documentOf(source: string, yaml: YamlLibrary | undefined): OtherText | undefined {
  try {
    return { data: JSON.parse(source), comments: [], ...placesOf(source) };
  } catch {
    return yaml && readYaml(source, yaml);
  }
}

/** Where the values of a JSON text stand, and the keys that it has twice. */
function placesOf(source: string): Pick<OtherText, "placeOf" | "problems"> {
  // Holes are text in JSON; without them the text is one of the language, with the same places.
  const { ast, diagnostics } = parseExpression(source.replaceAll("${", "$_"));
  const [error] = diagnostics.filter(({ severity }) => severity === "error");
  const placeOf = (path: Path): Span | undefined => {
    let at = ast;
    for (const key of path) {
      if (at?.kind === "list") at = at.elements[Number(key)];
      else if (at?.kind === "object") at = at.entries.find((entry) => entry.key === key)?.value;
    }
    return at;
  };
  return { placeOf, problems: error === undefined ? [] : [{ path: [], message: error.message }] };
}

type Answer =
  | { readonly text: string }
  | { readonly tool: string; readonly hint: string }
  | { readonly problems: readonly Problem[] };

/** Objects that hold only a flow, and members that identify one. */
const WRAPPERS = ["graph", "flow", "workflow"];
const HOLDERS = ["nodes", "steps", "tasks", "jobs"];

function translated(
  { data, comments, problems: found }: OtherText,
  catalog: Pick<FlowCatalog, "types" | "entry">,
): Answer {
  if (found.length > 0) return { problems: found };
  const notes = comments.map((each) => `# ${each}`.trimEnd());
  const problems: Problem[] = [];
  const document = unwrapped(new Part(data as Json, [], problems));
  const graph = printed(document.data);
  if (graph !== undefined && problems.length === 0) return { text: [...notes, graph].join("\n") };
  const types = new Set(catalog.types());
  const isType = (name: string): boolean => types.has(name);
  const tool = toolOf(document, isType);
  if (tool !== undefined) return { tool: tool.name, hint: tool.hint };
  const { text, order } = flowTextOf(document, {
    isType,
    entry: (type) => catalog.entry(type),
  });
  if (problems.length > 0) return { problems };
  const flow = formatFlow(text + edgesOf(text, order, catalog)).text;
  const wrong = parseFlow(flow).diagnostics.find(isSyntax);
  if (wrong !== undefined)
    return { problems: [{ path: [], message: `no flow can be written of it: ${wrong.message}` }] };
  return { text: [...notes, flow].join("\n") };
}

/** Errors of a text that is read otherwise than it was meant: no fix makes it certain. */
const isSyntax = ({ code, severity }: Diagnostic): boolean =>
  severity === "error" && /^FLOW(?:1|200[134])/.test(code);

/** The document in an object of its own; what else that object holds is refused. */
function unwrapped(whole: Part): Part {
  const { members } = whole;
  const [key, inner] = [...members].find(([name]) => WRAPPERS.includes(name)) ?? [];
  const isWrapped = members.size === 1 || HOLDERS.some((name) => inner?.members.has(name));
  if (inner === undefined || !isWrapped) return whole;
  for (const [name, part] of members)
    if (name !== key) part.refuse(`stands beside ${key}, and has no counterpart in a flow`);
  return inner;
}

/** The text of a graph; undefined for any other value. */
function printed(data: unknown): string | undefined {
  try {
    return printFlow(data as FlowGraph);
  } catch {
    return undefined;
  }
}

/** Edges for steps that stand one after another, where no reference makes the later one wait. */
function edgesOf(
  text: string,
  order: readonly string[],
  catalog: Pick<FlowCatalog, "entry">,
): string {
  const waits = new Map<string, string[]>();
  for (const { from, to } of impliedEdges(parseFlow(text).graph, catalog))
    waits.set(to, [...(waits.get(to) ?? []), from]);
  const lines = order.slice(1).flatMap((id, at) => {
    const before = order[at] as string;
    return waits.get(id)?.includes(before) ? [] : [`${nameText(before)} -> ${nameText(id)}\n`];
  });
  return lines.join("");
}
