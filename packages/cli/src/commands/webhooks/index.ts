/** `millrace webhooks`: addresses that start a template. A token is shown once, when its webhook is made. */
import { randomBytes } from "node:crypto";
import type { CommandArgs, Webhook } from "@millrace/contracts";
import {
  apiCommand,
  type CommandContext,
  callApi,
  durationOf,
  listCommand,
  valuesOf,
  withApi,
} from "../../api/command.ts";
import { option, serverCommand } from "../../argv/flags.ts";
import { type CliCommand, type FlagSpec, flagText, isOn, type Run } from "../../argv/spec.ts";
import { readSecret, secretFromStdin } from "../../ask.ts";
import { usage } from "../../errors.ts";
import { factLines } from "../../output/table.ts";
import { clean, formatTime } from "../../output/text.ts";
import { closedLines, EXAMPLE_NAMES, WEBHOOK, webhookOf } from "./find.ts";

const NEW_SECRET_BYTES = 32;

const list = listCommand(
  "webhooks list",
  "list addresses that start templates, without their tokens",
  {
    command: "list_webhooks",
    examples: [["webhooks list", "which templates can be called"]],
    headings: ["WEBHOOK", "TEMPLATE", "INPUT", "STATE", "CALLS"],
    row: (each) => [each.id, each.template, each.input, stateOf(each), signedOf(each)],
    none: "no webhook; millrace webhooks add --template SLUG makes one",
  },
);

const STDIN: FlagSpec = {
  long: "secret-stdin",
  summary: "calls must be signed; the key comes from stdin",
};
const NEW: FlagSpec = {
  long: "new-secret",
  summary: "calls must be signed; makes the key, and shows it once",
};

/** Flags for the payload and the answer of a webhook. */
const ANSWER: readonly FlagSpec[] = [
  option("header", "<name>", "a header to pass on, in lower case", { multiple: true }),
  option("respond", "<what>", "what a call is answered: run (default), or output", {
    choices: ["run", "output"],
  }),
  option("within", "<duration>", "how long --respond output waits (default 8s; slack 2.5s)"),
];

const add = apiCommand("webhooks add", "make an address that starts a template; it is shown once", {
  flags: [
    option("template", "<slug>", "what to run", { complete: "template" }),
    option("input", "<name>", "the input that gets { method, query, headers, body }"),
    option("scheme", "<sender>", "who calls: how calls are signed (default millrace)", {
      choices: [
        "millrace",
        "github",
        "stripe",
        "slack",
        "standard",
        "meta",
        "dropbox",
        "microsoft-graph",
      ],
    }),
    { long: "signed", summary: "calls must be signed; asks for the key" },
    STDIN,
    NEW,
    ...ANSWER,
  ],
  examples: [
    ["webhooks add --template called", "prints its address, this once"],
    ["webhooks add --template called --scheme github --new-secret", "and its key"],
  ],
  command: "create_webhook",
  write: true,
  request: async (all): Promise<CommandArgs<"create_webhook">> => {
    const { input } = all;
    const template = flagText(input, "template");
    if (template === undefined) throw usage("webhooks add needs --template SLUG");
    const name = flagText(input, "input") ?? (await onlyInput(template, all));
    return {
      template,
      input: name,
      scheme: flagText(input, "scheme"),
      secret: await secretOf(all, template),
      ...answerOf(all),
    } as CommandArgs<"create_webhook">;
  },
  show: async ({ id, template, input, token, verifyToken }, all) => ({
    data: [id, `${await baseOf(all)}/hooks/${token}`],
    said: [
      `POST to this address starts ${template} with { method, query, headers, body } in ${input}; it is shown this once`,
      ...keyLines(all, verifyToken),
      ...(await closedLines(all)),
    ],
  }),
});

const show = serverCommand("webhooks show", "show a webhook, without its token", {
  args: [WEBHOOK],
  examples: [["webhooks show whk_01", "and whether the server answers it"]],
  run: (input, io) =>
    withApi(input, io, undefined, async (api) => {
      const each = await webhookOf({ input, io, api }, "webhooks show ID");
      const data = factLines([
        ["webhook", each.id],
        ["template", each.template],
        ["input", each.input],
        ["state", stateOf(each)],
        ["calls", signedOf(each)],
        ["earlier key", each.earlierSecretUntil && `until ${formatTime(each.earlierSecretUntil)}`],
        ["answers", each.respond === "output" ? "the outputs of the flow" : undefined],
        ["within", each.respondWithinMs === undefined ? undefined : `${each.respondWithinMs} ms`],
        ["headers", each.headers.join(" ")],
      ]);
      return { value: each, data, said: await closedLines({ input, io, api }) };
    }),
});

const test = serverCommand(
  "webhooks test",
  "call a webhook as its sender does, signed with its key, and show the run",
  {
    args: [WEBHOOK],
    flags: [
      option("example", "<name>", "what a sender is known to send", {
        choices: EXAMPLE_NAMES,
      }),
      option("body", "<file>", "the body that the sender sends, instead; - for stdin (default {})"),
      option("header", "<k=v>", "a header, its name in lower case; GitHub's event is in one", {
        multiple: true,
      }),
    ],
    examples: [
      ["webhooks test --example github:issues", "as GitHub calls the only webhook"],
      ["webhooks test whk_01 --body event.json", "what stands in a file"],
      [
        "webhooks test whk_01 --body event.json --header x-github-event=issues",
        "as GitHub, whose body does not name the event",
      ],
    ],
    // Loaded when it is called: a list needs neither the calls nor what follows a run.
    run: async (...all) => (await import("./test.ts")).run(...all),
  },
);

const rotate = change("webhooks rotate", "change the key of a webhook; the one before counts on", {
  flags: [STDIN, NEW, option("keep", "<duration>", "how long the key before counts (default 24h)")],
  examples: [["webhooks rotate whk_01 --new-secret", "then tell its sender the new key"]],
  change: async (all, { template }) => ({
    secret: (await secretOf(all, template)) ?? (await readSecret(all.io, keyOf(template))),
    keepSecretMs: durationOf(all.input, "keep"),
  }),
  says: ({ id, earlierSecretUntil, verifyToken }, all) => [
    earlierSecretUntil === undefined
      ? `${id} has another key`
      : `${id} has another key; the one before counts until ${formatTime(earlierSecretUntil)}`,
    ...keyLines(all, verifyToken),
  ],
});

const edit = change("webhooks edit", "change what a webhook passes on, and what it answers", {
  flags: ANSWER,
  examples: [
    ["webhooks edit whk_01 --respond output --within 10s", "callers get the outputs of the flow"],
    ["webhooks edit whk_01 --header x-trace", "in place of the headers that it passed on"],
  ],
  change: (all) => {
    const next = answerOf(all);
    if (Object.values(next).some((each) => each !== undefined)) return next;
    throw usage("nothing is to be changed", "give --header, --respond or --within");
  },
  says: ({ id }) => [`${id} is changed; millrace webhooks show ${id}`],
});

const pause = change("webhooks pause", "let an address answer 404 for now", {
  examples: [["webhooks pause whk_01", "until webhooks resume"]],
  change: () => ({ enabled: false }),
  says: ({ id }) => [`${id} is paused; millrace webhooks resume ${id} lets it answer again`],
});

const resume = change("webhooks resume", "let a paused address answer again", {
  examples: [["webhooks resume whk_01", "from now on"]],
  change: () => ({ enabled: true }),
  says: ({ id }) => [`${id} answers again`],
});

const remove = apiCommand("webhooks remove", "delete a webhook", {
  args: [{ ...WEBHOOK, summary: "the webhook", required: true }],
  examples: [["webhooks remove whk_01", "its address answers 404 from now on"]],
  command: "delete_webhook",
  write: true,
  request: ({ input }) => ({ webhookId: input.args[0] ?? "" }),
  show: (_, { input }) => ({ said: [`${clean(input.args[0] ?? "")} is deleted`] }),
});

export const commands: readonly CliCommand[] = [
  list,
  add,
  show,
  test,
  rotate,
  edit,
  pause,
  resume,
  remove,
];

type Change = Omit<CommandArgs<"update_webhook">, "webhookId">;
/** Changes that may be asked for: what is undefined stays. */
type Asked = { [K in keyof Change]: Change[K] | undefined };

function answerOf({ input }: CommandContext): Asked {
  return {
    headers: valuesOf(input, "header"),
    respond: flagText(input, "respond") as Asked["respond"],
    respondWithinMs: durationOf(input, "within"),
  };
}

/** A command that changes the webhook of its first argument. */
function change(
  path: string,
  summary: string,
  {
    change: changeOf,
    says,
    ...row
  }: {
    readonly flags?: readonly FlagSpec[];
    readonly examples: readonly (readonly [string, string])[];
    change(all: CommandContext, webhook: Webhook): Promise<Asked> | Asked;
    says(webhook: Webhook, all: CommandContext): readonly string[];
  },
): CliCommand {
  const run: Run = callApi({
    command: "update_webhook",
    write: true,
    request: async (all) => {
      const webhook = await webhookOf(all, `${path} ID`);
      return { webhookId: webhook.id, ...(await changeOf(all, webhook)) };
    },
    show: (webhook, all) => ({ said: says(webhook, all) }),
  });
  return serverCommand(path, summary, { args: [WEBHOOK], ...row, run });
}

function stateOf({ enabled }: Webhook): string {
  return enabled ? "on" : "paused";
}

function signedOf({ secret, scheme }: Webhook): string {
  if (secret !== true) return "unsigned";
  return scheme === undefined ? "signed" : `signed by ${scheme}`;
}

const keyOf = (template: string): string => `key of the signatures of ${template}`;

/** Keys that were made for a command, by its context. */
const made = new WeakMap<CommandContext["input"], string>();

/** The key of a command that says where it is from; undefined: calls are not signed. */
async function secretOf({ input, io }: CommandContext, template: string) {
  const scheme = flagText(input, "scheme") ?? "millrace";
  if (isOn(input, "secret-stdin")) return secretFromStdin(io, keyOf(template));
  if (isOn(input, "new-secret")) {
    const bytes = randomBytes(NEW_SECRET_BYTES);
    // Every scheme takes it: what is after whsec_ is base64, and the whole of it is text.
    const secret = `whsec_${bytes.toString("base64")}`;
    made.set(input, secret);
    return secret;
  }
  return isOn(input, "signed") || scheme !== "millrace"
    ? readSecret(io, keyOf(template))
    : undefined;
}

function keyLines({ input }: CommandContext, verifyToken: string | undefined): string[] {
  const secret = made.get(input);
  return [
    ...(secret === undefined ? [] : [`key of its signatures, shown this once: ${secret}`]),
    ...(verifyToken === undefined ? [] : [`verify token: ${verifyToken}`]),
  ];
}

/** The input that a call can only mean. Throws a usage error where that is not plain. */
async function onlyInput(slug: string, { api }: CommandContext): Promise<string> {
  const { inputs } = (await api.invoke("get_template", { slug })).graph;
  const needed = inputs.filter((each) => each.default === undefined);
  const [one, other] = needed.length === 0 ? inputs : needed;
  if (one !== undefined && other === undefined) return one.name;
  throw usage(
    one === undefined
      ? `${clean(slug)} has no input, so it would not see what it is called with`
      : `${clean(slug)} has several inputs`,
    one === undefined ? "give the flow one, such as input call: object" : "say which: --input NAME",
  );
}

/** Where the address begins: the server that was asked, or the one that will be started here. */
async function baseOf({ input, api }: CommandContext): Promise<string> {
  if (api.where === "embedded") return "http://127.0.0.1:6455";
  const { namedServer } = await import("../../api/server-url.ts");
  return (namedServer(input, api.config) ?? "").replace(/\/+$/, "");
}
