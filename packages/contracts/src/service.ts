/** A third-party service as data: base URL, auth scheme, operations. Nothing of it is code. Its rules: `extend/check-service.ts`. */

import { jsonObject } from "./extend/json-data.ts";
import {
  flag,
  type Infer,
  integer,
  list,
  object,
  oneOf,
  optional,
  optionals,
  record,
  type Shape,
  text,
  variant,
} from "./shape/index.ts";

const MAX_OPERATIONS = 5_000; // the largest public APIs have about two thousand

/** Adapter, provider, service slug; a part of credential accounts and of tool names, which providers cut at 64. */
export const nameShape = text("a name such as acme-crm", {
  pattern: /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/,
  max: 64,
});

/** Shape of `Effect`. */
export const effectShape = oneOf("pure", "read", "write", "destructive");

const word = text("a string");
const words = list(word);
/** @see RFC 6901, section 3 */
const jsonPointer = text("a JSON Pointer such as /items", {
  pattern: /^(?:\/(?:[^~/]|~[01])*)*$/,
  min: 0,
});

const oauth2 = object({
  scheme: oneOf("oauth2"),
  authorizeUrl: word,
  tokenUrl: word,
  scopes: words,
  revocationUrl: optional(word),
  deviceUrl: optional(word),
  /** Public clients only; never a secret. */
  clientId: optional(word),
  /** How the client shows itself at the token URL; default `post`. */
  clientAuth: optional(oneOf("post", "basic", "none")),
  pkce: optional(flag),
  issuer: optional(word),
  resource: optional(word),
  redirect: optional(
    object({
      port: optional(integer(0, 65_535)),
      path: optional(text("a path such as /callback", { pattern: /^\/[^?#\s]*$/ })),
    }),
  ),
  extraParams: optional(record(word)),
  lenient: optional(flag),
  /** Separator of scopes in the address of the consent; default a space. */
  scopeSeparator: optional(oneOf(" ", ",")),
  /** Scopes that a granted one includes, where the service names only the larger one. */
  includes: optional(record(words)),
  /** Header that carries the bare token, instead of `Authorization: Bearer`. */
  tokenHeader: optional(word),
});
const apiKey = object({
  scheme: oneOf("apiKey"),
  /** `path`: the first segment of the path, for which `name` is only a word for people. */
  in: oneOf("header", "query", "path"),
  name: word,
  prefix: optional(text("a prefix such as Token", { min: 0 })),
});
const authScheme = oneOf("none", "bearer", "basic", "apiKey", "oauth2");
const plain = object({ scheme: authScheme }) as Shape<{
  readonly scheme: "none" | "bearer" | "basic";
}>;
const auth = variant("scheme", { oauth2, apiKey }, plain);

const start = integer(0);
const size = integer(1);
const pagination = variant(
  "kind",
  {
    cursor: object({
      kind: oneOf("cursor"),
      param: word,
      /** Where the cursor is: in the answer, or in the last of its items. */
      next: jsonPointer,
      items: jsonPointer,
      of: optional(oneOf("answer", "lastItem")),
      /** Says `false` on the last page, where the cursor does not end. */
      more: optional(jsonPointer),
      /** Where the cursor goes; default `query`. */
      in: optional(oneOf("query", "body")),
    }),
    page: object({
      kind: oneOf("page"),
      param: word,
      items: jsonPointer,
      start: optional(start),
      size: optional(size),
    }),
    offset: object({
      kind: oneOf("offset"),
      param: word,
      limitParam: word,
      limit: size,
      items: jsonPointer,
    }),
    /** The address of the next page is in the header `Link`, or in the answer at `next`. */
    link: object({
      kind: oneOf("link"),
      items: optional(jsonPointer),
      next: optional(jsonPointer),
    }),
  },
  object({ kind: oneOf("cursor", "page", "offset", "link") }) as Shape<never>,
);

const operation = object({
  id: text("an id such as issues.create", { pattern: /^[a-z][A-Za-z0-9._-]{0,99}$/, max: 100 }),
  method: oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
  /** Holds `{name}` holes, each percent-encoded. */
  path: word,
  ...optionals({
    title: word,
    summary: word,
    effect: effectShape,
    params: jsonObject,
    query: jsonObject,
    headers: jsonObject,
    body: object({
      contentType: oneOf(
        "application/json",
        "application/x-www-form-urlencoded",
        "text/plain",
        "application/octet-stream",
      ),
      schema: optional(jsonObject),
      required: optional(flag),
    }),
    result: jsonObject,
    resultType: oneOf("json", "text", "base64"),
    maxBytes: size,
    strictResult: flag,
    pagination,
    retryOn: words,
    idempotencyHeader: word,
    scopes: words,
    timeoutMs: integer(1, 3_600_000),
  }),
});

/** How a service says that it was asked too often, beyond status 429 with `Retry-After`. */
const rateLimit = object({
  /** Header with the time at which calls count anew, and what it is: seconds to wait, or of the epoch. */
  reset: optional(word),
  resetIs: optional(oneOf("seconds", "epoch")),
  /** Header with the number of calls that are left. */
  remaining: optional(word),
  /** Statuses beside 429 that mean it while no call is left or `Retry-After` is there. */
  statuses: optional(list(integer(400, 599))),
});

/** How an answer with a status of success says that the call failed. */
const failure = object({
  /** Where the error is; no failure: nothing, null, false or an empty text is there. */
  at: jsonPointer,
  /** Errors that end the connection, until a person connects again. */
  reconnect: optional(words),
});

/** A `serviceIntegration`. */
export const integrationShape = object({
  baseUrl: word,
  auth,
  rateLimit: optional(rateLimit),
  failure: optional(failure),
  operations: list(operation, { min: 1, max: MAX_OPERATIONS, unique: "id" }),
});

/** A service as `defineService` takes it. */
export const serviceShape = object({
  slug: nameShape,
  title: word,
  summary: word,
  serviceIntegration: integrationShape,
  meta: optional(jsonObject),
});

/** The effect of one run of a node outside the process. `pure`: no effect, and the result depends on the fields alone. */
export type Effect = Infer<typeof effectShape>;

/** How a credential is sent. */
export type AuthScheme = Infer<typeof authScheme>;

/** The auth part of a descriptor; fields beside `scheme` belong to one scheme each. */
export type ServiceAuth = Infer<typeof auth>;

/** How pages of a GET follow each other; `next` and `items` are JSON Pointers. */
export type Pagination = Infer<typeof pagination>;

/** One operation. */
export interface ServiceOperation extends Infer<typeof operation> {}

/**
 * The `serviceIntegration` descriptor of a service catalog entry.
 * @see specification, "Service integration descriptor"
 */
export interface ServiceIntegration extends Infer<typeof integrationShape> {}

/** Input of `defineService`. */
export interface ServiceSpec extends Infer<typeof serviceShape> {}
