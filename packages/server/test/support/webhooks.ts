/** Webhooks of the template `echo`, and calls of them. */
import type { NewWebhook, Page, RunSummary } from "@millrace/contracts";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import type { RunningServer, StartOptions } from "@millrace/server";
import { expect } from "vitest";
import { invoke, serve } from "./server.ts";
import { readEvents } from "./streams.ts";

export const START = Date.parse("2026-03-01T12:00:00.000Z");
export const SECRET = "0123456789abcdef-secret";

/** Gives back what it was called with. */
export const ECHO = `flow 1 echo

input call: object

node same: transform {
  value = inputs.call
}

output call: object = same.value
`;

/** A server that takes calls, with the template `echo`. */
export async function serveHooks(options: StartOptions = {}): Promise<RunningServer> {
  const server = await serve({
    webhooks: true,
    credentials: { store: memoryCredentialStore() },
    ...options,
  });
  await invoke(server, "save_template", { slug: "echo", dsl: ECHO });
  return server;
}

export function createHook(server: RunningServer, more: object = {}): Promise<NewWebhook> {
  return invoke(server, "create_webhook", { template: "echo", input: "call", ...more });
}

export function call(
  server: RunningServer,
  token: string,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(`${server.url}/hooks/${token}`, { method: "POST", ...init });
}

/** Starts the run of a call and gives what the run got. */
export async function received(server: RunningServer, response: Response): Promise<unknown> {
  expect(response.status).toBe(202);
  const { runId } = (await response.json()) as { runId: string };
  const events = await readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
  return (events.at(-1) as { outputs?: { call?: unknown } }).outputs?.call;
}

export function runs(server: RunningServer): Promise<Page<RunSummary>> {
  return invoke(server, "list_runs", { trigger: "webhook", limit: 200 });
}
