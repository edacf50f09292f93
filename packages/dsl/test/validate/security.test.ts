/** What must not be in a flow, and where text from outside must not go. */
import { expect, test } from "vitest";
import { codes, mended, report } from "./check.ts";

test("a key with a known prefix is named, and not shown", () => {
  const text = `
node a: http.request {
  url = "https://shop.example"
  headers = { Authorization: "Bearer sk-example-0123456789abcdef" }
}
`;

  expect(report(text, "FLOW6001")).toMatchInlineSnapshot(`
    "error: this looks like a secret; a flow is shared text (the value is not shown)
    at 6:30 to 6:66 "\\"Bearer sk-example-0123456789abcdef\\""
    place /nodes/0/fields/headers/Authorization
    hint: use a connection or a credential name"
  `);
});

test("a key inside an expression is named", () => {
  const text = `
node a: transform {
  value = "Bearer " + "sk-example-0123456789abcdef"
}
`;

  expect(report(text, "FLOW6001")).toMatchInlineSnapshot(`
    "error: this looks like a secret; a flow is shared text (the value is not shown)
    at 5:23 to 5:52 "\\"sk-example-0123456789abcdef\\""
    place /nodes/0/fields/value
    hint: use a connection or a credential name"
  `);
});

test("random text in a field named like a secret is named", () => {
  const text = `
input apiKey: string = "Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa"

output x = inputs.apiKey
`;

  expect(report(text, "FLOW6001")).toMatchInlineSnapshot(`
    "error: this looks like a secret; a flow is shared text (the value is not shown)
    at 4:24 to 4:58 "\\"Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa\\""
    place /inputs/0/default
    hint: use a connection or a credential name"
  `);
});

test("random text elsewhere, and words in a secret field, are fine", () => {
  const text = `
input etag: string = "Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa"
input token: string = "the token of the customer, as the shop shows it"

output x = inputs
`;

  expect(codes(text)).not.toContain("FLOW6001");
});

test("text of a page must not choose the host", () => {
  const text = `
node page: http.request {
  url = "https://shop.example"
}
node next: http.request {
  url = page.body.next
}
node also: http.request {
  url = "https://\${page.body.host}/x"
}
`;

  expect(report(text, "FLOW6002")).toMatchInlineSnapshot(`
    "warning: text from page.body reaches the host of a URL
    at 8:9 to 8:23 "page.body.next"
    place /nodes/1/fields/url
    hint: pass it as a list element, a parameter, or a fixed host with \`uriEncode\`
    warning: text from page.body reaches the host of a URL
    at 11:20 to 11:34 "page.body.host"
    place /nodes/2/fields/url/$t/1
    hint: pass it as a list element, a parameter, or a fixed host with \`uriEncode\`"
  `);
});

test("behind a fixed host it is fine, and so is an encoded part", () => {
  const text = `
node page: http.request {
  url = "https://shop.example"
}
node next: http.request {
  url = "https://shop.example/items/\${page.body.id}"
}
node also: http.request {
  url = "https://\${uriEncode(page.body.host)}.shop.example/"
}
`;

  expect(codes(text)).not.toContain("FLOW6002");
});

test("text of inputs in SQL and HTML is named", () => {
  const text = `
input name: string

node a: db.query {
  sql = "select \${inputs.name}"
  page = "<b>\${inputs.name}</b>"
}
`;

  expect(report(text, "FLOW6002")).toMatchInlineSnapshot(`
    "warning: text from inputs.name reaches SQL
    at 7:19 to 7:30 "inputs.name"
    place /nodes/0/fields/sql/$t/1
    hint: pass it as a list element, a parameter, or a fixed host with \`uriEncode\`
    warning: text from inputs.name reaches HTML
    at 8:16 to 8:27 "inputs.name"
    place /nodes/0/fields/page/$t/1
    hint: pass it as a list element, a parameter, or a fixed host with \`uriEncode\`"
  `);
});

test("a program from outside is an error", () => {
  const text = `
input program: string

node a: shell.exec {
  program = inputs.program
}
`;

  expect(report(text, "FLOW6002")).toMatchInlineSnapshot(`
    "error: text from inputs.program reaches a command
    at 7:13 to 7:27 "inputs.program"
    place /nodes/0/fields/program
    hint: pass it as a list element, a parameter, or a fixed host with \`uriEncode\`"
  `);
});

test("arguments from outside are fine", () => {
  const text = `
input name: string

node a: shell.exec {
  program = "git"
  args = ["log", inputs.name]
}
`;

  expect(codes(text)).not.toContain("FLOW6002");
});

test("an invisible control in a string is named, and the fix spells it", () => {
  const text = `
node a: log {
  message = "to ‮eht"
}
`;

  expect(report(text, "FLOW6003")).toMatchInlineSnapshot(`
    "warning: invisible direction control U+202E
    at 5:17 to 5:18 "‮"
    fix: write \\u202e"
  `);

  expect(mended(text, "FLOW6003")).toMatchInlineSnapshot(`
    "
    node a: log {
      message = "to \\u202eeht"
    }
    "
  `);
});

test("an invisible control in a comment is named, and the fix removes it", () => {
  const text = `
# to ‮eht
node a: join
`;

  expect(report(text, "FLOW6003")).toMatchInlineSnapshot(`
    "warning: invisible direction control U+202E
    at 4:6 to 4:7 "‮"
    fix: remove it"
  `);

  expect(mended(text, "FLOW6003")).toMatchInlineSnapshot(`
    "
    # to eht
    node a: join
    "
  `);
});

test("an escape that can be seen is fine", () => {
  const text = `
node a: log {
  message = "to \\u202eeht"
}
`;

  expect(codes(text)).not.toContain("FLOW6003");
});

test("a URL in the clear is named, and the fix writes https", () => {
  const text = `
input path: string

node a: http.request {
  url = "http://shop.example/\${inputs.path}"
}
`;

  expect(report(text, "FLOW6004")).toMatchInlineSnapshot(`
    "warning: http:// sends in the clear
    at 7:9 to 7:45 "\\"http://shop.example/\${inputs.path}\\""
    place /nodes/0/fields/url
    hint: use \`https\`; loopback is exempt
    fix: write https"
  `);

  expect(mended(text, "FLOW6004")).toMatchInlineSnapshot(`
    "
    input path: string

    node a: http.request {
      url = "https://shop.example/\${inputs.path}"
    }
    "
  `);
});

test("loopback is exempt", () => {
  const text = `
input origin: uri = "http://127.0.0.1:8787"

node a: http.request {
  url = "http://localhost:8787/"
}
node b: http.request {
  url = "http://[::1]/\${inputs.origin}"
}
`;

  expect(codes(text)).not.toContain("FLOW6004");
});

test("text from outside that decides a path is named, followed through nodes that hand it on", () => {
  const text = `
node page: http.request {
  url = "https://shop.example"
}
node pick: transform {
  value = { name: page.body.name }
}
node all: map {
  items = pick.value.name
  body {
    node save: file.write {
      path = "out/\${item}"
      content = ""
    }
  }
}
`;

  expect(report(text, "FLOW6005")).toMatchInlineSnapshot(`
    "warning: text from page.body decides a file path
    at 14:21 to 14:25 "item"
    place /nodes/2/body/nodes/0/fields/path/$t/1
    hint: the file policy still applies; fix the folder"
  `);
});

test("a length or a hash of it is no text of it", () => {
  const text = `
node page: http.request {
  url = "https://shop.example"
}
node save: file.write {
  path = "out/\${size(page.body)}-\${sha256(page.body)}"
  content = page.body
}
`;

  expect(codes(text)).not.toContain("FLOW6005");
});

test("text from outside in the system prompt is named", () => {
  const text = `
node page: http.request {
  url = "https://shop.example"
}
node a: ai {
  input = page.body
  system = "You read \${page.body.title}"
}
`;

  expect(report(text, "FLOW6007")).toMatchInlineSnapshot(`
    "warning: text from page.body is placed in \`system\`
    at 9:24 to 9:39 "page.body.title"
    place /nodes/1/fields/system/$t/1
    hint: put it in \`input\`"
  `);
});
