/** Commands on hubs. A sync stores the index alone; nothing is ever installed by it. */
import * as z from "zod";
import { type Infer, pageSchema, slugSchema } from "../schemas/common.ts";
import { hubItemSchema, hubProvidesSchema, hubSchema } from "../schemas/hub.ts";
import { templateSchema } from "../schemas/template.ts";
import type { ErrorCode } from "./problem.ts";
import {
  CHANGE_ERRORS,
  change,
  commandTable,
  get,
  ifMatch,
  ifMatchHeader,
  nothing,
  pageArgs,
  post,
  remove,
} from "./table.ts";

const hubId = slugSchema;
const fields = {
  name: z.string().min(1).max(200),
  url: z
    .string()
    .max(2_048)
    .regex(/^https:\/\/\S+$/, "must be an https: URL"),
  provides: z.array(hubProvidesSchema).min(1).max(3),
  publicKey: z.base64().max(128).describe("Ed25519.").exactOptional(),
};
const REMOTE_ERRORS: readonly ErrorCode[] = [
  "not_found",
  "state_conflict",
  "hub_rejected",
  "upstream_failed",
  "upstream_timeout",
];

const installedSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("template"), template: templateSchema }),
  z.strictObject({ kind: z.literal("model"), jobId: z.string() }),
]);

/** Result of installing an item of a hub. */
export type InstalledItem = Infer<typeof installedSchema>;

/** Commands on hubs and their items. */
export const hubCommands = commandTable({
  list_hubs: {
    summary: "List hubs",
    args: z.strictObject(pageArgs),
    result: pageSchema(hubSchema),
    http: get("/api/hubs"),
  },
  get_hub: {
    summary: "Show a hub",
    args: z.strictObject({ hubId }),
    result: hubSchema,
    http: get("/api/hubs/:hubId"),
  },
  add_hub: {
    summary: "Add a hub by its https address",
    args: z.strictObject({ id: hubId, ...fields, enabled: z.boolean().default(true) }),
    result: hubSchema,
    effect: "admin",
    idempotency: "key",
    errors: ["already_exists"],
    http: post("/api/hubs", 201),
  },
  update_hub: {
    summary: "Change a hub",
    args: z.strictObject({
      hubId,
      name: fields.name.exactOptional(),
      url: fields.url.exactOptional(),
      provides: fields.provides.exactOptional(),
      publicKey: fields.publicKey,
      enabled: z.boolean().exactOptional(),
      ifMatch,
    }),
    result: hubSchema,
    effect: "admin",
    errors: ["operator_required"],
    http: change("PATCH", "/api/hubs/:hubId", ifMatchHeader),
  },
  remove_hub: {
    summary: "Forget a hub; what was installed from it stays",
    args: z.strictObject({ hubId, ifMatch }),
    result: nothing,
    effect: "admin",
    errors: ["operator_required"],
    http: remove("/api/hubs/:hubId", ifMatchHeader),
  },
  sync_hub: {
    summary: "Fetch the index of a hub",
    args: z.strictObject({ hubId }),
    result: hubSchema,
    effect: "admin",
    idempotency: "key",
    errors: REMOTE_ERRORS,
    http: post("/api/hubs/:hubId/sync", 200),
  },
  list_hub_items: {
    summary: "List what a hub offers, from its stored index",
    args: z.strictObject({ hubId, ...pageArgs }),
    result: pageSchema(hubItemSchema),
    http: get("/api/hubs/:hubId/items"),
  },
  install_hub_item: {
    summary: "Install one item of a hub after its digest is checked",
    args: z.strictObject({
      hubId,
      itemId: z.string().min(1).max(128),
      slug: slugSchema.exactOptional(),
      overwrite: z.boolean().default(false),
      ifMatch,
    }),
    result: installedSchema,
    effect: "admin",
    idempotency: "key",
    errors: [
      ...REMOTE_ERRORS,
      ...CHANGE_ERRORS,
      "digest_mismatch",
      "already_exists",
      "operator_required",
      "flow_invalid",
    ],
    http: post("/api/hubs/:hubId/items/:itemId/install", 201, ifMatchHeader),
  },
});
