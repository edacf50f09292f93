/** Calls that senders make, to try a webhook with: shortened from what their makers document. */
import type { EXAMPLE_NAMES } from "./find.ts";

export type ExampleName = (typeof EXAMPLE_NAMES)[number];

interface ExampleCall {
  readonly headers?: { readonly [name: string]: string };
  readonly body: object;
}

const REPOSITORY = {
  id: 1296269,
  name: "hello-world",
  full_name: "octocat/hello-world",
  private: false,
  html_url: "https://github.com/octocat/hello-world",
  default_branch: "main",
};
const SENDER = { login: "octocat", id: 583231, type: "User" };
const github = (event: string, body: object): ExampleCall => ({
  headers: { "user-agent": "GitHub-Hookshot/044aadd", "x-github-event": event },
  body: { ...body, repository: REPOSITORY, sender: SENDER },
});
const slack = (event: object): ExampleCall => ({
  body: {
    type: "event_callback",
    team_id: "T061EG9R6",
    api_app_id: "A0PNCHHK2",
    event: { user: "U061F7AUR", channel: "C0LAN2Q65", ts: "1515449522.000016", ...event },
    event_time: 1515449522,
  },
});

/** By name: the sender, and the event. */
export const EXAMPLES: { readonly [N in ExampleName]: ExampleCall } = {
  /** @see https://docs.github.com/en/webhooks/webhook-events-and-payloads */
  "github:issues": github("issues", {
    action: "opened",
    issue: {
      number: 1347,
      title: "The export stops after 1,000 rows",
      body: "Since yesterday the CSV export ends in the middle of a line. Nothing is in the log.",
      html_url: "https://github.com/octocat/hello-world/issues/1347",
      state: "open",
      labels: [],
      user: SENDER,
    },
  }),
  "github:pull_request": github("pull_request", {
    action: "opened",
    number: 2,
    pull_request: {
      number: 2,
      title: "Update the README",
      body: "It says what the program does now.",
      html_url: "https://github.com/octocat/hello-world/pull/2",
      state: "open",
      draft: false,
      user: SENDER,
      head: { ref: "changes", sha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821" },
      base: { ref: "main", sha: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e" },
    },
  }),
  "github:push": github("push", {
    ref: "refs/heads/main",
    before: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
    after: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    commits: [
      {
        id: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
        message: "Fix the export",
        author: { name: "Octocat", username: "octocat" },
        modified: ["export.ts"],
      },
    ],
  }),
  "github:ping": github("ping", { zen: "Keep it logically awesome.", hook_id: 30 }),
  /** @see https://docs.stripe.com/api/events/object */
  "stripe:payment_intent.succeeded": {
    body: {
      object: "event",
      api_version: "2025-09-30.clover",
      created: 1680064028,
      type: "payment_intent.succeeded",
      livemode: false,
      pending_webhooks: 1,
      data: {
        object: { id: "pi_3MqOW0", object: "payment_intent", amount: 2000, currency: "eur" },
      },
    },
  },
  /** @see https://docs.slack.dev/reference/events */
  "slack:app_mention": slack({ type: "app_mention", text: "<@U0LAN0Z89> is it everything?" }),
  "slack:message": slack({ type: "message", channel_type: "channel", text: "Hello, world" }),
  "slack:url_verification": {
    body: { type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7" },
  },
  /** @see https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks */
  "microsoft-graph:created": {
    body: {
      value: [
        {
          subscriptionId: "7f105c7d-2dc5-4530-97cd-4e7ae6534c07",
          changeType: "created",
          resource: "Users/1/Messages/2",
          resourceData: { id: "2" },
        },
      ],
    },
  },
};
