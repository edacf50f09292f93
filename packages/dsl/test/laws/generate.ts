/** A seeded generator of graphs that satisfy the schema and are as nasty as that allows. */
import type {
  FlowBody,
  FlowEdge,
  FlowGraph,
  FlowNode,
  FlowOutput,
  FlowSchedule,
  Json,
  JsonSchema,
  Policy,
} from "@millrace/contracts";
import { Random } from "./random.ts";

/** Texts that have broken parsers before. */
export const NASTY: readonly string[] = [
  ...["", " ", "a", "name", "two words", "\t", "x ", " x", "é", "日本語", "👍🏽", "a\u0301"],
  ...[
    "\n",
    "a\n",
    "\na",
    "a\n\nb",
    "a \nb",
    "  a\n b\n",
    "a\r\nb",
    "\r",
    "a\n\tb",
    "\n\n\n",
    "a\n ",
  ],
  ...['"', '""', '"""', '""""', '"""\n"""', '\n"""', "'", "\\", "\\\\", "\\n", 'a\\"', "`", "```"],
  ...["$", "$$", "${", "${x}", "\\${x}", "\\\\${x}", "$${", "\n${x}", "a\n\\${x}\\", "}", "{{x}}"],
  ...[
    "#",
    "# no comment",
    "//",
    "/* */",
    ";",
    "->",
    "=>",
    "=",
    ":",
    ",",
    "[",
    "{",
    "(",
    "\0",
    "\u0007",
  ],
  ...[
    "\u007f",
    "\u0085",
    "\u00a0",
    "\u2028",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\ud800",
    "\udc00x",
    "\n\ud800",
  ],
  ...["\b\f", "\n\b", "0", "01", "-1", "1.5", "1e3", "10m", "true", "null", "in", "not", "None"],
  ...["~", "a/b", "~1", "a\nb ${", "a\n$", "longer than seventy-two units: ".repeat(3)],
];

const IDENTS: readonly string[] = [
  ...[
    "a",
    "b",
    "x1",
    "_",
    "a-b",
    "n-1",
    "flow",
    "node",
    "input",
    "output",
    "end",
    "body",
    "layout",
  ],
  ...["true", "false", "null", "in", "and", "or", "not", "None", "undefined", "True", "__proto__"],
  ...["constructor", "toString", "inputs", "nodes", "run", "item", "e1", "ms", "d"],
];

const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 0.5, -2.5, 1e21, -1e21, 1e-7, 5e-324, 1.7976931348623157e308, 123456789],
  ...[2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, -(2 ** 60), 1e20, 0.1 + 0.2, 3_600_000],
];

function anyName(r: Random): string {
  return r.chance(0.7) ? r.pick(IDENTS) : r.pick(NASTY);
}

function anyText(r: Random): string {
  return r.chance(0.2) ? r.pick(NASTY) + r.pick(NASTY) : r.pick(NASTY);
}

/** A record whose keys may be anything, `__proto__` too. */
function record<T>(r: Random, most: number, make: () => T): { [key: string]: T } {
  return Object.fromEntries(r.list(most, () => [anyName(r), make()]));
}

/** JSON in which nothing has a meaning. */
function anyData(r: Random, depth: number): Json {
  const kind = r.below(depth > 0 ? 7 : 4);
  if (kind === 0) return r.pick([null, true, false]);
  if (kind === 1) return r.pick(NUMBERS);
  if (kind <= 3) return anyText(r);
  if (kind === 4) return r.list(4, () => anyData(r, depth - 1));
  if (kind === 5 && r.chance(0.2)) return { [r.pick(["$", "$t", "$lit"])]: anyData(r, depth - 1) };
  return record(r, 4, () => anyData(r, depth - 1));
}

/** A value of a graph: data with expressions, templates and protected objects. */
function anyValue(r: Random, depth: number): Json {
  const kind = r.below(depth > 0 ? 9 : 6);
  if (kind === 0) return r.pick([null, true, false]);
  if (kind === 1) return r.pick(NUMBERS);
  if (kind === 2) return anyText(r);
  if (kind <= 4) return { $: anySource(r, 3) };
  if (kind === 5) {
    return { $t: r.list(4, () => (r.chance(0.5) ? anyText(r) : { $: anySource(r, 2) })) };
  }
  if (kind === 6) return r.list(4, () => anyValue(r, depth - 1));
  if (kind === 7) {
    const inner = anyValue(r, depth - 1);
    const isPlain = typeof inner !== "object" || inner === null || Array.isArray(inner);
    return { $lit: isPlain && r.chance(0.5) ? inner : { [r.pick(["$", "$t", "$lit"])]: inner } };
  }
  const members = record(r, 4, () => anyValue(r, depth - 1));
  const [only, ...others] = Object.keys(members);
  return others.length === 0 && only?.startsWith("$") ? { $lit: members } : members;
}

const BINARY: readonly string[] = [
  ...["??", "||", "&&", "==", "!=", "in", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"],
];
const ROOTS: readonly string[] = ["a", "b", "inputs", "nodes", "x1", "a-b", "item", "run"];

/** The source of an expression, with parentheses and blanks that nobody needs. */
function anySource(r: Random, depth: number): string {
  const space = (): string => r.pick([" ", " ", "", "  ", "\t"]);
  const inner = (): string => anySource(r, depth - 1);
  const quoted = (text: string): string => JSON.stringify(text).replaceAll("${", "\\${");
  const name = (): string => (r.chance(0.8) ? r.pick(IDENTS) : quoted(r.pick(NASTY)));
  switch (r.below(depth > 0 ? 15 : 5)) {
    case 0:
      return r.pick(ROOTS);
    case 1:
      return r.pick(["0", "1", "-1", "2.50", "1e3", "-0", "9007199254740991"]);
    case 2:
      return r.pick(["true", "false", "null"]);
    case 3:
      return quoted(anyText(r));
    case 4:
      return r.pick(["0ms", "90s", "60s", "1.5h", "1d", "250ms"]);
    case 5:
    case 6:
      return `${inner()} ${r.pick(BINARY)} ${inner()}`;
    case 7:
      return `(${space()}${inner()}${space()})`;
    case 8:
      return `${r.pick(["!", "-", "- ", "!!"])}${r.chance(0.5) ? `(${inner()})` : r.pick(ROOTS)}`;
    case 9:
      return `${inner()} ?${" "}${inner()} : ${inner()}`;
    case 10:
      return `(${inner()})${r.pick([".", "?."])}${name()}`;
    case 11:
      return `${r.pick(ROOTS)}[${space()}${inner()}]`;
    case 12:
      return `${r.pick(["size", "map", "f"])}(${r.list(3, inner).join(`,${space()}`)})`;
    case 13:
      return `[${r.list(3, inner).join(", ")}]`;
    default:
      return r.chance(0.5)
        ? `{${[...new Set(r.list(3, () => r.pick(IDENTS)))].map((key) => `${key}: ${inner()}`).join(",")}}`
        : `"a\${${inner()}}${r.pick(["", " b", "\\n", "$"])}"`;
  }
}

function anySchema(r: Random, depth: number): JsonSchema {
  switch (r.below(depth > 0 ? 10 : 6)) {
    case 0:
      return {};
    case 1:
      return { type: r.pick(["string", "number", "integer", "boolean", "null", "object"]) };
    case 2:
      return { type: "string", format: r.pick(["date", "date-time", "uri", "email"]) };
    case 3:
      return { type: [r.pick(["string", "integer", "null"]), "null"] };
    case 4:
      return { type: "string", pattern: "^a$" };
    case 5:
      return { enum: [r.pick(NASTY), 1] };
    case 6:
      return { type: "array", items: anySchema(r, depth - 1) };
    case 7:
      return { anyOf: [anySchema(r, depth - 1), { type: "null" }] };
    default: {
      const properties = record(r, 3, () => anySchema(r, depth - 1));
      const names = Object.keys(properties).filter(() => r.chance(0.7));
      return { type: "object", properties, ...(names.length > 0 && { required: names }) };
    }
  }
}

function anyPolicy(r: Random): Policy {
  const count = (): number => r.pick([0, 1, 2, 250, 1000, 90_000, 3_600_000, 86_400_000]);
  const maybe = <K extends string, V>(key: K, make: () => V): { [k in K]?: V } =>
    (r.chance(0.25) ? { [key]: make() } : {}) as { [k in K]?: V };
  return {
    ...maybe("timeoutMs", count),
    ...maybe("retry", () => ({
      ...maybe("max", count),
      ...maybe("delayMs", count),
      ...maybe("maxDelayMs", count),
      ...maybe("backoff", () => r.pick(["constant", "linear", "exponential"] as const)),
      ...maybe("jitter", () => r.chance(0.5)),
      ...maybe("on", () => r.list(2, () => r.pick(NASTY))),
      ...maybe("if", () => anyValue(r, 2)),
    })),
    ...maybe("when", () => anyValue(r, 2)),
    ...maybe("onError", () =>
      r.pick(["fail" as const, "port" as const, "collect" as const, { default: anyValue(r, 3) }]),
    ),
    ...maybe("join", () => r.pick(["all" as const, "any" as const, 2])),
    ...maybe("concurrency", () => r.pick([4, { max: 1, key: anyValue(r, 2) }])),
    ...maybe("idempotencyKey", () => anyValue(r, 1)),
    ...maybe("cache", () => ({ ttlMs: count(), ...maybe("key", () => anyValue(r, 1)) })),
    ...maybe("delivery", () => r.pick(["atLeastOnce", "atMostOnce"] as const)),
  };
}

const TYPES: readonly string[] = [
  ...[
    "transform",
    "http.request",
    "log",
    "map",
    "a-b.c",
    "",
    "two words",
    "a..b",
    "a@2",
    "é",
    "1a",
  ],
];

function anyNode(r: Random, depth: number): FlowNode {
  return {
    id: anyName(r),
    type: r.pick(TYPES),
    ...(r.chance(0.2) && { typeVersion: 1 + r.below(9) }),
    fields: record(r, 4, () => anyValue(r, 3)),
    ...(r.chance(0.4) && { policy: anyPolicy(r) }),
    ...(depth > 0 && r.chance(0.2) && { body: anyBody(r, depth - 1) }),
  };
}

function anyBody(r: Random, depth: number): FlowBody {
  return {
    nodes: r.list(3, () => anyNode(r, depth)),
    edges: r.list(2, () => anyEdge(r)),
    ...(r.chance(0.5) && { output: anyValue(r, 2) }),
  };
}

function anyEdge(r: Random): FlowEdge {
  return {
    from: anyName(r),
    port: r.chance(0.5) ? "out" : anyName(r),
    to: anyName(r),
    ...(r.chance(0.2) && { meta: record(r, 2, () => anyData(r, 1)) }),
  };
}

function anyOutput(r: Random): FlowOutput {
  return {
    name: anyName(r),
    value: anyValue(r, 2),
    ...(r.chance(0.5) && { schema: anySchema(r, 3) }),
    ...(r.chance(0.3) && { description: anyText(r) }),
  };
}

/** One seed in so many makes a large graph. */
export const LARGE_EVERY = 2000;

/**
 * The graph of a seed: mostly a few items, for one seed in four more of each, for one in 2,000 up to 20,000 nodes. `title` in
 * `meta` has no text and is left out.
 */
export function anyGraph(seed: number): FlowGraph {
  const r = new Random(seed);
  if (seed % LARGE_EVERY === LARGE_EVERY - 1) {
    return largeGraph(r, Math.floor(20 * 1000 ** (r.next() ** 3)));
  }
  const isRich = r.chance(0.25);
  const few = isRich ? 3 : 1;
  const meta = record(r, 2, () => anyData(r, 2));
  return {
    version: 1,
    id: anyName(r),
    ...(r.chance(0.3) && { title: anyText(r) }),
    ...(r.chance(0.2) && { meta }),
    ...(r.chance(0.2) && {
      policy: {
        ...(r.chance(0.5) && { timeoutMs: 1000 }),
        ...(r.chance(0.5) && { onFailure: r.pick(["stop", "finish"] as const) }),
        ...(r.chance(0.5) && { concurrency: 4 }),
        ...(r.chance(0.5) && { notify: r.pick(["ops", "https://ops.test/hook"]) }),
      },
    }),
    inputs: r.list(few, () => ({
      name: anyName(r),
      ...(r.chance(0.6) && { schema: anySchema(r, 3) }),
      ...(r.chance(0.5) && { default: anyData(r, 3) }),
      ...(r.chance(0.3) && { description: anyText(r) }),
    })),
    nodes: r.list(isRich ? 4 : 2, () => anyNode(r, 2)),
    edges: r.list(few, () => anyEdge(r)),
    outputs: r.list(1, () => anyOutput(r)),
    connections: r.list(r.chance(0.3) ? few : 0, () => ({
      name: anyName(r),
      auth: r.pick(["oauth", "api key", "oauth@2"]),
      ...(r.chance(0.5) && { service: anyText(r) }),
      ...(r.chance(0.5) && { slug: anyName(r) }),
      ...(r.chance(0.5) && { scopes: r.list(2, () => anyText(r)) }),
    })),
    schedules: r.list(r.chance(0.3) ? few : 0, () => anySchedule(r)),
    layout: record(r, 1, () => [r.below(100), r.below(100)]),
  };
}

function anySchedule(r: Random): FlowSchedule {
  return {
    name: anyName(r),
    ...r.pick([{ cron: "0 7 * * 1" }, { everyMs: 90_000 }, { at: "2030-01-01T00:00:00Z" }]),
    ...(r.chance(0.3) && { timezone: anyText(r) }),
    ...(r.chance(0.5) && {
      inputs: { region: anyValue(r, 2), ...record(r, 2, () => anyValue(r, 2)) },
    }),
    ...(r.chance(0.3) && { enabled: r.chance(0.5) }),
    ...(r.chance(0.3) && { overlap: r.pick(["skip", "queue", "allow"] as const) }),
    ...(r.chance(0.3) && { catchUp: r.pick(["skip", "one", "all"] as const) }),
  };
}

/** `count` nodes in a chain that read and lead to each other; one in sixteen is as nasty as those of small graphs. */
export function largeGraph(r: Random, count: number): FlowGraph {
  const nodes = Array.from({ length: count }, (_, n): FlowNode => {
    const before = `n${r.below(n + 1)}`;
    return n % 16 === 15
      ? { ...anyNode(r, 1), id: `n${n}` }
      : { id: `n${n}`, type: "transform", fields: { value: { $: `${before}.value` } } };
  });
  return {
    version: 1,
    id: "large",
    inputs: [],
    nodes,
    edges: nodes.slice(1).map(({ id }, n) => ({ from: `n${n}`, port: "out", to: id })),
    outputs: [anyOutput(r)],
    connections: [],
    schedules: [],
    layout: { n0: [1, 2] },
  };
}
