/**
 * The one table of diagnostic codes, in two halves, so that who only reads flows loads one. A row is `severity | message | hint`; where
 * a code has several severities by case, the default is first. A `{part}` in a text is filled by the place that reports. A code never
 * changes its meaning, and a retired code is never used again; new ones go to the end of a family. What a code means at length, with
 * examples, is in `explain.ts`.
 * @see the diagnostics page
 */
import type { Severity } from "@millrace/contracts";

/** Findings of reading a text. */
const READING = {
  // Family 0: the file
  FLOW0001: "error | file is not valid UTF-8 at byte {offset} | save it as UTF-8",
  FLOW0002:
    "error | flow language version {found} is newer than {supported} | update millrace; the rest was still read as version {supported}",
  FLOW0003: "error | unknown flow language version {found}",
  FLOW0004: "error | text is longer than {limit} characters | nothing was read",
  // Family 1: syntax
  FLOW1001: "error | unexpected {found}",
  FLOW1002: "error warning | control character {char} in a {place} | write it as {escape}",
  FLOW1003:
    'error | string is not closed on its line | use a `"""` block for text on several lines',
  FLOW1004: "error | block is not closed | the closing {n} quotes stand alone on their line",
  FLOW1005: "error | unknown escape `\\{char}`",
  FLOW1006: "error | expected {what}, found {found}",
  FLOW1007: 'error | text must start on the line after `"""`',
  FLOW1008: 'error | line is indented less than the closing `"""`',
  FLOW1009: "error | a name cannot hold `${…}`",
  FLOW1010: "error | not a number: {text}",
  FLOW1011: "error | unknown unit {unit} | units: ms s m h d",
  FLOW1012: "error | number out of range",
  FLOW1013: "error | integer {text} cannot be kept exactly",
  FLOW1014: "error | nested deeper than {limit} | move a part into its own `transform` node",
  FLOW1015: "error | expected a new line, found {found}",
  FLOW1016: "error | `{` is not closed",
  FLOW1017: "error | stray {closer}",
  FLOW1099: "error | more than {limit} errors; the rest was not read",
  // Family 1: slips, read as meant
  FLOW1101: "warning | `${…}` is not needed here: this place is already an expression",
  FLOW1102: "warning | strings use double quotes",
  FLOW1103: "info | comments start with `#`",
  FLOW1104: "warning | comments start with `#`",
  FLOW1105: "info | `;` is not needed",
  FLOW1106: "warning | edges are written `->`",
  FLOW1107: "warning | Markdown fence around the flow",
  FLOW1108: "warning | fields are set with `=`",
  FLOW1109: "warning | operator is `{operator}`",
  FLOW1110: "warning | word is `{word}`",
  // Family 2: names and structure
  FLOW2001: "error | the first item must be `flow 1 <id>`",
  FLOW2002: "error | {key} is set twice; the first counts",
  FLOW2003: "error warning | unknown block {word} | did you mean {near}?",
  FLOW2004: "error | {block} does not belong in {place}",
  FLOW2005: "error | {kind} {name} is declared twice | rename one",
  FLOW2006: "error | edge {from}.{port} -> {to} is written twice",
  FLOW2009: "error | {kind} {needs}",
  FLOW2010: "error | {name} has both a type and a `schema` | keep one",
  FLOW2012: "error | unknown policy @{name} | did you mean @{near}?",
  FLOW2013: "error | unknown attribute {name} of {block} | did you mean {near}?",
  // Family 3: nodes, fields, types
  FLOW3002: "error | {type} needs the field {name}",
  FLOW3004: "error | {field} must be {type}, found {found}",
  FLOW3005: "error | {field} must be {rule}",
  FLOW3006: "error | {field} must be one of {list}, found {value} | did you mean {near}?",
  FLOW3012:
    "error | unknown type {name} | types: string number int bool null object any date datetime uri",
  FLOW3013:
    "error | {place} must be a literal, not an expression | ports, policies, meta and layout are read before the run",
  FLOW3014: "warning | a duration needs a unit (read as ms)",
  // Family 4: the graph
  FLOW4013: "error | an edge ends at a node, not at a port",
  // Family 5: expressions
  FLOW5003: "error | unknown function {name} | did you mean {near}?",
};

/** Findings of checking a graph. */
const CHECKING = {
  // Family 2: names and structure
  FLOW2007: "error | {id} is reserved (`inputs nodes run`) | rename",
  FLOW2008:
    'warning | node {id} is hidden by the local {name} in this body | read it as `nodes["{id}"]`',
  FLOW2011: "warning | names {a} and {b} look the same | they differ in {difference}",
  FLOW2014: "error | connection {name} is not declared in this flow | declared: {list}",
  FLOW2015:
    "error | a node id must not be empty, longer than 128 characters, or hold `/ [ ] ~` or a control character | parsed and printed all the same",
  // Family 3: nodes, fields, types
  FLOW3001:
    "error | unknown node type {type} | did you mean {near}? or install the extension that brings it",
  FLOW3003: "error | {type} has no field {name} | did you mean {near}?",
  FLOW3007: "error | not a JSON Schema (2020-12): {pointer}: {problem}",
  FLOW3008: "error | not a cron expression",
  FLOW3009: "warning | node type {type} is deprecated: {text}",
  FLOW3010: "error | {type} has no version {n} | versions: {list}",
  FLOW3011: "error | default of input {name} does not satisfy its type: {problem}",
  FLOW3015:
    "error warning | ai: {field} {problem} | keep one; or the task that the field belongs to",
  FLOW3016: "error | {a} and {b} cannot be used together",
  FLOW3017: "error | {type} needs a body",
  FLOW3018: "warning | @cache on a node whose effect is `{effect}`: a hit skips the effect",
  // Family 4: the graph
  FLOW4001: "error | edge names the unknown node {id} | did you mean {near}?",
  FLOW4002: "error | {node} ({type}) has no port {port} | ports: {list}",
  FLOW4003: "error | cycle: {path} | use a `loop` node",
  FLOW4004: "warning | {node} can never run: nothing leads to it that is live",
  FLOW4005:
    "error | {node} is not visible here: it lives in the body of {owner} | read `{owner}.items` or `.state`",
  FLOW4006:
    "warning | {node} may be skipped; then this node is skipped too | read it as `{node}?.…`",
  FLOW4007: "error | {place} takes {type}, {expression} is {found}",
  FLOW4008: "warning | join with fewer than two incoming edges",
  FLOW4009: "info | switch {node} has no edge on `default`: other values end here",
  FLOW4010: "error | flow {slug} does not exist",
  FLOW4011: "warning | input {name} is never read",
  FLOW4012: "error | edge goes into or out of a body | connect the owner node",
  FLOW4014: "error | an edge leaves {node}.error but @on-error is {value}",
  FLOW4015:
    "warning | flow output {name} is absent when {node} is skipped | read it as `{node}?.…`",
  FLOW4016:
    "info | confirm {node} has no edge on `{port}` | such an answer fails the run (`confirm_{port}`; exit code 4)",
  FLOW4017:
    "warning | condition {node} decides nothing: no edge leaves `true` or `false`, and nothing reads it | draw an edge, such as `{node}.true -> b`",
  // Family 5: expressions
  FLOW5001: "error | unknown name {name} | did you mean {near}?",
  FLOW5002: "error | `{op}` takes {types}, found {found}",
  FLOW5004: "error | {function} takes {n} arguments, found {m}: {signature}",
  FLOW5005: "error | {place} must be true or false, found {type}",
  FLOW5006: "warning | {expression} may be null here | use `?.` or `?? …`",
  FLOW5007: "error | this expression is sure to exceed the budget: {why}",
  FLOW5008: 'warning | `"${{expression}}"` is always a string',
  FLOW5009: "error | the second argument of {macro} must be a new name",
  FLOW5010: "warning | comparing {a} with {b} is always {result}",
  FLOW5011: "warning | condition is always {result}",
  FLOW5012: "warning | `{found}` is plain text here | a value in text is written `{hole}`",
  FLOW5013: "error | {function} refuses this argument: {why}",
  // Family 6: security
  FLOW6001:
    "error | this looks like a secret; a flow is shared text (the value is not shown) | use a connection or a credential name",
  FLOW6002:
    "warning error | text from {source} reaches {sink} | pass it as a list element, a parameter, or a fixed host with `uriEncode`",
  FLOW6003: "warning | invisible direction control {char}",
  FLOW6004: "warning | {scheme} sends in the clear | use `{secure}`; loopback is exempt",
  FLOW6005:
    "warning | text from {source} decides a file path | the file policy still applies; fix the folder",
  FLOW6006:
    "warning | the model may call {tool}, whose effect is {effect}, without asking | `confirm: true`",
  FLOW6007: "warning | text from {source} is placed in `system` | put it in `input`",
  FLOW6008:
    'error | `secrets` is read where its value could be logged or changed | it may stand in a header of `http.request`, alone or in a text: "Bearer ${secrets.NAME}"',
  // Family 9: style
  FLOW9001: "info | flow has no nodes",
  FLOW9002: "info | not in canonical form | format it",
  FLOW9003:
    "info | edge repeats an order that a reference already gives | the node has no other edge; leave this one out",
  FLOW9004: "info | {id} is quoted everywhere; an id of letters, digits, `_`, `-` reads better",
  FLOW9005: "info | {type} without @timeout",
};

/** A code that reading reports. */
export type ReadingCode = keyof typeof READING;

/** Every code of the language. */
export type DiagnosticCode = ReadingCode | keyof typeof CHECKING;

/** A row of the table. */
export interface DiagnosticRule {
  readonly severity: Severity;
  /** Where a code has several by case; the first is `severity`. */
  readonly severities?: readonly Severity[];
  /** Lower-case, names what was found, no full stop. */
  readonly message: string;
  readonly hint?: string;
}

type Rules<Code extends string> = { readonly [code in Code]: DiagnosticRule };

/** The rows of what reading reports. */
export const READING_RULES: Rules<ReadingCode> = /* @__PURE__ */ rulesOf(READING);

/** Code to severity, message and hint, in order of codes. */
export const DIAGNOSTICS: Rules<DiagnosticCode> = /* @__PURE__ */ rulesOf(READING, CHECKING);

function rulesOf<Code extends string>(
  ...tables: { readonly [code: string]: string }[]
): Rules<Code> {
  const rules: Record<string, DiagnosticRule> = {};
  const rows = tables.flatMap((table) => Object.entries(table)).sort();
  for (const [code, row] of rows) {
    const [all = "", message = "", hint] = row.split(" | ");
    const severities = all.split(" ") as Severity[];
    rules[code] = {
      severity: severities[0] as Severity,
      ...(severities.length > 1 && { severities }),
      message,
      ...(hint !== undefined && { hint }),
    };
  }
  return rules as Rules<Code>;
}

/** The text with its `{part}`s filled; parts that are not given stay as they are. */
export function fillText(text: string, parts: Parts): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? String(parts[name] ?? whole) : whole,
  );
}

/** Values for the placeholders of a row; an undefined part counts as absent. */
export type Parts = { readonly [name: string]: string | number | undefined };
