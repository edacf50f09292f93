/** What must not be in a flow, and where text from outside must not go. */
import { expect, test } from "vitest";
import { codes } from "./check.ts";

test("random text elsewhere, and words in a secret field, are fine", () => {
  const text = `
input etag: string = "Zq8vT3nLx0PbYw7RkMs2Hd5JcFg9UeAa"
input token: string = "the token of the customer, as the shop shows it"

output x = inputs
`;

  expect(codes(text)).not.toContain("FLOW6001");
});

test("behind a fixed host it is fine, and so is an encoded part", () => {
  const text = `
node page: http.request { url = "https://shop.example" }
node next: http.request { url = "https://shop.example/items/\${page.body.id}" }
node also: http.request { url = "https://\${uriEncode(page.body.host)}.shop.example/" }
`;

  expect(codes(text)).not.toContain("FLOW6002");
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

test("an escape that can be seen is fine", () => {
  const text = `
node a: log { message = "to \\u202eeht" }
`;

  expect(codes(text)).not.toContain("FLOW6003");
});

test("loopback is exempt", () => {
  const text = `
input origin: uri = "http://127.0.0.1:8787"

node a: http.request { url = "http://localhost:8787/" }
node b: http.request { url = "http://[::1]/\${inputs.origin}" }
`;

  expect(codes(text)).not.toContain("FLOW6004");
});

test("a length or a hash of it is no text of it", () => {
  const text = `
node page: http.request { url = "https://shop.example" }
node save: file.write {
  path = "out/\${size(page.body)}-\${sha256(page.body)}"
  content = page.body
}
`;

  expect(codes(text)).not.toContain("FLOW6005");
});

test.each([
  ['{ ref: "action:file.write", confirm: false }', 0],
  ['{ ref: "action:http.request", with: { method: "GET" }, confirm: false }', 0],
  ['{ ref: "action:http.request", with: { method: "POST" }, confirm: false }', 0],
  ['{ ref: "action:http.request", with: { method: "DELETE" }, confirm: false }', 1],
  ['{ ref: "action:http.request", with: { method: "DELETE" } }', 0],
])(
  "a tool %s gives %d warnings: who writes `confirm: false` means it, but for what destroys",
  (tool, n) => {
    const text = `node a: ai {\n  input = "x"\n  tools = [${tool}]\n}\n`;
    expect(codes(text).filter((code) => code === "FLOW6006")).toHaveLength(n);
  },
);
