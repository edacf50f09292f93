/** What must not be in a flow, and where text from outside must not go. */
import { expect, test } from "vitest";
import { codes } from "./check.ts";

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
