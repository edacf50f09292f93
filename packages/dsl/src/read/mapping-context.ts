/** State of the mapping of text to graph: reports, marks, and the checks that every block shares. */

import type { FieldValue, FlowEdge, FlowNode, Json } from "@millrace/contracts";
import {
  type Aliases,
  aliasOf,
  BLOCK_ALIASES,
  BLOCK_HINTS,
  meantName,
  VALUE_ALIASES,
} from "../diagnostics/aliases.ts";
import { removal, writing } from "../diagnostics/bag.ts";
import { shown } from "../diagnostics/quote.ts";
import type { Report } from "../diagnostics/report.ts";
import { kindName } from "../expression/data.ts";
import {
  BLOCKS,
  type BlockKind,
  DURATION,
  FLOW_POLICIES,
  isBlockKeyword,
  type Member,
  memberByText,
  NODE_POLICIES,
  type Shape,
} from "../language/blocks.ts";
import { firstEvaluated, type Marks, toFieldValue, toLiteral } from "../language/field-value.ts";
import type { AttrItem, BlockItem, Item, PrintedItem } from "../language/items.ts";
import type { Expression, Span } from "../syntax/ast.ts";
import { durationText } from "../syntax/numbers.ts";
import type { Layout } from "../syntax/scanner.ts";
import { Declared, DeclaredEdges } from "./declared.ts";

const BLOCK_NAMES: { readonly [place in BlockKind]: string } = {
  file: "the file",
  flow: "the flow block",
  input: "an input",
  connection: "a connection",
  schedule: "a schedule",
  node: "a node",
  output: "an output",
  layout: "the layout",
  body: "a body",
};

/** Keeps items of the file that are as they are printed. */
export interface Keep {
  /** Says what is printed so. */
  readonly layout: Layout;
  /** Takes an item, and the section it belongs to. */
  add(section: string, item: PrintedItem): void;
}

/** Data collected beside the graph. */
export interface Collected {
  /** Takes the items of the file, in order. */
  add?(item: Item): void;
  /** Takes items that are as they are printed, instead of `add`. */
  readonly keep?: Keep | undefined;
  /** Takes the places of the graph. */
  readonly marks?: Marks;
  /** Takes the start of every item, and of every type and value of a block, that is in the graph. */
  readonly taken?: Set<number>;
  /** Only the findings are wanted: values of the graph are left out. */
  readonly noValues?: boolean;
}

export class MappingContext {
  readonly source: string;
  readonly report: Report;
  readonly marks: Marks | undefined;
  private readonly collected: Collected;
  /** The text is of a newer language version, whose words need not be known here. */
  isNewer = false;

  constructor(source: string, report: Report, collected: Collected) {
    this.source = source;
    this.report = report;
    this.marks = collected.marks;
    this.collected = collected;
  }

  /** Notes that a part of the text is in the graph. */
  take(part: { readonly start: number }): void {
    this.collected.taken?.add(part.start);
  }

  value(e: Expression, pointer: string): FieldValue {
    return this.collected.noValues ? null : toFieldValue(e, pointer, this.marks);
  }

  /** Literal data; an expression in it is FLOW3013, data of another shape FLOW3004-3006, and nothing is stored. */
  literal(e: Expression, place: string, pointer: string, shape?: Shape): Json | undefined {
    const data = toLiteral(e, pointer, this.marks);
    if (data === undefined) this.mustBeLiteral(e, place, pointer);
    else if (shape && !shape.is(data)) {
      this.misshapen(e, data, shape, { field: place, pointer });
      return undefined;
    }
    return data;
  }

  /** Reports the first part of a value that has to be evaluated. */
  mustBeLiteral(e: Expression, place: string, pointer: string): void {
    const at = firstEvaluated(e);
    if (at) this.report.add("FLOW3013", at.start, at.end, { parts: { place }, pointer });
  }

  /** The value of a member of a block or policy; `field`: its name in messages. */
  member(e: Expression, { kind, shape }: Member, field: string, pointer: string): Json | undefined {
    if (kind === "value") return this.value(e, pointer);
    if (kind === "duration") return this.duration(e, field, pointer);
    return this.literal(e, field, pointer, shape);
  }

  /** Milliseconds; a bare number is read as such and FLOW3014. */
  duration(e: Expression, place: string, pointer: string): Json | undefined {
    this.marks?.add(pointer, e.start, e.end);
    if (e.kind === "duration") return e.ms;
    const ms = bareDuration(e);
    if (ms !== undefined) {
      this.report.add("FLOW3014", e.start, e.end, { pointer, fix: durationText(ms) });
    }
    return this.literal(e, place, pointer, DURATION);
  }

  /** Reports a value that its place does not take. */
  misshapen(
    e: Expression,
    data: Json,
    { choices, type, rule, numberIs }: Shape,
    { field, pointer }: { readonly field: string; readonly pointer: string },
  ): void {
    const { start, end } = e;
    if (choices && typeof data === "string") {
      const near = meantName(data, choices, VALUE_ALIASES);
      this.report.add("FLOW3006", start, end, {
        parts: { field, list: rule.replace(" or ", ", "), value: `"${shown(data)}"`, near },
        pointer,
        fix: near && `"${near}"`,
      });
      return;
    }
    const kind = kindName(data);
    if (kind === type || (kind === "number" && NUMERIC.test(type))) {
      this.report.add("FLOW3005", start, end, { parts: { field, rule }, pointer });
      return;
    }
    let meant: string | undefined;
    if (type === "duration" && typeof data === "string" && QUOTED_DURATION.test(data)) meant = data;
    if (numberIs !== undefined && kind === "number") {
      meant = `{ ${numberIs}: ${this.source.slice(start, end)} }`;
    }
    this.report.add("FLOW3004", start, end, {
      parts: { field, type, found: kind },
      pointer,
      fix: meant,
    });
  }

  /** Whether an item may stand where it stands, and is no attribute that was set before; everything else is reported. */
  admits(item: Item, place: BlockKind, twins: Twins = undefined): boolean {
    if (item.kind === "attr") {
      const first = twins?.get(item);
      if (first) this.setTwice(item, first);
      else if (place !== "file") return true;
      else this.misplaced(`${item.policy ? "@" : "attribute "}${shown(item.name)}`, place, item);
    } else if (item.kind === "edge") {
      if (place === "file" || place === "body") return true;
      this.misplaced("an edge", place, item);
    } else if (!isBlockKeyword(item.keyword)) this.unknownBlock(item, place);
    else if (BLOCKS[item.keyword].in.includes(place)) return true;
    else this.misplaced(item.keyword, place, item);
    if (item.kind !== "attr") this.report.dropped.push(item);
    return false;
  }

  /** The attributes of a block that holds nothing else, each once. */
  attributes(item: BlockItem, place: BlockKind): AttrItem[] {
    const items = item.items ?? [];
    const twins = twinsOf(items);
    return items.filter(
      (inner): inner is AttrItem =>
        !this.report.full && this.admits(inner, place, twins) && inner.kind === "attr",
    );
  }

  /** Reports FLOW2012 or FLOW2013 for an attribute that a block does not know. */
  unknown(item: AttrItem, block: string, known: readonly string[], aliases: Aliases = {}): void {
    const near = meantName(item.name, known, aliases);
    this.report.add(item.policy ? "FLOW2012" : "FLOW2013", item.start, item.nameEnd, {
      parts: { name: shown(item.name), block, near },
      hint:
        item.policy && near === undefined && memberByText(NODE_POLICIES, item.name)
          ? "it is a policy of nodes"
          : undefined,
      fix: writing(
        near === undefined || !item.policy ? near : `@${near}`,
        { start: item.nameStart, end: item.nameEnd },
        near,
      ),
    });
  }

  private setTwice(item: AttrItem, first: AttrItem): void {
    const key = item.policy ? `@${item.name}` : item.name;
    this.report.add("FLOW2002", item.start, item.nameEnd, {
      parts: { key: shown(key) },
      related: { start: first.start, end: first.nameEnd, message: "first set here" },
      fix: removal(this.source, { twin: item, first }),
    });
  }

  private misplaced(what: string, place: BlockKind, item: Item): void {
    const end =
      item.kind === "block" ? item.keywordEnd : item.kind === "attr" ? item.nameEnd : item.end;
    const isKnown = item.kind === "block" && isBlockKeyword(item.keyword);
    const home = isKnown ? BLOCKS[item.keyword as keyof typeof BLOCKS].in : ["file", "body"];
    const hint =
      item.kind !== "attr"
        ? `it stands ${home.map((each) => (each === "file" ? "at the top level" : `in ${BLOCK_NAMES[each as BlockKind]}`)).join(" or ")}`
        : place === "file"
          ? `it stands between the \`{\` and \`}\` of a node${item.policy && memberByText(FLOW_POLICIES, item.name) ? ", or of `flow` for the whole run" : ""}`
          : undefined;
    this.report.add("FLOW2004", item.start, end, {
      parts: { block: what, place: BLOCK_NAMES[place] },
      hint,
    });
  }

  private unknownBlock(item: BlockItem, place: BlockKind): void {
    const words = Object.entries(BLOCKS).filter(([, rule]) => rule.in.includes(place));
    const near = meantName(
      item.keyword,
      words.map(([keyword]) => keyword),
      BLOCK_ALIASES,
    );
    const hint =
      aliasOf(item.keyword, BLOCK_HINTS) ??
      (isBareEdge(item) ? "an edge is written with `->` between its nodes" : undefined);
    this.report.add("FLOW2003", item.start, item.keywordEnd, {
      parts: { word: shown(item.keyword), near },
      severity: this.isNewer ? "warning" : undefined,
      hint: near === undefined ? hint : undefined,
      fix: near !== undefined && fitsHead(item, near) ? near : undefined,
    });
  }
}

/** Types whose values are numbers. */
const NUMERIC = /int$|duration$/;

/** A duration that was put in quotes. */
const QUOTED_DURATION = /^\d{1,6}(?:ms|s|m|h|d)$/;

/** Whether a block is two names and nothing else: `fetch save`. */
function isBareEdge({ labels, type, value, items }: BlockItem): boolean {
  return labels.length === 1 && !type && !value && !items;
}

/** Whether a block would have the right head under another word. */
function fitsHead(item: BlockItem, keyword: string): boolean {
  const rule = BLOCKS[keyword as keyof typeof BLOCKS];
  const fits = (has: boolean, wanted: "needed" | "allowed" | "none"): boolean =>
    wanted === "allowed" || has === (wanted === "needed");
  return (
    item.labels.length === rule.labels &&
    fits(item.type !== undefined, rule.type) &&
    fits(item.value !== undefined, rule.value)
  );
}

/** Attributes that were set before, each with the first of its name; undefined: none. */
export type Twins = ReadonlyMap<AttrItem, AttrItem> | undefined;

/** Items of one block up to which comparing each with each beats a map. */
const FEW_ITEMS = 12;

/** Finds the attributes of a block that are set more than once. */
export function twinsOf(items: readonly Item[]): Twins {
  if (items.length <= FEW_ITEMS && !items.some(hasTwin)) return undefined;
  const first = new Map<string, AttrItem>();
  const twins = new Map<AttrItem, AttrItem>();
  for (const item of items) {
    if (item.kind !== "attr") continue;
    const key = item.policy ? `@${item.name}` : `=${item.name}`;
    const known = first.get(key);
    if (known) twins.set(item, known);
    else first.set(key, item);
  }
  return twins;
}

function hasTwin(item: Item, index: number, items: readonly Item[]): boolean {
  if (item.kind !== "attr") return false;
  for (let before = 0; before < index; before += 1) {
    const other = items[before] as Item;
    if (other.kind === "attr" && other.name === item.name && other.policy === item.policy)
      return true;
  }
  return false;
}

/** The whole number of milliseconds that a bare number in the place of a duration means. */
export function bareDuration(e: Expression): number | undefined {
  if (e.kind !== "literal" || typeof e.value !== "number") return undefined;
  return Number.isSafeInteger(e.value) && e.value >= 0 ? e.value : undefined;
}

/** The nodes and edges of the flow or of a body while they are read, with the names that were declared there. */
export class Level {
  readonly nodes: FlowNode[] = [];
  readonly edges: FlowEdge[] = [];
  /** JSON Pointer of the object that holds `nodes` and `edges`. */
  readonly pointer: string;
  private readonly knownNodes = new Declared();
  readonly knownEdges: DeclaredEdges = new DeclaredEdges(this.edges, this.knownNodes);
  private readonly context: MappingContext;
  /** The names of blocks of other kinds. */
  private readonly blocks = new Map<string, Declared>();

  constructor(context: MappingContext, pointer: string) {
    this.context = context;
    this.pointer = pointer;
  }

  /** The nodes and edges inside the body of the node at `pointer`. */
  bodyOf(pointer: string): Level {
    return new Level(this.context, `${pointer}/body`);
  }

  /** Notes the name of a block; answers where the same kind of block has it already. */
  claim(keyword: string, name: string, start: number, end: number): Span | undefined {
    let declared = keyword === "node" ? this.knownNodes : this.blocks.get(keyword);
    if (!declared) {
      declared = new Declared();
      this.blocks.set(keyword, declared);
    }
    return declared.add(name, start, end);
  }

  /** The name of a block; `undefined`, and reported, when it has none or one too many. */
  nameOf(item: BlockItem, pointer: string): string | undefined {
    const label = item.labels[0];
    if (!label) {
      this.context.report.add("FLOW2009", item.start, item.keywordEnd, {
        parts: { kind: item.keyword, needs: "needs a name" },
      });
      return undefined;
    }
    const first = this.claim(item.keyword, label.text, label.start, label.end);
    if (first) {
      this.context.report.add("FLOW2005", label.start, label.end, {
        parts: { kind: item.keyword, name: shown(label.text) },
        pointer,
        related: { ...first, message: "first declared here" },
      });
    }
    return label.text;
  }

  /** Reports a block that may stand only once. */
  twice(item: BlockItem, kind: string): void {
    this.context.report.add("FLOW2005", item.start, item.keywordEnd, {
      message: `${kind} is declared twice`,
      hint: "keep one",
    });
  }
}
