/** What a service descriptor looks like, said once; what it may say is in `check-service.ts`. */
import {
  type Check,
  flag,
  integer,
  jsonObject,
  list,
  oneOf,
  record,
  shape,
  text,
  variant,
} from "./check.ts";
import { name } from "./definition-shapes.ts";

const MAX_OPERATIONS = 5_000; // the largest public APIs have about two thousand

const word = text("a string");
const words = list(word);
/** @see RFC 6901, section 3 */
const jsonPointer = text("a JSON Pointer such as /items", {
  pattern: /^(?:\/(?:[^~/]|~[01])*)*$/,
  min: 0,
});

const oauth2: Check = shape(
  { scheme: oneOf("oauth2"), authorizeUrl: word, tokenUrl: word, scopes: words },
  {
    revocationUrl: word,
    deviceUrl: word,
    clientId: word,
    clientAuth: oneOf("post", "basic", "none"),
    pkce: flag,
    issuer: word,
    resource: word,
    redirect: shape(
      {},
      {
        port: integer(0, 65_535),
        path: text("a path such as /callback", { pattern: /^\/[^?#\s]*$/ }),
      },
    ),
    extraParams: record(word),
    lenient: flag,
  },
);
const apiKey: Check = shape(
  { scheme: oneOf("apiKey"), in: oneOf("header", "query"), name: word },
  { prefix: text("a prefix such as Token", { min: 0 }) },
);
const authScheme: Check = oneOf("none", "bearer", "basic", "apiKey", "oauth2");
const plain: Check = shape({ scheme: authScheme });
const auth: Check = variant("scheme", { oauth2, apiKey }, plain);

const start = integer(0, Number.MAX_SAFE_INTEGER);
const size = integer(1, Number.MAX_SAFE_INTEGER);
const pagination: Check = variant(
  "kind",
  {
    cursor: shape({ kind: oneOf("cursor"), param: word, next: jsonPointer, items: jsonPointer }),
    page: shape({ kind: oneOf("page"), param: word, items: jsonPointer }, { start, size }),
    offset: shape({
      kind: oneOf("offset"),
      param: word,
      limitParam: word,
      limit: size,
      items: jsonPointer,
    }),
    link: shape({ kind: oneOf("link") }, { items: jsonPointer }),
  },
  shape({ kind: oneOf("cursor", "page", "offset", "link") }),
);

const operation: Check = shape(
  {
    id: text("an id such as issues.create", { pattern: /^[a-z][A-Za-z0-9._-]{0,99}$/, max: 100 }),
    method: oneOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
    path: word,
  },
  {
    title: word,
    summary: word,
    effect: oneOf("pure", "read", "write", "destructive"),
    params: jsonObject,
    query: jsonObject,
    headers: jsonObject,
    body: shape(
      {
        contentType: oneOf(
          "application/json",
          "application/x-www-form-urlencoded",
          "text/plain",
          "application/octet-stream",
        ),
      },
      { schema: jsonObject, required: flag },
    ),
    result: jsonObject,
    resultType: oneOf("json", "text", "base64"),
    maxBytes: size,
    strictResult: flag,
    pagination,
    retryOn: words,
    idempotencyHeader: word,
    scopes: words,
    timeoutMs: integer(1, 3_600_000),
  },
);

/** A `serviceIntegration`. */
export const integrationShape: Check = shape({
  baseUrl: word,
  auth,
  operations: list(operation, { min: 1, max: MAX_OPERATIONS, unique: "id" }),
});

/** A service as `defineService` takes it. */
export const serviceShape: Check = shape(
  { slug: name, title: word, summary: word, serviceIntegration: integrationShape },
  { meta: jsonObject },
);
