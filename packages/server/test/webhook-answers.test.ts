/** Answers of webhooks: those of a trial, and those that have the outputs of a run. */
import type { NewWebhook, WebhookAnswer, WebhookScheme } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import { invoke } from "./support/server.ts";
import { world } from "./support/webhook-world.ts";

test.each<[WebhookScheme, string]>([
  ["millrace", "a-secret-of-sixteen"],
  ["github", "a-secret-of-sixteen"],
  ["stripe", "a-secret-of-sixteen"],
  ["slack", "a-secret-of-sixteen"],
  ["standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
  ["meta", "a-secret-of-sixteen"],
  ["dropbox", "a-secret-of-sixteen"],
  ["microsoft-graph", "a-secret-of-sixteen"],
])(
  "a webhook of %s is tried out as its sender calls it; what it refuses is an answer",
  async (scheme, secret) => {
    const { server, hook, runs } = await world();
    const { id } = await hook(scheme, secret, { respond: "output", respondWithinMs: 60_000 });
    const send = (args: object) =>
      invoke<WebhookAnswer>(server, "test_webhook", { webhookId: id, ...args });
    const { status, body, runId } = await send({
      body: '{"value":[{"n":1}]}',
      headers: { "x-github-event": "issues" },
    });
    expect([status, JSON.parse(body)]).toMatchObject([200, { body: { value: [{ n: 1 }] } }]);
    expect(body).not.toContain(secret);
    expect(JSON.parse(body).event).toBe(scheme === "github" ? "issues" : null);
    expect(await runs()).toMatchObject([{ runId, trigger: "webhook", source: { webhookId: id } }]);
    expect(await send({ body: "{" })).toMatchObject({ status: 400 });
    await invoke(server, "update_webhook", { webhookId: id, enabled: false });
    expect(await send({})).toEqual({ status: 404, body: expect.stringContaining("not_found") });
  },
);

test("an answer has outputs that are too large for a log, too", async () => {
  const { hook, server } = await world();
  const { id } = await hook("millrace", "a-secret-of-sixteen", { respond: "output" });
  const text = "x".repeat(100_000);
  const { status, body } = await invoke<WebhookAnswer>(server, "test_webhook", {
    webhookId: id,
    body: JSON.stringify({ text }),
  });
  expect([status, JSON.parse(body)]).toEqual([200, { body: { text }, event: null }]);
});

describe("an answer with outputs", () => {
  const flow = (node: string) =>
    `flow 1 echo\n\ninput call: object\n\nnode a: ${node}\n\noutput n: int = 1\n`;

  test.each([
    [
      "of a run that failed says so and no more",
      flow('fail { message = "what the caller does not learn" }'),
      502,
    ],
    ["that takes too long has the run instead", flow("delay { for = 1h }"), 202],
  ])("%s", async (_what, dsl, status) => {
    const { server } = await world(dsl);
    const { token } = await invoke<NewWebhook>(server, "create_webhook", {
      template: "echo",
      input: "call",
      respond: "output",
      respondWithinMs: status === 202 ? 100 : 60_000,
    });
    const response = await fetch(`${server.url}/hooks/${token}`, { method: "POST" });
    const text = await response.text();
    const { runId } = JSON.parse(text) as { runId: string };
    expect([response.status, response.headers.get("location")]).toEqual([
      status,
      `/api/runs/${runId}`,
    ]);
    expect(text).not.toContain("does not learn");
    expect(JSON.parse(text)).toMatchObject(
      status === 202 ? { status: "running" } : { code: "run_failed", state: "failed" },
    );
  });
});
