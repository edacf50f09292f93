/** Names, structure and literal places: what the way from text to graph finds. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { describe } from "vitest";
import { type Case, flow, node, sayAndMend } from "./cases.ts";

const CASES: readonly Case[] = [
  {
    text: "node a: t\n",
    says: {
      code: "FLOW2001",
      severity: "error",
      at: "1:1-1:5",
      message: "the first item must be `flow 1 <id>`",
      fix: "add it",
    },
    fixed: "flow 1 my-flow\n\nnode a: t\n",
  },
  {
    text: "node a: t\n\nflow 1 x\n",
    says: {
      code: "FLOW2001",
      severity: "error",
      at: "1:1-1:5",
      message: "the first item must be `flow 1 <id>`",
      related: ["3:1-3:9 move it to the top"],
    },
  },
  {
    text: node("1\n  v = 2"),
    says: {
      code: "FLOW2002",
      severity: "error",
      at: "5:3-5:4",
      message: "v is set twice; the first counts",
      related: ["4:3-4:4 first set here"],
      fix: "remove it",
    },
    fixed: node("1\n  "),
  },
  {
    text: node("{ a: 1, a: 2 }"),
    says: {
      code: "FLOW2002",
      severity: "error",
      at: "4:15-4:16",
      message: "a is set twice; the first counts",
      related: ["4:12-4:13 first set here"],
      fix: "remove it",
    },
    fixed: node("{ a: 1,  }"),
  },
  {
    text: flow("nod a: t\n"),
    says: {
      code: "FLOW2003",
      severity: "warning",
      at: "3:1-3:4",
      message: "unknown block nod",
      hint: "did you mean node?",
      fix: "write node",
    },
    fixed: flow("node a: t\n"),
  },
  {
    text: flow("macro a {\n}\n"),
    says: {
      code: "FLOW2003",
      severity: "warning",
      at: "3:1-3:6",
      message: "unknown block macro",
    },
  },
  {
    text: flow("node a: t {\n  input b\n}\n"),
    says: {
      code: "FLOW2004",
      severity: "error",
      at: "4:3-4:8",
      message: "input does not belong in a node",
      hint: "it stands at the top level",
    },
  },
  {
    text: flow("v = 1\n"),
    says: {
      code: "FLOW2004",
      severity: "error",
      at: "3:1-3:2",
      message: "attribute v does not belong in the file",
      hint: "a field stands between the `{` and `}` of its node",
    },
  },
  {
    text: flow("node a: t\nnode a: u\n"),
    says: {
      code: "FLOW2005",
      severity: "error",
      at: "4:6-4:7",
      message: "node a is declared twice",
      hint: "rename one",
      pointer: "/nodes/1",
      related: ["3:6-3:7 first declared here"],
    },
  },
  {
    text: flow("layout {\n  a = [0, 0]\n}\n\nlayout {\n  b = [0, 0]\n}\n"),
    says: {
      code: "FLOW2005",
      severity: "error",
      at: "7:1-7:7",
      message: "layout is declared twice",
      hint: "keep one",
    },
  },
  {
    text: flow("a -> b\na.out -> b\n"),
    says: {
      code: "FLOW2006",
      severity: "error",
      at: "4:1-4:11",
      message: "edge a.out -> b is written twice",
      pointer: "/edges/1",
      related: ["3:1-3:7 first written here"],
      fix: "remove it",
    },
    fixed: flow("a -> b\n\n"),
  },
  {
    text: flow("node: t\n"),
    says: {
      code: "FLOW2009",
      severity: "error",
      at: "3:1-3:5",
      message: "node needs a name",
    },
  },
  {
    text: flow("node a: map {\n  body b {\n  }\n}\n"),
    says: {
      code: "FLOW2009",
      severity: "error",
      at: "4:8-4:9",
      message: "body takes no name",
    },
  },
  {
    text: flow("input a: string {\n  schema = {}\n}\n"),
    says: {
      code: "FLOW2010",
      severity: "error",
      at: "4:3-4:9",
      message: "a has both a type and a `schema`",
      hint: "keep one",
      pointer: "/inputs/0/schema",
      related: ["3:10-3:16 the type is here"],
    },
  },
  {
    text: flow("node a: t {\n  @timeuot = 1s\n}\n"),
    says: {
      code: "FLOW2012",
      severity: "error",
      at: "4:3-4:11",
      message: "unknown policy @timeuot",
      hint: "did you mean @timeout?",
      fix: "write @timeout",
    },
    fixed: flow("node a: t {\n  @timeout = 1s\n}\n"),
  },
  {
    text: flow('input a {\n  descripton = "x"\n}\n'),
    says: {
      code: "FLOW2013",
      severity: "error",
      at: "4:3-4:13",
      message: "unknown attribute descripton of input",
      hint: "did you mean description?",
      fix: "write description",
    },
    fixed: flow('input a {\n  description = "x"\n}\n'),
  },
  {
    text: flow("node a: t {\n  @retry = { maxdelay: 1s }\n}\n"),
    says: {
      code: "FLOW2013",
      severity: "error",
      at: "4:14-4:22",
      message: "unknown attribute maxdelay of @retry",
      hint: "did you mean maxDelay?",
      fix: "write maxDelay",
    },
    fixed: flow("node a: t {\n  @retry = { maxDelay: 1s }\n}\n"),
  },
  {
    text: flow("input a: strng\n"),
    says: {
      code: "FLOW3012",
      severity: "error",
      at: "3:10-3:15",
      message: "unknown type strng",
      hint: "types: string number int bool null object any date datetime uri",
      pointer: "/inputs/0/schema",
      fix: "write string",
    },
    fixed: flow("input a: string\n"),
  },
  {
    text: flow("input a: string??\n"),
    says: {
      code: "FLOW3012",
      severity: "error",
      at: "3:10-3:18",
      message: "unknown type string??",
      hint: "types: string number int bool null object any date datetime uri",
      pointer: "/inputs/0/schema",
      fix: "write string?",
    },
    fixed: flow("input a: string?\n"),
  },
  {
    text: flow("input a: any?\n"),
    says: {
      code: "FLOW3012",
      severity: "error",
      at: "3:10-3:14",
      message: "unknown type any?",
      hint: "types: string number int bool null object any date datetime uri",
      pointer: "/inputs/0/schema",
      fix: "write any",
    },
    fixed: flow("input a: any\n"),
  },
  {
    text: flow("node a: t {\n  @timeout = inputs.wait\n}\n"),
    says: {
      code: "FLOW3013",
      severity: "error",
      at: "4:14-4:25",
      message: "@timeout must be a literal, not an expression",
      hint: "ports, policies, meta and layout are read before the run",
      pointer: "/nodes/0/policy/timeoutMs",
    },
  },
  {
    text: flow("input a = now()\n"),
    says: {
      code: "FLOW3013",
      severity: "error",
      at: "3:11-3:16",
      message: "the default of a must be a literal, not an expression",
      hint: "ports, policies, meta and layout are read before the run",
      pointer: "/inputs/0/default",
    },
  },
  {
    text: flow("node a: t {\n  @timeout = 90000\n}\n"),
    says: {
      code: "FLOW3014",
      severity: "warning",
      at: "4:14-4:19",
      message: "a duration needs a unit (read as ms)",
      pointer: "/nodes/0/policy/timeoutMs",
      fix: "write 90s",
    },
    fixed: flow("node a: t {\n  @timeout = 90s\n}\n"),
  },
  {
    text: flow("schedule a {\n  every = 250\n}\n"),
    says: {
      code: "FLOW3014",
      severity: "warning",
      at: "4:11-4:14",
      message: "a duration needs a unit (read as ms)",
      pointer: "/schedules/0/everyMs",
      fix: "write 250ms",
    },
    fixed: flow("schedule a {\n  every = 250ms\n}\n"),
  },
  {
    text: flow("a -> b.out\n"),
    says: {
      code: "FLOW4013",
      severity: "error",
      at: "3:7-3:11",
      message: "an edge ends at a node, not at a port",
      pointer: "/edges/0",
      fix: "write b",
    },
    fixed: flow("a -> b\n"),
  },
  {
    text: node("x.size()"),
    says: {
      code: "FLOW5003",
      severity: "error",
      at: "4:7-4:15",
      message: "functions are called as `f(x)`",
      fix: "write size(\u2026)",
    },
    fixed: node("size(x)"),
  },
];

describe.each(CASES)("$says.code for $text", sayAndMend);
