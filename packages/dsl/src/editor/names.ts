/**
 * Names of a flow: every declaration of a node, input, connection, local or macro variable, and every place that names it.
 * The scopes are those of validation (`check/model/resolve.ts`).
 */

import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { type BodyModel, declared, NodeModel } from "../check/model/bodies.ts";
import { isHinted, schemasAt } from "../check/model/deferred.ts";
import { lookUp, visibleNode } from "../check/model/resolve.ts";
import { literalText } from "../check/model/walk-value.ts";
import { keyBefore } from "../check/source-map.ts";
import { countBefore, objectOrNone, own } from "../data.ts";
import { chainOf, type Link, literalStep, macroParts } from "../expression/references.ts";
import { blocksOf } from "../language/items.ts";
import { childrenOf, type Expression, type NameExpression, type Span } from "../syntax/ast.ts";
import { isIdent } from "../syntax/chars.ts";
import { isBareName } from "../syntax/parse-operand.ts";
import { nameText, quoteText } from "../syntax/print-expression.ts";
import type { Reading, WrittenExpression } from "./reading.ts";

/** Kind of a name. `local`: the `as` name or `index` of a body; `variable`: that of a macro such as `map`. */
export type NamedKind = "node" | "input" | "connection" | "local" | "variable";

/** How a place spells the name. `root`: as a root of an expression; `member`: with its dot or brackets; `segment`: in a path. */
export type Spelling = "label" | "root" | "member" | "text" | "segment";

/** A place that names something. */
export interface Place extends Span {
  readonly named: Named;
  readonly spelling: Spelling;
  readonly isDeclaration: boolean;
  /** The whole path, of a segment. */
  readonly path?: string;
}

/** The name alone: without the dot or the brackets of a member. */
export function nameSpan({ spelling, start, end }: Place, text: string): Span {
  if (spelling !== "member") return { start, end };
  const step = /^\s*(?:\?\.|\.|\[)\s*/.exec(text.slice(start, end))?.[0] ?? "";
  return { start: start + step.length, end: text[end - 1] === "]" ? end - 1 : end };
}

/** Something that has a name. */
export class Named {
  readonly kind: NamedKind;
  readonly name: string;
  /** JSON Pointer of the declaration; undefined for variables of macros, and for locals that have their default name. */
  readonly pointer: string | undefined;
  readonly node: NodeModel | undefined;
  /** The body whose local it is. */
  readonly body: BodyModel | undefined;
  /** Sorted by offset. */
  readonly places: Place[] = [];

  constructor(
    kind: NamedKind,
    name: string,
    of: { readonly pointer?: string; readonly node?: NodeModel; readonly body?: BodyModel } = {},
  ) {
    this.kind = kind;
    this.name = name;
    this.pointer = of.pointer;
    this.node = of.node;
    this.body = of.body;
  }

  /** The place that declares it. */
  get declaration(): Place | undefined {
    return this.places.find(({ isDeclaration }) => isDeclaration);
  }
}

/** Variables of the macros around a part of an expression, the innermost last. */
type Variables = readonly Named[];

/** All names of a text. */
export class NameIndex {
  /** Every place that names something, by offset. */
  readonly places: readonly Place[];
  readonly #reading: Reading;
  readonly #found: Place[] = [];
  readonly #nodes = new Map<NodeModel, Named>();
  readonly #inputs = new Map<string, Named>();
  readonly #connections = new Map<string, Named>();
  readonly #locals = new Map<BodyModel, Map<string, Named>>();

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#declare();
    for (const each of reading.expressions) this.#walk(each.tree, each, []);
    this.#edges();
    this.#layout();
    this.#schedules();
    // An end in the middle of a chain ends one edge and begins the next.
    const unique = new Map(
      this.#found.map((place) => [`${place.start} ${place.named.node?.pointer ?? ""}`, place]),
    );
    this.places = [...unique.values()].sort((a, b) => a.start - b.start || a.end - b.end);
    for (const place of this.places) place.named.places.push(place);
  }

  /** The place at an offset, or the one that ends there. */
  at(offset: number): Place | undefined {
    const next = countBefore(this.places, ({ start }) => start <= offset);
    // The latest that starts before it, or the one in front where that one ended.
    return this.places.slice(Math.max(0, next - 2), next).findLast(({ end }) => offset <= end);
  }

  #declare(): void {
    const { model, parsed } = this.#reading;
    for (const node of model.nodes) {
      const { pointer, id } = node;
      const named = new Named("node", id, { pointer, node });
      this.#nodes.set(node, named);
      this.#add(named, this.#reading.span(`${pointer}/id`), "label", true);
      if (node.inner !== undefined) this.#declareLocals(node.inner, node);
    }
    for (const [list, kind, known] of [
      ["inputs", "input", this.#inputs],
      ["connections", "connection", this.#connections],
    ] as const) {
      for (const { name, pointer } of declared(parsed.graph, list)) {
        if (name === undefined) continue;
        const named = new Named(kind, name, { pointer });
        if (!known.has(name)) known.set(name, named);
        this.#add(named, this.#reading.span(`${pointer}/name`), "label", true);
      }
    }
    for (const node of model.nodes) this.#readConnections(node);
  }

  #declareLocals(body: BodyModel, owner: NodeModel): void {
    const pointer = `${owner.pointer}/fields/as`;
    const written = typeof own(owner.node.fields, "as") === "string";
    const locals = new Map<string, Named>();
    for (const name of body.locals) {
      const isWritten = written && !locals.has(name) && locals.size === 0;
      const named = new Named("local", name, { body, ...(isWritten && { pointer }) });
      locals.set(name, named);
      if (isWritten) this.#add(named, this.#reading.span(pointer), "text", true);
    }
    this.#locals.set(body, locals);
  }

  /** The fields of a node that name a connection. */
  #readConnections({ node, entry, pointer }: NodeModel): void {
    for (const field of memberNames(objectOrNone(node.fields))) {
      const isConnection =
        entry?.requires.connection === field ||
        isHinted(schemasAt(entry?.fields, field), "connection");
      if (!isConnection) continue;
      const named = this.#connections.get(literalText(own(node.fields, field)) ?? "");
      this.#add(
        named,
        this.#reading.span(`${pointer}/fields${pointerSegment(field)}`),
        "text",
        false,
      );
    }
  }

  #add(
    named: Named | undefined,
    span: Span | undefined,
    spelling: Spelling,
    isDeclaration: boolean,
    path?: string,
  ): void {
    if (named === undefined || span === undefined) return;
    const { start, end } = span;
    this.#found.push({ named, spelling, isDeclaration, start, end, ...(path && { path }) });
  }

  #edges(): void {
    for (const { edges } of this.#reading.model.bodies) {
      for (const { from, to, pointer } of edges) {
        for (const [node, end] of [
          [from, "from"],
          [to, "to"],
        ] as const) {
          const named = node && this.#nodes.get(node);
          this.#add(named, this.#reading.span(`${pointer}/${end}`), "label", false);
        }
      }
    }
  }

  /** A key of the layout names the node and every node around it. */
  #layout(): void {
    const { items, model } = this.#reading;
    for (const item of blocksOf(items, "layout").flatMap((layout) => layout.items ?? [])) {
      if (item.kind !== "attr" || item.policy) continue;
      let body: BodyModel | undefined = model.root;
      for (const id of item.name.split("/")) {
        const node: NodeModel | undefined = body?.byId.get(id);
        const span = { start: item.nameStart, end: item.nameEnd };
        if (node !== undefined) this.#add(this.#nodes.get(node), span, "segment", false, item.name);
        body = node?.inner;
      }
    }
  }

  /** The inputs that a schedule gives. */
  #schedules(): void {
    const { parsed, text } = this.#reading;
    for (const { value, pointer } of declared(parsed.graph, "schedules")) {
      for (const name of memberNames(objectOrNone(own(value, "inputs")))) {
        const given = this.#reading.span(`${pointer}/inputs${pointerSegment(name)}`);
        const key = given && keyBefore(text, given, name);
        this.#add(this.#inputs.get(name), key, "label", false);
      }
    }
  }

  /** Every name that an expression reads. Trees are not deeper than `MAX_EXPRESSION_HEIGHT`. */
  #walk(tree: Expression, written: WrittenExpression, variables: Variables): void {
    if (tree.kind === "name" || tree.kind === "member" || tree.kind === "index") {
      const { base, links } = chainOf(tree);
      if (base.kind === "name") this.#chain(base, links, written, variables);
      else this.#walk(base, written, variables);
      for (const link of links)
        if (link.kind === "index") this.#walk(link.index, written, variables);
      return;
    }
    const macro = tree.kind === "call" ? macroParts(tree) : undefined;
    if (macro === undefined) {
      for (const part of childrenOf(tree)) this.#walk(part, written, variables);
      return;
    }
    const named = new Named("variable", macro.variable.name);
    this.#walk(macro.list, written, variables);
    this.#add(named, macro.variable, "root", true);
    this.#walk(macro.body, written, [...variables, named]);
  }

  #chain(
    base: NameExpression,
    links: readonly Link[],
    { leaf }: WrittenExpression,
    variables: Variables,
  ): void {
    const variable = variables.findLast(({ name }) => name === base.name);
    if (variable !== undefined) {
      this.#add(variable, base, "root", false);
      return;
    }
    const { body } = leaf.site;
    const found = lookUp(base.name, body, leaf.roots);
    if (found instanceof NodeModel) {
      this.#add(this.#nodes.get(found), base, "root", false);
      return;
    }
    const [link] = links;
    const step = link && literalStep(link);
    // Deferred fields, such as the `until` of a loop, read the locals of the body of their node.
    const inner = found?.kind === "root" ? leaf.site.reader?.inner : undefined;
    const local = found?.kind === "local" ? found.body : inner;
    if (local !== undefined) {
      this.#add(this.#locals.get(local)?.get(base.name), base, "root", false);
    } else if (link === undefined || step === undefined) return;
    else if (found?.kind === "inputs") {
      this.#add(this.#inputs.get(step), { start: base.end, end: link.end }, "member", false);
    } else if (found?.kind === "nodes") {
      const node = visibleNode(step, body);
      this.#add(node && this.#nodes.get(node), { start: base.start, end: link.end }, "root", false);
    }
  }
}

/** How a place is written once its name is `to`. */
export function spelled(place: Place, to: string, text: string): string {
  const { named, spelling } = place;
  const now = text.slice(place.start, place.end);
  const isNeedlesslyQuoted = isBare(named.name, spelling) && now !== named.name;
  switch (spelling) {
    case "text":
      return quoteText(to);
    case "label":
      return isNeedlesslyQuoted ? quoteText(to) : nameText(to);
    case "segment":
      return nameText(pathWith(place, to));
    case "member": {
      const dot = /^\s*(?:\?\.|\.)\s*/.exec(now)?.[0];
      return dot === undefined ? `[${quoteText(to)}]` : dot + nameText(to);
    }
    case "root": {
      if (!isNeedlesslyQuoted) return isBare(to, spelling) ? to : `nodes[${quoteText(to)}]`;
      const dot = /^nodes\s*\??\.\s*/.exec(now)?.[0];
      return dot === undefined ? `nodes[${quoteText(to)}]` : dot + nameText(to);
    }
  }
}

function isBare(name: string, spelling: Spelling): boolean {
  return spelling === "root" ? isBareName(name) : isIdent(name);
}

/** The path of a layout key with the segment of the place's node replaced. */
function pathWith({ named, path = "" }: Place, to: string): string {
  const depth = named.node?.body.depth ?? 0;
  const ids = path.split("/");
  ids[depth] = to;
  return ids.join("/");
}
