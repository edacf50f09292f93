/** Families 0 and 1: what is wrong with words and syntax, and the fixes. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
import { describe } from "vitest";
import { type Case, flow, node, sayAndMend } from "./cases.ts";

const CASES: readonly Case[] = [
  {
    text: "flow 2 x\n",
    says: {
      code: "FLOW0002",
      severity: "error",
      at: "1:6-1:7",
      message: "flow language version 2 is newer than 1",
      hint: "update millrace; the rest was still read as version 1",
    },
  },
  {
    text: "flow v1 x\n",
    says: {
      code: "FLOW0003",
      severity: "error",
      at: "1:6-1:8",
      message: "unknown flow language version v1",
      fix: "write flow 1 x",
    },
    fixed: "flow 1 x\n",
  },
  {
    text: "flow my-flow\n",
    says: {
      code: "FLOW0003",
      severity: "error",
      at: "1:6-1:13",
      message: "unknown flow language version my-flow",
      fix: "write flow 1 my-flow",
    },
    fixed: "flow 1 my-flow\n",
  },
  {
    text: flow("node a: t\u00a0{\n}\n"),
    says: {
      code: "FLOW1001",
      severity: "error",
      at: "3:10-3:11",
      message: "unexpected U+00A0",
      hint: "use a plain space",
      fix: "use a space",
    },
    fixed: flow("node a: t {\n}\n"),
  },
  {
    text: node("1 + \u00a7"),
    says: {
      code: "FLOW1001",
      severity: "error",
      at: "4:11-4:12",
      message: "unexpected \u00a7",
    },
  },
  {
    text: "flow 1 x\rnode a: t\r",
    says: {
      code: "FLOW1001",
      severity: "error",
      at: "1:9-2:1",
      message: "unexpected carriage return without a line feed",
      hint: "end lines with LF or CRLF",
    },
  },
  {
    text: node("\ufeff1"),
    says: {
      code: "FLOW1001",
      severity: "error",
      at: "4:7-4:8",
      message: "unexpected U+FEFF",
      hint: "a byte order mark stands only at the start",
      fix: "use a space",
    },
    fixed: node(" 1"),
  },
  {
    text: node('"a\u0007b"'),
    says: {
      code: "FLOW1002",
      severity: "error",
      at: "4:9-4:10",
      message: "control character U+0007 in a string",
      hint: "write it as \\u0007",
    },
  },
  {
    text: flow("# a\u0000b\n"),
    says: {
      code: "FLOW1002",
      severity: "warning",
      at: "3:4-3:5",
      message: "control character U+0000 in a comment",
    },
  },
  {
    text: node('"abc'),
    says: {
      code: "FLOW1003",
      severity: "error",
      at: "4:7-4:11",
      message: "string is not closed on its line",
      hint: 'use a `"""` block for text on several lines',
      fix: 'add "',
    },
    fixed: node('"abc"'),
  },
  {
    text: node('"""\n    abc'),
    says: {
      code: "FLOW1004",
      severity: "error",
      at: "4:7-4:10",
      message: "block is not closed",
      hint: "the closing 3 quotes stand alone on their line",
    },
  },
  {
    text: node('"\\q"'),
    says: {
      code: "FLOW1005",
      severity: "error",
      at: "4:8-4:10",
      message: "unknown escape `\\q`",
      fix: "write a backslash",
    },
    fixed: node('"\\\\q"'),
  },
  {
    text: node(""),
    says: {
      code: "FLOW1006",
      severity: "error",
      at: "4:7-4:7",
      message: "expected a value, found line end",
    },
  },
  {
    text: node('"""abc"""'),
    says: {
      code: "FLOW1007",
      severity: "error",
      at: "4:10-4:13",
      message: 'text must start on the line after `"""`',
      fix: "start new lines",
    },
    fixed: node('"""\nabc\n"""'),
  },
  {
    text: node('"""abc\n    def\n    """'),
    says: {
      code: "FLOW1007",
      severity: "error",
      at: "4:10-4:13",
      message: 'text must start on the line after `"""`',
      fix: "start a new line",
    },
    fixed: node('"""\n    abc\n    def\n    """'),
  },
  {
    text: node('"""\n  abc\n    """'),
    says: {
      code: "FLOW1008",
      severity: "error",
      at: "5:1-5:3",
      message: 'line is indented less than the closing `"""`',
      fix: "indent the line",
    },
    fixed: node('"""\n    abc\n    """'),
  },
  {
    text: node('"""\n\t\tabc\n    """'),
    says: {
      code: "FLOW1008",
      severity: "error",
      at: "5:1-5:3",
      message: 'tabs and spaces differ from the indent of the closing `"""`',
      fix: "indent the line",
    },
    fixed: node('"""\n    abc\n    """'),
  },
  {
    text: flow('node "a${b}": t\n'),
    says: {
      code: "FLOW1009",
      severity: "error",
      at: "3:6-3:13",
      message: "a name cannot hold `${\u2026}`",
    },
  },
  {
    text: node("01"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:9",
      message: "not a number: 01",
      fix: "write 1",
    },
    fixed: node("1"),
  },
  {
    text: node(".5"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:9",
      message: "not a number: .5",
      fix: "write 0.5",
    },
    fixed: node("0.5"),
  },
  {
    text: node("0x10"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:11",
      message: "not a number: 0x10",
      fix: "write 16",
    },
    fixed: node("16"),
  },
  {
    text: node("1_000"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:12",
      message: "not a number: 1_000",
      fix: "write 1000",
    },
    fixed: node("1000"),
  },
  {
    text: node("1e"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:9",
      message: "not a number: 1e",
      fix: "write 1",
    },
    fixed: node("1"),
  },
  {
    text: node("1."),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:9",
      message: "not a number: 1.",
      fix: "write 1",
    },
    fixed: node("1"),
  },
  {
    text: node("0.5ms"),
    says: {
      code: "FLOW1010",
      severity: "error",
      at: "4:7-4:12",
      message: "not a number: 0.5ms",
      hint: "a duration is a whole number of milliseconds",
      fix: "write 1ms",
    },
    fixed: node("1ms"),
  },
  {
    text: node("5min"),
    says: {
      code: "FLOW1011",
      severity: "error",
      at: "4:7-4:11",
      message: "unknown unit min",
      hint: "units: ms s m h d",
      fix: "write m",
    },
    fixed: node("5m"),
  },
  {
    text: node("1e999"),
    says: {
      code: "FLOW1012",
      severity: "error",
      at: "4:7-4:12",
      message: "number out of range",
    },
  },
  {
    text: node("9007199254740993"),
    says: {
      code: "FLOW1013",
      severity: "error",
      at: "4:7-4:23",
      message: "integer 9007199254740993 cannot be kept exactly",
      fix: "put it in quotes",
    },
    fixed: node('"9007199254740993"'),
  },
  {
    text: node("[".repeat(201) + "]".repeat(201)),
    says: {
      code: "FLOW1014",
      severity: "error",
      at: "4:207-4:208",
      message: "nested deeper than 200 levels",
      hint: "move a part into its own `transform` node",
    },
  },
  {
    text: node(`${"!".repeat(201)}a`),
    says: {
      code: "FLOW1014",
      severity: "error",
      at: "4:207-4:208",
      message: "nested deeper than 200 levels",
      hint: "move a part into its own `transform` node",
    },
  },
  {
    text: node(`${"a + ".repeat(1000)}a`),
    says: {
      code: "FLOW1014",
      severity: "error",
      at: "4:4005-4:4006",
      message: "nested deeper than 1000 operators",
      hint: "move a part into its own `transform` node",
    },
  },
  {
    text: node("1 w = 2"),
    says: {
      code: "FLOW1015",
      severity: "error",
      at: "4:9-4:10",
      message: "expected a new line, found w",
      fix: "start a new line",
    },
    fixed: node("1 \n  w = 2"),
  },
  {
    text: node("1,\n  w = 2"),
    says: {
      code: "FLOW1015",
      severity: "error",
      at: "4:8-4:9",
      message: "expected a new line, found ,",
      fix: "remove ,",
    },
    fixed: node("1\n  w = 2"),
  },
  {
    text: flow("node a: t {\n  v = 1\n\nnode b: t\n"),
    says: {
      code: "FLOW1016",
      severity: "error",
      at: "3:11-3:12",
      message: "`{` is not closed",
      fix: "add } before node",
    },
    fixed: flow("node a: t {\n  v = 1\n\n}\nnode b: t\n"),
  },
  {
    text: flow("node a: t\n}\n"),
    says: {
      code: "FLOW1017",
      severity: "error",
      at: "4:1-4:2",
      message: "stray }",
      fix: "remove it",
    },
    fixed: flow("node a: t\n\n"),
  },
];

describe.each(CASES)("$says.code for $text", sayAndMend);
