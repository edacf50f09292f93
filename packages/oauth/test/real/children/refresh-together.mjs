// One process of several that want the same token. Says "ready", reads its task from stdin, prints the token.
import { ensureFreshToken } from "@millrace/oauth";
import { fileCredentialStore, fileLock } from "@millrace/oauth/store/file";

process.stdout.write("ready\n");
let text = "";
for await (const chunk of process.stdin) text += chunk;
const { endpoint, path, dir, key } = JSON.parse(text);
const store = fileCredentialStore({ path, key: { bytes: Buffer.from(key, "base64") } });
const token = await ensureFreshToken({ ...endpoint, store, slug: "s", lock: fileLock({ dir }) });
process.stdout.write(`${JSON.stringify(token)}\n`);
