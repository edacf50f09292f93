/** Hubs and what they offer. */
import * as z from "zod";
import { digestSchema, type Infer, slugSchema, timeSchema } from "./common.ts";

/** Schema of `HubProvides`. */
export const hubProvidesSchema = z.enum(["templates", "nodes", "models"]);

/** Kind of items that a hub offers. */
export type HubProvides = Infer<typeof hubProvidesSchema>;

/** Schema of `Hub`. */
export const hubSchema = z.strictObject({
  id: slugSchema,
  name: z.string(),
  kind: z.enum(["https", "dir"]),
  url: z.string(),
  provides: z.array(hubProvidesSchema),
  enabled: z.boolean(),
  publicKey: z.string().exactOptional(),
  syncedAt: timeSchema.exactOptional(),
  serial: z
    .int()
    .min(0)
    .describe("Serial number of the stored index; it never falls.")
    .exactOptional(),
});

/** A digest-pinned source of templates, node packs and models. */
export type Hub = Infer<typeof hubSchema>;

/** Schema of `HubItem`. */
export const hubItemSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(["template", "nodes", "model"]),
  version: z.string(),
  digest: digestSchema,
  bytes: z.int().min(0),
  path: z.string().describe("Below the hub."),
  title: z.string(),
});

/** One item of a hub's index. */
export type HubItem = Infer<typeof hubItemSchema>;

const HUB_ITEMS = 10_000; // what 4 MiB of index can hold
/** Names and slashes; no name begins with a dot, so no path leads out of the hub. */
const HUB_PATH = /^[\w@+-][\w.@+-]*(?:\/[\w@+-][\w.@+-]*)*$/;

/** Schema of `HubIndex`: strict in what it knows of an item, and what else an item says is left out. */
export const hubIndexSchema = z.object({
  millraceHub: z.literal(1),
  name: z.string().min(1).max(200),
  serial: z.int().min(0).describe("Rises with every change; an index with a lower one is refused."),
  items: z
    .array(z.unknown())
    .max(HUB_ITEMS) // counted first: a million items that are none are millions of problems
    .pipe(
      z.array(
        z.object({
          id: z
            .string()
            .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . -"),
          kind: z.enum(["template", "nodes", "model"]),
          version: z.string().min(1).max(64),
          digest: digestSchema,
          bytes: z.int().min(0),
          path: z.string().max(512).regex(HUB_PATH, "must be a path below the hub"),
          title: z.string().min(1).max(200),
        }),
      ),
    )
    .refine((items) => new Set(items.map(({ id }) => id)).size === items.length, "an id is twice"),
});

/** The file `millrace-hub.json` of a hub. */
export type HubIndex = Infer<typeof hubIndexSchema>;
