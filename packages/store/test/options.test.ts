/** A misspelt option is refused: passed over, it would delete what it is there to keep. */
import { openMemoryStore, startRetention } from "@millrace/store";
import { expect, onTestFinished, test } from "vitest";

const any = (options: object): never => options as never;

test.each([
  ["retain", 'retain: unknown option "journalDay"; did you mean "journalDays"?'],
  ["startRetention", 'startRetention: unknown option "limit"; did you mean "limits"?'],
])("%s", async (name, message) => {
  const store = await openMemoryStore();
  onTestFinished(() => store.close());
  const call = async () =>
    name === "retain"
      ? store.retain(any({ journalDay: 365 }))
      : startRetention(store, any({ limit: () => ({ journalDays: 365 }) }));
  await expect(call()).rejects.toThrow(new TypeError(message));
});
