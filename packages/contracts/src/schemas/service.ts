/** Service descriptors. The shape is zod's, the rules are those of `checkService`, so both ways of checking agree. */
import * as z from "zod";
import type { Diagnostic } from "../diagnostics.ts";
import { checkService, checkServiceIntegration } from "../extend/check-service.ts";
import type {
  Pagination,
  ServiceAuth,
  ServiceIntegration,
  ServiceOperation,
  ServiceSpec,
} from "../service.ts";
import { jsonObjectSchema, nameSchema } from "./common.ts";

const word = z.string().min(1).max(4_096);
const words = z.array(word);
const jsonPointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, "must be a JSON Pointer");
const size = z.int().min(1);

/** How a credential is sent. */
export const authSchemeSchema: z.ZodType<ServiceAuth["scheme"]> = z.enum([
  "none",
  "bearer",
  "basic",
  "apiKey",
  "oauth2",
]);

const auth: z.ZodType<ServiceAuth> = z.discriminatedUnion("scheme", [
  z.strictObject({ scheme: z.enum(["none", "bearer", "basic"]) }),
  z.strictObject({
    scheme: z.literal("apiKey"),
    in: z.enum(["header", "query"]),
    name: word,
    prefix: z.string().max(4_096).exactOptional(),
  }),
  z.strictObject({
    scheme: z.literal("oauth2"),
    authorizeUrl: word,
    tokenUrl: word,
    revocationUrl: word.exactOptional(),
    deviceUrl: word.exactOptional(),
    scopes: words,
    clientId: word.exactOptional(),
    clientAuth: z.literal("post").exactOptional(),
    pkce: z.boolean().exactOptional(),
    issuer: word.exactOptional(),
    resource: word.exactOptional(),
    redirect: z
      .strictObject({
        port: z.int().min(0).max(65_535).exactOptional(),
        path: word.regex(/^\/[^?#\s]*$/, "must be a path such as /callback").exactOptional(),
      })
      .exactOptional(),
    extraParams: z.record(z.string(), word).exactOptional(),
    lenient: z.boolean().exactOptional(),
  }),
]);

const pagination: z.ZodType<Pagination> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("cursor"), param: word, next: jsonPointer, items: jsonPointer }),
  z.strictObject({
    kind: z.literal("page"),
    param: word,
    start: z.int().min(0).exactOptional(),
    size: size.exactOptional(),
    items: jsonPointer,
  }),
  z.strictObject({
    kind: z.literal("offset"),
    param: word,
    limitParam: word,
    limit: size,
    items: jsonPointer,
  }),
  z.strictObject({ kind: z.literal("link"), items: jsonPointer.exactOptional() }),
]);

const operation: z.ZodType<ServiceOperation> = z.strictObject({
  id: z.string().regex(/^[a-z][A-Za-z0-9._-]{0,99}$/, "must be an id such as issues.create"),
  title: word.exactOptional(),
  summary: word.exactOptional(),
  method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
  path: word,
  effect: z.enum(["pure", "read", "write", "destructive"]).exactOptional(),
  params: jsonObjectSchema.exactOptional(),
  query: jsonObjectSchema.exactOptional(),
  headers: jsonObjectSchema.exactOptional(),
  body: z
    .strictObject({
      contentType: z.enum([
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain",
        "application/octet-stream",
      ]),
      schema: jsonObjectSchema.exactOptional(),
      required: z.boolean().exactOptional(),
    })
    .exactOptional(),
  result: jsonObjectSchema.exactOptional(),
  resultType: z.enum(["json", "text", "base64"]).exactOptional(),
  maxBytes: size.exactOptional(),
  strictResult: z.boolean().exactOptional(),
  pagination: pagination.exactOptional(),
  retryOn: words.exactOptional(),
  idempotencyHeader: word.exactOptional(),
  scopes: words.exactOptional(),
  timeoutMs: z.int().min(1).max(3_600_000).exactOptional(),
});

const integration = z.strictObject({
  baseUrl: word,
  auth,
  operations: z.array(operation).min(1).max(5_000),
});

/** A `serviceIntegration` descriptor. @see specification, "Service integration descriptor" */
export const serviceIntegrationSchema: z.ZodType<ServiceIntegration> = integration.superRefine(
  (found, ctx) => tell(checkServiceIntegration(found), ctx),
);

/** A service as `defineService` and an import give it. */
export const serviceSpecSchema: z.ZodType<ServiceSpec> = z
  .strictObject({
    slug: nameSchema,
    title: word,
    summary: word,
    serviceIntegration: integration,
    meta: jsonObjectSchema.exactOptional(),
  })
  .superRefine((found, ctx) => tell(checkService(found), ctx));

function tell(findings: readonly Diagnostic[], ctx: z.RefinementCtx): void {
  for (const { code, message, pointer = "" } of findings) {
    const path = pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    ctx.addIssue({ code: "custom", path, message, params: { code } });
  }
}
