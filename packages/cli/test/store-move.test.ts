/** `millrace store move` against a real PostgreSQL. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { openPostgresStore } from "@millrace/store-postgres";
import { describeWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { appendAll, logOf } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const KEY = Buffer.alloc(32, 7);
const TO = "env:NEW_STORE";

let schemas = 0;

/** A folder with a store in `data`, and the address of a store that is not there yet. */
async function newMove(): Promise<{ cwd: string; url: string; env: Record<string, string> }> {
  const cwd = scratch();
  const store = await openStore({ dir: join(cwd, "data") });
  await appendAll(store.journal, logOf(7));
  await store.settings.set({ "/ai/model": "local/small" });
  await store.close();
  schemas += 1;
  const url = new URL((await sharedPostgres()).url);
  url.password = "hunter2"; // the server trusts everybody
  url.searchParams.set("search_path", `move_${process.pid}_${schemas}`);
  const env = { NEW_STORE: url.href, MILLRACE_STORE_KEY: KEY.toString("base64") };
  return { cwd, url: url.href, env };
}

const words = ["store", "move", "--home", "data", "--to", TO];

describeWith("postgres")("millrace store move", () => {
  test("copies everything, says so for each table, and ends with 1 when a row is not the same", async () => {
    const { cwd, url, env } = await newMove();
    const moved = await inside(words, { cwd, env });
    expect(moved).toMatchObject({ code: 0 });
    expect(moved.stdout).toMatch(/^TABLE +SOURCE +TARGET +SOURCE DIGEST +TARGET DIGEST$/m);
    expect(moved.stdout).toMatch(/^journal +(\d+) +\1 +([0-9a-f]{16}) +\2$/m);
    expect(moved.stdout).toMatch(/^setting +1 +1 /m);
    expect(moved.stderr).toMatch(/\d+ rows copied; both stores are the same/);

    const again = await inside([...words, "--check", "--json"], { cwd, env });
    expect(again).toMatchObject({ code: 0 });
    expect(JSON.parse(again.stdout)).toMatchObject({ copied: 0, isEqual: true });

    const store = await openPostgresStore({ url, key: KEY });
    onTestFinished(() => store.close());
    expect((await store.runs.list({ limit: 9 })).items.map(({ runId }) => runId)).toEqual(["r7"]);
    await store.settings.set({ "/ai/model": "local/large" });
    const other = await inside([...words, "--check"], { cwd, env });
    expect(other).toMatchObject({ code: 1 });
    expect(other.stderr).toContain("not the same: setting");
    for (const { stdout, stderr } of [moved, again, other]) {
      expect(stdout + stderr).not.toMatch(/hunter2|postgres:|BwcHBwcH/);
    }
  });

  test("takes the key from a file, and refuses another one by its name alone", async () => {
    const { cwd, env } = await newMove();
    const { NEW_STORE } = env;
    writeFileSync(join(cwd, "key.txt"), `${KEY.toString("hex")}\n`);
    writeFileSync(join(cwd, "other.txt"), "11".repeat(32));
    writeFileSync(join(cwd, "short.txt"), "1234");
    const withKey = (file: string) =>
      inside([...words, "--key-file", file], { cwd, env: { NEW_STORE: String(NEW_STORE) } });
    expect(await withKey("key.txt")).toMatchObject({ code: 0 });
    expect(await withKey("other.txt")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("was made with the key"),
    });
    expect(await withKey("short.txt")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("32 bytes"),
    });
    expect(await withKey("none.txt")).toMatchObject({ code: 2 });
  });

  test("says what is missing or in the way", async () => {
    const { cwd, env } = await newMove();
    const told = async (line: readonly string[], given: Record<string, string> = env) => {
      const { code, stderr } = await inside(line, { cwd, env: given });
      return `${code} ${stderr}`;
    };
    expect(await told(["store", "move", "--home", "data"])).toMatch(/^2 .*needs --to/s);
    expect(await told(words, {})).toMatch(/^2 .*NEW_STORE is not set/s);
    expect(await told(words, { NEW_STORE: "x" })).toMatch(/^2 .*needs a key/s);
    expect(await told(words, { ...env, NEW_STORE: "x" })).toMatch(/^2 .*URL of postgres/s);
    const open = ["store", "move", "--home", "data", "--to", "postgres://me:hunter2@host/db"];
    const refused = await told(open);
    expect(refused).toMatch(/^2 .*takes no password/s);
    expect(refused).not.toContain("hunter2");
    expect(await told(["store", "move", "--home", "none", "--to", TO])).toMatch(/^6 .*no store/s);
    const holder = await openStore({ dir: join(cwd, "data") });
    expect(await told(words)).toMatch(/^6 .*in use by .*stop it first/s);
    await holder.close();
  });
});
