import assert from "node:assert/strict";
import { test } from "node:test";
import { conformance, createTestHost } from "@millrace/testkit";
import extension from "../src/extension.js";

const url = "https://api.example.com/v1/millrace";
const http = [{ url, json: { text: "a channel" } }];
const cases = conformance(extension, {
  fixtures: {
    "your-extension.lookup": [
      { fields: { query: "millrace" }, http, output: { text: "a channel" } },
      { fields: { query: "millrace" }, http: [{ url, status: 404 }], fails: "lookup_http" },
    ],
  },
});
for (const { name, run } of cases) test(name, run);

test("the key travels in a header", async () => {
  const t = createTestHost({ extension, secrets: { API_KEY: "key-1" }, http });
  assert.deepEqual(await t.run("your-extension.lookup", { query: "millrace" }), {
    text: "a channel",
  });
  assert.equal(t.requests[0]?.headers["authorization"], "Bearer key-1");
});
