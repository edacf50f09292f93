// Adds one to the number in a file, many times, each time under the lock.
import { readFileSync, writeFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { fileLock } from "@millrace/oauth/store/file";

const [dir, file, times] = process.argv.slice(2);
const lock = fileLock({ dir });
for (let i = 0; i < Number(times); i++) {
  const held = await lock.acquire("counter", { timeoutMs: 50_000 });
  const count = Number(readFileSync(file, "utf8"));
  await setImmediate();
  writeFileSync(file, String(count + 1));
  await held.release();
}
