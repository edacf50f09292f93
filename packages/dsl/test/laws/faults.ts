/** One-token faults: what slips from a keyboard or out of a merge. */
import type { Random } from "./random.ts";

/** Items of every kind, by a number that keeps their names apart. None holds a block string. */
const ITEMS: readonly ((n: number) => string)[] = [
  (n) => `input in${n}: string[] = ["a", "b"]`,
  (n) => `input rec${n}: { a: int, b: string? } = { a: 1 } {\n  description = "about"\n}`,
  (n) => `connection con${n}: oauth {\n  service = "pay"\n  scopes = ["x", "y"]\n}`,
  (n) => `schedule sch${n} {\n  every = 15m\n  inputs = { a: [1, 2] }\n}`,
  (n) => `node get${n}: http.request {\n  url = "https://\${inputs.host}/a"\n  @timeout = 10s\n}`,
  (n) =>
    `node calc${n}: transform {\n  value = {\n    a: (1 + 2) * size([1, 2]),\n    b: x[0].y,\n  }\n}`,
  (n) =>
    `node map${n}: map {\n  items = [1, 2]\n  body {\n    node one: log {\n      message = "m"\n    }\n\n    node two: log\n\n    one -> two\n\n    output = item\n  }\n}`,
  (n) => `edge${n}.out -> log${n} { label: "x" }`,
  (n) => `output out${n}: int = size([1, 2])`,
];

/** The text of `count` items in a row, and the names by which the graph knows them. */
export function someItems(count: number): { item: string; name: string }[] {
  return Array.from({ length: count }, (_, index) => {
    const item = (ITEMS[index % ITEMS.length] as (n: number) => string)(index);
    const name = /(?:in|rec|con|sch|get|calc|map|edge|out)\d+/.exec(item)?.[0] ?? "";
    return { item, name };
  });
}

/** Takes away one bracket, quote, arrow, `=` or `:`, or puts in a character that belongs nowhere. */
export function breakOne(item: string, r: Random): string {
  if (r.chance(0.2)) {
    const places = [...item.matchAll(/ = | -> /g)].map((match) => match.index + match[0].length);
    const at = r.pick(places);
    return `${item.slice(0, at)}${r.pick(["§ ", ") ", "] ", "= ", "* "])}${item.slice(at)}`;
  }
  // A hole without one of its braces is text, not a fault.
  const tokens = [...item.matchAll(/->|[[\]()="]|(?<!\$)\{|(?<!host)\}|:(?= )/g)];
  const token = r.pick(tokens);
  return item.slice(0, token.index) + item.slice(token.index + token[0].length);
}

/** What people write who have another language in their fingers. */
const SLIPS: readonly (readonly [RegExp, string])[] = [
  [/ = /, ": "],
  [/ = /, " == "],
  [/ -> /, " => "],
  [/"(\w+)"/, "'$1'"],
  [/(?<=\w)$/m, ";"],
  [/(?<=[\w}\])])$/m, " // why"],
  [/(?<=[\w}\])])$/m, " /* why */"],
  [/(?<== )[\w(["]/, "not $&"],
  [/\{$/m, "{ # why"],
];

/** Puts such a slip into an item, or leaves it as it is. */
export function slipOne(item: string, r: Random): string {
  return item.replace(...r.pick(SLIPS));
}

/** Every name that the top level of a graph knows. */
export function namesIn(graph: {
  inputs: readonly { name: string }[];
  connections: readonly { name: string }[];
  schedules: readonly { name: string }[];
  nodes: readonly { id: string }[];
  edges: readonly { from: string }[];
  outputs: readonly { name: string }[];
}): string[] {
  return [
    ...[...graph.inputs, ...graph.connections, ...graph.schedules, ...graph.outputs].map(
      ({ name }) => name,
    ),
    ...graph.nodes.map(({ id }) => id),
    ...graph.edges.map(({ from }) => from),
  ];
}
