import assert from "node:assert/strict";
import { test } from "node:test";
import { conformance, createTestHost } from "@millrace/testkit";
import extension from "../src/extension.js";

const cases = conformance(extension, {
  fixtures: {
    "your-extension.quorum": [
      { fields: { needed: 2 }, confirm: () => ({ decision: "approve" }), output: { agreed: 2 } },
    ],
  },
});
for (const { name, run } of cases) test(name, run);

test("who rejects does not count", async () => {
  const t = createTestHost({ extension, confirm: () => ({ decision: "reject" }) });
  assert.deepEqual(await t.run("your-extension.quorum", { needed: 1 }), { agreed: 0 });
});
