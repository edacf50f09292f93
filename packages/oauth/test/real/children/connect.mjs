import { ensureFreshToken } from "@millrace/oauth";
import { connectService } from "@millrace/oauth/loopback";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";

let task = "";
for await (const chunk of process.stdin) task += chunk;
const client = JSON.parse(task);
const store = memoryCredentialStore();
const openBrowser = (url) => process.stdout.write(`${url}\n`);
const wait = { timeoutMs: 30_000, usePkce: true, openBrowser };
const { access_token: rejected } = await connectService({ ...client, ...wait, store, slug: "s" });
const token = await ensureFreshToken({ ...client, store, slug: "s", rejected });
process.stdout.write(`${token.token_type} ${token.scope} ${token.access_token !== rejected}\n`);
