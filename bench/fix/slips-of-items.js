// Slips in the heads of blocks, in edges, and in what belongs into a block.
import { every, one } from "./places.js";

const NODE = /^( *)node ([\w-]+): ([\w.]+)( \{)?$/m;
const EDGE = /^( *)([\w-]+)(?:\.([\w-]+))? -> ([\w-]+)$/m;
const PORT_EDGE = /^([\w-]+)\.([\w-]+) -> ([\w-]+)$/m;

/** Heads of blocks. */
export const headSlips = {
  "step for node": every(/^( *)node (?=[\w-]+: )/m, (_, blanks) => `${blanks}step `),
  "a node without its word": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}${id}: ${type}${open}`,
  ),
  "a type without a colon": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node ${id} ${type}${open}`,
  ),
  "an equals sign before the type": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node ${id} = ${type}${open}`,
  ),
  "a head of Terraform": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node "${id}" "${type}"${open}`,
  ),
  "a type and then a name": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node ${type} ${id}${open}`,
  ),
  "a type in parentheses": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node ${id}(${type})${open}`,
  ),
  "a type in quotes": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node ${id}: "${type}"${open}`,
  ),
  "a type as a field": one(
    /^( *)node ([\w-]+): ([\w.]+) \{$/m,
    (_, blanks, id, type) => `${blanks}node ${id} {\n${blanks}  type = "${type}"`,
  ),
  "a name in quotes": one(
    NODE,
    (_, blanks, id, type, open = "") => `${blanks}node "${id}": ${type}${open}`,
  ),
  "fields in a block": one(
    /^node ([\w-]+): ([\w.]+) \{\n((?: {2}[\w-]+ = .*[^{[(\n]\n)+)\}$/m,
    (_, id, type, fields) =>
      `node ${id}: ${type} {\n  fields {\n${fields.replace(/^/gm, "  ").trimEnd()}\n  }\n}`,
  ),
  "a body without its braces": (text) => {
    const changed = text.replace(/^ {2}body \{\n([\s\S]*?)^ {2}\}\n/gm, (_, inner) =>
      inner.replace(/^ {2}/gm, ""),
    );
    return changed === text ? undefined : changed;
  },
  "steps for body": one(/^ {2}body \{$/m, () => "  steps {"),
  "do for body": one(/^ {2}body \{$/m, () => "  do {"),
  "return for output": one(/^( {4})output = /m, (_, blanks) => `${blanks}return `),
  "inputs in one block": (text) => grouped(text, "input", "inputs"),
  "outputs in one block": (text) => grouped(text, "output", "outputs"),
  "an input of Terraform": one(
    /^input ([\w-]+): ([\w[\]]+)( = (.*[^{]))?$/m,
    (_, id, type, __, value) =>
      `input ${id} {\n  type = ${type.includes("[") ? `"${type}"` : type}\n${value === undefined ? "" : `  default = ${value}\n`}}`,
  ),
  "an input in parentheses": one(
    /^input ([\w-]+): (\w+)$/m,
    (_, id, type) => `input ${id} (${type})`,
  ),
  "a type before the name": one(
    /^input ([\w-]+): (\w+)(?= |$)/m,
    (_, id, type) => `input ${type} ${id}`,
  ),
  "the word default": one(/^(input [\w-]+: \w+) = /m, (_, head) => `${head} default `),
  "an output as a block": one(
    /^output ([\w-]+): ([\w[\]?]+) = (.*)$/m,
    (_, id, __, value) => `output ${id} {\n  value = ${value}\n}`,
  ),
  "an output without its type": one(
    /^output ([\w-]+): [\w[\]?]+ = ([\w.]+)$/m,
    (_, id, value) => `output ${id}: ${value}`,
  ),
  "a whole node as an output": one(
    /^(output [\w-]+(?:: [\w[\]]+)? = [\w-]+)\.(?:value|content|items|text|stdout)$/m,
    (_, head) => head,
  ),
  "a returned output": one(
    /^output ([\w-]+): [\w[\]?]+ = ([\w.]+)$/m,
    (_, __, value) => `return ${value}`,
  ),
  "a schedule without a name": one(/^schedule [\w-]+ \{$/m, () => "schedule {"),
  "a schedule on one line": one(
    /^schedule ([\w-]+) \{\n {2}cron = ("[^"]*")\n[\s\S]*?\}$/m,
    (_, id, cron) => `schedule ${id} = ${cron}`,
  ),
  "cron for schedule": one(/^schedule (?=[\w-]+ \{$)/m, () => "cron "),
  "an interval": one(/^( +)every = /m, (_, blanks) => `${blanks}interval = `),
  "a trigger around a schedule": one(
    /^schedule ([\w-]+) \{\n([\s\S]*?)^\}$/m,
    (_, id, inner) => `trigger {\n  schedule ${id} {\n${inner.replace(/^(?=.)/gm, "  ")}  }\n}`,
  ),
};

/** Order. */
export const edgeSlips = {
  "thick arrows": every(EDGE, (line) => line.replace(" -> ", " => ")),
  "a drawn arrow": every(EDGE, (line) => line.replace(" -> ", " → ")),
  "a long arrow": one(EDGE, (line) => line.replace(" -> ", " --> ")),
  "a word before an edge": every(EDGE, (line) => line.replace(/^ */, "$&edge ")),
  "edges in a block": (text) => {
    const lines = text.match(/^[\w-]+(?:\.[\w-]+)? -> [\w-]+$/gm);
    if (!lines) return undefined;
    const rest = text.replace(/^[\w-]+(?:\.[\w-]+)? -> [\w-]+\n/gm, "");
    return `${rest}\nedges {\n${lines.map((line) => `  ${line}\n`).join("")}}\n`;
  },
  "edges in a list": (text) => {
    const lines = text.match(/^[\w-]+(?:\.[\w-]+)? -> [\w-]+$/gm);
    if (!lines) return undefined;
    const rest = text.replace(/^[\w-]+(?:\.[\w-]+)? -> [\w-]+\n/gm, "");
    return `${rest}\nedges = [\n${lines.map((line) => `  ${line},\n`).join("")}]\n`;
  },
  "a port behind the edge": one(PORT_EDGE, (_, from, port, to) => `${from} -> ${to} [${port}]`),
  "a port after a colon": one(PORT_EDGE, (_, from, port, to) => `${from}:${port} -> ${to}`),
  "a port in brackets": one(PORT_EDGE, (_, from, port, to) => `${from}["${port}"] -> ${to}`),
  "a port after when": one(PORT_EDGE, (_, from, port, to) => `${from} -> ${to} when ${port}`),
  "a port on the arrow": one(PORT_EDGE, (_, from, port, to) => `${from} -${port}-> ${to}`),
  "an order as a field": (text, random) => {
    const edge = /^([\w-]+) -> ([\w-]+)\n/m.exec(text);
    if (!edge) return undefined;
    const [line, from, to] = edge;
    const needs = [
      `depends_on = ["${from}"]`,
      `dependsOn = [${from}]`,
      `needs = "${from}"`,
      `after = ${from}`,
    ];
    const head = new RegExp(`^(node ${to}: [\\w.]+)(?: \\{)?$`, "m").exec(text);
    if (!head?.[0].endsWith("{")) return undefined;
    const field = needs[Math.floor(random() * needs.length)];
    return text.replace(head[0], `${head[0]}\n  ${field}`).replace(line, "");
  },
};

/** Lines `word name…` as a block of many. */
function grouped(text, word, block) {
  const lines = text.match(new RegExp(`^${word} [^\\n{]*[^\\n{[("]$`, "gm"));
  if (!lines || lines.length < 2) return undefined;
  const inner = lines.map((line) => `  ${line.slice(word.length + 1)}\n`).join("");
  let isFirst = true;
  return text.replace(new RegExp(`^${word} [^\\n{]*[^\\n{[("]\\n`, "gm"), () => {
    if (!isFirst) return "";
    isFirst = false;
    return `${block} {\n${inner}}\n`;
  });
}
