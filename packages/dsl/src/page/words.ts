/** Blocks and policies of the language as `explain` and the page for models show them: what each is for, and an example that holds. */

export interface LanguageWord {
  readonly summary: string;
  /** A flow without its first line. */
  readonly example: string;
}

const READ = 'node fetch: http.request {\n  url = "https://shop.example"\n';

/** Policies of nodes. */
export const POLICY_WORDS: { readonly [name: string]: LanguageWord } = {
  "@timeout": {
    summary:
      "how long one try may take; on a `confirm`, how long the person has. A duration, default none",
    example: `${READ}  @timeout = 10s\n}`,
  },
  "@retry": {
    summary:
      "try again after a failure that may pass. `max` (0): more tries; `delay` (500ms) and `maxDelay` (30s): pauses; `backoff`: constant, linear or exponential; `jitter`: true or false; `on`: kinds of failures; `if`: a condition over `output`",
    example: `${READ}  @retry = { max: 3, delay: 1s, backoff: "exponential" }\n}`,
  },
  "@when": {
    summary: "the node is skipped unless this is true",
    example: 'input send: bool\n\nnode say: log {\n  message = "sent"\n  @when = inputs.send\n}',
  },
  "@on-error": {
    summary:
      'what a failure does: "fail" ends the run (default), "port" leaves by the port `error`, { default: … } goes on with a value, "collect" (in a `map`) lists it in `errors`',
    example: `${READ}  @on-error = { default: { status: 0 } }\n}`,
  },
  "@join": {
    summary:
      'when a node with several incoming edges runs: "all" were followed, "any" at the first one, or a number of them; default: none is still open and one was followed',
    example:
      'node a: log {\n  message = "a"\n}\n\nnode b: log {\n  message = "b"\n}\n\nnode c: join {\n  @join = "all"\n}\n\na -> c\nb -> c',
  },
  "@concurrency": {
    summary:
      "how many may run at a time: of a `map` its items, of another node its runs, with `key` those of one key",
    example:
      "node all: map {\n  items = [1, 2, 3]\n  @concurrency = 2\n  body {\n    output = item\n  }\n}",
  },
  "@idempotency-key": {
    summary:
      "text that is the same in every try, sent along so that the other side does the work once",
    example: `input order: string\n\n${READ}  method = "POST"\n  @idempotency-key = "order-\${inputs.order}"\n}`,
  },
  "@cache": {
    summary: "use a result again while the fields, or `key`, are the same and `ttl` has not passed",
    example: `${READ}  @cache = { ttl: 1h }\n}`,
  },
  "@delivery": {
    summary: '"atLeastOnce" (default) repeats a node whose end a crash hid; "atMostOnce" does not',
    example: `${READ}  method = "POST"\n  @delivery = "atMostOnce"\n}`,
  },
};

/** Blocks. */
export const BLOCK_WORDS: { readonly [word: string]: LanguageWord } = {
  input: {
    summary:
      "a value that the caller gives; without a default it must be given. Read it as `inputs.name`",
    example: 'input city: string = "Berlin"\n\noutput text: string = inputs.city',
  },
  output: {
    summary: "a value that the run answers",
    example: 'output text: string = "hi"',
  },
  node: {
    summary: "a step: an id, a type, its fields and policies. Others read its result by its id",
    example: 'node greet: transform {\n  value = "hi"\n}\n\noutput text = greet.value',
  },
  body: {
    summary:
      "the inner flow of a `map` or `loop`; its `output` is the result for one item or round",
    example: "node all: map {\n  items = [1, 2]\n  body {\n    output = item * 2\n  }\n}",
  },
  connection: {
    summary: "a named login at a service, which keeps the secret outside of the flow",
    example:
      'connection pay: oauth {\n  service = "shop"\n}\n\nnode list: service.call {\n  connection = "pay"\n  operation = "listOrders"\n}',
  },
  schedule: {
    summary:
      "proposes when the flow should run by itself: `cron` with a `timezone`, `every`, or `at`; `inputs`, `overlap` and `catchUp` are optional. `millrace schedule add --from FLOW` activates it",
    example:
      'schedule night {\n  cron = "0 3 * * *"\n  timezone = "Europe/Berlin"\n}\n\noutput text = "hi"',
  },
  layout: {
    summary: "where editors draw the nodes; it changes nothing of a run",
    example: 'node a: log {\n  message = "x"\n}\n\nlayout {\n  a = [0, 0]\n}',
  },
};
