// Takes a lock, says so, and keeps it until it is killed.
import { fileLock } from "@millrace/oauth/store/file";

const [dir, key] = process.argv.slice(2);
await fileLock({ dir }).acquire(key, { timeoutMs: 10_000 });
process.stdout.write("held\n");
setInterval(() => {}, 60_000);
