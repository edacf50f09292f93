// Asks the store while the process cannot open another file, and again when it can; says what came of it.
import { closeSync, openSync } from "node:fs";
import { osCredentialStore } from "@millrace/oauth/store/os";

const [resolveFrom] = process.argv.slice(2);
const store = osCredentialStore({ service: "millrace", resolveFrom });
const files = [];
try {
  for (;;) files.push(openSync("/dev/null"));
} catch {
  // All are taken.
}
const refused = await store.get("service:a").catch(({ kind, reason }) => `${kind} ${reason}`);
for (const file of files) closeSync(file);
process.stdout.write(`${refused}, ${await store.get("service:a")}`);
