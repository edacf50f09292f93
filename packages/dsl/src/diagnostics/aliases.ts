/**
 * What other tools and languages call things that this language has too, as data: a word that is not known is looked up here
 * before names that are spelt like it. Keys are in lower case without `-` and `_`.
 */
import { nearestName } from "@millrace/contracts/kit";

/** A name, or a hint, to the words that mean it: `{ upper: "uppercase toupper" }`. */
export type Aliases = { readonly [name: string]: string };

/** The name that a word means: by its alias, by another spelling of the same letters, or by being near it. */
export function meantName(
  word: string,
  candidates: Iterable<string>,
  known: Aliases,
): string | undefined {
  const names = [...candidates];
  const meant = aliasOf(word, known)?.split("|") ?? [];
  const plain = plainOf(word);
  return (
    meant.find((name) => names.includes(name)) ??
    names.find((name) => name !== word && plainOf(name) === plain) ??
    nearestName(word, names)
  );
}

/** Our word for a word of another tool; several meanings, the commonest first, have a `|` between them. */
export function aliasOf(word: string, known: Aliases): string | undefined {
  const plain = plainOf(word);
  return Object.entries(known).findLast(([, words]) => words.split(" ").includes(plain))?.[0];
}

/** A name without what writers of other languages do between words. */
export function plainOf(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, "");
}

const STARTED =
  "a flow is started from outside: by `schedule`, a webhook of the server, or `millrace run`";

/** Words before a block. */
export const BLOCK_ALIASES: Aliases = {
  node: "step task action job activity state stage operator",
  input: "param params parameter arg argument variable",
  output: "result",
  schedule: "cron timer",
  connection: "credential credentials auth",
  flow: "workflow pipeline dag",
};

const CHOICE =
  "a choice is a node of type `condition` with edges from its ports, or the policy `@when` of a node";
const VALUE = "a value with a name is a node: `node a: transform { value = … }`, read as `a.value`";
const REPEAT =
  "a node of type `map` runs its body for each item, one of type `loop` until a condition holds";

/** Statements of programming languages. */
export const BLOCK_HINTS: Aliases = {
  [CHOICE]: "if else elif when unless",
  "a choice between several is a node of type `switch`": "switch match",
  [REPEAT]: "for foreach while repeat",
  [VALUE]: "let var const set vars locals",
  "a result is written `output name = …`": "return",
  "a failure leaves a node by its port `error`: `a.error -> b`": "try catch",
  "nodes run at the same time unless one reads another or an edge leads to it": "parallel",
  [STARTED]: "trigger on",
  "another flow is called by a node of type `subflow`": "import",
  "there are no functions of one's own; another flow is called by a node of type `subflow`":
    "function def",
};

/** Types of steps. */
export const TYPE_ALIASES: Aliases = {
  "http.request":
    "http https fetch request curl rest api webhook httprequest http.get http.post httpget httppost axios",
  "service.call": "service integration connector",
  condition: "if branch filter when decision ifelse",
  switch: "case match choice router",
  map: "foreach for each iterate iterator itemlists splitinbatches",
  loop: "while repeat until dowhile poll",
  delay: "wait sleep pause timer",
  confirm: "approval approve human humaninput humanintheloop manual ask review",
  "shell.exec": "shell exec bash command cmd run process sh executecommand",
  "file.read": "read readfile file.open readbinaryfile",
  "file.write": "write writefile file.save savefile",
  "file.list": "ls listfiles glob",
  ai: "llm gpt openai anthropic chat chatcompletion prompt agent model completion claude",
  transform: "set assign value const variable setvariable editfields compute expression template",
  log: "print echo console console.log logger printf debug",
  fail: "error throw raise stop",
  join: "merge parallel sync all",
  subflow: "call workflow callworkflow executeworkflow flow childworkflow",
};

const NO_CODE =
  "there is no code step: write expressions, run a program with `shell.exec`, or write an extension";

const NO_CONNECTOR =
  "core has no such step: call its HTTP API with `http.request` or `service.call`, or install an extension that brings it";

/** Types of other tools that no type here is like. */
export const TYPE_HINTS: Aliases = {
  [NO_CODE]: "code script function javascript js python py lambda eval",
  [NO_CONNECTOR]:
    "email mail smtp imap gmail sendemail sendmail slack telegram sql mysql postgres postgresql sqlite database db s3 ftp sftp",
  [STARTED]: "trigger cron schedule start manualtrigger scheduletrigger",
};

/** Fields of types; `a|b`: the first that the type has. */
export const FIELD_ALIASES: Aliases = {
  input: "messages user prompt",
  "prompt|input": "question",
  labels: "classes categories",
  url: "uri link endpoint href address",
  method: "verb httpmethod",
  headers: "header",
  query: "params queryparams qs search querystring",
  path: "file filename filepath",
  content: "contents",
  program: "cmd command script bin",
  args: "arguments argv parameters",
  for: "duration seconds minutes hours ms milliseconds time delay",
  items: "list each in over array collection foreach",
  modelId: "model modelname",
  outputSchema: "jsonschema responseformat responseschema",
  tools: "functions",
  flow: "workflow workflowid flowid slug",
  cwd: "workdir workingdirectory dir",
  glob: "pattern",
  connection: "credential credentials auth service",
  operation: "action endpointname",
  encoding: "charset format",
  "content|message|prompt|input": "text",
  "content|body": "body",
  "body|content|data|args": "payload",
  "body|content": "json",
  "body|content|input|value": "data",
  "message|prompt|input": "message",
  "message|prompt": "msg",
  "prompt|message": "title",
  "if|until|while": "condition",
  "if|value|on": "expr expression",
  if: "test",
  on: "key",
  "value|on|items|message": "value",
  value: "result output",
  "system|prompt": "instructions",
  "inputs|args|input": "inputs",
  "inputs|args": "with",
  max: "maxiterations iterations times",
  "max|maxBytes": "limit",
  "outputSchema|schema": "schema",
};

/** Fields of steps in other tools that are no fields here. */
export const FIELD_HINTS: Aliases = {
  "an order of steps is an edge: `a -> b`": "needs dependson after requires next",
};

/** Exits of nodes; `a|b`: the first that the node has. */
export const PORT_ALIASES: Aliases = {
  "approved|true": "yes ok",
  "rejected|false": "no",
  approved: "approve accept accepted",
  rejected: "reject deny denied",
  expired: "timeout timedout",
  true: "then",
  "false|default": "else otherwise",
  out: "success succeeded done next",
  error: "failure fail failed onerror catch",
};

/** Words of fields that take one of several. */
export const VALUE_ALIASES: Aliases = {
  replace: "overwrite truncate w write",
  append: "add a",
  create: "new x",
  warn: "warning",
  error: "err fatal critical",
  debug: "trace verbose",
  utf8: "text string",
  base64: "binary bytes b64",
  summarize: "summary summarise",
  classify: "classification",
  extract: "extraction",
  generate: "completion text",
  embed: "embedding embeddings",
  exponential: "expo exp",
  constant: "fixed",
  all: "and every",
  any: "or first some",
  fail: "stop throw abort",
  finish: "continue",
  port: "route branch",
};

/** Policies of nodes, also written as fields. */
export const POLICY_ALIASES: Aliases = {
  timeout: "timeoutms timelimit",
  retry: "retries maxretries retrypolicy attempts maxattempts",
  when: "if runif condition only",
  "on-error": "onerror catch onfail onfailure error continueonerror",
  concurrency: "parallelism maxparallel parallel maxconcurrency",
  "idempotency-key": "idempotencykey idempotency dedupekey",
  cache: "memoize ttl",
};

/** Members of policies. */
export const MEMBER_ALIASES: Aliases = {
  max: "attempts maxattempts times count retries limit tries maxretries",
  delay: "interval wait initialdelay initialinterval delayms sleep",
  maxDelay: "maxinterval cap maxdelayms maximuminterval",
  backoff: "strategy type policy",
  on: "codes kinds retryon errors",
  if: "when condition",
  ttl: "ttlms maxage expires",
};

/** Functions and methods. */
export const FUNCTION_ALIASES: Aliases = {
  size: "len length count strlen",
  upper: "touppercase uppercase toupper ucase",
  lower: "tolowercase lowercase tolower lcase downcase",
  trim: "strip trimstart trimend",
  string: "str tostring text",
  number: "float tonumber parsefloat num double",
  int: "parseint integer toint trunc",
  bool: "boolean tobool",
  type: "typeof typename",
  json: "tojson stringify dumps jsonencode jsonstringify",
  parseJson: "fromjson loads jsondecode jsonparse",
  csvParse: "parsecsv fromcsv readcsv csvdecode csvtojson",
  csvFormat: "tocsv formatcsv writecsv csvencode jsontocsv csvstringify",
  contains: "includes has include",
  startsWith: "startswith hasprefix beginswith",
  endsWith: "endswith hassuffix",
  replace: "substitute",
  matches: "match regex regexp test regexmatch regextest ismatch",
  replaceAll: "gsub regexreplace replaceregex resub",
  substring: "substr mid",
  slice: "sublist subarray",
  take: "limit takefirst top",
  reverse: "reversed",
  indexOf: "find search position index findindex",
  groupBy: "group groupingby",
  countBy: "tally frequencies histogram",
  chunk: "batch chunks splitevery",
  exists: "some any",
  all: "every",
  filter: "where select",
  map: "each collect",
  sortBy: "sort orderby sorted order",
  unique: "distinct uniq dedupe",
  flatten: "flat",
  merge: "assign extend spread",
  uriEncode: "encodeuricomponent urlencode encodeuri",
  uriDecode: "decodeuricomponent urldecode decodeuri",
  base64Encode: "btoa b64encode",
  base64Decode: "atob b64decode",
  now: "today currenttime getdate",
  dateFormat: "formatdate strftime dateformat format",
  dateParse: "strptime datefromformat parsedatetime",
  parseDuration: "duration toduration parsems durationparse",
  dateAdd: "adddays plus adddate",
  dateDiff: "diffdates datediff",
  date: "todate parsedate",
  epochMs: "timestamp gettime unix",
  keys: "objectkeys",
  fromEntries: "toobject dict",
  first: "head",
  last: "tail",
  round: "tofixed",
  sha256: "hash",
};

/** Objects of JavaScript whose methods are functions here. */
export const NAMESPACES: ReadonlySet<string> = new Set(
  "Array Date JSON Math Number Object String _".split(" "),
);

export const FUNCTION_HINTS: Aliases = {
  "there is no reduce; `sum`, `min`, `max`, `join` and `merge` cover most of it, a `loop` node the rest":
    "reduce",
  "a flow reads no environment; use an input, or a connection for a secret": "env",
  "a choice is written `c ? a : b`": "if ifelse iff",
  "a default is written `a ?? b`": "default coalesce nvl ifnull",
  "`+` joins two strings or two lists": "concat",
  "`+` joins two lists: `list + [element]`": "push append",
};

/** Members that are functions here: `xs.length`. */
export const MEMBER_FUNCTIONS: ReadonlySet<string> = new Set(["length", "size", "count", "len"]);

const NO_SECRETS =
  'a flow holds no secret: name a connection with `connection = "…"`; see "Call an API with a key" in the guide, docs/guide/services.md';
const BY_ID = "read a step by its id, such as `a.value`";

/** Roots of expressions in other tools. */
export const NAME_HINTS: Aliases = {
  [NO_SECRETS]: "env secret secrets process credentials vault",
  "values come from `inputs` and from steps, such as `inputs.name` and `a.value`": "vars",
  [BY_ID]: "steps outputs tasks needs json node prev previous",
  "what started a run is not read by a flow; pass it as an input": "trigger",
};

/** Members of what nodes give. */
export const OUTPUT_ALIASES: Aliases = {
  status: "statuscode code httpstatus",
  exitCode: "code exitstatus returncode",
  files: "entries list",
  rounds: "iterations count",
  by: "user approver",
  "body|content|value|output": "data json",
  "body|output|text": "response",
  "body|value": "payload",
  "value|output|body|items|outputs|state|outcome": "result",
  "items|value": "results",
  "value|body|stdout|items|outputs|state|content": "output",
  "body|content|stdout|value": "text",
  "body|output|text|stdout": "content",
  "content|value": "body",
  "output|body|state|items": "value",
  "output|text|value": "answer",
  "text|output": "message",
  outcome: "decision approved",
};

/** Members that hold the result of a node, the one that is meant mostly first. */
export const MAIN_MEMBERS: readonly string[] =
  "value output body content items state stdout files outputs text result".split(" ");
