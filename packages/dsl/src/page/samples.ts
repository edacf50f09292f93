/** Samples on the page of the language: two whole flows, and the mistakes that models make most. */

/** The grammar by example; like the other flows here it is canonical and without a finding. */
export const FIRST_FLOW = `# A comment.
flow 1 greet {
  title = "First item of a file: version 1 of the language, then an id"
}

input name: string = "world" # without \`=\` it is required; read it as inputs.name
input rows: { id: int, note: string? }[] = []

# Id and type, then the fields of the type, one a line: \`name = expression\`.
node ids: transform {
  value = map(inputs.rows, row, row.id)
}

node greet: log {
  message = "Hello, \${inputs.name}: \${size(ids.value)} rows"
  @timeout = 10s # a policy begins with @
}

node done: log {
  message = """
    Text on several lines;
    the indent of the closing quotes is cut.
    """
}

# Order; \`a.PORT -> b\` follows a port.
greet -> done

# What the run answers.
output ids: int[] = ids.value
`;

/** Flows of the size that models write. */
export const WHOLE_FLOWS: readonly string[] = [
  `# Looks at a page, and keeps a copy and a line in the log when it has changed.
flow 1 page-watch {
  title = "Tell when a page changes"
}

input page: uri = "https://shop.example/prices"

schedule hourly {
  every = 1h
}

node before: file.read {
  path = "page.html"
  @on-error = { default: { content: "" } }
}

node get: http.request {
  url = inputs.page
  response = "text"
  @timeout = 20s
  @retry = { max: 3, delay: 1s }
}

node changed: condition {
  if = before.content != get.body
}

node keep: file.write {
  path = "page.html"
  content = get.body
  mode = "replace"
}

node tell: log {
  message = "\${inputs.page} has changed: \${size(get.body)} characters"
}

changed.true -> keep
keep -> tell

output changed: bool = changed.result
`,
  `# Sorts messages by their text, and asks a person before refunds are written.
flow 1 sort-mail

input mails: { from: string, text: string, amount: number? }[]

node each: map {
  items = inputs.mails
  as = "mail"
  @concurrency = 4
  body {
    node kind: ai {
      input = mail.text
      labels = [
        { name: "refund", description: "Wants money back" },
        { name: "other", description: "Anything else" },
      ]
      fallbackLabel = "other"
    }

    output = { from: mail.from, kind: kind.label, amount: mail.amount ?? 0 }
  }
}

node refunds: transform {
  value = filter(each.items, mail, mail.kind == "refund")
}

node any: condition {
  if = size(refunds.value) > 0
}

node ask: confirm {
  prompt = "Refund \${sum(map(refunds.value, mail, mail.amount))} EUR?"
  @timeout = 2d
}

node save: file.write {
  path = "refunds.json"
  content = json(refunds.value, 2)
  mode = "replace"
}

node stop: log {
  level = "warn"
  message = "no refund: \${ask.outcome}"
}

any.true -> ask
ask.approved -> save
ask.rejected -> stop
ask.expired -> stop

output refunds: int = size(refunds.value)
output file: string? = save?.path
`,
];

/** The mistake, its correction, and the reason. All are items of a flow. */
export type FrequentMistake = readonly [wrong: string, right: string, note: string];

/** The ten mistakes that models make most. */
export const FREQUENT_MISTAKES: readonly FrequentMistake[] = [
  [
    'if inputs.n > 1 {\n  node c: log {\n    message = "many"\n  }\n}',
    'node many: condition {\n  if = inputs.n > 1\n}\n\nnode c: log {\n  message = "many"\n}\n\nmany.true -> c',
    "a choice is a node with edges from its ports",
  ],
  [
    'node c: log {\n  message = "Hi {{ name }}"\n}',
    'node c: log {\n  message = "Hi ${inputs.name}"\n}',
    "a hole is `${…}`, and an input is read under `inputs`",
  ],
  [
    "output c = steps.a.output.body",
    "output c = a.body",
    "a node is read by its id, then a member of its output",
  ],
  [
    'output c = "n: " + inputs.n',
    'output c = "n: ${inputs.n}"',
    "`+` never mixes text and numbers",
  ],
  [
    "output c = inputs.xs.map(x => x * 2)",
    "output c = map(inputs.xs, x, x * 2)",
    "there are functions, no methods and no arrow functions",
  ],
  [
    "output c = inputs.name.length",
    "output c = size(inputs.name)",
    "no value but an object has members",
  ],
  [
    'node c: http.request {\n  url: "https://shop.example"\n  retry: 3\n}',
    'node c: http.request {\n  url = "https://shop.example"\n  @retry = { max: 3 }\n}',
    "a field has `=`, a policy also `@`",
  ],
  [
    'node c: delay {\n  for = "5s"\n}',
    "node c: delay {\n  for = 5s\n}",
    "a duration has no quotes",
  ],
  [
    'node c: log {\n  message = "late"\n  depends_on = ["b"]\n}',
    'node c: log {\n  message = "late"\n}\n\nb -> c',
    "order is an edge, or comes of reading another node",
  ],
  [
    "output c: int = cut.value",
    "output c: int = cut?.value ?? 0",
    "what may be skipped is read with `?.`",
  ],
];
