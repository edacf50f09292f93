/** Slips: spellings of other languages, read as meant, with the fix. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { describe } from "vitest";
import { type Case, flow, node, sayAndMend } from "./cases.ts";

const CASES: readonly Case[] = [
  {
    text: node("${inputs.a}"),
    says: {
      code: "FLOW1101",
      severity: "warning",
      at: "4:7-4:18",
      message: "`${\u2026}` is not needed here: this place is already an expression",
      fix: "remove ${ }",
    },
    fixed: node("inputs.a"),
  },
  {
    text: node("'it'"),
    says: {
      code: "FLOW1102",
      severity: "warning",
      at: "4:7-4:11",
      message: "strings use double quotes",
      fix: "use double quotes",
    },
    fixed: node('"it"'),
  },
  {
    text: flow("// note\nnode a: t\n"),
    says: {
      code: "FLOW1103",
      severity: "info",
      at: "3:1-3:3",
      message: "comments start with `#`",
      fix: "write #",
    },
    fixed: flow("# note\nnode a: t\n"),
  },
  {
    text: flow("/* one\n   two */\nnode a: t\n"),
    says: {
      code: "FLOW1104",
      severity: "warning",
      at: "3:1-3:3",
      message: "comments start with `#`",
      fix: "write #",
    },
    fixed: flow("# one\n# two\nnode a: t\n"),
  },
  {
    text: node("1;"),
    says: {
      code: "FLOW1105",
      severity: "info",
      at: "4:8-4:9",
      message: "`;` is not needed",
      fix: "remove ;",
    },
    fixed: node("1"),
  },
  {
    text: flow("a => b\n"),
    says: {
      code: "FLOW1106",
      severity: "warning",
      at: "3:3-3:5",
      message: "edges are written `->`",
      fix: "write ->",
    },
    fixed: flow("a -> b\n"),
  },
  {
    text: flow("a \u2192 b\n"),
    says: {
      code: "FLOW1106",
      severity: "warning",
      at: "3:3-3:4",
      message: "edges are written `->`",
      fix: "write ->",
    },
    fixed: flow("a -> b\n"),
  },
  {
    text: flow("a --> b\n"),
    says: {
      code: "FLOW1106",
      severity: "warning",
      at: "3:3-3:6",
      message: "edges are written `->`",
      fix: "write ->",
    },
    fixed: flow("a -> b\n"),
  },
  {
    text: "```flow\nflow 1 x\n```\n",
    says: {
      code: "FLOW1107",
      severity: "warning",
      at: "1:1-1:8",
      message: "Markdown fence around the flow",
      fix: "remove it",
    },
    fixed: "\nflow 1 x\n\n",
  },
  {
    text: flow("node a: t {\n  v: 1\n}\n"),
    says: {
      code: "FLOW1108",
      severity: "warning",
      at: "4:4-4:5",
      message: "fields are set with `=`",
      fix: "write =",
    },
    fixed: node("1"),
  },
  {
    text: node("a and b"),
    says: {
      code: "FLOW1109",
      severity: "warning",
      at: "4:9-4:12",
      message: "operator is `&&`",
      fix: "write &&",
    },
    fixed: node("a && b"),
  },
  {
    text: node("a or b"),
    says: {
      code: "FLOW1109",
      severity: "warning",
      at: "4:9-4:11",
      message: "operator is `||`",
      fix: "write ||",
    },
    fixed: node("a || b"),
  },
  {
    text: node("not a"),
    says: {
      code: "FLOW1109",
      severity: "warning",
      at: "4:7-4:10",
      message: "operator is `!`",
      fix: "write !",
    },
    fixed: node("!a"),
  },
  {
    text: node("a === b"),
    says: {
      code: "FLOW1109",
      severity: "warning",
      at: "4:9-4:12",
      message: "operator is `==`",
      fix: "write ==",
    },
    fixed: node("a == b"),
  },
  {
    text: node("a !== b"),
    says: {
      code: "FLOW1109",
      severity: "warning",
      at: "4:9-4:12",
      message: "operator is `!=`",
      fix: "write !=",
    },
    fixed: node("a != b"),
  },
  {
    text: node("True"),
    says: {
      code: "FLOW1110",
      severity: "warning",
      at: "4:7-4:11",
      message: "word is `true`",
      fix: "write true",
    },
    fixed: node("true"),
  },
  {
    text: node("None"),
    says: {
      code: "FLOW1110",
      severity: "warning",
      at: "4:7-4:11",
      message: "word is `null`",
      fix: "write null",
    },
    fixed: node("null"),
  },
  {
    text: node("undefined"),
    says: {
      code: "FLOW1110",
      severity: "warning",
      at: "4:7-4:16",
      message: "word is `null`",
      fix: "write null",
    },
    fixed: node("null"),
  },
];

describe.each(CASES)("$says.code for $text", sayAndMend);
