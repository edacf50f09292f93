/** Flows that repeat one construct of the language, valid or not. */
import { times } from "../check/graphs.ts";

const lines = (count: number, line: (i: number) => string): string => times(count, line).join("\n");
const block = (head: string, count: number, line: (i: number) => string): string =>
  `${head} {\n${lines(count, line)}\n}\n`;
const value = (text: string): string => `node a: transform {\n  value = ${text}\n}\n`;
const list = (count: number, element: (i: number) => string): string =>
  value(`[\n${lines(count, element)}\n]`);
const node = (i: number): string => `node n${i}: transform { value = 1 }`;
const conditions = (count: number): string =>
  lines(count, (i) => `node c${i}: condition { if = run.id == "" }`);
/** Nodes behind one port of a condition each. */
const branches = (count: number): string =>
  `${conditions(count)}\n${lines(count, (i) => `node b${i}: transform { value = 1 }\nc${i}.true -> b${i}`)}`;

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** A flow behind its header, by what it repeats. */
export const REPEATED: { readonly [what: string]: (count: number) => string } = {
  inputs: (n) => lines(n, (i) => `input i${i}: { a: string, b: int? } = { a: "x", b: 1 }`),
  "inputs with a schema": (n) => lines(n, (i) => `input i${i} {\n  schema = { type: "string" }\n}`),
  connections: (n) => lines(n, (i) => `connection c${i}: oauth {\n  slug = "c${i}"\n}`),
  "attributes of a connection": (n) => block("connection c: oauth", n, (i) => `  a${i} = 1`),
  "one attribute of a connection": (n) => block("connection c: oauth", n, () => '  slug = "c"'),
  schedules: (n) =>
    lines(n, (i) => `schedule s${i} {\n  cron = "0 7 * * 1"\n  inputs = { a: 1 }\n}`),
  "inputs of a schedule": (n) =>
    `${lines(n, (i) => `input i${i}: int`)}\nschedule s {\n  every = 1h\n  inputs = {\n${lines(n, (i) => `i${i}: 1`)}\n}\n}\n`,
  nodes: (n) => lines(n, node),
  "nodes that read the one before": (n) =>
    lines(n, (i) => `node n${i}: transform { value = ${i === 0 ? 1 : `n${i - 1}.value`} }`),
  "nodes that read the one behind": (n) =>
    lines(n, (i) => `node n${i}: transform { value = n${i + 1}.value }`),
  "readers of one node": (n) =>
    `${node(0)}\n${lines(n, (i) => `node r${i}: transform { value = n0.value }`)}`,
  "nodes of one name": (n) => lines(n, () => node(0)),
  "nodes of an unknown type": (n) => lines(n, (i) => `node n${i}: nothing.like.it { a = 1 }`),
  "nodes of a type with a mistake": (n) => lines(n, (i) => `node n${i}: transfrom { value = 1 }`),
  fields: (n) => block("node a: transform", n, (i) => `  f${i} = ${i}`),
  "one field": (n) => block("node a: transform", n, () => "  value = 1"),
  "fields before one that is not canonical": (n) =>
    `node a: transform {\n${lines(n, (i) => `  f${i} = { a: x.y[${i}] + 1, b: "${"${x}"}" }`)}\n  last = 'x'\n}\n`,
  "nodes that are not canonical": (n) =>
    lines(n, (i) => `node n${i}: transform {\n  value = [1, "a", (x + y)]\n}`),
  "fields without an indent that cannot be read": (n) =>
    `node a: transform {\n${lines(n, (i) => `f${i} = { a: "b", c: § }`)}\n}`,
  policies: (n) => block("node a: transform", n, (i) => `  @p${i} = 1`),
  "one policy": (n) => block("node a: transform", n, () => "  @timeout = 5"),
  "list elements": (n) => list(n, (i) => `  ${i},`),
  "list elements that are expressions": (n) => list(n, (i) => `  run.id + "${i}",`),
  "object members": (n) => value(`{\n${lines(n, (i) => `  k${i}: ${i}`)}\n}`),
  "one object member": (n) => value(`{\n${lines(n, () => "  k: 1")}\n}`),
  "arguments of a call": (n) => value(`min(${times(n, (i) => `${i}`).join()})`),
  "holes of a template": (n) => value(`"${"a${run.id} ".repeat(n)}"`),
  "characters of a string": (n) => value(`"${"x".repeat(n)}"`),
  "escapes of a string": (n) => value(`"${"\\n".repeat(n)}"`),
  "lines of a block string": (n) => value(`"""\n${lines(n, (i) => `  line ${i}`)}\n  """`),
  "holes of a block string": (n) => value(`"""\n${lines(n, () => "  ${run.id} }")}\n  """`),
  "blanks before a line end": (n) => value(`1${" ".repeat(n)}`),
  edges: (n) => `${lines(n + 1, node)}\n${lines(n, (i) => `n${i} -> n${i + 1}`)}`,
  "edges from one node": (n) => `${lines(n + 1, node)}\n${lines(n, (i) => `n0 -> n${i + 1}`)}`,
  "edges into one node": (n) => `${lines(n + 1, node)}\n${lines(n, (i) => `n${i + 1} -> n0`)}`,
  "edges in a circle": (n) => `${lines(n, node)}\n${lines(n, (i) => `n${i} -> n${(i + 1) % n}`)}`,
  "one edge": (n) => `${lines(2, node)}\n${lines(n, () => "n0 -> n1")}`,
  "edges of nobody": (n) => lines(n, (i) => `a${i} -> b${i}`),
  "ends of a chain": (n) => `${lines(n, node)}\n${times(n, (i) => `n${i}`).join(" -> ")} { a: 1 }`,
  "labels of edges": (n) => `${lines(2, node)}\nn0 -> n1 {\n${lines(n, (i) => `  l${i}: "x"`)}\n}`,
  "ports of a switch": (n) =>
    `node s: switch {\n  on = 1\n  cases = {\n${lines(n, (i) => `    p${i}: ${i}`)}\n  }\n}\n${lines(n, node)}\n${lines(n, (i) => `s.p${i} -> n${i}`)}`,
  outputs: (n) => `${node(0)}\n${lines(n, (i) => `output o${i}: int = n0.value`)}`,
  "outputs of one name": (n) => lines(n, () => "output o: int = 1"),
  "layout entries": (n) => `${lines(n, node)}\n${block("layout", n, (i) => `  n${i} = [${i}, 1]`)}`,
  "layout entries of nobody": (n) => block("layout", n, (i) => `  "n${i}/a" = [1, 1]`),
  "layout entries of one name": (n) => block("layout", n, () => "  a = [1, 1]"),
  layouts: (n) => lines(n, () => "layout {\n  a = [1, 1]\n}"),
  comments: (n) => `${lines(n, (i) => `# c${i}`)}\n${node(0)}`,
  "comments at the end": (n) => `${node(0)}\n${lines(n, (i) => `# c${i}`)}`,
  "comments between nodes": (n) => lines(n, (i) => `# c${i}\n\n${node(i)} # t${i}`),
  "comments in a list": (n) => list(n, (i) => `  # c${i}\n  ${i}, # t${i}`),
  "comments in a layout": (n) => block("layout", n, (i) => `  # c${i}\n  n${i} = [${i}, 1]`),
  "empty lines": (n) => `${"\n".repeat(n)}${node(0)}`,
  "empty lines between fields": (n) => block("node a: transform", n, (i) => `  f${i} = 1\n`),
  meta: (n) => `layout {\n}\n${lines(n, (i) => `m${i} = 1`)}`,
  "fields of a type": (n) => `input i: { ${times(n, (i) => `f${i}: string`).join(", ")} }`,
  "members of a schema": (n) =>
    `input i {\n  schema = { enum: [1], properties: {\n${lines(n, (i) => `f${i}: { type: "string" }`)}\n} }\n}`,
  "nodes of a body": (n) => `node m: map {\n  items = [1]\n  body {\n${lines(n, node)}\n}\n}`,
  "edges of a body": (n) =>
    `node m: map {\n  items = [1]\n  body {\n${lines(n + 1, node)}\n${lines(n, (i) => `n${i} -> n${i + 1}`)}\n}\n}`,
  bodies: (n) =>
    lines(
      n,
      (i) => `node m${i}: map {\n  items = [1]\n  body {\n${node(0)}\noutput = n0.value\n}\n}`,
    ),
  "bodies in bodies": (n) =>
    lines(
      n / 50,
      (i) =>
        `${lines(50, (d) => `node m${d === 0 ? i : ""}: map {\n  items = [1]\n  body {`)}\n${"}\n}\n".repeat(50)}`,
    ),
  "unknown blocks": (n) => lines(n, (i) => `trigger t${i} {\n  a = 1\n}`),
  "unknown names": (n) => lines(n, (i) => `node n${i}: transform { value = nobody${i}.value }`),
  "unknown functions": (n) => lines(n, (i) => `node n${i}: transform { value = sizze([]) }`),
  "unknown fields": (n) => lines(n, (i) => `node n${i}: transform { vallue = 1 }`),
  "values of the wrong type": (n) => lines(n, (i) => `node n${i}: log { message = 1 }`),
  "items that cannot be read": (n) => lines(n, (i) => `node n${i} = § 1`),
  "elements that cannot be read": (n) => list(n, () => "  §,"),
  "braces that are not closed": (n) => lines(n, (i) => `node n${i}: transform {`),
  "braces that close nothing": (n) => "}\n".repeat(n),
  "strings that are not closed": (n) => lines(n, (i) => `node n${i}: log { message = "a`),
  "slips of other languages": (n) => lines(n, (i) => `node n${i}: log { message = 'a'; } // b`),
  "secrets in strings": (n) =>
    lines(n, (i) => `node n${i}: log { message = "sk-proj-${"Ab3".repeat(8)}${i}" }`),
  "unsafe uses": (n) =>
    lines(n, (i) => `node n${i}: http.request { url = "http://a.example/\${run.id}" }`),
  "equal list elements": (n) => list(n, () => "  1,"),
  "readers of many nodes": (n) =>
    `${conditions(n)}\n${value(`min(${times(n, (i) => `c${i}.result ? 1 : 2`).join()})`)}`,
  "reads that may be absent": (n) =>
    `${branches(n)}\n${value(`[${times(n, (i) => `b${i}.value`).join()}, 1][0]`)}`,
  "unknown names in one expression": (n) => value(`min(${times(n, (i) => `zz${i}`).join()})`),
  "unknown members in one expression": (n) =>
    `${node(0)}\n${value(`min(${times(n, () => "n0.vallue").join()})`)}`,
  "clean parts of one expression": (n) =>
    `${node(0)}\n${value(`min(${times(n, () => "size(n0.value)").join()})`)}`,
  "edges back to the first of a chain": (n) =>
    `${lines(n, node)}\n${lines(n - 1, (i) => `n${i} -> n${i + 1}`)}\n${lines(n - 1, (i) => `n${i + 1} -> n0`)}`,
  "circles of two": (n) => `${lines(n, node)}\n${lines(n - 1, (i) => `n${i} -> n${i ^ 1}`)}`,
  "unknown ports": (n) =>
    `node s: switch {\n  on = 1\n  cases = {\n${lines(n, (i) => `    p${i}: ${i}`)}\n  }\n}\n${node(0)}\n${lines(n, (i) => `s.q${i} -> n0`)}`,
  "calls of as many connections": (n) =>
    `${lines(n, (i) => `connection c${i}: oauth`)}\n${lines(n, (i) => `node n${i}: service.call {\n  connection = "c${i}"\n  operation = "o"\n}`)}`,
  "unknown connections": (n) =>
    `${lines(n, (i) => `connection c${i}: oauth`)}\n${lines(n, (i) => `node n${i}: service.call {\n  connection = "d${i}"\n  operation = "o"\n}`)}`,
  "nodes on one line": (n) => times(n, node).join("; "),
  "calls of flows": (n) => lines(n, (i) => `node n${i}: subflow { flow = "f${i}" }`),
  "tools of a model": (n) =>
    `node a: ai {\n  input = "x"\n  tools = [${times(n, (i) => `"flow:f${i}"`).join()}]\n}`,
  "labels of a model": (n) =>
    `node a: ai {\n  input = "x"\n  labels = [\n${lines(n, (i) => `    { name: "l${i}" },`)}\n  ]\n}\n${lines(n, (i) => `a.l${i} -> n`)}`,
  "invisible controls": (n) => lines(n, (i) => `node n${i}: log { message = "a\u202eb" }`),
};

/** An expression by what it repeats. */
export const REPEATED_IN_EXPRESSIONS: { readonly [what: string]: (count: number) => string } = {
  elements: (n) => `[${"1, ".repeat(n)}]`,
  members: (n) => `{ ${times(n, (i) => `k${i}: ${i}`).join(", ")} }`,
  arguments: (n) => `min(${times(n, (i) => `${i}`).join()})`,
  holes: (n) => `"${"a${x} ".repeat(n)}"`,
  characters: (n) => `upper("${"x".repeat(n)}")`,
  comparisons: (n) => `[${times(n, (i) => `x == ${i} && y.a != null`).join()}]`,
  references: (n) => `[${times(n, (i) => `nodes["n${i}"].value`).join()}]`,
  "reads of one name": (n) => `[${times(n, () => "x").join()}]`,
  calls: (n) => `[${times(n, () => 'contains("ab", "b")').join()}]`,
  macros: (n) => `[${times(n, () => "map([1], e, e + 1)").join()}]`,
  "unknown names": (n) => `[${times(n, (i) => `zz${i}`).join()}]`,
  errors: (n) => `[${times(n, () => "§").join()}]`,
  "elements of unlike types": (n) => `[${times(n, (i) => `{ k${i}: ${i} }`).join()}]`,
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: holes of the flow language
