// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 6 (security) and 9 (style, only on request). */

export const SECURITY_RULES = {
  FLOW6001: {
    severity: "error",
    message: "this looks like a secret; a flow is shared text (the value is not shown)",
    hint: "use a connection or a credential name",
  },
  FLOW6002: {
    severity: "warning",
    severities: ["warning", "error"],
    message: "text from {source} reaches {sink}",
    hint: "pass it as a list element, a parameter, or a fixed host with `uriEncode`",
  },
  FLOW6003: {
    severity: "warning",
    message: "invisible direction control {char}",
  },
  FLOW6004: {
    severity: "warning",
    message: "{scheme} sends in the clear",
    hint: "use `{secure}`; loopback is exempt",
  },
  FLOW6005: {
    severity: "warning",
    message: "text from {source} decides a file path",
    hint: "the file policy still applies; fix the folder",
  },
  FLOW6006: {
    severity: "warning",
    message: "the model may call {tool}, whose effect is {effect}, without asking",
    hint: "`confirm: true`",
  },
  FLOW6007: {
    severity: "warning",
    message: "text from {source} is placed in `system`",
    hint: "put it in `input`",
  },
} as const;

export const STYLE_RULES = {
  FLOW9001: {
    severity: "info",
    message: "flow has no nodes",
  },
  FLOW9002: {
    severity: "info",
    message: "not in canonical form",
    hint: "format it",
  },
  FLOW9003: {
    severity: "info",
    message: "edge repeats an order that a reference already gives",
    hint: "the node has no other edge; leave this one out",
  },
  FLOW9004: {
    severity: "info",
    message: "{id} is quoted everywhere; an id of letters, digits, `_`, `-` reads better",
  },
  FLOW9005: {
    severity: "info",
    message: "{type} without @timeout",
  },
} as const;
