/** What the operator says of `ai` nodes, looked at before anything begins. */
import { aiSettings } from "@millrace/ai";
import { createEngine } from "@millrace/engine";
import { scripted } from "@millrace/test-support/models";
import { expect, test } from "vitest";

test.each([
  ["options.providers", { providers: [{}] }],
  ["options.providers", { providers: [scripted([]), scripted([])] }],
  ["options", []],
  ["options.defaultProvider", { defaultProvider: 1 }],
  ["options.defaultModels", { defaultModels: "m" }],
  ["options.credentials", { credentials: {} }],
  ["options.tools", { tools: { list: () => [] } }],
  ["options.prices", { prices: 1 }],
  ["options.hmacKey", { hmacKey: new Uint8Array(31) }],
  ["options.circuit.failures", { circuit: { failures: 0 } }],
  ["options.circuit.coolDownMs", { circuit: { coolDownMs: -1 } }],
])("%s that is none is refused by name", (name, options) => {
  expect(() => aiSettings(options as never)).toThrow(
    expect.objectContaining({
      code: "input_invalid",
      message: expect.stringContaining(`${name} must be`),
    }),
  );
});

test("a misspelt option is refused with the one that is meant", () => {
  expect(() => aiSettings({ price: {} } as never)).toThrow(/unknown option "price".*"prices"/);
});

test("options that are right are taken", () => {
  const right = { hmacKey: new Uint8Array(32), circuit: { failures: 1 }, defaultProvider: "mock" };
  const settings = [aiSettings({ providers: [scripted([])], ...right })];
  expect(() => createEngine({ settings })).not.toThrow();
});
