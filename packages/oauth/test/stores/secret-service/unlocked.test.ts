import { pathToFileURL } from "node:url";
import { describeCredentialBackends } from "@millrace/oauth/store/os";
import { credentialStoreCases } from "@millrace/oauth/testing";
import { describe, expect, test } from "vitest";
import { searchItems } from "./session.ts";
import { keytarFolder, openStore, withSecretService } from "./suite.ts";

const ACCOUNT = "service:millrace-unlocked";

withSecretService("an unlocked keyring", () => {
  describe.each([[["keytar"]], [["napi"]], [["keytar", "napi"]]] as const)(
    "over %j",
    (backends) => {
      for (const { name, run } of credentialStoreCases(() => openStore({ backends })))
        test(name, run);
    },
  );

  test("entries of one library are found through the other, and move", async () => {
    const keytar = openStore({ backends: ["keytar"] });
    const napi = openStore({ backends: ["napi"] });
    const both = openStore();
    await napi.set(ACCOUNT, "value");
    expect(await keytar.get(ACCOUNT)).toBeUndefined();
    expect(await both.get(ACCOUNT)).toBe("value");
    expect(await keytar.get(ACCOUNT)).toBe("value");
    expect(await napi.get(ACCOUNT)).toBeUndefined();
    expect(await both.delete(ACCOUNT)).toBe(true);
  });

  test("a write leaves one entry, and a deletion none, whoever wrote it", async () => {
    const napi = openStore({ backends: ["napi"] });
    const both = openStore();
    await napi.set(ACCOUNT, "old");
    await both.set(ACCOUNT, "new");
    expect(await napi.get(ACCOUNT)).toBeUndefined();
    await napi.set(ACCOUNT, "again");
    expect(await both.delete(ACCOUNT)).toBe(true);
    expect(await searchItems({}, { service: "millrace-tests" })).toBe("(@ao [], @ao [])");
  });

  test("entries are in the Secret Service, not in the kernel's keyring", async () => {
    const napi = openStore({ backends: ["napi"] });
    await napi.set(ACCOUNT, "value");
    const items = await searchItems({}, { service: "millrace-tests", username: ACCOUNT });
    expect(items).toMatch(
      /^\(\[objectpath '\/org\/freedesktop\/secrets\/collection\/login\/\d+'\]/,
    );
    await napi.delete(ACCOUNT);
  });

  test("an absent entry starts no process", async () => {
    const store = openStore({ helperUrl: pathToFileURL("/nonexistent/helper.js") });
    expect([await store.get(ACCOUNT), await store.delete(ACCOUNT)]).toEqual([undefined, false]);
  });

  test("both libraries are described as ready", async () => {
    const ready = { importable: true, state: "ok", detail: "the keyring is unlocked" };
    expect(await describeCredentialBackends({ resolveFrom: keytarFolder })).toEqual([
      { name: "keytar", ...ready },
      { name: "napi", ...ready },
    ]);
  });
});
