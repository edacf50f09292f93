/** Expressions: names, types, conditions (FLOW5001-5011), what a place takes (FLOW4007), and inputs never read (FLOW4011). */
import type { Diagnostic, JsonSchema } from "@millrace/contracts";
import type { DiagnosticCode } from "../diagnostics.ts";
import { compileExpression } from "../expression/compile.ts";
import { printExpression } from "../expression/print.ts";
import { isObject, listOrNone, own } from "../model/plain.ts";
import type { Site } from "../model/sites.ts";
import { fits } from "../types/fits.ts";
import {
  describeType,
  type FlowType,
  listOf,
  mayBeNull,
  NULL,
  STRING,
  unionOf,
  withoutNull,
} from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import { inferType } from "../types/infer.ts";
import { shown, type Validation } from "./context.ts";
import { reportHidden } from "./names.ts";
import { pass, type ReadLeaf } from "./reads.ts";
import { Types } from "./types.ts";

/** Fields that decide: always true or always false is worth a word. */
const CONDITIONS: ReadonlySet<string> = new Set(["condition.if", "loop.until", "loop.while"]);

/** Checks all expressions, and answers the type of each. */
export function checkExpressions(
  run: Validation,
  leaves: readonly ReadLeaf[],
): ReadonlyMap<ReadLeaf, FlowType> {
  const types = new Types(run);
  const found = new Map<ReadLeaf, FlowType>();
  for (const leaf of leaves) {
    const type = checkLeaf(run, leaf, types);
    found.set(leaf, type);
    const { reader, kind, name, value } = leaf.site;
    if (reader?.inner !== undefined && kind === "field" && name === "items") {
      const list = leaf.leaf.path.length === 0 ? type : literalList(value, type);
      if (list !== undefined) types.setItem(reader.inner, list);
    }
    checkNames(run, leaf);
    checkOnlyHole(run, leaf);
  }
  checkLiteralConditions(run);
  checkInputsRead(run, leaves);
  return found;
}

/** The type of a list of which all elements are expressions of one type. */
function literalList(value: unknown, type: FlowType): FlowType | undefined {
  return Array.isArray(value) && value.length === 1 ? listOf(type) : undefined;
}

function checkLeaf(run: Validation, read: ReadLeaf, types: Types): FlowType {
  const { site, tree, roots } = read;
  const { type, diagnostics } = inferType(tree, types.env(site.body, roots));
  for (const diagnostic of diagnostics) add(run, diagnostic, read);
  const isBool = checkCondition(run, read, type, diagnostics);
  if (!isBool && !diagnostics.some(({ severity }) => severity === "error")) {
    checkTaken(run, read, type);
  }
  return type;
}

/** Adds what type inference found; its ranges are offsets of the text when the tree is. */
function add(run: Validation, diagnostic: Diagnostic, read: ReadLeaf): void {
  const { range, fixes, code, message, hint, severity } = diagnostic;
  if (!read.inText || range === undefined) {
    pass(run, diagnostic, read.leaf.pointer);
    return;
  }
  const fix = fixes?.[0];
  run.findings.add(code as DiagnosticCode, read.leaf.pointer, {
    message,
    hint: hint ?? null,
    severity,
    span: { start: range.start.offset, end: range.end.offset },
    fix: fix && {
      title: fix.title,
      edits: fix.edits.map((edit) => ({
        start: edit.range.start.offset,
        end: edit.range.end.offset,
        text: edit.newText,
      })),
    },
  });
}

/** The stretch of a whole expression in the text. */
function spanOf(read: ReadLeaf): { start: number; end: number } | undefined {
  return read.inText ? { start: read.tree.start, end: read.tree.end } : undefined;
}

/** The type that the schemas of a place take. */
function takenType(read: ReadLeaf): FlowType | undefined {
  const { site, leaf } = read;
  if (site.kind === "policy") return undefined;
  const schemas = leaf.path.length === 0 ? [site.schema] : leaf.schemas;
  const known = schemas.filter(isObject);
  const [first] = known;
  if (first === undefined) return undefined;
  return known.length === 1 ? typeOf(first) : unionOf(...known.map(typeOf));
}

const schemaTypes = new WeakMap<object, FlowType>();

/** The type of a schema, made once. */
function typeOf(schema: JsonSchema): FlowType {
  let type = schemaTypes.get(schema);
  if (type === undefined) {
    type = typeFromSchema(schema);
    schemaTypes.set(schema, type);
  }
  return type;
}

function placeName({ site, leaf }: ReadLeaf): string {
  const name = site.kind === "flow-output" ? `output ${site.name}` : site.name;
  return shown([name, ...leaf.path].join("."));
}

/** Places that are true or false: FLOW5005 when the expression never is. True: it is such a place. */
function checkCondition(
  run: Validation,
  read: ReadLeaf,
  type: FlowType,
  diagnostics: readonly Diagnostic[],
): boolean {
  const { site, leaf } = read;
  if (leaf.hole) return false;
  const named = site.name === "@when" || site.name === "@retry.if";
  const taken = named ? undefined : takenType(read);
  if (!named && (taken === undefined || taken.kind !== "bool")) return false;
  if (diagnostics.some(({ severity }) => severity === "error")) return true;
  const rest = withoutNull(type);
  const answer = fits(rest, { kind: "bool" });
  if (answer === "no") {
    run.findings.add("FLOW5005", leaf.pointer, {
      parts: { place: placeName(read), type: describeType(type) },
      span: spanOf(read),
    });
  } else if (mayBeNull(type)) reportNull(run, read);
  else if (isDecision(site) && diagnostics.length === 0) checkConstant(run, read, type);
  return true;
}

function isDecision(site: Site): boolean {
  if (site.kind === "policy") return true;
  return site.kind === "field" && CONDITIONS.has(`${site.reader?.node.type}.${site.name}`);
}

/** FLOW5011 when a condition is the same in every run. */
function checkConstant(run: Validation, read: ReadLeaf, type: FlowType): void {
  let value: unknown = type.kind === "bool" ? type.value : undefined;
  if (value === undefined && read.reads.length === 0) value = constantOf(read);
  if (typeof value !== "boolean") return;
  const parts = { result: String(value) };
  run.findings.add("FLOW5011", read.leaf.pointer, { parts, span: spanOf(read) });
}

function constantOf({ tree }: ReadLeaf): unknown {
  try {
    const expression = compileExpression(tree);
    if (!expression.constant) return undefined;
    return expression.evaluate({ get: () => undefined }, { nowEpoch: 0 });
  } catch {
    return undefined; // it fails in every run, which is another finding
  }
}

function reportNull(run: Validation, read: ReadLeaf): void {
  run.findings.add("FLOW5006", read.leaf.pointer, {
    parts: { expression: shown(printExpression(read.tree)) },
    span: spanOf(read),
  });
}

/** FLOW4007 when no value of the expression fits its place, FLOW5006 when null does not. */
function checkTaken(run: Validation, read: ReadLeaf, type: FlowType): void {
  const taken = takenType(read);
  if (taken === undefined) return;
  const given = read.leaf.hole ? STRING : type;
  const answer = fits(given, taken);
  if (answer === "no") {
    const { hole, pointer } = read.leaf;
    run.findings.add("FLOW4007", hole ? pointer.replace(/\/\$t\/\d+$/, "") : pointer, {
      parts: {
        place: placeName(read),
        type: describeType(taken),
        expression: hole ? "text with holes" : shown(printExpression(read.tree)),
        found: describeType(given),
      },
      span: hole ? undefined : spanOf(read),
    });
  } else if (answer === "maybe" && mayBeNull(given) && fits(NULL, taken) === "no") {
    reportNull(run, read);
  }
}

/** FLOW4005 for nodes of other bodies, FLOW2008 for locals that hide a node. */
function checkNames(run: Validation, read: ReadLeaf): void {
  for (const { reference, meaning } of read.reads) {
    const span = read.inText ? reference.name : undefined;
    if (meaning.kind === "unknown") {
      const owner = run.everywhere.get(meaning.name)?.[0]?.body.owner;
      if (owner === undefined) continue;
      run.findings.add("FLOW4005", read.leaf.pointer, {
        parts: { node: shown(meaning.name), owner: shown(owner.id) },
        span,
      });
    } else if (meaning.kind === "local") {
      for (let at = meaning.body.outer; at !== undefined; at = at.outer) {
        if (at.byId.has(meaning.name)) reportHidden(run, meaning.name, read.leaf.pointer);
      }
    }
  }
}

/** FLOW5008: text that is one hole and nothing else. */
function checkOnlyHole(run: Validation, read: ReadLeaf): void {
  const { leaf, tree } = read;
  if (!leaf.alone) return;
  const pointer = leaf.pointer.slice(0, -"/$t/0".length);
  const source = printExpression(tree);
  const span = run.places.exact(pointer);
  run.findings.add("FLOW5008", pointer, {
    parts: { expression: shown(source) },
    span,
    fix: read.inText ? run.findings.replace(`write ${shown(source)}`, span, source) : undefined,
  });
}

/** FLOW5011 for conditions that are written out. */
function checkLiteralConditions(run: Validation): void {
  for (const site of run.sites) {
    if (typeof site.value !== "boolean" || !isDecision(site)) continue;
    run.findings.add("FLOW5011", site.pointer, { parts: { result: String(site.value) } });
  }
}

/** FLOW4011. Reading `inputs` as a whole reads all. */
function checkInputsRead(run: Validation, leaves: readonly ReadLeaf[]): void {
  const names = new Set<string>();
  for (const { reads } of leaves) {
    for (const { reference, meaning } of reads) {
      if (meaning.kind !== "inputs") continue;
      const [name] = reference.path;
      if (name === undefined) return;
      names.add(name);
    }
  }
  listOrNone(own(run.graph, "inputs")).forEach((input, at) => {
    const name = own(input, "name");
    if (typeof name !== "string" || names.has(name)) return;
    run.findings.add("FLOW4011", `/inputs/${at}/name`, { parts: { name: shown(name) } });
  });
}
