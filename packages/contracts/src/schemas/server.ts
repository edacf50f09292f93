/** The settings document that `update_settings` patches, and the data of a server about itself and its AI providers. */
import * as z from "zod";
import { type Infer, jsonObjectSchema, notifiedSchema } from "./common.ts";

const DAY_MAX = 36_500; // a century; longer needs an export
const GIB = 1_073_741_824;
const HOUR_MS = 3_600_000;

const days = z.int().min(1).max(DAY_MAX);
const ms = z.int().min(1).max(86_400_000);

/** As Standard Webhooks writes keys. */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Settings of a server: strict, every member has a default, so `settingsSchema.parse({})` is the document of a fresh
 * installation.
 */
export const settingsSchema = z.strictObject({
  run: z
    .strictObject({
      timeoutMs: z.int().min(1).nullable().default(null).describe("Null: the server's limit."),
      onFailure: z.enum(["stop", "finish"]).default("stop"),
      concurrency: z.int().min(1).max(1_000).default(16).describe("Nodes at once in one run."),
      confirm: z.enum(["ask", "approve", "reject"]).default("ask"),
    })
    .prefault({})
    .describe("Defaults of runs whose request and flow say nothing."),
  notify: z
    .strictObject({
      to: notifiedSchema
        .nullable()
        .default(null)
        .describe("Slug of a template that is run, or URL of a webhook; a flow may name another."),
      windowMs: z
        .int()
        .min(0)
        .max(7 * 86_400_000)
        .default(HOUR_MS)
        .describe("Further failures of a flow within so long are told together at its end."),
      secret: z
        .union([
          z.string().regex(SECRET, "must be whsec_ and 24 to 64 bytes in base64"),
          z.strictObject({ $secret: z.literal(true) }),
        ])
        .nullable()
        .default(null)
        .describe(
          "Key of the signatures of webhooks; is kept with the credentials, and not shown.",
        ),
    })
    .superRefine(({ to, secret }, ctx) => {
      if (secret !== null || to?.startsWith("http") !== true || !to.includes(":")) return;
      const message = "a URL needs the key that its webhooks are signed with";
      ctx.addIssue({ code: "custom", path: ["secret"], message });
    })
    .default({ to: null, windowMs: HOUR_MS, secret: null })
    .describe("Who is told when a run has failed."),
  retention: z
    .strictObject({
      journalDays: days.default(30),
      journalRuns: z.int().min(1).default(10_000),
      journalBytes: z
        .int()
        .min(1)
        .default(5 * GIB),
      runDays: days.default(365).describe("Rows and summaries of runs."),
      feedDays: days.default(7),
      fireDays: days.default(90),
    })
    .prefault({})
    .describe("What is kept of ended runs; whichever limit is reached first counts."),
  ai: z
    .strictObject({
      defaultProvider: z.string().min(1).max(64).nullable().default(null),
      defaultModels: z
        .record(z.string().min(1).max(64), z.string().min(1).max(200))
        .default({})
        .describe("Provider id to model id."),
      keepContent: z
        .boolean()
        .default(true)
        .describe("False treats every `ai` node as `auditContent: none` once its run has ended."),
      circuit: z
        .strictObject({
          failures: z.int().min(1).max(1_000).default(5),
          windowMs: ms.default(60_000),
          coolDownMs: ms.default(30_000),
        })
        .prefault({}),
    })
    .prefault({}),
  revokedTokens: z
    .array(z.string().regex(/^[A-Za-z0-9._-]{1,64}$/))
    .max(1_000)
    .default([])
    .describe(
      "Ids of tokens that no server of the store takes any more, within a second. A patch replaces the whole list: read it first (`GET /api/settings`), and send all ids, with its ETag as `If-Match`.",
    ),
});

/** Settings that a command may change. What widens a sandbox is operator configuration and is not here. */
export type Settings = Infer<typeof settingsSchema>;

/** Schema of `Meta`. */
export const metaSchema = z.strictObject({
  name: z.literal("millrace"),
  version: z.string(),
  apiVersion: z.literal(1),
  eventVersion: z.literal(1),
  dslVersion: z.literal(1),
  node: z.string().describe("Version of the runtime."),
  limits: z.record(z.string(), z.number()).describe("Bytes, milliseconds and numbers by name."),
  features: z.strictObject({
    studio: z.boolean().describe("The web page is served at `/studio`.").exactOptional(),
    webhooks: z.boolean(),
    models: z.boolean(),
    credentialStore: z.string().nullable().describe("The one in use; null: none."),
    executor: z.enum(["memory", "sqlite", "postgres", "restate"]),
  }),
  draining: z
    .boolean()
    .describe("Whether the server is shutting down: it starts nothing new.")
    .exactOptional(),
  caller: z
    .strictObject({
      tokenId: z.string().nullable().describe("Null: no token is needed."),
      role: z.enum(["read", "run", "admin"]),
    })
    .describe("Who asks, and what it may do.")
    .exactOptional(),
  commands: z
    .strictObject({ wired: z.array(z.string()), unwired: z.array(z.string()) })
    .describe("Names of commands with and without a handler here."),
});

/** Versions, limits and features of a server. */
export type Meta = Infer<typeof metaSchema>;

/** Schema of `CommandInfo`. */
export const commandInfoSchema = z.strictObject({
  name: z.string(),
  wired: z.boolean(),
  effect: z.enum(["read", "run", "write", "admin"]),
  argsSchema: jsonObjectSchema,
  resultSchema: jsonObjectSchema,
});

/** A command as a client may learn it. */
export type CommandInfo = Infer<typeof commandInfoSchema>;

/** Schema of `ProviderInfo`. */
export const providerInfoSchema = z.strictObject({
  name: z.string().describe("As flows name it."),
  kind: z
    .string()
    .describe("Whose wire it speaks, such as `openai-compatible`; `local`, `mock` or `extension`."),
  models: z
    .array(z.string())
    .describe(
      "Those known without asking: the default of the settings, and models of this machine.",
    )
    .exactOptional(),
  credential: z
    .enum(["present", "missing", "not_needed", "unknown"])
    .describe(
      "`not_needed`: none is stored, and none is known to be needed; `unknown`: the credential store cannot be read.",
    ),
});

/** An AI provider, without anything secret. */
export type ProviderInfo = Infer<typeof providerInfoSchema>;
