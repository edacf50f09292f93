/** Webhooks of other makers: a server, its clock, and calls as their senders make them. */
import type { NewWebhook, Page, RunSummary, WebhookScheme } from "@millrace/contracts";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import type { RunningServer } from "@millrace/server";
import { createTestClock } from "./clock.ts";
import { invoke, serve } from "./server.ts";

export const JSON_TYPE = "application/json";
export const ECHO = `flow 1 echo

input call: object

output body: any = inputs.call.body

output event: string? = inputs.call.headers["x-github-event"]
`;

interface World {
  readonly server: RunningServer;
  /** Sets the clock to a time in epoch seconds. */
  at(seconds: number): void;
  hook(scheme: WebhookScheme, secret: string, more?: object): Promise<NewWebhook>;
  /** Sends a call, by default as JSON. */
  call(
    token: string,
    headers: object,
    body?: string | Uint8Array,
    query?: string,
  ): Promise<Response>;
  runs(): Promise<readonly RunSummary[]>;
}

/** A server with a template that answers with the body of a call and its event. */
export async function world(dsl = ECHO): Promise<World> {
  const clock = createTestClock(0);
  const server = await serve({
    webhooks: true,
    clock,
    credentials: { store: memoryCredentialStore() },
  });
  await invoke(server, "save_template", { slug: "echo", dsl });
  return {
    server,
    at: (seconds) => clock.set(seconds * 1_000 - clock.now()),
    hook: (scheme, secret, more = {}) =>
      invoke(server, "create_webhook", {
        template: "echo",
        input: "call",
        scheme,
        secret,
        ...more,
      }),
    call: (token, headers, body = "{}", query = "") =>
      fetch(`${server.url}/hooks/${token}${query}`, {
        method: "POST",
        headers: { "content-type": JSON_TYPE, ...headers },
        body: body as string,
      }),
    runs: async () => (await invoke<Page<RunSummary>>(server, "list_runs", { limit: 200 })).items,
  };
}
