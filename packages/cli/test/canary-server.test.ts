/**
 * No secret of a server stands in clear in anything that it leaves: tokens of the server and of webhooks, the secret of a webhook,
 * the secret of an OAuth client, tokens of a connection. The server is killed in the middle, and takes up its run again.
 */
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesBelow, found } from "./canaries.ts";
import { millrace, scratch, urlOf } from "./cli.ts";
import { serviceWorld } from "./service-world.ts";

const SERVER_TOKEN = "canary-server-token-4715";
const WRONG_TOKEN = "canary-wrong-token-4716";
const CLIENT_SECRET = "canary-client-secret-4717";
const WEBHOOK_SECRET = "canary-webhook-secret-4718";
const NOTIFY_SECRET = "whsec_canaryNotifySecret4718aaaaaaaaaa";

const CALLED = `flow 1 called

input call: object

connection tracker: oauth {
  service = "tracker"
}

node before: service.call {
  connection = "tracker"
  operation = "issues.list"
}

node ask: confirm {
  prompt = "go on?"
}

before -> ask

node after: service.call {
  connection = "tracker"
  operation = "issues.list"
}

ask.approved -> after

output first: string = after.body.items[0]
`;

interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Calls a server with its token; `text` is sent as it is. */
async function call(
  url: string,
  method: string,
  text = "",
  headers: Record<string, string> = { authorization: `Bearer ${SERVER_TOKEN}` },
): Promise<Answered> {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(text !== "" && { body: text }),
  });
  return { status: response.status, body: await response.text() };
}

function signatureOf(body: string): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const hmac = createHmac("sha256", WEBHOOK_SECRET).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${hmac}`;
}

/** The run when it has this status. */
async function until(url: string, status: string): Promise<void> {
  await expect.poll(async () => (await call(url, "GET")).body).toContain(`"status":"${status}"`);
}

test("secrets of a server stand nowhere in clear, before and after a kill", async () => {
  const world = await serviceWorld({ clientSecret: CLIENT_SECRET });
  const connected = await world.run(
    ["connect", "tracker", "--client-id", "client", "--secret-stdin"],
    { stdin: `${CLIENT_SECRET}\n` },
  );
  expect(connected.code, connected.stderr).toBe(0);
  const tokens = join(scratch(), "tokens"); // the operator's own file
  writeFileSync(tokens, `ops:admin:${SERVER_TOKEN}\n`);
  const serve = ["serve", "--webhooks", "--port", "0", "--json", "-v", "--token-file", tokens];

  const server = world.start(serve);
  const url = await urlOf(server);
  const template = await call(
    `${url}/api/templates/called`,
    "PUT",
    JSON.stringify({ dsl: CALLED }),
  );
  expect(template.status, template.body).toBe(201);
  const wrong = { authorization: `Bearer ${WRONG_TOKEN}` };
  const refused = await call(`${url}/api/runs?token=${WRONG_TOKEN}`, "GET", "", wrong);
  expect(refused.status).toBe(401);
  const created = await call(
    `${url}/api/webhooks`,
    "POST",
    JSON.stringify({ template: "called", input: "call", secret: WEBHOOK_SECRET }),
  );
  expect(created.status, created.body).toBe(201);
  const notify = { to: "https://ops.example/hook", secret: NOTIFY_SECRET };
  const told = await call(`${url}/api/settings`, "PATCH", JSON.stringify({ notify }), {
    ...{ authorization: `Bearer ${SERVER_TOKEN}`, "if-match": "*" },
  });
  expect(told.status, told.body).toBe(200);
  const { token: hookToken } = JSON.parse(created.body) as { token: string };
  const body = JSON.stringify({ news: "good" });
  const hook = `${url}/hooks/${hookToken}`;
  const started = await call(hook, "POST", body, {
    // A caller that sends more than it ought to.
    authorization: `Bearer ${SERVER_TOKEN}`,
    "millrace-signature": signatureOf(body),
  });
  expect(started.status, started.body).toBe(202);
  expect((await call(hook, "POST", body, wrong)).status).toBe(401);
  const { runId } = JSON.parse(started.body) as { runId: string };
  await until(`${url}/api/runs/${runId}`, "paused");
  const [first = ""] = world.seen;
  server.child.kill("SIGKILL");
  const killed = await server.ended;

  const secrets = (): Record<string, string> => ({
    ...{ SERVER_TOKEN, WRONG_TOKEN, CLIENT_SECRET, WEBHOOK_SECRET, NOTIFY_SECRET, hookToken },
    ...Object.fromEntries(world.seen.map((token, at) => [`connection token ${at}`, token])),
  });
  const left = [
    ...bytesBelow(world.home),
    ["stdout", killed.stdout] as const,
    ["stderr", killed.stderr] as const,
  ];
  expect(left.map(([path]) => path).join("\n")).toContain("millrace.db-wal");
  expect(found(left, { runId }), "what is stored is seen").not.toEqual([]);
  expect(found(left, secrets())).toEqual([]);

  world.refuse(first); // the next call renews with the secret of the client
  const again = world.start(serve);
  const next = await urlOf(again);
  const asked = await call(`${next}/api/confirmations?runId=${runId}`, "GET");
  const [confirmation] = JSON.parse(asked.body).items as { id: string }[];
  const decided = await call(
    `${next}/api/runs/${runId}/confirmations/${confirmation?.id}`,
    "POST",
    JSON.stringify({ decision: "approve" }),
  );
  expect(decided.status, decided.body).toBe(200);
  await until(`${next}/api/runs/${runId}`, "succeeded");
  expect(new Set(world.seen).size, "the token was renewed").toBe(2);
  const backup = join(scratch(), "backup.db");
  const saved = await millrace(["backup", backup], { env: { MILLRACE_HOME: world.home } });
  expect(saved.code, saved.stderr).toBe(0);
  again.child.kill("SIGTERM");
  const ended = await again.ended;
  expect(ended.code, ended.stderr).toBe(0);
  const after = [
    ...bytesBelow(world.home),
    [backup, readFileSync(backup, "latin1")] as const,
    ["stdout", ended.stdout] as const,
    ["stderr", ended.stderr] as const,
  ];
  expect(found(after, secrets())).toEqual([]);
});
