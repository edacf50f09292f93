// What models write where the flow language wants something else: a rule makes one slip in a canonical text, or answers
// undefined where the text has no place for it. `random` chooses among the places. Rules come in families, by what they break.

import { every, one, pick } from "./places.js";
import { documentSlips } from "./slips-of-documents.js";
import { edgeSlips, headSlips } from "./slips-of-items.js";

/** Text around and at the beginning of a flow. */
const around = {
  "a Markdown fence": (text) => `\`\`\`flow\n${text}\`\`\`\n`,
  "a fence of another language": (text, random) =>
    `\`\`\`${pick(["hcl", "text", "yaml", ""], random)}\n${text}\`\`\`\n`,
  "prose around a fence": (text) =>
    `Here is the flow you asked for:\n\n\`\`\`flow\n${text}\`\`\`\n\nIt does what you want. Let me know if you need changes!\n`,
  "prose before the flow": (text) => `Sure! Here is the flow:\n\n${text}`,
  "no version": one(/^flow 1 /m, () => "flow "),
  "no head": (text) => {
    const rest = text.replace(/^flow 1 [\w-]+(?: \{[^}]*\})?\n+/m, "");
    return rest === text ? undefined : rest;
  },
  "a title as the id": one(/^flow 1 ([\w-]+)$/m, (_, id) => `flow 1 "${id}"`),
  "workflow for flow": one(/^flow 1 /m, () => "workflow 1 "),
  "everything in the braces of the flow": (text) =>
    text.replace(
      /^flow 1 ([\w-]+)\n+([\s\S]*)$/m,
      (_, id, rest) => `flow 1 ${id} {\n${rest.replace(/^(?=.)/gm, "  ")}}\n`,
    ),
};

const FIELD = /^( +)(@?[\w-]+) = (?=\S)/m;
/** A string without holes, quotes and escapes. */
const STRING = /"([^"\\\n$']*)"/;

/** Signs and quotes. */
const signs = {
  "colons for fields": every(FIELD, (_, blanks, name) => `${blanks}${name}: `),
  "a colon for a field": one(FIELD, (_, blanks, name) => `${blanks}${name}: `),
  "a sign of Go": one(FIELD, (_, blanks, name) => `${blanks}${name} := `),
  "no sign": one(/^( +)([\w-]+) = (?=")/m, (_, blanks, name) => `${blanks}${name} `),
  "single quotes": every(STRING, (_, inner) => `'${inner}'`),
  "a single-quoted text": one(STRING, (_, inner) => `'${inner}'`),
  "curly quotes": every(STRING, (_, inner) => `“${inner}”`),
  "a text in curly quotes": one(STRING, (_, inner) => `“${inner}”`),
  "backticks around a template": one(
    /"([^"\\\n]*\$\{[^"\\\n}]*\}[^"\\\n]*)"/,
    (_, inner) => `\`${inner}\``,
  ),
  "an f-string": one(
    /"([^"\\\n{}]*)\$\{([^"\\\n}]*)\}([^"\\\n{}]*)"/,
    (_, a, b, c) => `f"${a}{${b}}${c}"`,
  ),
  "a word without quotes": one(
    /^( +(?:method|mode|level|task|response|encoding|backoff) = )"([\w-]+)"$/m,
    (_, head, word) => `${head}${word}`,
  ),
  "an address without quotes": one(
    /^( +url = )"(https:[^"$]*)"$/m,
    (_, head, url) => `${head}${url}`,
  ),
  "a sentence without quotes": one(
    /^( +(?:message|prompt|system) = )"([A-Za-z]+ [^"\\\n${}]*)"$/m,
    (_, head, words) => `${head}${words}`,
  ),
  semicolons: every(/^( +@?[\w-]+ = [^\n{[]*[^\n{[,])$/m, (line) => `${line};`),
  "a semicolon": one(/^( +@?[\w-]+ = [^\n{[]*[^\n{[,])$/m, (line) => `${line};`),
  "commas behind fields": every(/^( +@?[\w-]+ = .*[^\n{[,(])$/m, (line) => `${line},`),
  "a missing comma": one(/(["\w\])}]), (?=["\w]+(?:: |[,\]]))/, (_, before) => `${before} `),
  "a missing brace": one(/^\}\n/m, () => ""),
  "a missing last brace": (text) => {
    const at = text.lastIndexOf("\n}\n");
    return at === -1 ? undefined : `${text.slice(0, at + 1)}${text.slice(at + 3)}`;
  },
  "a brace too many": one(/^\}\n/m, () => "}\n}\n"),
  "a brace on the next line": every(
    /^( *)(node [^\n]*) \{$/m,
    (_, blanks, head) => `${blanks}${head}\n${blanks}{`,
  ),
  "blocks on one line": every(
    /^node ([^\n]*) \{\n((?: {2}[\w@-]+ = [^\n]*[^\n{[(]\n){1,3})\}$/m,
    (whole, head, fields) =>
      whole.includes('"""') ? whole : `node ${head} { ${fields.trim().replace(/\n +/g, ", ")} }`,
  ),
  tabs: (text) => text.replace(/^(?: {2})+/gm, (blanks) => "\t".repeat(blanks.length / 2)),
  "no indentation": (text) => (text.includes('"""') ? undefined : text.replace(/^ +/gm, "")),
  "wrong indentation": (text, random) =>
    text.includes('"""')
      ? undefined
      : text.replace(/^ +/gm, () => " ".repeat(1 + Math.floor(random() * 6))),
  "comments of JavaScript": (text) => text.replace(/^# /gm, "// "),
  "a comment of C": (text) => text.replace(/^# (.*)$/m, "/* $1 */"),
  "a comment behind a field": one(/^( +[\w-]+ = .*[^\n{[(])$/m, (line) => `${line} // as asked`),
};

/** An operand of an operator: a path, a call or a literal. */
const OPERAND = '(?:[\\w.]+(?:\\([^()\\n]*\\))?|"[^"\\n]*")';
const HOLE = /\$\{([^{}"\n]*)\}/;

/** Expressions of other languages. */
const expressions = {
  "three equals signs": one(/ == /, () => " === "),
  "two equals signs too many": one(/ != /, () => " !== "),
  "one equals sign": one(/^( +(?:if|until) = [^\n=!]*) == /m, (_, head) => `${head} = `),
  "and for &&": one(/ && /, () => " and "),
  "not for !": one(/(?<=[ (])!(?=[a-z])/, () => "not "),
  "is not null": one(/ != null/, () => " is not null"),
  "not None": one(/ != null/, () => " != None"),
  "words of Python": one(
    /(?<=[ [:])(?:true|false)\b(?!\s*->)/,
    (word) => word.charAt(0).toUpperCase() + word.slice(1),
  ),
  "holes of GitHub": every(HOLE, (_, inner) => `\${{ ${inner} }}`),
  "holes of handlebars": every(HOLE, (_, inner) => `{{ ${inner} }}`),
  "a hole of Ruby": one(HOLE, (_, inner) => `#{${inner}}`),
  "a value as a hole": one(
    /^( +[\w-]+ = )(inputs\.\w+|[a-z]+\.\w+)$/m,
    (_, head, inner) => `${head}\${${inner}}`,
  ),
  "a value in handlebars": one(
    /^( +[\w-]+ = )(inputs\.\w+|[a-z]+\.\w+)$/m,
    (_, head, inner) => `${head}{{ ${inner} }}`,
  ),
  "a value in quotes and a hole of GitHub": one(
    /^( +[\w-]+ = )((?:inputs\.\w+|[a-z]+\.(?:content|text|items)))$/m,
    (_, head, inner) => `${head}"\${{ ${inner} }}"`,
  ),
  "a dollar before inputs": one(/(?<![\w.])inputs\.(?=\w)/, () => "$inputs."),
  "input for inputs": every(/(?<![\w.])inputs\.(?=\w)/, () => "input."),
  "params for inputs": one(/(?<![\w.])inputs\.(?=\w)/, () => "params."),
  "an input by its name": one(/(?<![\w.])inputs\.(?=\w)/, () => ""),
  "steps in front": one(
    /(?<![\w.@"])(?!inputs|secrets|row|page|file|state)([a-z]\w*)\.(?=(?:value|body|content|text|items|status|stdout|result)\b)/,
    (_, id) => `steps.${id}.`,
  ),
  "steps and outputs": one(
    /(?<![\w.@"])(?!inputs|secrets|row|page|file|state)([a-z]\w*)\.(?=(?:value|body|content|text|items|status|stdout)\b)/,
    (_, id) => `steps.${id}.outputs.`,
  ),
  "output in between": one(
    /(?<![\w.@"])(?!inputs|secrets|row|page|file|state)([a-z]\w*)\.(?=(?:value|body|content|items|status|stdout)\b)/,
    (_, id) => `${id}.output.`,
  ),
  "a status code": one(/\.status\b/, () => ".statusCode"),
  "data for a body": one(/(?<=\b(?:get|job|user|post|weather|rows))\.body\b/, () => ".data"),
  "result for a value": one(/(?<=[a-z])\.value\b/, () => ".result"),
  "a member length": one(/(?<!\w)size\(([\w.]+)\)/, (_, inner) => `${inner}.length`),
  "a function len": one(/(?<!\w)size\(/, () => "len("),
  "a method of strings": one(
    /(?<!\w)(upper|lower|trim)\(([\w.]+)\)/,
    (_, name, inner) =>
      `${inner}.${{ upper: "toUpperCase", lower: "toLowerCase", trim: "trim" }[name]}()`,
  ),
  "a method includes": one(
    /(?<!\w)contains\(([\w.]+), ("[^"\n]*")\)/,
    (_, a, b) => `${a}.includes(${b})`,
  ),
  "a method split": one(/(?<!\w)split\(([\w.]+), ("[^"\n]*")\)/, (_, a, b) => `${a}.split(${b})`),
  "a method join": one(/(?<!\w)join\(([\w.]+), ("[^"\n]*")\)/, (_, a, b) => `${a}.join(${b})`),
  "a method map": one(
    /(?<!\w)map\(([\w.]+), (\w+), ([\w.]+)\)/,
    (_, list, x, e) => `${list}.map(${x} => ${e})`,
  ),
  "a method filter": one(
    /(?<!\w)filter\(([\w.]+), (\w+), ([^()\n]+)\)/,
    (_, list, x, e) => `${list}.filter((${x}) => ${e})`,
  ),
  "JSON.stringify": one(/(?<!\w)json\(/, () => "JSON.stringify("),
  "JSON.parse": one(/(?<!\w)parseJson\(/, () => "JSON.parse("),
  "a choice of Python": one(
    new RegExp(`= (${OPERAND} (?:[<>=]=?) ${OPERAND}) \\? (${OPERAND}) : (${OPERAND})$`, "m"),
    (_, c, a, b) => `= ${a} if ${c} else ${b}`,
  ),
  "a choice in words": one(
    new RegExp(`= (${OPERAND} (?:[<>=]=?) ${OPERAND}) \\? (${OPERAND}) : (${OPERAND})$`, "m"),
    (_, c, a, b) => `= if ${c} then ${a} else ${b}`,
  ),
  "or for a default": one(/ \?\? /, () => " || "),
  "text and a number": one(
    /"([^"\\\n${}]+)\$\{(size\([\w.]+\)|inputs\.(?:amount|count|days|limit))\}"/,
    (_, text, inner) => `"${text}" + ${inner}`,
  ),
};

/** Names of policies, fields, types and units. */
const names = {
  "policies as fields": every(
    /^( +)@(?=(?:retry|timeout|concurrency|cache|on-error) = )/m,
    (_, blanks) => blanks,
  ),
  "a policy as a field": one(/^( +)@(?=(?:retry|timeout|concurrency) = )/m, (_, blanks) => blanks),
  "a retry that is a number": one(
    /^( +@retry = )\{ max: (\d+) \}$/m,
    (_, head, n) => `${head}${n}`,
  ),
  attempts: one(/(?<=^ +@retry = \{ )max(?=:)/m, () => "attempts"),
  retries: one(/^( +)@retry = \{ max: (\d+) \}$/m, (_, blanks, n) => `${blanks}retries = ${n}`),
  "onError for on-error": one(/@on-error/, () => "@onError"),
  "on_error for on-error": one(/@on-error/, () => "@on_error"),
  "idempotencyKey for idempotency-key": one(/@idempotency-key/, () => "@idempotencyKey"),
  "a policy without a sign": one(
    /^( +@(?:timeout|concurrency)) = (?=\d)/m,
    (_, head) => `${head} `,
  ),
  "a policy as a call": one(
    /^( +@(?:timeout|concurrency)) = (\w+)$/m,
    (_, head, value) => `${head}(${value})`,
  ),
  "a policy as a call with names": one(
    /^( +@(?:retry|cache)) = \{ (.*) \}$/m,
    (_, head, inner) => `${head}(${inner})`,
  ),
  "a policy as a block": one(
    /^( +)(@(?:retry|cache)) = \{ (.*) \}$/m,
    (_, blanks, head, inner) =>
      `${blanks}${head} {\n${inner
        .split(", ")
        .map((pair) => `${blanks}  ${pair.replace(": ", " = ")}\n`)
        .join("")}${blanks}}`,
  ),
  "a duration in quotes": one(/(?<=[=:] )(\d+(?:ms|s|m|h|d))\b/, (_, time) => `"${time}"`),
  "a duration in words": one(
    /(?<=[=:] )(\d+)(s|m|h|d)\b/,
    (_, n, unit) => `${n} ${{ s: "seconds", m: "minutes", h: "hours", d: "days" }[unit]}`,
  ),
  "a unit of other languages": one(
    /(?<=[=:] )(\d+)(s|m|h)\b/,
    (_, n, unit) => `${n}${{ s: "sec", m: "min", h: "hr" }[unit]}`,
  ),
  "a timeout in milliseconds": one(/^( +@timeout = )(\d+)s$/m, (_, head, n) => `${head}${n}000`),
  "a near type": one(
    /(?<=^ *node \w+: )(http\.request|transform|condition|file\.\w+)(?= \{)/m,
    (type, _, random) => {
      const at = 1 + Math.floor(random() * (type.length - 2));
      return type.slice(0, at) + type.slice(at + 1);
    },
  ),
  "a type of another tool": one(
    /(?<=^ *node \w+: )(http\.request|condition|map|confirm|shell\.exec|ai|transform|delay|log|fail|file\.read|file\.write)(?= \{)/m,
    (type, _, random) => pick(OTHER_TYPES[type], random),
  ),
  "a field of another tool": one(
    /^( +)(url|method|headers|query|path|content|program|args|message|prompt|items|labels|modelId|for)(?= = )/m,
    (_, blanks, field, random) => `${blanks}${pick(OTHER_FIELDS[field], random)}`,
  ),
  "a method in lower case": one(
    /^( +method = )"(\w+)"/m,
    (_, head, word) => `${head}"${word.toLowerCase()}"`,
  ),
  "overwrite for replace": one(/"replace"/, () => '"overwrite"'),
  "warning for warn": one(/"warn"/, () => '"warning"'),
  "types of other languages": one(
    /(?<=^(?:input|output) \w+: )(string|int|bool|number|object)(?=[ \n])/m,
    (type, _, random) => pick(OTHER_SCHEMAS[type], random),
  ),
  "lists of other languages": one(/(?<=^(?:input|output) \w+: )(\w+)\[\]/m, (_, type, random) =>
    pick([`list<${type}>`, `Array<${type}>`, `list(${type})`, `[${type}]`], random),
  ),
};

const OTHER_TYPES = {
  "http.request": ["http", "fetch", "http.get", "request", "http_request", "HTTPRequest"],
  condition: ["if", "branch", "Condition"],
  map: ["foreach", "for_each", "forEach"],
  confirm: ["approval", "human"],
  "shell.exec": ["shell", "exec", "command", "bash"],
  ai: ["llm", "openai", "prompt"],
  transform: ["set", "assign", "Transform"],
  delay: ["wait", "sleep"],
  log: ["print", "logger", "console.log"],
  fail: ["error", "throw"],
  "file.read": ["readFile", "read_file", "file_read"],
  "file.write": ["writeFile", "write_file", "file.save"],
};
const OTHER_FIELDS = {
  url: ["uri", "endpoint"],
  method: ["verb", "httpMethod"],
  headers: ["header"],
  query: ["params", "query_params"],
  path: ["file", "filename", "file_path"],
  content: ["contents", "data", "text"],
  program: ["command", "cmd"],
  args: ["arguments", "argv"],
  message: ["text", "msg"],
  prompt: ["message", "question"],
  items: ["list", "over"],
  labels: ["classes", "categories"],
  modelId: ["model", "model_id"],
  for: ["duration", "seconds"],
};
const OTHER_SCHEMAS = {
  string: ["str", "String", "text"],
  int: ["integer", "Integer"],
  bool: ["boolean", "Boolean"],
  number: ["float", "Number", "double"],
  object: ["dict", "Object", "json"],
};

/** Every rule by family and name. */
export const SLIPS = {
  around,
  signs,
  expressions,
  names,
  heads: headSlips,
  edges: edgeSlips,
  documents: documentSlips,
};
