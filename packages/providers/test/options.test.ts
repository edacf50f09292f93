/** What untyped code misspells is refused where it is said. */
import { createScriptedProvider, readAiSettings, recordProvider } from "@millrace/providers";
import { expect, test } from "vitest";

const any = (options: object): never => options as never;
const scripted = createScriptedProvider([]);

test.each<[string, () => unknown, string]>([
  // The settings of `ai` stand in a member of that name.
  ["settings", () => readAiSettings(any({ defaultProvider: "a" })), "defaultProvider"],
  ["createScriptedProvider", () => createScriptedProvider([], any({ name: "a" })), "name"],
  ["recordProvider", () => recordProvider(scripted, any({ sync() {} })), "sync"],
])("%s", (_name, call, unknown) => {
  expect(call).toThrow(`unknown option "${unknown}"; `);
});
