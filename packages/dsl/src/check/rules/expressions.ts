/** Expressions: names, types, conditions (FLOW5001-5011), what a place takes (FLOW4007), nodes of other bodies (FLOW4005). */

import { isObject } from "../../data.ts";
import { MAIN_MEMBERS } from "../../diagnostics/aliases.ts";
import type { Finding } from "../../diagnostics/bag.ts";
import { writing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { DIAGNOSTICS, type DiagnosticCode } from "../../diagnostics/table.ts";
import { compileExpression } from "../../expression/compile.ts";
import type { Expression } from "../../syntax/ast.ts";
import { printExpression } from "../../syntax/print-expression.ts";
import { treeOf } from "../../syntax/trees.ts";
import { fits } from "../../types/fits.ts";
import {
  describeType,
  type FlowType,
  listOf,
  mayBeNull,
  NULL,
  STRING,
  unionOfAll,
  withoutNull,
} from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import { findTypes } from "../../types/infer.ts";
import { orElse, READS } from "../../types/inference.ts";
import { isHinted } from "../model/deferred.ts";
import { type Read, readsOf } from "../model/resolve.ts";
import type { Leaf, Site } from "../model/sites.ts";
import type { PlacedDetails, Validation } from "../validation.ts";
import { reportHidden } from "./names.ts";
import { Types } from "./types.ts";

/** An expression as all that look at it need it. */
export interface Checked {
  readonly leaf: Leaf;
  readonly tree: Expression;
  readonly reads: readonly Read[];
  readonly type: FlowType;
}

/** Fields that decide: always true or always false is worth a word. */
const CONDITIONS: ReadonlySet<string> = new Set(["condition.if", "loop.until", "loop.while"]);

/** Checks the expressions of one graph. Those of a node come before those in its body. */
export class Expressions {
  readonly #ctx: Validation;
  /** Types of the names that expressions may read, by place. */
  readonly types: Types;

  constructor(ctx: Validation) {
    this.#ctx = ctx;
    this.types = new Types(ctx);
  }

  /** Checks one expression; undefined: it does not parse, which is reported with the code of the parser. */
  check(leaf: Leaf): Checked | undefined {
    const { site } = leaf;
    const tree = treeOf(leaf.source);
    if (!("kind" in tree)) {
      for (const { code, message, hint, severity } of tree) {
        const wording = { message, hint: hint ?? null, severity };
        this.#ctx.report(code as DiagnosticCode, leaf.pointer, wording);
      }
      return undefined;
    }
    const { roots } = leaf;
    const reads = readsOf(tree, site.body, roots);
    const env = this.types.env(site.body, roots);
    const { type, findings } = findTypes(tree, env);
    if (findings.length > 0) {
      const written = this.#ctx.map.expression(leaf);
      const found = written === undefined ? findings : findTypes(written, env).findings;
      for (const finding of found) this.#add(finding, leaf, written !== undefined);
    }
    const checked = { leaf, tree, reads, type };
    this.#checkPlace(checked, findings);
    this.#noteItems(leaf, type);
    for (const read of reads) this.#checkName(read, leaf);
    if (leaf.alone) this.#checkOnlyHole(checked);
    return checked;
  }

  /** FLOW5011 for a condition that is written out. */
  checkLiteral(site: Site): void {
    if (typeof site.value !== "boolean" || !isDecision(site)) return;
    this.#ctx.report("FLOW5011", site.pointer, { parts: { result: String(site.value) } });
  }

  /** Adds what type inference found. */
  #add({ code, start, end, fix, ...details }: Finding, leaf: Leaf, inText: boolean): void {
    if (code === "FLOW5001" && isHinted(leaf.site.schemas, "literal")) return; // FLOW3013 says what stands there
    const { parts, message, hint, severity } = details;
    this.#ctx.report(code, leaf.pointer, {
      ...{ parts, message, hint, severity },
      ...(inText && { span: { start, end }, fix }),
    });
  }

  /** Whether the type of an expression suits the place where it stands. */
  #checkPlace(checked: Checked, findings: readonly Finding[]): void {
    const { leaf, type } = checked;
    const { site, hole } = leaf;
    const decides = site.name === "@when" || site.name === "@retry.if";
    const taken = takenType(leaf);
    const failed = findings.some(
      ({ code, severity }) => (severity ?? DIAGNOSTICS[code].severity) === "error",
    );
    if (failed) return;
    if (hole < 0 && (decides || taken?.kind === "bool")) {
      const answer = fits(withoutNull(type), { kind: "bool" });
      if (answer === "no") {
        this.#ctx.report("FLOW5005", leaf.pointer, {
          parts: { place: placeName(leaf), type: describeType(type) },
          span: this.#ctx.map.expression(leaf),
        });
      } else if (mayBeNull(type)) this.#reportNull(checked, type);
      else if (isDecision(site) && findings.length === 0) this.#checkConstant(checked);
    } else if (taken !== undefined && taken.kind !== "any") this.#checkTaken(checked, taken);
  }

  /** FLOW5011 when a condition is the same in every run. */
  #checkConstant({ leaf, tree, reads, type }: Checked): void {
    let value: unknown = type.kind === "bool" ? type.value : undefined;
    if (value === undefined && reads.length === 0) value = constantOf(tree);
    if (typeof value !== "boolean") return;
    const parts = { result: String(value) };
    this.#ctx.report("FLOW5011", leaf.pointer, { parts, span: this.#ctx.map.expression(leaf) });
  }

  #reportNull({ leaf, tree }: Checked, type: FlowType): void {
    const span = this.#ctx.map.expression(leaf);
    const instead = orElse(tree, withoutNull(type));
    this.#ctx.report("FLOW5006", leaf.pointer, {
      parts: { expression: shown(printExpression(tree)) },
      span,
      fix: writing(instead && shown(instead), span, instead),
    });
  }

  /** FLOW4007 when no value of the expression fits its place, FLOW5006 when null does not. */
  #checkTaken(checked: Checked, taken: FlowType): void {
    const { leaf, tree } = checked;
    const isHole = leaf.hole >= 0;
    const given = isHole ? STRING : checked.type;
    const answer = fits(given, taken);
    if (answer === "no") {
      this.#ctx.report("FLOW4007", isHole ? leaf.valuePointer : leaf.pointer, {
        parts: {
          place: placeName(leaf),
          type: describeType(taken),
          expression: isHole ? "text with holes" : shown(printExpression(tree)),
          found: describeType(given),
        },
        span: isHole ? undefined : this.#ctx.map.expression(leaf),
        ...(!isHole && this.#asTaken(checked, taken)),
      });
    } else if (answer === "maybe" && mayBeNull(given) && fits(NULL, taken) === "no") {
      this.#reportNull(checked, given);
    }
  }

  /** The expression to write instead: the member of a node's record that fits, or the value as text. */
  #asTaken({ leaf, tree, type }: Checked, taken: FlowType): Pick<PlacedDetails, "hint" | "fix"> {
    const span = this.#ctx.map.expression(leaf);
    const source = printExpression(tree);
    const found = withoutNull(type);
    const props = found.kind === "object" ? found.props : new Map<string, FlowType>();
    const member = MAIN_MEMBERS.find((name) => {
      const prop = props.get(name);
      return prop !== undefined && fits(prop, taken) !== "no";
    });
    const isData = found.kind === "object" || found.kind === "list";
    const text =
      member !== undefined && READS.has(tree.kind)
        ? `${source}.${member}`
        : isData && fits(STRING, taken) === "yes"
          ? `json(${source})`
          : undefined;
    if (text === undefined) return {};
    return {
      hint: `did you mean ${shown(text)}?`,
      fix: writing(shown(text), span, text),
    };
  }

  /** Notes the type of the items for the body of a `map`. */
  #noteItems({ site, path }: Leaf, type: FlowType): void {
    const inner = site.reader?.inner;
    if (inner === undefined || site.kind !== "field" || site.name !== "items") return;
    if (path === undefined) this.types.setItem(inner, type);
    else if (Array.isArray(site.value) && site.value.length === 1) {
      this.types.setItem(inner, listOf(type));
    }
  }

  /** FLOW4005 for nodes of other bodies, FLOW2008 for locals that hide a node, FLOW5006 for the state of a loop that makes none. */
  #checkName({ kind, name, body, index, node, member }: Read, leaf: Leaf): void {
    const { inner, entry } = node ?? {};
    if (inner && entry?.type === "loop" && member === "state" && inner.output === undefined) {
      // It may stand in text that could not be read.
      if (this.#ctx.map.losses !== undefined) return;
      this.#ctx.report("FLOW5006", leaf.pointer, {
        parts: { expression: shown(`${name}.state`) },
        span: this.#ctx.map.reference(leaf, index)?.whole,
        hint: "its body has no `output`, which is the next state",
      });
    } else if (kind === "unknown") {
      const owner = this.#ctx.anywhere(name)?.body.owner;
      if (owner === undefined) return;
      this.#ctx.report("FLOW4005", leaf.pointer, {
        parts: { node: shown(name), owner: shown(owner.id) },
        span: this.#ctx.map.reference(leaf, index)?.name,
      });
    } else if (kind === "local") {
      for (let at = body?.outer; at !== undefined; at = at.outer) {
        if (at.byId.has(name)) reportHidden(this.#ctx, name, leaf.pointer);
      }
    }
  }

  /** FLOW5008: text that is one hole and nothing else. */
  #checkOnlyHole({ leaf, tree, type }: Checked): void {
    const pointer = leaf.valuePointer;
    // A model is asked with a text, so there the text of what may be null is what is meant.
    const { kind, name, reader } = leaf.site;
    const isAsked = kind === "field" && name === "input" && reader?.entry?.kind === "ai";
    if (isAsked && (type.kind === "any" || mayBeNull(type))) return;
    const source = printExpression(tree);
    const { map } = this.#ctx;
    const span = map.exact(pointer);
    const fix = writing(shown(source), span, source);
    this.#ctx.report("FLOW5008", pointer, {
      parts: { expression: shown(source) },
      span,
      // Of text the template is the text itself; of another value it may be what was wanted.
      fix: map.expression(leaf) &&
        fix && { ...fix, ...(type.kind !== "string" && { uncertain: true }) },
    });
  }
}

/** The type that the schemas of a place take. */
function takenType(leaf: Leaf): FlowType | undefined {
  if (leaf.site.kind === "policy") return undefined;
  const { schemas } = leaf;
  if (schemas.length === 1) return typeOf(schemas[0]);
  const types = schemas.map(typeOf).filter((type) => type !== undefined);
  return types.length === 0 ? undefined : unionOfAll(types);
}

const schemaTypes = new WeakMap<object, FlowType>();

/** The type of a schema, made once. */
function typeOf(schema: unknown): FlowType | undefined {
  if (!isObject(schema)) return undefined;
  let type = schemaTypes.get(schema);
  if (type === undefined) {
    type = typeFromSchema(schema);
    schemaTypes.set(schema, type);
  }
  return type;
}

function placeName({ site, keys }: Leaf): string {
  const name = site.kind === "flow-output" ? `output ${site.name}` : site.name;
  return shown([name, ...keys].join("."));
}

function isDecision({ kind, name, reader }: Site): boolean {
  return kind === "policy" || (kind === "field" && CONDITIONS.has(`${reader?.node.type}.${name}`));
}

function constantOf(tree: Expression): unknown {
  try {
    const expression = compileExpression(tree);
    if (!expression.constant) return undefined;
    return expression.evaluate({ get: () => undefined }, { nowEpoch: 0 });
  } catch {
    return undefined; // it fails in every run, which is another finding
  }
}
