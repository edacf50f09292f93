import { test } from "node:test";
import { conformance } from "@millrace/testkit";
import extension from "../src/extension.js";

// The suite plays the server, well and badly.
const cases = conformance(extension, {
  providers: { "your-extension": { model: "small", wire: "chat" } },
});
for (const { name, run } of cases) test(name, run);
