/** For each command a good call: what must be there before, and the arguments. A call may be made again with new ones. */
import type {
  CommandName,
  ConnectStarted,
  Job,
  JobRef,
  RunRef,
  Webhook,
} from "@millrace/contracts";
import { consent } from "../connections/support.ts";
import { ASK_PLAINLY, HELLO, SLEEP } from "./flows.ts";

/** What a fixture may do to get there, as an administrator. */
export interface World {
  /** A model on the disk. */
  readonly modelFile: string;
  /** A model whose fetching begins and does not end. */
  readonly slowUrl: string;
  invoke<T>(command: CommandName, args: object): Promise<T>;
  /** A name that nobody has. */
  fresh(prefix: string): string;
  /** Waits until the log of a run has an event of this kind. */
  until(runId: string, kind: string): Promise<void>;
}

type Fixture = (world: World) => object | Promise<object>;

/** Gives a value that is too large for its event. */
const LARGE = `flow 1 large

input text: string

node same: transform {
  value = inputs.text
}
`;
const LARGE_BYTES = 300_000;

/** Takes what a webhook was told. */
const CALLED = `flow 1 called

input call: object

node say: log {
  message = "called"
}
`;

async function finished(world: World, dsl: string = HELLO): Promise<string> {
  const { runId } = await world.invoke<RunRef>("start_run", { dsl });
  await world.until(runId, "summary");
  return runId;
}

async function sleeping(world: World): Promise<string> {
  const { runId } = await world.invoke<RunRef>("start_run", { dsl: SLEEP });
  await world.until(runId, "node.waiting");
  return runId;
}

async function asking(world: World): Promise<string> {
  const { runId } = await world.invoke<RunRef>("start_run", { dsl: ASK_PLAINLY });
  await world.until(runId, "run.paused");
  return runId;
}

async function template(world: World, dsl: string = HELLO): Promise<string> {
  const slug = world.fresh("template");
  await world.invoke("save_template", { slug, dsl });
  return slug;
}

async function schedule(world: World): Promise<string> {
  const args = { template: await template(world), everyMs: 3_600_000 };
  return (await world.invoke<{ id: string }>("create_schedule", args)).id;
}

/** A hub of the operator with one item, `hello`. */
export const HUB = "ours";

async function hub(world: World): Promise<string> {
  return (await world.invoke<{ id: string }>("add_hub", newHub(world))).id;
}

const newHub = (world: World) => ({
  id: world.fresh("hub"),
  name: "Example",
  url: "https://hub.example/flows",
  provides: ["templates"],
});

async function webhook(world: World): Promise<Webhook> {
  return world.invoke("create_webhook", { template: await template(world, CALLED), input: "call" });
}

/** A consent that waits for its person, and a slug of its own. */
async function consenting(world: World): Promise<ConnectStarted & { readonly slug: string }> {
  const slug = world.fresh("connection");
  const started = await world.invoke<ConnectStarted>("connect_service", connecting(slug));
  return { ...started, slug };
}

const connecting = (slug: string) => ({
  slug,
  service: "tracker",
  receiver: "caller",
  redirectUri: "http://127.0.0.1:9/callback",
});

async function connected(world: World): Promise<string> {
  const slug = world.fresh("connection");
  await world.invoke("set_service_secret", { slug, service: "mail", value: "a-token" });
  return slug;
}

let slow: JobRef | undefined;

/** One job goes on at a time: the slow one must not be before the next. */
async function stopSlow(world: World): Promise<void> {
  const job = slow;
  slow = undefined;
  if (job !== undefined) await world.invoke("cancel_model_job", job).catch(() => undefined);
}

async function fetching(world: World): Promise<string> {
  await stopSlow(world);
  const args = { source: world.slowUrl, id: world.fresh("model"), allowUnverified: true };
  slow = await world.invoke<JobRef>("install_model", args);
  return slow.jobId;
}

/** Waits until no job but this one goes on: what another case began would be gone from a second list. */
async function othersEnd(world: World, jobId?: string): Promise<void> {
  for (let others = true; others; ) {
    const jobs = await world.invoke<readonly Job[]>("list_model_jobs", { open: true });
    others = jobs.some(({ id }) => id !== jobId);
  }
}

async function installed(world: World): Promise<string> {
  await stopSlow(world);
  const modelId = world.fresh("model");
  const args = { source: { file: world.modelFile }, id: modelId };
  // Asked again, an open job is the answer; once it has ended, the model is there already.
  for (let isOpen = true; isOpen; await new Promise((resolve) => setTimeout(resolve, 5))) {
    isOpen = await world.invoke("install_model", args).then(
      () => true,
      () => false,
    );
  }
  return modelId;
}

/** A command that is wired and not here fails the test of the table. */
export const FIXTURES: { readonly [N in CommandName]?: Fixture } = {
  run_flow: () => ({ dsl: HELLO }),
  start_run: () => ({ dsl: HELLO, options: { tags: { team: "fx" } } }),
  run_and_wait: () => ({ dsl: HELLO, waitMs: 30_000 }),
  list_runs: async (world) => {
    await finished(world);
    return { status: ["succeeded"], limit: 2 };
  },
  get_run: async (world) => ({ runId: await finished(world) }),
  get_run_events: async (world) => ({ runId: await finished(world), after: 1, limit: 200 }),
  get_run_graph: async (world) => ({ runId: await finished(world) }),
  get_run_inputs: async (world) => ({ runId: await finished(world) }),
  get_node_inputs: async (world) => ({ runId: await finished(world), node: "greeting" }),
  get_run_blob: async (world) => {
    const inputs = { text: "x".repeat(LARGE_BYTES) };
    const { runId } = await world.invoke<RunRef>("start_run", { dsl: LARGE, inputs });
    await world.until(runId, "summary");
    const page = await world.invoke<{ items: { outputRef?: { ref: string } }[] }>(
      "get_run_events",
      { runId },
    );
    const digest = page.items.find(({ outputRef }) => outputRef !== undefined)?.outputRef?.ref;
    return { runId, digest };
  },
  cancel_run: async (world) => ({ runId: await sleeping(world), graceMs: 0 }),
  pause_run: async (world) => ({ runId: await sleeping(world) }),
  resume_run: async (world) => {
    const runId = await sleeping(world);
    await world.invoke("pause_run", { runId });
    return { runId };
  },
  retry_run: async (world) => ({ runId: await finished(world) }),
  acknowledge_runs: async (world) => ({ runIds: [await finished(world)] }),
  resolve_confirmation: async (world) => ({
    runId: await asking(world),
    confirmationId: "k1",
    decision: "approve",
    comment: "go",
  }),
  list_confirmations: async (world) => ({ runId: await asking(world) }),
  delete_run: async (world) => ({ runId: await finished(world) }),
  prune_runs: () => ({ before: "2020-01-01T00:00:00Z", status: ["failed"] }),
  subscribe_events: () => ({ kinds: ["run.started"] }),
  validate_flow: () => ({ dsl: HELLO }),
  format_flow: () => ({ dsl: HELLO }),
  convert_flow: () => ({ dsl: HELLO }),
  list_templates: async (world) => ({ q: await template(world) }),
  get_template: async (world) => ({ slug: await template(world) }),
  save_template: (world) => ({ slug: world.fresh("template"), dsl: HELLO, tags: ["fx"] }),
  delete_template: async (world) => ({ slug: await template(world), ifMatch: "*" }),
  list_template_versions: async (world) => ({ slug: await template(world), limit: 1 }),
  get_template_version: async (world) => ({ slug: await template(world), version: 1 }),
  restore_template_version: async (world) => ({
    slug: await template(world),
    version: 1,
    ifMatch: "*",
  }),
  push_templates: (world) => ({
    by: "fixture",
    flows: [{ slug: world.fresh("template"), dsl: HELLO }],
  }),
  list_vars: () => ({}),
  set_var: () => ({ name: "REGION", value: "eu" }),
  delete_var: async (world) => {
    await world.invoke("set_var", { name: "GONE", value: 1 });
    return { name: "GONE" };
  },
  list_secrets: () => ({}),
  set_secret: () => ({ name: "KEY", value: "a-secret" }),
  delete_secret: async (world) => {
    await world.invoke("set_secret", { name: "LOST", value: "a-secret" });
    return { name: "LOST" };
  },
  import_template: (world) => ({ slug: world.fresh("template"), text: HELLO }),
  export_template: async (world) => ({ slug: await template(world) }),
  list_nodes: () => ({ q: "http", limit: 1 }),
  get_node: () => ({ type: "http.request" }),
  get_settings: () => ({}),
  get_settings_schema: () => ({}),
  update_settings: () => ({ patch: { run: { concurrency: 4 } }, ifMatch: "*" }),
  list_hubs: () => ({}),
  get_hub: async (world) => ({ hubId: await hub(world) }),
  add_hub: newHub,
  update_hub: async (world) => ({ hubId: await hub(world), enabled: false, ifMatch: "*" }),
  remove_hub: async (world) => ({ hubId: await hub(world), ifMatch: "*" }),
  sync_hub: () => ({ hubId: HUB }),
  list_hub_items: async (world) => ({ hubId: await hub(world) }),
  install_hub_item: async (world) => {
    await world.invoke("sync_hub", { hubId: HUB });
    return { hubId: HUB, itemId: "hello", slug: world.fresh("installed") };
  },
  list_schedules: async (world) => {
    await schedule(world);
    return { limit: 1 };
  },
  get_schedule: async (world) => ({ scheduleId: await schedule(world) }),
  create_schedule: async (world) => ({ template: await template(world), cron: "0 7 * * 1" }),
  update_schedule: async (world) => ({
    scheduleId: await schedule(world),
    template: await template(world),
    cron: "0 7 * * 1",
    ifMatch: "*",
  }),
  delete_schedule: async (world) => ({ scheduleId: await schedule(world), ifMatch: "*" }),
  run_schedule_now: async (world) => ({ scheduleId: await schedule(world) }),
  preview_schedule: async (world) => ({ scheduleId: await schedule(world), n: 2 }),
  list_webhooks: async (world) => {
    await webhook(world);
    return { limit: 1 };
  },
  create_webhook: async (world) => ({ template: await template(world, CALLED), input: "call" }),
  update_webhook: async (world) => ({ webhookId: (await webhook(world)).id, enabled: false }),
  test_webhook: async (world) => ({ webhookId: (await webhook(world)).id }),
  delete_webhook: async (world) => ({ webhookId: (await webhook(world)).id }),
  list_services: () => ({ limit: 1 }),
  get_service: () => ({ slug: "mail" }),
  connect_service: (world) => connecting(world.fresh("connection")),
  get_connect_status: async (world) => {
    const { slug, connectId } = await consenting(world);
    return { slug, connectId };
  },
  complete_connect: async (world) => {
    const { slug, connectId, authorizeUrl } = await consenting(world);
    const { code, state } = await consent(authorizeUrl);
    return { slug, connectId, code, state };
  },
  cancel_connect: async (world) => {
    const { slug, connectId } = await consenting(world);
    return { slug, connectId };
  },
  set_service_secret: (world) => ({
    slug: world.fresh("connection"),
    service: "mail",
    value: "a-token",
  }),
  disconnect_service: async (world) => ({ slug: await connected(world) }),
  import_service: () => ({
    document: { openapi: "3.1.0", info: { title: "T", version: "1" }, paths: {} },
    baseUrl: "https://api.example",
    slug: "imported",
  }),
  list_models: async (world) => {
    await installed(world);
    return { state: "ready", limit: 1 };
  },
  get_model: async (world) => ({ modelId: await installed(world) }),
  install_model: (world) => ({ source: { file: world.modelFile }, id: world.fresh("model") }),
  cancel_model_job: async (world) => ({ jobId: await fetching(world) }),
  remove_model: async (world) => ({ modelId: await installed(world) }),
  load_model: async (world) => ({ modelId: await installed(world), contextSize: 256 }),
  unload_model: async (world) => ({ modelId: await installed(world) }),
  scan_models: () => ({}),
  list_model_jobs: async (world) => {
    await othersEnd(world, await fetching(world));
    return { open: true };
  },
  get_model_job: async (world) => ({ jobId: await fetching(world) }),
  list_engines: () => ({}),
  fetch_engine: () => ({ engineId: "llama-cpp" }),
  subscribe_models: () => ({}),
  list_providers: async (world) => {
    await stopSlow(world);
    await othersEnd(world);
    return {};
  },
  get_meta: () => ({}),
  list_commands: () => ({}),
};
