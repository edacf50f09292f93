// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 0 (file) and 1 (words and syntax, slips that are read as meant). */

export const FILE_RULES = {
  FLOW0001: {
    severity: "error",
    message: "file is not valid UTF-8 at byte {offset}",
    hint: "save it as UTF-8",
  },
  FLOW0002: {
    severity: "error",
    message: "flow language version {found} is newer than {supported}",
    hint: "update millrace; the rest was still read as version {supported}",
  },
  FLOW0003: {
    severity: "error",
    message: "unknown flow language version {found}",
  },
  FLOW0004: {
    severity: "error",
    message: "text is longer than {limit} characters",
    hint: "nothing was read",
  },
} as const;

export const SYNTAX_RULES = {
  FLOW1001: {
    severity: "error",
    message: "unexpected {found}",
  },
  FLOW1002: {
    severity: "error",
    severities: ["error", "warning"],
    message: "control character {char} in a {place}",
    hint: "write it as {escape}",
  },
  FLOW1003: {
    severity: "error",
    message: "string is not closed on its line",
    hint: 'use a `"""` block for text on several lines',
  },
  FLOW1004: {
    severity: "error",
    message: "block is not closed",
    hint: "the closing {n} quotes stand alone on their line",
  },
  FLOW1005: {
    severity: "error",
    message: "unknown escape `\\{char}`",
  },
  FLOW1006: {
    severity: "error",
    message: "expected {what}, found {found}",
  },
  FLOW1007: {
    severity: "error",
    message: 'text must start on the line after `"""`',
  },
  FLOW1008: {
    severity: "error",
    message: 'line is indented less than the closing `"""`',
  },
  FLOW1009: {
    severity: "error",
    message: "a name cannot hold `${…}`",
  },
  FLOW1010: {
    severity: "error",
    message: "not a number: {text}",
  },
  FLOW1011: {
    severity: "error",
    message: "unknown unit {unit}",
    hint: "units: ms s m h d",
  },
  FLOW1012: {
    severity: "error",
    message: "number out of range",
  },
  FLOW1013: {
    severity: "error",
    message: "integer {text} cannot be kept exactly",
  },
  FLOW1014: {
    severity: "error",
    message: "nested deeper than {limit}",
    hint: "move a part into its own `transform` node",
  },
  FLOW1015: {
    severity: "error",
    message: "expected a new line, found {found}",
  },
  FLOW1016: {
    severity: "error",
    message: "`{` is not closed",
  },
  FLOW1017: {
    severity: "error",
    message: "stray {closer}",
  },
  FLOW1099: {
    severity: "error",
    message: "more than {limit} errors; the rest was not read",
  },
} as const;

export const SLIP_RULES = {
  FLOW1101: {
    severity: "warning",
    message: "`${…}` is not needed here: this place is already an expression",
  },
  FLOW1102: {
    severity: "warning",
    message: "strings use double quotes",
  },
  FLOW1103: {
    severity: "info",
    message: "comments start with `#`",
  },
  FLOW1104: {
    severity: "warning",
    message: "comments start with `#`",
  },
  FLOW1105: {
    severity: "info",
    message: "`;` is not needed",
  },
  FLOW1106: {
    severity: "warning",
    message: "edges are written `->`",
  },
  FLOW1107: {
    severity: "warning",
    message: "Markdown fence around the flow",
  },
  FLOW1108: {
    severity: "warning",
    message: "fields are set with `=`",
  },
  FLOW1109: {
    severity: "warning",
    message: "operator is `{operator}`",
  },
  FLOW1110: {
    severity: "warning",
    message: "word is `{word}`",
  },
} as const;
