/**
 * How other languages write what this one has too: line by line, as data. A form is looked for only in a line with an error, so
 * that no text that can be read is ever changed by it. A new form is a row here, with a sample in the tests.
 */

import { TYPE_NAMES } from "../../language/types.ts";
import {
  before,
  type Form,
  headOf,
  ID,
  membersOf,
  remove,
  replace,
  unquoted,
  unwrapped,
} from "./edits.ts";
import { EXPRESSION_FORMS } from "./expression-forms.ts";
import { CONDITIONAL_EDGES } from "./if-block.ts";
import { innerLines } from "./lines.ts";

const NODE = "a node is written `node id: type { … }`";
const POLICY = "a policy is written `@name = value`";
const EDGE = "an edge from a port is written `a.port -> b`";
const INPUT = "an input is written `input name: type = default`";
const OUTPUT = "an output is written `output name: type = value`";
const TYPE = '"?([A-Za-z][\\w.]*)"?';
const OPEN = "(\\s*\\{.*)?$";
const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const TEXTS = `${TEXT}(?:\\s*\\|\\s*${TEXT})+`;
const ITEM = /^(?:node|input|output|schedule|connection|layout)\b.*[:={]|^["\w.-]+\s*->/;
const NAMED_TYPE = `(?:${TYPE_NAMES.join("|")}|str|integer|boolean|float|String|Int|Boolean)(?:\\[\\])?\\??`;

/** The forms, the first that fits a line counts. */
export const FORMS: readonly Form[] = [
  {
    in: "file",
    pattern: /^[A-Z][^={}]* [^={}]*[.:!?]$/,
    says: "a flow has no prose; comments start with `#`",
    wins: true,
    rewrite(_, line, { lines }) {
      const at = lines.findIndex(({ text }) => /^(?:work)?flow\s+\S/.test(text));
      // Before the flow all that is no comment and no item goes, behind it a sentence.
      const head = lines.slice(0, Math.max(at, 0));
      const gone = at > line.index && !head.some(({ text }) => ITEM.test(text)) ? head : [line];
      return gone.filter(({ text, comment }) => text !== "" || comment === undefined).map(remove);
    },
  },
  {
    in: "file body",
    pattern: new RegExp(`^${ID}((?:\\.[\\w-]+)?)\\s+>\\s+${ID}$`),
    says: "an edge is written `a -> b`",
    rewrite: ([, from, port, to]) => `${from}${port} -> ${to}`,
  },
  // Heads of nodes.
  {
    in: "file body",
    pattern: new RegExp(
      `^(?:node|step|task)\\s+${ID}\\s*(?:\\s"|\\()\\s*${TYPE.slice(2)}\\s*\\)?${OPEN}`,
    ),
    says: NODE,
    wins: true,
    rewrite: ([, id, type, open = ""]) => `node ${id}: ${type}${open}`,
  },
  {
    in: "file body",
    pattern: new RegExp(`^(?:node|step|task)\\s+([a-z]\\w*(?:\\.\\w+)*)\\s+${ID}${OPEN}`),
    says: NODE,
    wins: true,
    rewrite: ([, type = "", id = "", open = ""], _, { isType, isExact }) =>
      isType(type) && (isExact(type) ? !isExact(id) : !isType(id))
        ? `node ${id}: ${type}${open}`
        : undefined,
  },
  {
    in: "file body",
    pattern: new RegExp(`^${ID}\\s*[:=]\\s*${TYPE}${OPEN}`),
    says: NODE,
    wins: true,
    rewrite: ([, id, type = "", open = ""], _, { isType }) =>
      isType(type) ? `node ${id}: ${type}${open}` : undefined,
  },
  {
    in: "file body",
    pattern: new RegExp(`^(?:node|step|task)\\s+${ID}\\s*\\{$`),
    says: NODE,
    wins: true,
    rewrite([, id], line, text) {
      const type = membersOf(line, text).get("type") ?? membersOf(line, text).get("uses");
      return type && [replace(line, `node ${id}: ${unquoted(type.value)} {`), remove(type.line)];
    },
  },
  {
    pattern: /^\{$/,
    says: "a block opens on the line of its head",
    wins: true,
    rewrite(_, line, { lines }) {
      const head = lines.slice(0, line.index).findLast(({ text }) => text !== "");
      if (!head) return undefined;
      const between = lines.slice(head.index, line.index);
      return between.some(({ comment }) => comment !== undefined)
        ? [{ start: head.to, end: head.to, text: " {" }, remove(line)]
        : [{ start: head.to, end: line.from, text: " " }];
    },
  },
  // Bodies and blocks in nodes.
  {
    in: "node step",
    pattern: /^(?:steps|do|each|tasks|nodes|loop|actions|then)\s*[:=]?\s*\{$/,
    says: "the steps of a `map` or `loop` stand in `body { … }`",
    rewrite: () => "body {",
  },
  {
    in: "node step",
    pattern: /^(?:fields|with|config|parameters|options|settings|properties)\s*[:=]?\s*\{$/,
    says: "fields stand in the braces of their node",
    rewrite: (_, line, text) => unwrapped(line, text, ""),
  },
  {
    in: "node step",
    pattern: /^(?:node\s|output\s*=)/,
    says: "the steps of a `map` or `loop` stand in `body { … }`",
    rewrite(_, { opener }, { lines }) {
      const inner = opener === undefined ? [] : innerLines(lines, opener);
      const at = inner.findIndex(({ text }) => /^(?:node\s|output\s*=)/.test(text));
      const first = inner[at];
      const isBody = inner
        .slice(at)
        .every(({ text }) => /^(?:node\s|output\b|return\b|\})|->/.test(text));
      if (!first || !isBody || opener?.closer === undefined) return undefined;
      return [before(first, "body {\n"), before(opener.closer, "}\n")];
    },
  },
  {
    in: "body",
    pattern: /^(?:return|yield|result)\b\s*[:=]?\s*(.+)$/,
    says: "the result of a body is its `output = …`",
    rewrite: ([, value]) => `output = ${value}`,
  },
  // Policies and fields.
  {
    in: "node step flow",
    pattern: /^@([\w-]+)\s*\((.*)\)$/,
    says: POLICY,
    rewrite: ([, name, inner = ""]) =>
      /^\s*\w+\s*[:=]/.test(inner)
        ? `@${name} = { ${inner.trim()} }`
        : `@${name} = ${inner.trim()}`,
  },
  {
    in: "node step",
    pattern: /^@([\w-]+)\s*(\{.*)$/,
    says: POLICY,
    rewrite: ([, name, rest]) => `@${name} = ${rest}`,
  },
  {
    in: "node step",
    pattern: /^(?:depends_?on|needs|after|requires|run_?after)\s*[:=]\s*\[?([\w\s",'-]+)\]?,?$/i,
    says: "an order of steps is an edge: `a -> b`",
    rewrite([, list = ""], line, { ids }) {
      const id = new RegExp(`^(?:node|step|task)\\s+${ID}`).exec(line.opener?.text ?? "")?.[1];
      const names = list
        .split(/[\s,]+/)
        .map(unquoted)
        .filter((name) => name !== "");
      if (id === undefined || !line.opener?.closer || !names.every((name) => ids.has(name)))
        return undefined;
      const { end } = line.opener.closer;
      const edges = names.map((name) => `\n${name} -> ${id}`).join("");
      return [remove(line), { start: end, end, text: `\n${edges}` }];
    },
  },
  {
    in: "node step",
    pattern: /^body\s*:\s*(\{.*)$/,
    says: "fields are set with `=`",
    wins: true,
    rewrite: ([, value]) => `body = ${value}`,
  },
  {
    in: "node step",
    pattern: /^([a-z][\w-]*)\s+("(?:[^"\\]|\\.)*"),?$/,
    says: "fields are set with `=`",
    wins: true,
    rewrite: ([, name, value]) => `${name} = ${value}`,
  },
  {
    pattern: /^([\w-]+)\s*[:=]\s*(https?:\/\/[^\s"']+)$/,
    says: "text stands in double quotes",
    wins: true,
    rewrite: ([, name, url]) => `${name} = "${url}"`,
  },
  {
    in: "node step flow input output",
    pattern:
      /^(message|prompt|system|title|description)\s*[:=]\s*([A-Za-z][\w',.!?-]*(?: [\w',.!?-]+)+)$/,
    says: "text stands in double quotes",
    wins: true,
    rewrite: ([, name, words]) => `${name} = "${words}"`,
  },
  {
    in: "node step",
    pattern: /^([\w-]+)\s*[:=]\s*([A-Za-z][\w-]*),?$/,
    says: "text stands in double quotes",
    wins: true,
    rewrite([, name = "", word = ""], line, text) {
      const choice = text
        .choices(line, name)
        .find((each) => typeof each === "string" && each.toLowerCase() === word.toLowerCase());
      return choice === undefined ? undefined : `${name} = "${choice}"`;
    },
  },
  // Blocks of many.
  {
    in: "file flow",
    pattern: /^(input|output)s\s*[:=]?\s*\{$/,
    says: "inputs and outputs stand each on a line of their own",
    rewrite: ([, word], line, text) => unwrapped(line, text, `${word} `),
  },
  {
    in: "file flow",
    pattern: /^(?:param(?:eter)?s|variables)\s*[:=]?\s*\{$/,
    says: INPUT,
    rewrite: (_, line, text) => unwrapped(line, text, "input "),
  },
  {
    in: "file flow body",
    pattern: /^(?:edges|connections|links)\s*[:=]?\s*[{[]$/,
    says: "an edge stands on a line of its own: `a -> b`",
    rewrite: (_, line, text) =>
      innerLines(text.lines, line).some((each) => each.text.includes("->"))
        ? unwrapped(line, text, "", true)
        : undefined,
  },
  {
    in: "file flow",
    pattern: /^(?:triggers?|on|nodes|steps|schedules)\s*[:=]?\s*\{$/,
    says: "items stand at the top of the file",
    rewrite: (_, line, text) =>
      innerLines(text.lines, line).every((each) => ITEM.test(each.text) || each.text === "}")
        ? unwrapped(line, text, "")
        : undefined,
  },
  {
    in: "flow",
    pattern: ITEM,
    says: "only the title and policies stand in the braces of `flow`",
    wins: true,
    rewrite(_, { opener }, { lines }) {
      const inner = opener === undefined ? [] : innerLines(lines, opener);
      const at = inner.findIndex(({ text }) => ITEM.test(text));
      const first = inner[at];
      if (!first || !opener?.closer || opener.closer.text !== "}") return undefined;
      const edits = [remove(opener.closer)];
      if (at > 0) return [before(first, "}\n\n"), ...edits];
      return [replace(opener, opener.text.replace(/\s*\{$/, "")), ...edits];
    },
  },
  // Inputs, outputs and schedules.
  {
    in: "file",
    pattern: new RegExp(`^input\\s+${ID}\\s*\\(\\s*([\\w[\\]?]+)\\s*\\)\\s*(.*)$`),
    says: INPUT,
    rewrite: ([, id, type, rest]) => `input ${id}: ${type} ${rest}`.trimEnd(),
  },
  {
    in: "file",
    pattern: new RegExp(`^input\\s+(${NAMED_TYPE})\\s*:?\\s+${ID}(.*)$`),
    says: INPUT,
    wins: true,
    rewrite: ([, type, id = "", rest]) =>
      TYPE_NAMES.includes(id) ? undefined : `input ${id}: ${type}${rest}`,
  },
  {
    in: "file",
    pattern: new RegExp(`^input\\s+${ID}\\s*:\\s*([^="]+?),?\\s+default\\s*[:=]?\\s*(.+)$`),
    says: INPUT,
    rewrite: ([, id, type, value]) => `input ${id}: ${type} = ${value}`,
  },
  {
    in: "file",
    pattern: /^output\b.*\{$/,
    says: OUTPUT,
    rewrite: (_, line, text) => headOf(line, text),
  },
  {
    in: "input output",
    pattern: /^(?:type|default|value)\s*[:=]/,
    says: INPUT,
    wins: true,
    rewrite: (_, { opener }, text) => opener && headOf(opener, text),
  },
  {
    in: "file",
    pattern: new RegExp(`^output\\s+${ID}\\s*:\\s*([A-Za-z_][\\w-]*(?:\\??\\.[\\w-]+)+)$`),
    says: OUTPUT,
    rewrite: ([, id, value]) => `output ${id} = ${value}`,
  },
  {
    in: "file",
    pattern: /^return\s+(.+)$/,
    says: OUTPUT,
    rewrite: ([, value]) => `output result = ${value}`,
  },
  {
    in: "file",
    pattern: /^schedule\s*\{$/,
    says: "a schedule has a name: `schedule daily { … }`",
    rewrite: () => "schedule main {",
  },
  {
    in: "file",
    pattern: new RegExp(`^(?:schedule|cron)\\s+${ID}\\s*[:=]\\s*("[^"]*")$`),
    says: "a schedule is a block: `schedule daily { cron = … }`",
    rewrite: ([, id, cron]) => `schedule ${id} {\n  cron = ${cron}\n}`,
  },
  {
    in: "schedule cron",
    pattern: /^interval\s*[:=]\s*(.+)$/,
    says: "a distance is written `every = 1h`",
    rewrite: ([, value]) => `every = ${value}`,
  },
  {
    in: "file",
    pattern: new RegExp(
      `^(input|output)\\s+${ID}\\s*:\\s*(?:list|array|List|Array)?[[(]\\s*(\\w+)\\s*[\\])](.*)$`,
    ),
    says: "a list of a type is written `type[]`",
    wins: true,
    rewrite: ([, word, id, type, rest]) => `${word} ${id}: ${type}[]${rest}`,
  },
  {
    in: "file",
    pattern: new RegExp(`^(input|output)\\s+${ID}\\s*:\\s*(\\w+)\\s*\\|\\s*null\\b(.*)$`),
    says: "what may be null is written `type?`",
    wins: true,
    rewrite: ([, word, id, type, rest]) => `${word} ${id}: ${type}?${rest}`,
  },
  {
    in: "file",
    pattern: new RegExp(`^(input|output)\\s+${ID}\\s*:\\s*(${TEXTS})\\s*(=[^{]+)?$`),
    says: "a choice of texts is a schema with `enum`",
    wins: true,
    rewrite: ([, word, id, texts = "", value]) => {
      const list = (texts.match(new RegExp(TEXT, "g")) ?? []).join(", ");
      const head = [word, id, ...(value === undefined ? [] : [value])].join(" ");
      return `${head} {\n  schema = { type: "string", enum: [${list}] }\n}`;
    },
  },
  // Edges.
  {
    in: "file body flow",
    pattern:
      /^(?:edge\s+)?([\w-]+)\s*(?:->|=>|→|-->)\s*([\w-]+)\s*(?:\[|\(|:\s*|when\s+|if\s+|on\s+)\s*(?:when\s+)?"?([\w-]+)"?\s*[\])]?$/,
    says: EDGE,
    wins: true,
    rewrite: ([, from, to, port]) => `${from}.${port} -> ${to}`,
  },
  {
    in: "file body flow",
    pattern: /^(?:edge\s+)?([\w-]+)\s*(?::|\[)\s*"?([\w-]+)"?\s*\]?\s*(?:->|=>|→|-->)\s*([\w-]+)$/,
    says: EDGE,
    wins: true,
    rewrite: ([, from, port, to]) => `${from}.${port} -> ${to}`,
  },
  {
    in: "file body flow",
    pattern: /^([\w-]+)\s+-{1,2}\[?\(?"?([A-Za-z_]\w*)"?\)?\]?-{1,2}>\s*([\w-]+)$/,
    says: EDGE,
    wins: true,
    rewrite: ([, from, port, to]) => `${from}.${port} -> ${to}`,
  },
  {
    in: "file body flow",
    pattern: /^edge\s+(.+?)\s*(?:->|=>|→|-->)\s*([\w-]+)$/,
    says: "an edge is written `a -> b`",
    rewrite: ([, from, to]) => `${from} -> ${to}`,
  },
  CONDITIONAL_EDGES,
  ...EXPRESSION_FORMS,
];
