/** The text of a flow from a document with its nodes, edges, inputs and outputs, in the shapes that such documents have. */

import { isObject } from "../data.ts";
import { type Member, memberByKey, NODE_POLICIES } from "../language/blocks.ts";
import { typeOf, typeText } from "../language/types.ts";
import { isIdent } from "../syntax/chars.ts";
import { nameText, quoteText } from "../syntax/print-expression.ts";
import { type IsType, jobOfFlow } from "./other-tools.ts";
import type { Part } from "./part.ts";

/** Takes members by any of their names, and refuses the ones that nobody took. */
class Members {
  readonly #rest: Map<string, Part>;

  constructor(part: Part) {
    this.#rest = new Map(part.members);
  }

  take(...names: readonly string[]): Part | undefined {
    const name = names.find((each) => this.#rest.has(each));
    const part = name === undefined ? undefined : this.#rest.get(name);
    if (name !== undefined) this.#rest.delete(name);
    return part;
  }

  /** Takes a member that is a string. */
  text(...names: readonly string[]): string | undefined {
    const part = this.take(...names);
    const { scalar } = part ?? {};
    if (part === undefined || typeof scalar === "string") return scalar as string | undefined;
    return typeof scalar === "number" ? `${scalar}` : part.refuse("is no text");
  }

  /** Adds the members of a part, which count as those of the whole. */
  lift(part: Part): void {
    for (const [key, value] of part.members) this.#rest.set(key, value);
  }

  get rest(): ReadonlyMap<string, Part> {
    return this.#rest;
  }

  refuseRest(): void {
    for (const part of this.#rest.values()) part.refuse("has no counterpart in a flow");
  }
}

const FIELDS = "fields with config params parameters properties options settings data".split(" ");
const AFTER = ["depends_on", "dependsOn", "needs", "after", "requires", "runAfter"];
const NOTES = ["label", "description", "comment", "id"];

/** An edge as text, and its ends. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** Nodes and edges of a flow or a body, as lines. */
interface Steps {
  readonly lines: readonly string[];
  readonly edges: readonly Edge[];
  readonly places: readonly string[];
  /** Ids in their order, where the order says what follows what. */
  readonly order: readonly string[];
}

/** What a document says: a text that can be read, and the nodes whose order must be said by edges. */
export interface FlowText {
  readonly text: string;
  readonly order: readonly string[];
}

/** Writes a document as a flow; what is not understood is refused at its part. */
export function flowTextOf(document: Part, isType: IsType): FlowText {
  const members = new Members(document);
  const notes: string[] = [];
  const job = jobOfFlow(document, isType);
  if (job !== undefined) {
    members.take("jobs");
    members.lift(job);
    const on = members.take("on");
    const started = on?.members.get("workflow_dispatch");
    if (started !== undefined) members.lift(started);
    const isStarted =
      started !== undefined ? on?.members.size === 1 : on?.text === "workflow_dispatch";
    if (!isStarted) on?.refuse("is not what starts a flow: `schedule`, or a webhook of the server");
    const place = members.text("runs-on");
    if (place !== undefined) notes.push(`# runs-on: ${place}`);
  }
  const name = members.text("id", "name", "slug", "flow", "workflow") ?? "flow";
  const title = members.text("title") ?? (isIdent(name) ? undefined : name);
  const { scalar: version = 1 } = members.take("version") ?? {};
  if (`${version}` !== "1") document.members.get("version")?.refuse("is no version of flows: 1");
  const head: string[] = [];
  if (title !== undefined) head.push(`title = ${quoteText(title)}`);
  for (const key of ["description", "owner", "author", "tags"]) {
    const part = members.take(key);
    if (part !== undefined) head.push(`${key} = ${part.code}`);
  }
  const inputs = members.take("inputs", "input", "parameters", "params");
  const outputs = members.take("outputs", "output", "results");
  const schedules = members.take("schedules", "schedule");
  const layout = members.take("layout");
  const steps = stepsOf(members, document);
  const isId = isIdent(name) || title !== name;
  const lines = [
    ...notes,
    `flow 1 ${nameText(isId ? name : slugOf(name))}${blockOf(head)}`,
    ...named(inputs).map(([id, part]) => inputText(id, part)),
    ...named(schedules).map(([id, part]) => `schedule ${nameText(id)}${blockOf(attributes(part))}`),
    ...steps.lines,
    ...steps.edges.map(({ text }) => text),
    ...named(outputs).map(([id, part]) => outputText(id, part)),
  ];
  const places = [...(layout ? attributes(layout) : []), ...steps.places];
  if (places.length > 0) lines.push(`layout${blockOf(places)}`);
  members.refuseRest();
  return { text: `${lines.join("\n")}\n`, order: steps.order };
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "") || "flow";

const blockOf = (lines: readonly string[]): string =>
  lines.length === 0 ? "" : ` {\n${lines.join("\n")}\n}`;

/** Members as fields of a block. */
function attributes(part: Part): string[] {
  if (!part.isObject) part.refuse("is no object");
  return [...part.members].map(([key, value]) => `${nameText(key)} = ${value.code}`);
}

/** Elements of a list by their names, or members of an object. */
function named(
  part: Part | undefined,
  keys = ["name", "id", "key"],
): (readonly [name: string, part: Part])[] {
  if (part === undefined || part.scalar === null) return [];
  if (part.isObject) return [...part.members];
  if (!part.isList) part.refuse("is neither a list nor an object");
  return part.elements.flatMap((each) => {
    const { members, text } = each;
    const name = text ?? keys.map((key) => members.get(key)?.text).find((it) => it !== undefined);
    if (name !== undefined) return [[name, each] as const];
    each.refuse("has no name");
    return [];
  });
}

const SCHEMA =
  "type items properties additionalProperties enum format minimum maximum minLength maxLength pattern".split(
    " ",
  );

/** The type that members of a JSON Schema say, and the field `schema` where no type says it. */
function typeIn(members: Members): { readonly type: string; readonly field: readonly string[] } {
  const whole = members.take("schema");
  const given = SCHEMA.flatMap((key) => {
    const part = members.take(key);
    return part === undefined ? [] : [[key, part] as const];
  });
  const [, said] = given[0] ?? [];
  if (whole === undefined && given.length === 0) return { type: "", field: [] };
  if (whole === undefined && given.length === 1 && /^[\w.[\]?<>]+$/.test(said?.text ?? ""))
    return { type: `: ${said?.text}`, field: [] };
  const schema = whole?.data ?? Object.fromEntries(given.map(([key, { data }]) => [key, data]));
  const type = isObject(schema) ? typeOf(schema) : undefined;
  if (type !== undefined) return { type: `: ${typeText(type)}`, field: [] };
  return { type: "", field: [`schema = ${JSON.stringify(schema)}`] };
}

function inputText(id: string, part: Part): string {
  const members = new Members(part);
  members.take("name", "id", "key");
  if (part.text !== undefined && part.text !== id) return `input ${nameText(id)}: ${part.text}`;
  if (part.scalar !== undefined)
    return part.text === id ? `input ${id}` : `input ${nameText(id)} = ${part.code}`;
  const { type, field } = typeIn(members);
  const usual = members.take("default", "value");
  const needed = members.take("required")?.scalar;
  const about = members.take("description", "title");
  members.refuseRest();
  const isOptional = needed === false && usual === undefined;
  const value = usual?.code ?? (isOptional ? "null" : undefined);
  const mark = isOptional && type !== "" ? "?" : "";
  const lines = [...field, ...(about ? [`description = ${about.code}`] : [])];
  return `input ${nameText(id)}${type}${mark}${value === undefined ? "" : ` = ${value}`}${blockOf(lines)}`;
}

function outputText(id: string, part: Part): string {
  const members = new Members(part);
  members.take("name", "id", "key");
  const isValue =
    !part.isObject || !["value", "from", "expression"].some((key) => part.members.has(key));
  if (isValue) return `output ${nameText(id)} = ${pathIn(part)}`;
  const { type, field } = typeIn(members);
  const value = members.take("value", "from", "expression");
  const about = members.take("description", "title");
  members.refuseRest();
  const lines = [...field, ...(about ? [`description = ${about.code}`] : [])];
  return `output ${nameText(id)}${type} = ${value ? pathIn(value) : "null"}${blockOf(lines)}`;
}

/** The result of a flow is mostly read of a step: a string that is a path of names is one. */
const pathIn = (part: Part): string =>
  /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/.test(part.text ?? "") ? (part.text as string) : part.code;

function stepsOf(members: Members, holder: Part): Steps {
  const isSteps = !members.rest.has("nodes");
  const nodes = members.take("nodes", "steps", "tasks");
  const edges = members.take("edges", "links", ...(isGraphEdges(members) ? ["connections"] : []));
  if (nodes === undefined) holder.refuse("has no nodes");
  const all = named(nodes, ["id", "name", "key"]).map(([id, part]) => nodeText(id, part));
  const ids = new Set(all.map(({ id }) => id));
  const drawn = [...(edges?.elements ?? []).flatMap((each) => edgeText(each, ids))];
  if (edges !== undefined && !edges.isList) edges.refuse("is no list of edges");
  const said = [...all.flatMap((node) => node.edges), ...drawn];
  const isOrdered = isSteps && edges === undefined && said.length === 0;
  return {
    lines: all.map(({ text }) => text),
    edges: said,
    places: all.flatMap(({ place }) => place),
    order: isOrdered ? [...ids] : [],
  };
}

/** `connections` as other tools have them: a list of edges, not of accounts. */
function isGraphEdges(members: Members): boolean {
  const [first] = members.rest.get("connections")?.elements ?? [];
  return first === undefined || !first.members.has("auth");
}

interface NodeText {
  readonly id: string;
  readonly text: string;
  readonly edges: readonly Edge[];
  readonly place: readonly string[];
}

function nodeText(id: string, part: Part): NodeText {
  const members = new Members(part);
  members.take("id", "name", "key");
  const title = part.members.has("id") ? members.text("name", "label") : undefined;
  const type = members.text("type", "uses", "kind");
  if (type === undefined) part.refuse("has no type");
  const version = members.take("typeVersion")?.scalar;
  const lines: string[] = [];
  const fields = FIELDS.map((key) => members.rest.get(key)).find((each) => each?.isObject);
  if (fields !== undefined) {
    members.take(`${fields.path.at(-1)}`);
    lines.push(...attributes(fields));
  }
  const policy = members.take("policy");
  if (policy !== undefined) lines.push(...policies(policy, NODE_POLICIES));
  const body = members.take("body");
  if (body !== undefined) lines.push(bodyText(body));
  const edges = AFTER.flatMap((key) => {
    const before = members.take(key);
    return endsOf(before).map((from) => edgeOf(from, undefined, id));
  });
  edges.push(...endsOf(members.take("next")).map((to) => edgeOf(id, undefined, to)));
  const place = placeOf(id, members.take("position"));
  const when = members.take("when");
  if (when !== undefined) lines.push(`@when = ${when.code}`);
  for (const [key, value] of members.rest) {
    const isPolicy = key.startsWith("@");
    lines.push(`${isPolicy ? key : nameText(key)} = ${value.code}`);
  }
  const versioned = typeof version === "number" ? `@${version}` : "";
  const head = `node ${nameText(id)}: ${typeName(type ?? "")}${versioned}`;
  const note = title === undefined ? "" : `# ${title.replace(/\s+/g, " ")}\n`;
  return { id, text: `${note}${head}${blockOf(lines)}`, edges, place };
}

const typeName = (type: string): string => (/^[\w.-]+$/.test(type) ? type : quoteText(type));

function bodyText(body: Part): string {
  const members = new Members(body);
  const steps = stepsOf(members, body);
  const output = members.take("output", "result", "return");
  members.refuseRest();
  const { lines, edges, order } = steps;
  const chain = order.slice(1).map((to, at) => edgeOf(order[at] as string, undefined, to).text);
  const all = [...lines, ...edges.map(({ text }) => text), ...chain];
  return `body${blockOf([...all, ...(output ? [`output = ${pathIn(output)}`] : [])])}`;
}

/** Policies as a graph has them: by their keys, times in milliseconds. */
function policies(part: Part, known: readonly Member[]): string[] {
  return [...part.members].map(([key, value]) => `@${memberText(key, value, known)}`);
}

function memberText(key: string, value: Part, known: readonly Member[], sign = " ="): string {
  const member = memberByKey(known, key);
  const { members: inner, kind, text = key } = member ?? {};
  const ms = kind === "duration" && typeof value.scalar === "number" ? "ms" : "";
  if (!inner || !value.isObject) return `${text}${sign} ${value.code}${ms}`;
  const entries = [...value.members].map(([name, each]) => memberText(name, each, inner, ":"));
  return `${text}${sign} { ${entries.join(", ")} }`;
}

/** Names in a string, or in a list of strings. */
function endsOf(part: Part | undefined): readonly string[] {
  if (part === undefined || part.scalar === null) return [];
  if (part.text !== undefined) return [part.text];
  return part.elements.flatMap((each) => each.text ?? each.refuse("is no name of a node") ?? []);
}

function placeOf(id: string, part: Part | undefined): readonly string[] {
  if (part === undefined) return [];
  const [x, y] = part.isList ? part.elements : [part.members.get("x"), part.members.get("y")];
  const isPlace = typeof x?.scalar === "number" && typeof y?.scalar === "number";
  if (!isPlace) part.refuse("is no place: x and y");
  return isPlace ? [`${nameText(id)} = [${x.code}, ${y.code}]`] : [];
}

function edgeOf(
  from: string,
  port: string | undefined,
  to: string,
  notes: readonly string[] = [],
): Edge {
  const end = port === undefined || port === "out" ? "" : `.${nameText(port)}`;
  const meta = notes.length === 0 ? "" : ` { ${notes.join(", ")} }`;
  return { from, to, text: `${nameText(from)}${end} -> ${nameText(to)}${meta}` };
}

const EDGE = /^\s*([\w-]+)(?:\.([\w-]+))?\s*(?:->|=>|→)\s*([\w-]+)\s*$/;

function edgeText(part: Part, ids: ReadonlySet<string>): readonly Edge[] {
  const [, start, way, end] = EDGE.exec(part.text ?? "") ?? [];
  if (start !== undefined && end !== undefined) return [edgeOf(start, way, end)];
  const members = new Members(part);
  const pair = part.elements.map(({ text }) => text);
  const given = part.isList && pair.length === 2 ? pair[0] : members.text("from", "source", "src");
  const to =
    part.isList && pair.length === 2 ? pair[1] : members.text("to", "target", "dst", "dest");
  if (given === undefined || to === undefined) {
    part.refuse("is no edge: from and to");
    return [];
  }
  const said = members.take(
    "port",
    "fromPort",
    "sourcePort",
    "sourceHandle",
    "from_port",
    "when",
    "on",
    "condition",
    "case",
  );
  const dot = ids.has(given) ? -1 : given.lastIndexOf(".");
  const from = dot === -1 ? given : given.slice(0, dot);
  const port = said?.scalar ?? (dot === -1 ? undefined : given.slice(dot + 1));
  if (
    (said !== undefined && !/^(?:[\w-]+|)$/.test(`${said.scalar ?? ""}`)) ||
    said?.isObject === true
  )
    said?.refuse("is no port");
  const notes = NOTES.flatMap((key) => {
    const note = members.take(key);
    return note === undefined ? [] : [`${key}: ${note.code}`];
  });
  members.refuseRest();
  return [edgeOf(from, port === undefined || port === null ? undefined : `${port}`, to, notes)];
}
