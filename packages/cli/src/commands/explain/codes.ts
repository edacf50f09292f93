/** Meanings of the error codes of nodes, runs and jobs on models, and what to do next: texts of `millrace explain CODE`. */
/** Code to meaning. Codes of models (`ai_…`) are in the guide of the `ai` node. */
export const NODE_CODES: { readonly [code: string]: string } = {
  timeout:
    "The node took longer than its `@timeout`. Give it more time, or find out what it waits for.",
  interrupted:
    "The process ended while the node was at work, and the node may not run twice (`@delivery`).",
  network:
    "The connection broke before an answer came. It is worth another try: `@retry = { max: 3 }`.",
  dns: "The name of the host has no address, or the name server did not answer.",
  tls: "The certificate of the host was refused, or the host speaks no TLS.",
  http_status:
    "The answer had a status that is an error; `error.status` has it. 429 and 5xx are worth another try.",
  egress_denied:
    "The address is not one that flows may reach. Private addresses are allowed by the operator alone: `egress.allow` in the user configuration.",
  file_denied: "The path leaves the folder of files, or the folder is read-only.",
  program_denied: "The program is not one that the operator has allowed: `shell.programs`.",
  capability_denied:
    "The node needs files, programs or a secret that were not given to this engine: `files.root` and `shell.programs` in the user configuration.",
  host_unsupported: "The platform has no such thing: a browser has no files and no programs.",
  expression_error:
    "An expression could not be evaluated; `error.cause` says how, the message says where.",
  field_invalid: "A field has a value that its type does not take. The message names the field.",
  input_invalid: "An input of the flow is missing or has another type.",
  file_not_found: "There is no such file in the folder of files.",
  file_exists: "The file is there already, and `mode` is `create`.",
  operation_unknown:
    "The service has no operation of that name. `millrace services list` names them.",
  output_schema:
    "The node answered something else than its type promises. For its author: change the code or the output schema.",
  output_not_json:
    "The node answered a value that JSON cannot hold, such as a Map, a cycle or a getter that throws.",
  output_too_deep: "The node answered a value with too many levels.",
  decode_failed: "The answer is not in the format that the node was told to expect.",
  exit_status: "The program ended with a status other than 0; its last lines are in the message.",
  spawn_failed: "The program could not be started.",
  retry_condition:
    "The node succeeded, and its `@retry` has an `if` that asked for another try, until none was left.",
  limit_exceeded: "A limit of the run was reached. The message names it.",
  nesting_too_deep:
    "Flows and bodies are nested deeper than the limit `depth`, perhaps because a flow calls itself.",
  output_too_large:
    "The node answered more than the limit `outputBytes`; an extension may answer 4 MiB.",
  response_too_large: "The answer over the network is larger than allowed.",
  file_too_large: "The file is larger than allowed.",
  disk_full: "The disk has no room. Make some; a kept run goes on by itself.",
  credentials_missing:
    "The node needs a secret or a connection that is not there: `millrace secrets set NAME`, `millrace connect SERVICE`.",
  credentials_expired: "The token has expired and could not be renewed: connect the service again.",
  no_refresh_token:
    "The token has expired, and the service gave none to renew it with: connect the service again.",
  unavailable: "The store of credentials could not be opened.",
  fixture_missing:
    'A run with fixtures asked for an answer that its folder does not hold. Answers of the network and of services are in `http.json` (`[{ method, url, status, headers, body }]`), of models in `answers.ndjson` (a line for each prompt, found by its key), of programs in `shell.json` (`[{ program, args, exitCode, stdout }]`); the message names what was asked. The guide\'s first page, "Give it a test", lists the files.',
  provider_unavailable:
    "No provider has the id that the node names. `millrace providers list` shows those there are.",
  model_unavailable: "The provider has no such model, or the model cannot be loaded here.",
  confirm_rejected: "A person rejected the question of the node.",
  confirm_expired: "Nobody answered the question of the node in time.",
  item_failed: "An item of a `map` or a round of a `loop` failed; `error.cause` is its code.",
  subflow_failed: "The flow that the node calls failed; `error.cause` is its code.",
  internal: "The engine's own code failed. That is a bug: please report it.",
  extension_threw:
    "The code of the node threw an error that is no `NodeError`. Its message may hold a secret, so events name its class alone. `--verbose` prints the error with its stack; in a program, `createEngine({ onError })` and `createServer({ onError })` receive it; in a test it is the `cause` of what `createTestHost().run` rejects with. For its author: throw `new NodeError(code, message)` for a failure that users are to read.",
  extension_crashed:
    "The process of the extension ended while the node was at work. `millrace ext doctor --verbose` shows what it printed.",
  extension_quarantined:
    "The process of the extension ended three times within a minute and is not started again before a restart.",
  extension_load_failed:
    "The code of the extension could not be loaded. `millrace ext doctor --verbose` shows why.",
  attempt_over: "The code of the node went on after its attempt had ended.",
  resume_impossible: "The run could not be taken up: its flow is not what it was.",
  crash_loop:
    "The process died several times while this run was at work, so it is not taken up again.",
  run_timeout: "The run took longer than its limit: `--timeout`, or the policy of the flow.",
};

/** Meaning of the ends of jobs on models, and what to do next: hints of `models install` and `engine fetch`, and `explain CODE`. */
export const JOB_CODES: { readonly [code: string]: string } = {
  digest_mismatch:
    "The file is not the one that --sha256 names, and was not kept. Compare the digest with that of its publisher.",
  download_interrupted:
    "The connection broke off again and again. The same command goes on where it stopped.",
  download_denied:
    "The server refuses the file, or egress does. A file behind a login needs --credential NAME, stored with `millrace secrets set`; a host in a private network needs `egress.allow` in the user configuration; a registry of your own is `models.registryUrl`.",
  download_not_found: "There is no such file. Check the URL in a browser.",
  download_failed:
    "The server did not send the file as it should. The message says how; another source may help.",
  disk_full: "Make room on the disk of the models. The same command goes on where it stopped.",
  invalid_model:
    "The file is no GGUF model that can be run: often a web page or an archive in its place, or a model of another format.",
  engine_offline:
    "The registry of npm packages, which the engine comes from, cannot be reached. Check the network, or name a mirror: `millrace config set --user models.registryUrl https://npm.example`.",
  engine_unsupported: "There is no engine for this system. The guide on local models lists them.",
  engine_digest_mismatch:
    "The registry sends other packages than this release was made with. Use the public registry or a mirror that is whole.",
  engine_missing: "No engine is there yet: `millrace models engine fetch` gets it.",
};
