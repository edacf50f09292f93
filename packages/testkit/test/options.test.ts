/** A misspelt option is refused: passed over, a suite would look at less than its author believes. */
import { defineExtension } from "@millrace/contracts";
import { conformance, createScriptedProvider } from "@millrace/testkit";
import { expect, test } from "vitest";

const any = (options: object): never => options as never;

test.each<[string, () => unknown, string]>([
  ["conformance", () => conformance(defineExtension({}), any({ fixture: {} })), "fixtures"],
  ["createScriptedProvider", () => createScriptedProvider([], any({ clok: {} })), "clock"],
])("%s", (name, call, meant) => {
  expect(call).toThrow(new RegExp(`^${name}: unknown option ".*"; did you mean "${meant}"`));
});
