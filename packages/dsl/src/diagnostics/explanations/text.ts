/** Explanations of the families 0 (file), 1 (syntax, slips), 2 (names and structure) and 3 (nodes, fields, types): code to why, wrong, right and form, see `Explanation`. */

export const TEXT_EXPLANATIONS = {
  FLOW0001: [
    "Text in another encoding would be read as other letters than its author sees, so the bad byte is replaced and named instead of guessed.",
    "title saved as Latin-1: the byte 0xE9 alone",
    "title saved as UTF-8: the bytes 0xC3 0xA9",
    "prose",
  ],
  FLOW0002: [
    "A newer language may mean something else by the same words; an old program must not run what it only half understands.",
    "flow 2 hello",
    "flow 1 hello",
    "whole",
  ],
  FLOW0003: [
    "The number after `flow` says which language the text is written in; it is what keeps today's text readable tomorrow.",
    "flow 0 hello",
    "flow 1 hello",
    "whole",
  ],
  FLOW0004: [
    "A flow is a program, not a data store; what is this long is data that a node should read from a file or a service.",
    "one file with megabytes of data",
    "the data in a file that `file.read` reads",
    "prose",
  ],
  FLOW1001: [
    "The character starts no word of the language; mostly it came along from a word processor or a web page and cannot be seen.",
    "node a: transform {\n  value =\u00a01\n}",
    "node a: transform {\n  value = 1\n}",
  ],
  FLOW1002: [
    "A control character cannot be seen or reviewed in a text; written as an escape it is kept and visible.",
    'node a: log {\n  message = "bell \u0007"\n}',
    'node a: log {\n  message = "bell \\u0007"\n}',
  ],
  FLOW1003: [
    "A quoted string ends on the line that it starts on, so one forgotten quote costs one line and not the rest of the file.",
    'node a: log {\n  message = "late\n}',
    'node a: log {\n  message = "late"\n}',
  ],
  FLOW1004: [
    "A block string ends where its quotes stand alone on a line; without them everything to the end of the file is its text.",
    'node a: log {\n  message = """\n    late\n}',
    'node a: log {\n  message = """\n    late\n    """\n}',
  ],
  FLOW1005: [
    "Only a few letters mean something after a backslash; a backslash that is meant is written twice.",
    'node a: log {\n  message = "C:\\data"\n}',
    'node a: log {\n  message = "C:\\\\data"\n}',
  ],
  FLOW1006: [
    "At this place only some things can stand, and what was found is none of them; the item or element is left out of the graph.",
    "node a: transform {\n  value = (1 + 2\n}",
    "node a: transform {\n  value = (1 + 2)\n}",
  ],
  FLOW1007: [
    "The opening quotes end their line, so that every line of the text starts at the same column.",
    'node a: log {\n  message = """late\n    """\n}',
    'node a: log {\n  message = """\n    late\n    """\n}',
  ],
  FLOW1008: [
    "The blanks before the closing quotes are the indent that is taken off every line; a line with fewer, or with tabs where they are spaces, has no clear text.",
    'node a: log {\n  message = """\n  late\n    """\n}',
    'node a: log {\n  message = """\n    late\n    """\n}',
  ],
  FLOW1009: [
    "Names are known before the run, and a hole has its value only during it.",
    'node "a${1}": join',
    "node a1: join",
  ],
  FLOW1010: [
    "Numbers are spelled as in JSON, so that a flow and its graph always mean the same number.",
    "node a: transform {\n  value = .5\n}",
    "node a: transform {\n  value = 0.5\n}",
  ],
  FLOW1011: [
    "A duration is a number with one of five units, without a blank between them; `M` or `min` mean different things to different readers.",
    "node a: delay {\n  for = 5min\n}",
    "node a: delay {\n  for = 5m\n}",
  ],
  FLOW1012: [
    "The number is too large for a double, which every number of a flow is; it would become infinity.",
    "node a: transform {\n  value = 1e999\n}",
    "node a: transform {\n  value = 1e300\n}",
  ],
  FLOW1013: [
    "A double holds whole numbers exactly up to 9007199254740991; a longer id would quietly become another id.",
    "node a: transform {\n  value = 9007199254740993\n}",
    'node a: transform {\n  value = "9007199254740993"\n}',
  ],
  FLOW1014: [
    "Reading, printing and checking go no deeper than this, so that no text can exhaust the machine that reads it.",
    "brackets in brackets, more than 200 levels",
    "the inner part in a node of its own",
    "prose",
  ],
  FLOW1015: [
    "Each item stands on a line of its own; what follows on the same line belongs to nothing.",
    "node a: join node b: join",
    "node a: join\nnode b: join",
  ],
  FLOW1016: [
    "Indentation tells where the block was meant to end, so the items behind it are read all the same.",
    "node a: transform {\n  value = 1\n\nnode b: join",
    "node a: transform {\n  value = 1\n}\n\nnode b: join",
  ],
  FLOW1017: [
    "The closer closes nothing that is open; mostly its opener was deleted or it was written twice.",
    "node a: join\n}",
    "node a: join",
  ],
  FLOW1099: [
    "After so many errors the next ones are mostly echoes; mend the first and check again.",
    "text that is not a flow at all",
    "flow 1 hello",
    "prose",
  ],
  FLOW1101: [
    "A field takes an expression as it is; `${…}` is only for expressions inside a string.",
    "input a: int\n\nnode b: transform {\n  value = ${inputs.a}\n}",
    "input a: int\n\nnode b: transform {\n  value = inputs.a\n}",
  ],
  FLOW1102: [
    "There is one kind of string, in double quotes, as in JSON; single quotes are read alike.",
    "node a: log {\n  message = 'late'\n}",
    'node a: log {\n  message = "late"\n}',
  ],
  FLOW1103: [
    "`//` is read as a comment; the canonical form writes `#`.",
    "// waits for both\nnode a: join",
    "# waits for both\nnode a: join",
  ],
  FLOW1104: [
    "A comment ends with its line; the lines between the stars are read as one comment each.",
    "/* waits for both */\nnode a: join",
    "# waits for both\nnode a: join",
  ],
  FLOW1105: [
    "A line end already ends the item; the semicolon is dropped.",
    "node a: transform {\n  value = 1;\n}",
    "node a: transform {\n  value = 1\n}",
  ],
  FLOW1106: [
    "There is one arrow; the others are read as it.",
    "node a: join\nnode b: join\n\na => b",
    "node a: join\nnode b: join\n\na -> b",
  ],
  FLOW1107: [
    "The fence belongs to the message that the flow was copied from; it is skipped.",
    "```\nflow 1 hello\n```",
    "flow 1 hello",
    "whole",
  ],
  FLOW1108: [
    "`:` comes before a type and `=` before a value, so a reader can tell the two apart; here `=` is meant. Inside `{ }` data, both are fine.",
    'node a: log {\n  message: "late"\n}',
    'node a: log {\n  message = "late"\n}',
  ],
  FLOW1109: [
    "Operators are written as in JavaScript and most of its neighbours; the words of other languages are read as them.",
    "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 and inputs.n < 9\n}",
    "input n: int\n\nnode a: condition {\n  if = inputs.n > 1 && inputs.n < 9\n}",
  ],
  FLOW1110: [
    "The three constants are spelled as in JSON; other spellings are read as them unless something of that name is used.",
    "node a: transform {\n  value = None\n}",
    "node a: transform {\n  value = null\n}",
  ],
  FLOW2001: [
    "The first line says the language version and the id by which the flow is stored and called.",
    "node a: join",
    "flow 1 hello\n\nnode a: join",
    "whole",
  ],
  FLOW2002: [
    "Two values for one name would leave it to the reader which one counts; the first one does.",
    "node a: transform {\n  value = 1\n  value = 2\n}",
    "node a: transform {\n  value = 1\n}",
  ],
  FLOW2003: [
    "The word is no block of the language, so nothing of it could run. In a text of a newer language version it is a warning.",
    "noed a: join",
    "node a: join",
  ],
  FLOW2004: [
    "Each block has its place: inputs, outputs and connections belong to the flow as a whole, `body` to a node, attributes into a block.",
    "node a: join {\n  input b: int\n}",
    "input b: int\n\nnode a: join",
  ],
  FLOW2005: [
    "A name must say which of the two is meant wherever it is read.",
    "node a: join\nnode a: join",
    "node a: join\nnode b: join",
  ],
  FLOW2006: [
    "An edge either is there or not; a second one changes nothing and hides a slip.",
    "node a: join\nnode b: join\n\na -> b\na -> b",
    "node a: join\nnode b: join\n\na -> b",
  ],
  FLOW2007: [
    "`inputs`, `nodes` and `run` are what expressions read them by, so no node can take these names.",
    "node run: join",
    "node start: join",
  ],
  FLOW2008: [
    "Inside the body the local name comes first, so the node of the same name cannot be read by its bare name.",
    "node item: transform {\n  value = 1\n}\n\nnode all: map {\n  items = [1]\n  body {\n    output = item\n  }\n}",
    "node one: transform {\n  value = 1\n}\n\nnode all: map {\n  items = [1]\n  body {\n    output = item\n  }\n}",
  ],
  FLOW2009: [
    "Most blocks are told apart by a name; `layout` and `body` stand once in their place and have none.",
    "input: int",
    "input a: int",
  ],
  FLOW2010: [
    "A type is a short way to write a schema; with both, one of them would be ignored.",
    'input a: int {\n  schema = { type: "integer" }\n}',
    "input a: int",
  ],
  FLOW2011: [
    "Two names that look alike but are not equal are a trap for whoever reads or edits the flow next.",
    'node "cafe\u0301": join\nnode "caf\u00e9": join',
    "node cafe1: join\nnode cafe2: join",
  ],
  FLOW2012: [
    "Policies (`@…`) are those of the platform and equal for every node type; an unknown one would silently do nothing.",
    "node a: join {\n  @timeuot = 1s\n}",
    "node a: join {\n  @timeout = 1s\n}",
  ],
  FLOW2013: [
    "The block knows this set of attributes; a misspelled one would silently do nothing.",
    'input a: int {\n  descripton = "how many"\n}',
    'input a: int {\n  description = "how many"\n}',
  ],
  FLOW2014: [
    "A flow declares the connections that it needs, so that whoever runs it can see and grant them before the run.",
    'node a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
    'connection shop: oauth\n\nnode a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
  ],
  FLOW2015: [
    "The paths of nodes in events use `/`, `[ ]` and `~` as separators, so an id must not hold them.",
    'node "a/b": join',
    'node "a b": join',
  ],
  FLOW3001: [
    "Nodes run by their type; neither core nor an installed extension knows this one.",
    "node a: transfrom {\n  value = 1\n}",
    "node a: transform {\n  value = 1\n}",
  ],
  FLOW3002: [
    "The node type cannot work without this field, and has no default for it.",
    "node a: transform",
    "node a: transform {\n  value = 1\n}",
  ],
  FLOW3003: [
    "A field that the type does not know would silently do nothing.",
    'node a: log {\n  message = "late"\n  levle = "warn"\n}',
    'node a: log {\n  message = "late"\n  level = "warn"\n}',
  ],
  FLOW3004: [
    "The value has a type that the field does not take; nothing is converted silently.",
    'node a: map {\n  items = "one"\n  body {\n    output = item\n  }\n}',
    'node a: map {\n  items = ["one"]\n  body {\n    output = item\n  }\n}',
  ],
  FLOW3005: [
    "The type is right, but the value is outside of what the field takes.",
    "node a: loop {\n  max = 0\n  body {\n    output = state\n  }\n}",
    "node a: loop {\n  max = 10\n  body {\n    output = state\n  }\n}",
  ],
  FLOW3006: [
    "The field takes one of a fixed list of values.",
    'node a: log {\n  message = "late"\n  level = "wran"\n}',
    'node a: log {\n  message = "late"\n  level = "warn"\n}',
  ],
  FLOW3007: [
    "A schema with a word or value that JSON Schema does not know would check nothing and look as if it did.",
    'input a {\n  schema = { type: "text" }\n}',
    'input a {\n  schema = { type: "string", minLength: 1 }\n}',
  ],
  FLOW3008: [
    "Times are checked before the run, because a schedule that never fires is noticed too late.",
    'schedule daily {\n  cron = "0 25 * * *"\n}',
    'schedule daily {\n  cron = "0 7 * * *"\n}',
  ],
  FLOW3009: [
    "The type still works, but a later version of its package will drop it.",
    "a node of a type that its author has replaced",
    "the type that the message names",
    "prose",
  ],
  FLOW3010: [
    "The text pins a version of the node type that is not installed.",
    "node a: transform@9 {\n  value = 1\n}",
    "node a: transform@1 {\n  value = 1\n}",
  ],
  FLOW3011: [
    "A run without this input would fail at once, because its own default does not fit.",
    'input count: int = "three"',
    "input count: int = 3",
  ],
  FLOW3012: [
    "Types are a short list of words; anything richer is written as a `schema`.",
    "input count: integer",
    "input count: int",
  ],
  FLOW3013: [
    "Ports, policies, the flow's own data and the layout must be known before anything runs.",
    "input n: int\n\nnode a: join {\n  @join = inputs.n\n}",
    "node a: join {\n  @join = 2\n}",
  ],
  FLOW3014: [
    "A bare number leaves open whether seconds or milliseconds are meant; it is read as milliseconds.",
    "node a: join {\n  @timeout = 500\n}",
    "node a: join {\n  @timeout = 500ms\n}",
  ],
  FLOW3015: [
    "Each task of an `ai` node has its own fields, and some of them exclude each other.",
    'node a: ai {\n  task = "judge"\n  input = "a text"\n}',
    'node a: ai {\n  task = "judge"\n  rubric = "is it polite?"\n  input = "a text"\n}',
  ],
  FLOW3016: [
    "The two fields say different things about the same question, so only one can hold.",
    'node a: delay {\n  for = 5s\n  until = "2030-01-01T00:00:00Z"\n}',
    "node a: delay {\n  for = 5s\n}",
  ],
  FLOW3017: [
    "Some node types run what stands in their body; others have no use for one.",
    "node a: map {\n  items = [1, 2]\n}",
    "node a: map {\n  items = [1, 2]\n  body {\n    output = item + 1\n  }\n}",
  ],
  FLOW3018: [
    "With a cached result the node does not run at all, so what it would have written or deleted does not happen.",
    'node a: file.write {\n  path = "a.txt"\n  content = "a"\n  @cache = { ttl: 1h }\n}',
    'node a: file.read {\n  path = "a.txt"\n  @cache = { ttl: 1h }\n}',
  ],
} as const;
