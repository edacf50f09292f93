// Writes entries of its own into a shared credential file. The key comes on stdin.
import { readFileSync } from "node:fs";
import { fileCredentialStore } from "@millrace/oauth/store/file";

const [path, name, count] = process.argv.slice(2);
const store = fileCredentialStore({ path, key: { bytes: readFileSync(0) } });
await Promise.all(
  Array.from({ length: Number(count) }, (_, i) =>
    store.set(`service:${name}-${i}`, `${name} ${i}`),
  ),
);
