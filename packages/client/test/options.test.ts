/** A misspelt option is refused, with the name that was meant. */
import { createClient } from "@millrace/client";
import { expect, test } from "vitest";

const url = "http://127.0.0.1:1";
const any = (options: object): never => options as never;

test.each<[name: string, call: () => unknown, unknown: string, meant: string]>([
  ["createClient", () => createClient(any({ url, tokn: "" })), "tokn", "token"],
  [
    "invoke",
    () => createClient({ url }).invoke("get_meta", {}, any({ signl: 1 })),
    "signl",
    "signal",
  ],
  [
    "runFlow",
    () => createClient({ url }).runFlow({ dsl: "" }, any({ signl: 1 })),
    "signl",
    "signal",
  ],
  ["runEvents", () => createClient({ url }).runEvents("r", any({ kind: [] })), "kind", "kinds"],
])("%s", async (_name, call, unknown, meant) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(`unknown option "${unknown}"; did you mean "${meant}"?`);
});

test("where nothing is near, the options there are are listed", () => {
  expect(() => createClient(any({ url, zzzzzz: 1 }))).toThrow("there are url, token, fetch,");
});
