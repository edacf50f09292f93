// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Rules of the families 6 (security) and 9 (style, only on request). */

export const SECURITY_RULES = {
  FLOW6001: {
    severity: "error",
    message: "this looks like a secret; a flow is shared text (the value is not shown)",
    hint: "use a connection or a credential name",
    wrong:
      'node a: http.request {\n  url = "https://shop.example"\n  headers = { Authorization: "Bearer sk-example-0123456789abcdef" }\n}',
    right:
      'connection shop: oauth\n\nnode a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
  },
  FLOW6002: {
    severity: "warning",
    severities: ["warning", "error"],
    message: "text from {source} reaches {sink}",
    hint: "pass it as a list element, a parameter, or a fixed host with `uriEncode`",
    wrong:
      'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = list.body.next\n}',
    right:
      'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = "https://shop.example/items/${uriEncode(list.body.next)}"\n}',
  },
  FLOW6003: {
    severity: "warning",
    message: "invisible direction control {char}",
    wrong: 'node a: log {\n  message = "to \u202eeht"\n}',
    right: 'node a: log {\n  message = "to the"\n}',
  },
  FLOW6004: {
    severity: "warning",
    message: "{scheme} sends in the clear",
    hint: "use `{secure}`; loopback is exempt",
    wrong: 'node a: http.request {\n  url = "http://shop.example"\n}',
    right: 'node a: http.request {\n  url = "https://shop.example"\n}',
  },
  FLOW6005: {
    severity: "warning",
    message: "text from {source} decides a file path",
    hint: "the file policy still applies; fix the folder",
    wrong:
      'node a: http.request {\n  url = "https://shop.example"\n}\nnode b: file.read {\n  path = "in/${a.body.name}"\n}',
    right: 'node b: file.read {\n  path = "in/orders.json"\n}',
  },
  FLOW6006: {
    severity: "warning",
    message: "the model may call {tool}, whose effect is {effect}, without asking",
    hint: "`confirm: true`",
    wrong:
      'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:file.write", confirm: false }]\n}',
    right:
      'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:file.write", confirm: true }]\n}',
  },
  FLOW6007: {
    severity: "warning",
    message: "text from {source} is placed in `system`",
    hint: "put it in `input`",
    wrong:
      'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = a.content\n  input = "sum it up"\n}',
    right:
      'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = "sum it up"\n  input = a.content\n}',
  },
} as const;

export const STYLE_RULES = {
  FLOW9001: {
    severity: "info",
    message: "flow has no nodes",
    wrong: "flow 1 empty",
    right: "flow 1 waits\n\nnode a: join",
    form: "whole",
  },
  FLOW9002: {
    severity: "info",
    message: "not in canonical form",
    hint: "format it",
    wrong: "flow 1 loose\nnode a: join",
    right: "flow 1 neat\n\nnode a: join\n",
    form: "whole",
  },
  FLOW9003: {
    severity: "info",
    message: "edge repeats an order that a reference already gives",
    hint: "the node has no other edge; leave this one out",
    wrong:
      "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}\n\na -> b",
    right: "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}",
  },
  FLOW9004: {
    severity: "info",
    message: "{id} is quoted everywhere; an id of letters, digits, `_`, `-` reads better",
    wrong: 'node "box 7": join',
    right: "node box-7: join",
  },
  FLOW9005: {
    severity: "info",
    message: "{type} without @timeout",
    wrong: 'node a: http.request {\n  url = "https://shop.example"\n}',
    right: 'node a: http.request {\n  url = "https://shop.example"\n  @timeout = 10s\n}',
  },
} as const;
