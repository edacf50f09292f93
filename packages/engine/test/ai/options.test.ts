/** What the operator says of `ai` nodes, looked at before anything begins. */
import { createEngine } from "@millrace/engine";
import { expect, test } from "vitest";
import { scripted } from "./support/model.ts";

test.each([
  ["providers", { providers: [{}] }],
  ["providers", { providers: [scripted([]), scripted([])] }],
  ["ai", { ai: [] }],
  ["ai.defaultProvider", { ai: { defaultProvider: 1 } }],
  ["ai.defaultModels", { ai: { defaultModels: "m" } }],
  ["ai.credentials", { ai: { credentials: {} } }],
  ["ai.tools", { ai: { tools: { list: () => [] } } }],
  ["ai.prices", { ai: { prices: 1 } }],
  ["ai.hmacKey", { ai: { hmacKey: new Uint8Array(31) } }],
  ["ai.circuit.failures", { ai: { circuit: { failures: 0 } } }],
  ["ai.circuit.coolDownMs", { ai: { circuit: { coolDownMs: -1 } } }],
])("%s that is none is refused by name", (name, options) => {
  expect(() => createEngine(options as never)).toThrow(
    expect.objectContaining({
      code: "input_invalid",
      message: expect.stringContaining(`options.${name} must be`),
    }),
  );
});

test("options that are right are taken", () => {
  const ai = { hmacKey: new Uint8Array(32), circuit: { failures: 1 }, defaultProvider: "mock" };
  expect(() => createEngine({ providers: [scripted([])], ai })).not.toThrow();
});
