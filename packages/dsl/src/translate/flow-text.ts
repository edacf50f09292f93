/** The text of a flow from a document with its nodes, edges, inputs and outputs, in the shapes that such documents have. */

import type { FlowCatalog } from "../check/catalog.ts";
import { portsOf } from "../check/rules/ports.ts";
import { type Member, memberByKey, memberByText, NODE_POLICIES } from "../language/blocks.ts";
import { isIdent } from "../syntax/chars.ts";
import { nameText, quoteText } from "../syntax/print-expression.ts";
import { inputText, outputText, pathIn } from "./declarations.ts";
import { attributes, blockOf, Members, named } from "./members.ts";
import { type IsType, jobOfFlow } from "./other-tools.ts";
import type { Part } from "./part.ts";

const FIELDS = "fields with config params parameters properties options settings data".split(" ");
const AFTER = ["depends_on", "dependsOn", "needs", "after", "requires", "runAfter"];
const NOTES = ["label", "description", "comment", "id"];

/** An edge as text, and its ends. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** Where a node stands, by its path. */
type Place = readonly [path: string, code: string];

/** Nodes and edges of a flow or a body, as lines. */
interface Steps {
  readonly lines: readonly string[];
  readonly edges: readonly Edge[];
  readonly places: readonly Place[];
  /** Ids in their order, where the order says what follows what. */
  readonly order: readonly string[];
}

/** A document as flow text, and the nodes whose order needs edges. */
export interface FlowText {
  readonly text: string;
  readonly order: readonly string[];
}

/** The types that nodes may have. */
export interface FlowTypes {
  readonly isType: IsType;
  readonly entry: FlowCatalog["entry"];
}

/** Writes a document as a flow; what is not understood is refused at its part. */
export function flowTextOf(document: Part, types: FlowTypes): FlowText {
  const members = new Members(document);
  const notes: string[] = [];
  const job = jobOfFlow(document, types.isType);
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
    if (place !== undefined) notes.push(`# runs-on: ${place.replace(/\s+/g, " ")}`);
  }
  const name = members.text("id", "name", "slug", "flow", "workflow") ?? "flow";
  const title = members.text("title") ?? (isIdent(name) ? undefined : name);
  const version = members.take("version");
  if (version !== undefined && `${version.scalar}` !== "1")
    version.refuse("is no version of flows: 1");
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
  const steps = stepsOf(members, document, types);
  const isId = isIdent(name) || title !== name;
  const lines = [
    ...notes,
    `flow 1 ${nameText(isId ? name : slugOf(name))}${blockOf(head)}`,
    ...named(inputs).map(([id, part]) => inputText(id, part)),
    ...named(schedules).map(
      ([id, part]) => `schedule ${nameText(id)}${blockOf(attributes(part, id))}`,
    ),
    ...steps.lines,
    ...steps.edges.map(({ text }) => text),
    ...named(outputs).map(([id, part]) => outputText(id, part)),
  ];
  const stated = steps.places.map(([path, code]) => `${nameText(path)} = ${code}`);
  const places = [...(layout ? attributes(layout) : []), ...stated];
  if (places.length > 0) lines.push(`layout${blockOf(places)}`);
  members.refuseRest();
  return { text: `${lines.join("\n")}\n`, order: steps.order };
}

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "") || "flow";

function stepsOf(members: Members, holder: Part, types: FlowTypes): Steps {
  const isSteps = !members.rest.has("nodes");
  const nodes = members.take("nodes", "steps", "tasks");
  const edges = members.take("edges", "links", ...(isGraphEdges(members) ? ["connections"] : []));
  if (nodes === undefined) holder.refuse("has no nodes");
  const all = named(nodes, ["id", "name", "key"]).map((each) => nodeText(each, types));
  const ids = new Set(all.map(({ id }) => id));
  const drawn = [...(edges?.elements ?? []).flatMap((each) => edgeText(each, ids))];
  if (edges !== undefined && !edges.isList) edges.refuse("is no list of edges");
  const said = [...all.flatMap((node) => node.edges), ...drawn];
  const isOrdered = isSteps && edges === undefined && said.length === 0;
  return {
    lines: all.map(({ text }) => text),
    edges: said,
    places: all.flatMap(({ places }) => places),
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
  readonly places: readonly Place[];
}

function nodeText([id, part]: readonly [string, Part], types: FlowTypes): NodeText {
  const members = new Members(part);
  members.named(id, "id", "name", "key");
  const title = part.members.has("id") ? members.text("name", "label") : undefined;
  const type = members.text("type", "uses", "kind");
  if (type === undefined) part.refuse("has no type");
  const version = members.take("typeVersion");
  if (version !== undefined && typeof version.scalar !== "number") version.refuse("is no number");
  const lines: string[] = [];
  const fields = FIELDS.map((key) => members.rest.get(key)).find((each) => each?.isObject);
  if (fields !== undefined) {
    members.take(`${fields.path.at(-1)}`);
    lines.push(...attributes(fields));
  }
  const policy = members.take("policy");
  if (policy !== undefined) lines.push(...policies(policy, NODE_POLICIES));
  const body = members.take("body");
  const inner = body && stepsOfBody(body, types);
  if (inner !== undefined) lines.push(inner.text);
  const edges = AFTER.flatMap((key) => {
    const before = members.take(key);
    return endsOf(before).map((from) => edgeOf(from, undefined, id));
  });
  const next = members.take("next");
  const entry = next?.isObject === true ? types.entry(type ?? "") : undefined;
  if (next !== undefined && entry !== undefined) {
    const from = `${entry.portsFrom}`;
    const choices = fields?.members.get(from) ?? part.members.get(from);
    const { names, open } = portsOf(entry, choices?.data);
    for (const [port, ends] of next.members) {
      if (!open && !names.has(port)) ends.refuse(`is under no port of ${type}`);
      edges.push(...endsOf(ends).map((to) => edgeOf(id, port, to)));
    }
  } else edges.push(...endsOf(next).map((to) => edgeOf(id, undefined, to)));
  const places = placesOf(id, members.take("position"));
  for (const [path, code] of inner?.places ?? []) places.push([`${id}/${path}`, code]);
  const when = members.take("when");
  if (when !== undefined) lines.push(`@when = ${when.code}`);
  for (const [key, value] of members.rest) {
    const isPolicy = key.startsWith("@");
    if (isPolicy && !memberByText(NODE_POLICIES, key.slice(1))) value.refuse("is no policy");
    lines.push(`${isPolicy ? key : nameText(key)} = ${value.code}`);
  }
  const versioned = version === undefined ? "" : `@${version.code}`;
  const head = `node ${nameText(id)}: ${typeName(type ?? "")}${versioned}`;
  const note = title === undefined ? "" : `# ${title.replace(/\s+/g, " ")}\n`;
  return { id, text: `${note}${head}${blockOf(lines)}`, edges, places };
}

const typeName = (type: string): string => (/^[\w.-]+$/.test(type) ? type : quoteText(type));

function stepsOfBody(body: Part, types: FlowTypes): Pick<NodeText, "text" | "places"> {
  const members = new Members(body);
  const steps = stepsOf(members, body, types);
  const output = members.take("output", "result", "return");
  members.refuseRest();
  const { lines, edges, order, places } = steps;
  const chain = order.slice(1).map((to, at) => edgeOf(order[at] as string, undefined, to).text);
  const all = [...lines, ...edges.map(({ text }) => text), ...chain];
  if (output !== undefined) all.push(`output = ${pathIn(output)}`);
  return { text: `body${blockOf(all)}`, places };
}

/** Policies as a graph has them: by their keys, times in milliseconds. */
function policies(part: Part, known: readonly Member[]): string[] {
  if (!part.isObject) part.refuse("is no object");
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
  if (!part.isList) part.refuse("is no list of names of nodes");
  return part.elements.flatMap((each) => each.text ?? each.refuse("is no name of a node") ?? []);
}

function placesOf(id: string, part: Part | undefined): Place[] {
  if (part === undefined) return [];
  const [x, y] = part.isList ? part.elements : [part.members.get("x"), part.members.get("y")];
  const isPair = (part.isList ? part.elements.length : part.members.size) === 2;
  const isPlace = isPair && typeof x?.scalar === "number" && typeof y?.scalar === "number";
  if (!isPlace) part.refuse("is no place: x and y");
  return isPlace ? [[id, `[${x.code}, ${y.code}]`]] : [];
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
  if (said !== undefined && (said.scalar === undefined || !/^[\w-]*$/.test(`${said.scalar ?? ""}`)))
    said.refuse("is no port");
  else if (dot !== -1 && (said?.scalar ?? null) !== null)
    said?.refuse("stands beside a port in the name of the node");
  const notes = NOTES.flatMap((key) => {
    const note = members.take(key);
    return note === undefined ? [] : [`${key}: ${note.code}`];
  });
  members.refuseRest();
  return [edgeOf(from, port === undefined || port === null ? undefined : `${port}`, to, notes)];
}
