/** Services and their connections. Status only: no token, prefix, length or hash of one ever leaves. */
import * as z from "zod";
import { type Infer, type InferArgs, nameSchema, slugSchema, timeSchema } from "./common.ts";
import { diagnosticSchema } from "./event.ts";
import { authSchemeSchema, serviceSpecSchema } from "./service.ts";

/** Schema of `ConnectionStatus`. */
export const connectionStatusSchema = z.strictObject({
  slug: slugSchema,
  service: z.string(),
  scheme: authSchemeSchema,
  status: z
    .enum(["connected", "reconnect_required", "not_connected", "unavailable"])
    .describe(
      "`connected`: fresh, or expired and refreshable; `unavailable`: the credential store failed.",
    ),
  scopes: z.array(z.string()),
  expires_at: timeSchema.exactOptional(),
  refreshable: z.boolean(),
  connectedAt: timeSchema.exactOptional(),
  store: z.string().describe("Name of the credential store.").exactOptional(),
  lastError: z.strictObject({ code: z.string(), at: timeSchema }).exactOptional(),
});

/** State of one connection. `expires_at` keeps the spelling of the stored token. */
export type ConnectionStatus = Infer<typeof connectionStatusSchema>;

/** Schema of `ServiceInfo`. */
export const serviceInfoSchema = z.strictObject({
  slug: z.string(),
  title: z.string(),
  scheme: authSchemeSchema,
  redirect: z
    .strictObject({
      port: z.int().min(1).max(65_535).exactOptional(),
      path: z.string().exactOptional(),
    })
    .describe(
      "What the redirect of a consent must have, as the service knows its clients. Absent: any port of loopback, and the path /callback.",
    )
    .exactOptional(),
  operations: z.array(z.string()).describe("Ids of its operations."),
  connections: z.array(connectionStatusSchema),
});

/** A service that connections may be made to. */
export type ServiceInfo = Infer<typeof serviceInfoSchema>;

/** Schema of `ConnectStarted`. */
export const connectStartedSchema = z.strictObject({
  connectId: z.string(),
  authorizeUrl: z.string(),
  redirectUri: z.string(),
  expiresAt: timeSchema,
});

/** A consent that waits for a person. */
export type ConnectStarted = Infer<typeof connectStartedSchema>;

/** Schema of `ConnectProgress`. */
export const connectProgressSchema = z.strictObject({
  state: z.enum(["waiting", "connected", "failed", "expired", "cancelled", "superseded"]),
  error: z.strictObject({ code: z.string(), reason: z.string().exactOptional() }).exactOptional(),
});

/** How far a consent has come, for a page that waits for it. */
export type ConnectProgress = Infer<typeof connectProgressSchema>;

const client = z
  .strictObject({
    client_id: z.string().min(1).max(1_024),
    client_secret: z.string().min(1).max(4_096).exactOptional(),
  })
  .describe("An OAuth client as a person registered it; a public one has no secret. Write-only.");

/** An OAuth client as a person registered it; a public one has no secret. */
export type OAuthClientArgs = Infer<typeof client>;

/** Schema of `ConnectArgs`. */
export const connectArgsSchema = z
  .strictObject({
    slug: slugSchema,
    service: nameSchema
      .describe("Default: that of the stored connection, else `slug`.")
      .exactOptional(),
    scopes: z.array(z.string().min(1).max(256)).max(100).exactOptional(),
    receiver: z
      .enum(["server", "caller"])
      .default("server")
      .describe("Who receives the redirect: the server, or the caller on a loopback port."),
    redirectUri: z
      .string()
      .max(2_048)
      .regex(/^http:\/\/127\.0\.0\.1:[1-9]\d{0,4}\/[^\s#]*$/, "must be http://127.0.0.1:<port>/…")
      .refine((uri) => URL.canParse(uri), "must have a port up to 65535")
      .describe("With `caller`, and always.")
      .exactOptional(),
    port: z.int().min(0).max(65_535).exactOptional(),
    client: client
      .describe("The OAuth client to connect with; stored once the service has accepted it.")
      .exactOptional(),
  })
  .refine((args) => (args.receiver === "caller") === (args.redirectUri !== undefined), {
    path: ["redirectUri"],
    message: 'goes with receiver "caller", and always',
  });

/** Arguments of `connect_service`. */
export type ConnectArgs = InferArgs<typeof connectArgsSchema>;

/** Schema of `ServiceSecret`. */
export const serviceSecretSchema = z.union([z.string().min(1).max(16_384), client]);

/** A credential of `bearer` and `apiKey` as text, of `basic` as `user:password`, or an OAuth client. */
export type ServiceSecret = Infer<typeof serviceSecretSchema>;

/** Schema of `ImportedService`. */
export const importedServiceSchema = z.strictObject({
  entry: serviceSpecSchema.nullable().describe("Null: the document has no use as a service."),
  diagnostics: z.array(diagnosticSchema),
});

/** Result of importing an OpenAPI document. */
export type ImportedService = Infer<typeof importedServiceSchema>;
