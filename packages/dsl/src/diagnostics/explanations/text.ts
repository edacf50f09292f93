// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Explanations of the families 0 (file) and 1 (words and syntax, slips that are read as meant). */

export const TEXT_EXPLANATIONS = {
  FLOW0001: {
    why: "Text in another encoding would be read as other letters than its author sees, so the bad byte is replaced and named instead of guessed.",
    wrong: "title saved as Latin-1: the byte 0xE9 alone",
    right: "title saved as UTF-8: the bytes 0xC3 0xA9",
    form: "prose",
  },
  FLOW0002: {
    why: "A newer language may mean something else by the same words; an old program must not run what it only half understands.",
    wrong: "flow 2 hello",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW0003: {
    why: "The number after `flow` says which language the text is written in; it is what keeps today's text readable tomorrow.",
    wrong: "flow 0 hello",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW0004: {
    why: "A flow is a program, not a data store; what is this long is data that a node should read from a file or a service.",
    wrong: "one file with megabytes of data",
    right: "the data in a file that `file.read` reads",
    form: "prose",
  },
  FLOW1001: {
    why: "The character starts no word of the language; mostly it came along from a word processor or a web page and cannot be seen.",
    wrong: "node a: transform {\n  value =\u00a01\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW1002: {
    why: "A control character cannot be seen or reviewed in a text; written as an escape it is kept and visible.",
    wrong: 'node a: log {\n  message = "bell \u0007"\n}',
    right: 'node a: log {\n  message = "bell \\u0007"\n}',
  },
  FLOW1003: {
    why: "A quoted string ends on the line that it starts on, so one forgotten quote costs one line and not the rest of the file.",
    wrong: 'node a: log {\n  message = "late\n}',
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1004: {
    why: "A block string ends where its quotes stand alone on a line; without them everything to the end of the file is its text.",
    wrong: 'node a: log {\n  message = """\n    late\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1005: {
    why: "Only a few letters mean something after a backslash; a backslash that is meant is written twice.",
    wrong: 'node a: log {\n  message = "C:\\data"\n}',
    right: 'node a: log {\n  message = "C:\\\\data"\n}',
  },
  FLOW1006: {
    why: "At this place only some things can stand, and what was found is none of them; the item or element is left out of the graph.",
    wrong: "node a: transform {\n  value = (1 + 2\n}",
    right: "node a: transform {\n  value = (1 + 2)\n}",
  },
  FLOW1007: {
    why: "The opening quotes end their line, so that every line of the text starts at the same column.",
    wrong: 'node a: log {\n  message = """late\n    """\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1008: {
    why: "The blanks before the closing quotes are the indent that is taken off every line; a line with fewer, or with tabs where they are spaces, has no clear text.",
    wrong: 'node a: log {\n  message = """\n  late\n    """\n}',
    right: 'node a: log {\n  message = """\n    late\n    """\n}',
  },
  FLOW1009: {
    why: "Names are known before the run, and a hole has its value only during it.",
    wrong: 'node "a${1}": join',
    right: "node a1: join",
  },
  FLOW1010: {
    why: "Numbers are spelled as in JSON, so that a flow and its graph always mean the same number.",
    wrong: "node a: transform {\n  value = .5\n}",
    right: "node a: transform {\n  value = 0.5\n}",
  },
  FLOW1011: {
    why: "A duration is a number with one of five units, without a blank between them; `M` or `min` mean different things to different readers.",
    wrong: "node a: delay {\n  for = 5min\n}",
    right: "node a: delay {\n  for = 5m\n}",
  },
  FLOW1012: {
    why: "The number is too large for a double, which every number of a flow is; it would become infinity.",
    wrong: "node a: transform {\n  value = 1e999\n}",
    right: "node a: transform {\n  value = 1e300\n}",
  },
  FLOW1013: {
    why: "A double holds whole numbers exactly up to 9007199254740991; a longer id would quietly become another id.",
    wrong: "node a: transform {\n  value = 9007199254740993\n}",
    right: 'node a: transform {\n  value = "9007199254740993"\n}',
  },
  FLOW1014: {
    why: "Reading, printing and checking go no deeper than this, so that no text can exhaust the machine that reads it.",
    wrong: "brackets in brackets, more than 200 levels",
    right: "the inner part in a node of its own",
    form: "prose",
  },
  FLOW1015: {
    why: "Each item stands on a line of its own; what follows on the same line belongs to nothing.",
    wrong: "node a: join node b: join",
    right: "node a: join\nnode b: join",
  },
  FLOW1016: {
    why: "Indentation tells where the block was meant to end, so the items behind it are read all the same.",
    wrong: "node a: transform {\n  value = 1\n\nnode b: join",
    right: "node a: transform {\n  value = 1\n}\n\nnode b: join",
  },
  FLOW1017: {
    why: "The closer closes nothing that is open; mostly its opener was deleted or it was written twice.",
    wrong: "node a: join\n}",
    right: "node a: join",
  },
  FLOW1099: {
    why: "After so many errors the next ones are mostly echoes; mend the first and check again.",
    wrong: "text that is not a flow at all",
    right: "flow 1 hello",
    form: "prose",
  },
  FLOW1101: {
    why: "A field takes an expression as it is; `${…}` is only for expressions inside a string.",
    wrong: "input a: int\n\nnode b: transform {\n  value = ${inputs.a}\n}",
    right: "input a: int\n\nnode b: transform {\n  value = inputs.a\n}",
  },
  FLOW1102: {
    why: "There is one kind of string, in double quotes, as in JSON; single quotes are read alike.",
    wrong: "node a: log {\n  message = 'late'\n}",
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1103: {
    why: "`//` is read as a comment; the canonical form writes `#`.",
    wrong: "// waits for both\nnode a: join",
    right: "# waits for both\nnode a: join",
  },
  FLOW1104: {
    why: "A comment ends with its line; the lines between the stars are read as one comment each.",
    wrong: "/* waits for both */\nnode a: join",
    right: "# waits for both\nnode a: join",
  },
  FLOW1105: {
    why: "A line end already ends the item; the semicolon is dropped.",
    wrong: "node a: transform {\n  value = 1;\n}",
    right: "node a: transform {\n  value = 1\n}",
  },
  FLOW1106: {
    why: "There is one arrow; the others are read as it.",
    wrong: "node a: join\nnode b: join\n\na => b",
    right: "node a: join\nnode b: join\n\na -> b",
  },
  FLOW1107: {
    why: "The fence belongs to the message that the flow was copied from; it is skipped.",
    wrong: "```\nflow 1 hello\n```",
    right: "flow 1 hello",
    form: "whole",
  },
  FLOW1108: {
    why: "`:` comes before a type and `=` before a value, so a reader can tell the two apart; here `=` is meant. Inside `{ }` data, both are fine.",
    wrong: 'node a: log {\n  message: "late"\n}',
    right: 'node a: log {\n  message = "late"\n}',
  },
  FLOW1109: {
    why: "Operators are written as in JavaScript and most of its neighbours; the words of other languages are read as them.",
    wrong: "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 and inputs.n < 9\n}",
    right: "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 && inputs.n < 9\n}",
  },
  FLOW1110: {
    why: "The three constants are spelled as in JSON; other spellings are read as them unless something of that name is used.",
    wrong: "node a: transform {\n  value = None\n}",
    right: "node a: transform {\n  value = null\n}",
  },
} as const;
