/** The key of digests. */
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAuditKey } from "@millrace/providers";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";

test("it is made once, for its owner alone, and is the same ever after; a file that is cut is not used", async () => {
  const inside = join(temporaryFolder(), "new");
  const key = await loadAuditKey(inside);
  expect(key).toHaveLength(32);
  expect(await loadAuditKey(inside)).toEqual(key);
  expect((await stat(join(inside, "audit.key"))).mode & 0o777).toBe(0o600);
  await writeFile(join(inside, "audit.key"), "cut");
  expect(await loadAuditKey(inside)).toHaveLength(32);
});
