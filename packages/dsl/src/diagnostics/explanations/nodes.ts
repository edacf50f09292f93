// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Explanations of the families 2 (names and structure) and 3 (nodes, fields, types). */

export const NODES_EXPLANATIONS = {
  FLOW2001: {
    why: "The first line says the language version and the id by which the flow is stored and called.",
    wrong: "node a: join",
    right: "flow 1 hello\n\nnode a: join",
    form: "whole",
  },
  FLOW2002: {
    why: "Two values for one name would leave it to the reader which one counts; the first one does.",
    wrong: "node a: transform {\n  value = 1\n  value = 2\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW2003: {
    why: "The word is no block of the language, so nothing of it could run. In a text of a newer language version it is a warning.",
    wrong: "noed a: join",
    right: "node a: join",
  },
  FLOW2004: {
    why: "Each block has its place: inputs, outputs and connections belong to the flow as a whole, `body` to a node, attributes into a block.",
    wrong: "node a: join {\n  input b: int\n}",
    right: "input b: int\n\nnode a: join",
  },
  FLOW2005: {
    why: "A name must say which of the two is meant wherever it is read.",
    wrong: "node a: join\nnode a: join",
    right: "node a: join\nnode b: join",
  },
  FLOW2006: {
    why: "An edge either is there or not; a second one changes nothing and hides a slip.",
    wrong: "node a: join\nnode b: join\n\na -> b\na -> b",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW2007: {
    why: "`inputs`, `nodes` and `run` are what expressions read them by, so no node can take these names.",
    wrong: "node run: join",
    right: "node start: join",
  },
  FLOW2008: {
    why: "Inside the body the local name comes first, so the node of the same name cannot be read by its bare name.",
    wrong:
      "node item: transform {\n  value = 1\n}\n\nnode all: map {\n  items = [1]\n  body {\n    output = item\n  }\n}",
    right:
      "node one: transform {\n  value = 1\n}\n\nnode all: map {\n  items = [1]\n  body {\n    output = item\n  }\n}",
  },
  FLOW2009: {
    why: "Most blocks are told apart by a name; `layout` and `body` stand once in their place and have none.",
    wrong: "input: int",
    right: "input a: int",
  },
  FLOW2010: {
    why: "A type is a short way to write a schema; with both, one of them would be ignored.",
    wrong: 'input a: int {\n  schema = { type: "integer" }\n}',
    right: "input a: int",
  },
  FLOW2011: {
    why: "Two names that look alike but are not equal are a trap for whoever reads or edits the flow next.",
    wrong: 'node "cafe\u0301": join\nnode "caf\u00e9": join',
    right: "node cafe1: join\nnode cafe2: join",
  },
  FLOW2012: {
    why: "Policies (`@…`) are those of the platform and equal for every node type; an unknown one would silently do nothing.",
    wrong: "node a: join {\n  @timeuot = 1s\n}",
    right: "node a: join {\n  @timeout = 1s\n}",
  },
  FLOW2013: {
    why: "The block knows this set of attributes; a misspelled one would silently do nothing.",
    wrong: 'input a: int {\n  descripton = "how many"\n}',
    right: 'input a: int {\n  description = "how many"\n}',
  },
  FLOW2014: {
    why: "A flow declares the connections that it needs, so that whoever runs it can see and grant them before the run.",
    wrong: 'node a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
    right:
      'connection shop: oauth\n\nnode a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
  },
  FLOW2015: {
    why: "The paths of nodes in events use `/`, `[ ]` and `~` as separators, so an id must not hold them.",
    wrong: 'node "a/b": join',
    right: 'node "a b": join',
  },
  FLOW3001: {
    why: "Nodes run by their type; neither core nor an installed extension knows this one.",
    wrong: "node a: transfrom {\n  value = 1\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW3002: {
    why: "The node type cannot work without this field, and has no default for it.",
    wrong: "node a: transform",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW3003: {
    why: "A field that the type does not know would silently do nothing.",
    wrong: 'node a: log {\n  message = "late"\n  levle = "warn"\n}',
    right: 'node a: log {\n  message = "late"\n  level = "warn"\n}',
  },
  FLOW3004: {
    why: "The value has a type that the field does not take; nothing is converted silently.",
    wrong: 'node a: map {\n  items = "one"\n  body {\n    output = item\n  }\n}',
    right: 'node a: map {\n  items = ["one"]\n  body {\n    output = item\n  }\n}',
  },
  FLOW3005: {
    why: "The type is right, but the value is outside of what the field takes.",
    wrong: "node a: loop {\n  max = 0\n  body {\n    output = state\n  }\n}",
    right: "node a: loop {\n  max = 10\n  body {\n    output = state\n  }\n}",
  },
  FLOW3006: {
    why: "The field takes one of a fixed list of values.",
    wrong: 'node a: log {\n  message = "late"\n  level = "wran"\n}',
    right: 'node a: log {\n  message = "late"\n  level = "warn"\n}',
  },
  FLOW3007: {
    why: "A schema with a word or value that JSON Schema does not know would check nothing and look as if it did.",
    wrong: 'input a {\n  schema = { type: "text" }\n}',
    right: 'input a {\n  schema = { type: "string", minLength: 1 }\n}',
  },
  FLOW3008: {
    why: "Times are checked before the run, because a schedule that never fires is noticed too late.",
    wrong: 'schedule daily {\n  cron = "0 25 * * *"\n}',
    right: 'schedule daily {\n  cron = "0 7 * * *"\n}',
  },
  FLOW3009: {
    why: "The type still works, but a later version of its package will drop it.",
    wrong: "a node of a type that its author has replaced",
    right: "the type that the message names",
    form: "prose",
  },
  FLOW3010: {
    why: "The text pins a version of the node type that is not installed.",
    wrong: "node a: transform@9 {\n  value = 1\n}",
    right: "node a: transform@1 {\n  value = 1\n}",
  },
  FLOW3011: {
    why: "A run without this input would fail at once, because its own default does not fit.",
    wrong: 'input count: int = "three"',
    right: "input count: int = 3",
  },
  FLOW3012: {
    why: "Types are a short list of words; anything richer is written as a `schema`.",
    wrong: "input count: integer",
    right: "input count: int",
  },
  FLOW3013: {
    why: "Ports, policies, the flow's own data and the layout must be known before anything runs.",
    wrong: "input n: int\n\nnode a: join {\n  @join = inputs.n\n}",
    right: "node a: join {\n  @join = 2\n}",
  },
  FLOW3014: {
    why: "A bare number leaves open whether seconds or milliseconds are meant; it is read as milliseconds.",
    wrong: "node a: join {\n  @timeout = 500\n}",
    right: "node a: join {\n  @timeout = 500ms\n}",
  },
  FLOW3015: {
    why: "Each task of an `ai` node has its own fields, and some of them exclude each other.",
    wrong: 'node a: ai {\n  task = "judge"\n  input = "a text"\n}',
    right: 'node a: ai {\n  task = "judge"\n  rubric = "is it polite?"\n  input = "a text"\n}',
  },
  FLOW3016: {
    why: "The two fields say different things about the same question, so only one can hold.",
    wrong: 'node a: delay {\n  for = 5s\n  until = "2030-01-01T00:00:00Z"\n}',
    right: "node a: delay {\n  for = 5s\n}",
  },
  FLOW3017: {
    why: "Some node types run what stands in their body; others have no use for one.",
    wrong: "node a: map {\n  items = [1, 2]\n}",
    right: "node a: map {\n  items = [1, 2]\n  body {\n    output = item + 1\n  }\n}",
  },
  FLOW3018: {
    why: "With a cached result the node does not run at all, so what it would have written or deleted does not happen.",
    wrong: 'node a: file.write {\n  path = "a.txt"\n  content = "a"\n  @cache = { ttl: 1h }\n}',
    right: 'node a: file.read {\n  path = "a.txt"\n  @cache = { ttl: 1h }\n}',
  },
} as const;
