/** What each member of a descriptor is: sections by their name, members by `section.name`. */
export const ABOUT: { readonly [name: string]: string } = {
  "": [
    "A descriptor is a JSON file in `services/` beside `millrace.json`. `millrace services add` copies a ready one, `millrace services import`",
    "makes one of an OpenAPI document, and a person writes one by hand. Unknown members are refused. Every address is `https:`; `http:` only",
    "on this machine. Nothing of it is code, and nothing it names is fetched.",
  ].join("\n"),
  service: "The file as a whole.",
  "service.slug": "Name of the service, by which flows and connections name it.",
  "service.title": "Its name for people.",
  "service.summary": "One sentence about it.",
  "service.serviceIntegration": "Where the API is, and what it can do.",
  "service.meta": "For people and other programs; never read by a run.",
  serviceIntegration: "Addresses, the credential, and operations.",
  "serviceIntegration.baseUrl":
    "Where the operations are. It has no query, and no request leaves its origin.",
  "serviceIntegration.auth": "Which credential the API takes, and where it is sent.",
  "serviceIntegration.rateLimit": "What it looks like when the API was asked too often.",
  "serviceIntegration.failure":
    "Where an answer with a status of success says that the call failed.",
  "serviceIntegration.operations": "What can be called; 1 to 5,000.",
  oauth2:
    "A person gives consent in a browser; the token is sent as `Authorization: Bearer …`, and renewed before it ends.",
  "oauth2.scheme": "`oauth2`.",
  "oauth2.authorizeUrl": "Where the consent is asked for. Its query stays as it is.",
  "oauth2.tokenUrl": "Where a code, or a refresh token, becomes a token.",
  "oauth2.scopes": "What a consent asks for, unless `connect --scope` says other ones.",
  "oauth2.revocationUrl": "Where `connections remove` takes the token back (RFC 7009).",
  "oauth2.deviceUrl": "Kept for programs; no consent uses it.",
  "oauth2.clientId": "A public client; never a secret.",
  "oauth2.clientAuth": "How the client shows itself at `tokenUrl`; default `post`.",
  "oauth2.pkce": "Whether the code is bound to this client (RFC 7636); default false.",
  "oauth2.issuer": "What `iss` of the redirect must be (RFC 9207).",
  "oauth2.resource": "Sent with the consent and the requests for tokens (RFC 8707).",
  "oauth2.redirect":
    "`port` and `path` of the address that is registered; default any port and `/callback`.",
  "oauth2.extraParams":
    "Sent with the consent and the requests for tokens. What belongs to the consent alone stands in the query of `authorizeUrl`.",
  "oauth2.lenient":
    "Also takes tokens whose `expires_in` is text or a fraction, whose `scope` is a list, and that come as a form.",
  "oauth2.scopeSeparator":
    "What parts scopes in the consent; default a space. Answers are read with both.",
  "oauth2.includes":
    "Scopes by the larger one that includes them, for a service that answers the larger one alone.",
  "oauth2.tokenHeader": "A header that carries the bare token, instead of `Authorization`.",
  apiKey: "A key, which `connect` asks for.",
  "apiKey.scheme": "`apiKey`.",
  "apiKey.in": "Where it is sent; `path`: as the first segment of the path.",
  "apiKey.name": "Name of the header or of the parameter; for `path` a word for people.",
  "apiKey.prefix": "Text before the key, such as `Token ` with its space.",
  plain:
    "`bearer` sends a token as `Authorization: Bearer …`, `basic` sends `user:password`, `none` sends nothing.",
  "plain.scheme": "Which of them.",
  rateLimit:
    "Without it, status 429 and `Retry-After` are read. A step that is tried again waits as long as the API says.",
  "rateLimit.reset": "Header that says when calls count anew.",
  "rateLimit.resetIs": "What `reset` is: seconds to wait (default), or seconds of the epoch.",
  "rateLimit.remaining": "Header with the number of calls that are left.",
  "rateLimit.statuses":
    "Statuses beside 429 that mean a limit while no call is left, or while `Retry-After` is there.",
  failure:
    "Such a call fails with `http_status`. A code of letters is in the message, the rest in the log at debug alone.",
  "failure.at":
    "JSON Pointer of the error. Nothing, null, false or an empty text there: no failure.",
  "failure.reconnect":
    "Codes after which a person must connect again: the step ends with `credentials_expired`.",
  operation:
    "Arguments of a call are flat: the names of `params`, `query`, `headers`, and the members of an object body. A property with `const` is always sent and is no argument.",
  "operation.id": "How a flow names it; unique.",
  "operation.method": "HTTP method.",
  "operation.path":
    "Behind `baseUrl`. `{name}` is filled from `params`, and what fills it stays within its segment.",
  "operation.title": "Its name for people.",
  "operation.summary": "One sentence about it.",
  "operation.effect": "Default: GET and HEAD `read`, DELETE `destructive`, others `write`.",
  "operation.params": "JSON Schema of an object: the holes of the path, all required.",
  "operation.query":
    'JSON Schema of an object: the query. Lists are repeated, or joined where a property says `"explode": "comma"`.',
  "operation.headers": "JSON Schema of an object: headers.",
  "operation.body": "What is sent.",
  "operation.result": "JSON Schema of the answer; what does not fit is a warning.",
  "operation.resultType": "How the answer is read; default `json`.",
  "operation.maxBytes": "Most bytes of an answer; default 10 MiB.",
  "operation.strictResult": "An answer that does not fit `result` fails the step.",
  "operation.pagination": "How pages of a list follow each other.",
  "operation.retryOn":
    "`network`, `timeout`, `5xx` or statuses after which the policy of the step may try again. Default for GET, HEAD, PUT, DELETE and with `idempotencyHeader`: network, timeout, 429, 502, 503, 504; for others 429.",
  "operation.idempotencyHeader":
    "Header that carries the key of the step, the same at every attempt.",
  "operation.scopes": "Scopes that the call needs; without them nothing is sent.",
  "operation.timeoutMs": "Default 30 s.",
  body: "Members that are required and `const` are sent without being said.",
  "body.contentType": "How it is written; `application/octet-stream` takes base64.",
  "body.schema":
    "JSON Schema. The members of an object are arguments; any other body is the argument `body`.",
  "body.required": "Whether a call without it fails.",
  cursor: "The answer says where the next page begins.",
  "cursor.kind": "`cursor`.",
  "cursor.param": "Parameter, or member of the body, that takes the cursor.",
  "cursor.next": "JSON Pointer of the cursor; nothing there: it was the last page.",
  "cursor.items": "JSON Pointer of the list.",
  "cursor.of": "Where `next` points into: the answer (default), or the last item of its list.",
  "cursor.more": "JSON Pointer of what is false on the last page.",
  "cursor.in":
    "Where the cursor goes; default `query`. `body` is for an operation whose effect is `read`.",
  page: "Pages have numbers.",
  "page.kind": "`page`.",
  "page.param": "Parameter that takes the number.",
  "page.items": "JSON Pointer of the list.",
  "page.start": "Number of the first page; default 1.",
  "page.size": "A page with fewer items is the last; default 1.",
  offset: "Pages begin at an item.",
  "offset.kind": "`offset`.",
  "offset.param": "Parameter that takes the number of items to skip.",
  "offset.limitParam": "Parameter that takes `limit`.",
  "offset.limit": "Items of a page.",
  "offset.items": "JSON Pointer of the list.",
  link: "The answer has the address of the next page, which must lie below `baseUrl`.",
  "link.kind": "`link`.",
  "link.items": "JSON Pointer of the list; default the whole answer.",
  "link.next": "JSON Pointer of the address; default the header `Link` (RFC 8288).",
};
