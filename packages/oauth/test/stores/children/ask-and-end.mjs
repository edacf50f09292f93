// Asks the store once and does nothing else: whether the process then ends is up to the store.
import { osCredentialStore } from "@millrace/oauth/store/os";

const [resolveFrom] = process.argv.slice(2);
const store = osCredentialStore({ service: "millrace", resolveFrom });
process.stdout.write(`${await store.get("service:a")}\n`);
