/** Rules of the families 2 (names and structure) and 3 (nodes, fields, types). */

export const STRUCTURE_RULES = {
  FLOW2001: {
    severity: "error",
    message: "the first item must be `flow 1 <id>`",
  },
  FLOW2002: {
    severity: "error",
    message: "{key} is set twice; the first counts",
  },
  FLOW2003: {
    severity: "error",
    severities: ["error", "warning"],
    message: "unknown block {word}",
    hint: "did you mean {near}?",
  },
  FLOW2004: {
    severity: "error",
    message: "{block} does not belong in {place}",
  },
  FLOW2005: {
    severity: "error",
    message: "{kind} {name} is declared twice",
    hint: "rename one",
  },
  FLOW2006: {
    severity: "error",
    message: "edge {from}.{port} -> {to} is written twice",
  },
  FLOW2007: {
    severity: "error",
    message: "{id} is reserved (`inputs nodes run`)",
    hint: "rename",
  },
  FLOW2008: {
    severity: "warning",
    message: "node {id} is hidden by the local {name} in this body",
    hint: 'read it as `nodes["{id}"]`',
  },
  FLOW2009: {
    severity: "error",
    message: "{kind} {needs}",
  },
  FLOW2010: {
    severity: "error",
    message: "{name} has both a type and a `schema`",
    hint: "keep one",
  },
  FLOW2011: {
    severity: "warning",
    message: "names {a} and {b} look the same",
    hint: "they differ in {difference}",
  },
  FLOW2012: {
    severity: "error",
    message: "unknown policy @{name}",
    hint: "did you mean @{near}?",
  },
  FLOW2013: {
    severity: "error",
    message: "unknown attribute {name} of {block}",
    hint: "did you mean {near}?",
  },
  FLOW2014: {
    severity: "error",
    message: "connection {name} is not declared in this flow",
    hint: "declared: {list}",
  },
  FLOW2015: {
    severity: "error",
    message:
      "a node id must not be empty, longer than 128 characters, or hold `/ [ ] ~` or a control character",
    hint: "parsed and printed all the same",
  },
} as const;

export const FIELD_RULES = {
  FLOW3001: {
    severity: "error",
    message: "unknown node type {type}",
    hint: "did you mean {near}? or install the extension that brings it",
  },
  FLOW3002: {
    severity: "error",
    message: "{type} needs the field {name}",
  },
  FLOW3003: {
    severity: "error",
    message: "{type} has no field {name}",
    hint: "did you mean {near}?",
  },
  FLOW3004: {
    severity: "error",
    message: "{field} must be {type}, found {found}",
  },
  FLOW3005: {
    severity: "error",
    message: "{field} must be {rule}",
  },
  FLOW3006: {
    severity: "error",
    message: "{field} must be one of {list}, found {value}",
    hint: "did you mean {near}?",
  },
  FLOW3007: {
    severity: "error",
    message: "not a JSON Schema (2020-12): {pointer}: {problem}",
  },
  FLOW3008: {
    severity: "error",
    message: "not a cron expression",
  },
  FLOW3009: {
    severity: "warning",
    message: "node type {type} is deprecated: {text}",
  },
  FLOW3010: {
    severity: "error",
    message: "{type} has no version {n}",
    hint: "versions: {list}",
  },
  FLOW3011: {
    severity: "error",
    message: "default of input {name} does not satisfy its type: {problem}",
  },
  FLOW3012: {
    severity: "error",
    message: "unknown type {name}",
    hint: "types: string number int bool null object any date datetime uri",
  },
  FLOW3013: {
    severity: "error",
    message: "{place} must be a literal, not an expression",
    hint: "ports, policies, meta and layout are read before the run",
  },
  FLOW3014: {
    severity: "warning",
    message: "a duration needs a unit (read as ms)",
  },
  FLOW3015: {
    severity: "error",
    severities: ["error", "warning"],
    message: "ai: {field} {problem}",
    hint: "keep one; or the task that the field belongs to",
  },
  FLOW3016: {
    severity: "error",
    message: "{a} and {b} cannot be used together",
  },
  FLOW3017: {
    severity: "error",
    message: "{type} needs a body",
  },
  FLOW3018: {
    severity: "warning",
    message: "@cache on a node whose effect is `{effect}`: a hit skips the effect",
  },
} as const;
