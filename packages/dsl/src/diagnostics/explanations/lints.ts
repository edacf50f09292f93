// biome-ignore-all lint/suspicious/noTemplateCurlyInString: holes of the flow language
/** Explanations of the families 6 (security) and 9 (style). */

export const LINTS_EXPLANATIONS = {
  FLOW6001: {
    why: "A flow is stored, shared and shown; a secret in it is known to everyone who can read it and has to be replaced.",
    wrong:
      'node a: http.request {\n  url = "https://shop.example"\n  headers = { Authorization: "Bearer sk-example-0123456789abcdef" }\n}',
    right:
      'connection shop: oauth\n\nnode a: http.request {\n  url = "https://shop.example"\n  connection = "shop"\n}',
  },
  FLOW6002: {
    why: "Whoever wrote that text could make the command, the query, the page or the request do something else.",
    wrong:
      'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = list.body.next\n}',
    right:
      'node list: http.request {\n  url = "https://shop.example"\n}\nnode next: http.request {\n  url = "https://shop.example/items/${uriEncode(list.body.next)}"\n}',
  },
  FLOW6003: {
    why: "Such a character makes text look different from what it is, which has been used to hide code in plain sight.",
    wrong: 'node a: log {\n  message = "to \u202eeht"\n}',
    right: 'node a: log {\n  message = "to the"\n}',
  },
  FLOW6004: {
    why: "Anyone on the way can read and change what is sent without encryption.",
    wrong: 'node a: http.request {\n  url = "http://shop.example"\n}',
    right: 'node a: http.request {\n  url = "https://shop.example"\n}',
  },
  FLOW6005: {
    why: "Whoever wrote that text chooses the file that is read or written, within what the file policy allows.",
    wrong:
      'node a: http.request {\n  url = "https://shop.example"\n}\nnode b: file.read {\n  path = "in/${a.body.name}"\n}',
    right: 'node b: file.read {\n  path = "in/orders.json"\n}',
  },
  FLOW6006: {
    why: "A text that the model reads can talk it into calling the tool, and what it destroys is gone; a person should agree first.",
    wrong:
      'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:http.request", with: { method: "DELETE" }, confirm: false }]\n}',
    right:
      'node a: ai {\n  input = "tidy up"\n  tools = [{ ref: "action:http.request", with: { method: "DELETE" }, confirm: true }]\n}',
  },
  FLOW6007: {
    why: "The model trusts `system` most, so a text from outside could give it new orders there.",
    wrong:
      'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = a.content\n  input = "sum it up"\n}',
    right:
      'node a: file.read {\n  path = "mail.txt"\n}\nnode b: ai {\n  system = "sum it up"\n  input = a.content\n}',
  },
  FLOW9001: {
    why: "A flow without nodes does nothing.",
    wrong: "flow 1 empty",
    right: "flow 1 waits\n\nnode a: join",
    form: "whole",
  },
  FLOW9002: {
    why: "One form for every text keeps differences small; `millrace fmt` writes it.",
    wrong: "flow 1 loose\nnode a: join",
    right: "flow 1 neat\n\nnode a: join\n",
    form: "whole",
  },
  FLOW9003: {
    why: "A node waits for what it reads anyway, so the edge says nothing new.",
    wrong:
      "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}\n\na -> b",
    right: "node a: transform {\n  value = 1\n}\n\nnode b: transform {\n  value = a.value\n}",
  },
  FLOW9004: {
    why: "A bare id reads better and needs no escapes in expressions.",
    wrong: 'node "box 7": join',
    right: "node box-7: join",
  },
  FLOW9005: {
    why: "Without a limit a service that never answers, or a condition that never comes true, holds the run.",
    wrong: 'node a: http.request {\n  url = "https://shop.example"\n}',
    right: 'node a: http.request {\n  url = "https://shop.example"\n  @timeout = 10s\n}',
  },
} as const;
