// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 0 (file) and 1 (words and syntax, slips that are read as meant). */

export const FILE_RULES = {
  FLOW0001: {
    severity: "error",
    message: "file is not valid UTF-8 at byte {offset}",
    hint: "save it as UTF-8",
    wrong: "title saved as Latin-1: the byte 0xE9 alone",
    right: "title saved as UTF-8: the bytes 0xC3 0xA9",
    form: "prose",
  },
  FLOW0002: {
    severity: "error",
    message: "flow language version {found} is newer than {supported}",
    hint: "update millrace; the rest was still read as version {supported}",
    wrong: "flow 2 hello",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW0003: {
    severity: "error",
    message: "unknown flow language version {found}",
    wrong: "flow 0 hello",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW0004: {
    severity: "error",
    message: "text is longer than {limit} characters",
    hint: "nothing was read",
    wrong: "one file with megabytes of data",
    right: "the data in a file that `file.read` reads",
    form: "prose",
  },
} as const;

export const SYNTAX_RULES = {
  FLOW1001: {
    severity: "error",
    message: "unexpected {found}",
    wrong: "node a: transform {\n  value =\u00a01\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW1002: {
    severity: "error",
    severities: ["error", "warning"],
    message: "control character {char} in a {place}",
    hint: "write it as {escape}",
    wrong: 'node a: log {\n  message = "bell \u0007"\n}',
    right: 'node a: log {\n  message = "bell \\u0007"\n}',
  },
  FLOW1003: {
    severity: "error",
    message: "string is not closed on its line",
    hint: 'use a `"""` block for text on several lines',
    wrong: 'node a: log {\n  message = "late\n}',
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1004: {
    severity: "error",
    message: "block is not closed",
    hint: "the closing {n} quotes stand alone on their line",
    wrong: 'node a: log {\n  message = """\n    late\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1005: {
    severity: "error",
    message: "unknown escape `\\{char}`",
    wrong: 'node a: log {\n  message = "C:\\data"\n}',
    right: 'node a: log {\n  message = "C:\\\\data"\n}',
  },
  FLOW1006: {
    severity: "error",
    message: "expected {what}, found {found}",
    wrong: "node a: transform {\n  value = (1 + 2\n}",
    right: "node a: transform {\n  value = (1 + 2)\n}",
  },
  FLOW1007: {
    severity: "error",
    message: 'text must start on the line after `"""`',
    wrong: 'node a: log {\n  message = """late\n    """\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1008: {
    severity: "error",
    message: 'line is indented less than the closing `"""`',
    wrong: 'node a: log {\n  message = """\n  late\n    """\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1009: {
    severity: "error",
    message: "a name cannot hold `${…}`",
    wrong: 'node "a${1}": join',
    right: "node a1: join",
  },
  FLOW1010: {
    severity: "error",
    message: "not a number: {text}",
    wrong: "node a: transform {\n  value = .5\n}",
    right: "node a: transform {\n  value = 0.5\n}",
  },
  FLOW1011: {
    severity: "error",
    message: "unknown unit {unit}",
    hint: "units: ms s m h d",
    wrong: "node a: delay {\n  for = 5min\n}",
    right: "node a: delay {\n  for = 5m\n}",
  },
  FLOW1012: {
    severity: "error",
    message: "number out of range",
    wrong: "node a: transform {\n  value = 1e999\n}",
    right: "node a: transform {\n  value = 1e300\n}",
  },
  FLOW1013: {
    severity: "error",
    message: "integer {text} cannot be kept exactly",
    wrong: "node a: transform {\n  value = 9007199254740993\n}",
    right: 'node a: transform {\n  value = "9007199254740993"\n}',
  },
  FLOW1014: {
    severity: "error",
    message: "nested deeper than {limit}",
    hint: "move a part into its own `transform` node",
    wrong: "brackets in brackets, more than 200 levels",
    right: "the inner part in a node of its own",
    form: "prose",
  },
  FLOW1015: {
    severity: "error",
    message: "expected a new line, found {found}",
    wrong: "node a: join node b: join",
    right: "node a: join\nnode b: join",
  },
  FLOW1016: {
    severity: "error",
    message: "`{` is not closed",
    wrong: "node a: transform {\n  value = 1\n\nnode b: join",
    right: "node a: transform {\n  value = 1\n}\n\nnode b: join",
  },
  FLOW1017: {
    severity: "error",
    message: "stray {closer}",
    wrong: "node a: join\n}",
    right: "node a: join",
  },
  FLOW1099: {
    severity: "error",
    message: "more than {limit} errors; the rest was not read",
    wrong: "text that is not a flow at all",
    right: "flow 1 hello",
    form: "prose",
  },
} as const;

export const SLIP_RULES = {
  FLOW1101: {
    severity: "warning",
    message: "`${…}` is not needed here: this place is already an expression",
    wrong: "input a: int\n\nnode b: transform {\n  value = ${inputs.a}\n}",
    right: "input a: int\n\nnode b: transform {\n  value = inputs.a\n}",
  },
  FLOW1102: {
    severity: "warning",
    message: "strings use double quotes",
    wrong: "node a: log {\n  message = 'late'\n}",
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1103: {
    severity: "info",
    message: "comments start with `#`",
    wrong: "// waits for both\nnode a: join",
    right: "# waits for both\nnode a: join",
  },
  FLOW1104: {
    severity: "warning",
    message: "comments start with `#`",
    wrong: "/* waits for both */\nnode a: join",
    right: "# waits for both\nnode a: join",
  },
  FLOW1105: {
    severity: "info",
    message: "`;` is not needed",
    wrong: "node a: transform {\n  value = 1;\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW1106: {
    severity: "warning",
    message: "edges are written `->`",
    wrong: "node a: join\nnode b: join\n\na => b",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW1107: {
    severity: "warning",
    message: "Markdown fence around the flow",
    wrong: "```\nflow 1 hello\n```",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW1108: {
    severity: "warning",
    message: "fields are set with `=`",
    wrong: 'node a: log {\n  message: "late"\n}',
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1109: {
    severity: "warning",
    message: "operator is `{operator}`",
    wrong: "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 and inputs.n < 9\n}",
    right: "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 && inputs.n < 9\n}",
  },
  FLOW1110: {
    severity: "warning",
    message: "word is `{word}`",
    wrong: "node a: transform {\n  value = None\n}",
    right: "node a: transform {\n  value = null\n}",
  },
} as const;
