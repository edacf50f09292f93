/** Every command of the registry, over its route and by its name: wired or 501, never anything between. */
import { COMMANDS } from "@millrace/contracts/commands";
import { coreHandlers } from "@millrace/server";
import { expect, test } from "vitest";
import { invoke, post, problemOf, serve } from "./support/server.ts";

/** What this version can do. */
const WIRED = [
  ..."acknowledge_runs add_hub cancel_connect cancel_run complete_connect".split(" "),
  ..."connect_service convert_flow create_schedule create_webhook delete_run".split(" "),
  ..."delete_schedule delete_secret delete_template delete_var delete_webhook".split(" "),
  ..."disconnect_service export_template format_flow get_connect_status get_hub".split(" "),
  ..."get_meta get_node get_node_inputs get_run get_run_blob get_run_events".split(" "),
  ..."get_run_graph get_run_inputs get_schedule get_service get_settings".split(" "),
  ..."get_settings_schema get_template get_template_version import_service".split(" "),
  ..."import_template install_hub_item list_commands list_confirmations".split(" "),
  ..."list_hub_items list_hubs list_nodes list_providers list_runs list_schedules".split(" "),
  ..."list_secrets list_services list_template_versions list_templates list_vars".split(" "),
  ..."list_webhooks pause_run preview_schedule prune_runs push_templates".split(" "),
  ..."remove_hub resolve_confirmation restore_template_version resume_run".split(" "),
  ..."retry_run run_and_wait run_flow run_schedule_now save_template set_secret".split(" "),
  ..."set_service_secret set_var start_run subscribe_events sync_hub test_webhook".split(" "),
  ..."update_hub update_schedule update_settings update_webhook validate_flow".split(" "),
];

const routed = [...COMMANDS.values()].filter(({ http }) => http !== undefined);

/** Wired, but only as a stream: no handler answers them by name. */
const STREAMS = ["subscribe_events"];

test("the commands of this version are wired", () => {
  expect([...coreHandlers.keys(), ...STREAMS].sort()).toEqual(WIRED);
});

test("no two commands share a route without a query key that tells them apart", () => {
  const routes = routed.map(
    ({ http }) => `${http?.method} ${http?.path} ${http?.when?.query ?? ""}`,
  );
  expect(new Set(routes).size).toBe(routes.length);
});

test("every route exists, and answers 501 exactly when its command is not wired", async () => {
  const server = await serve();
  for (const { name, http } of routed) {
    const path = (http?.path ?? "").replace(/:[A-Za-z]+/g, "x");
    const query = http?.when === undefined ? "" : `?${http.when.query}=1`;
    const leave = new AbortController();
    const init = { method: http?.method ?? "GET", signal: leave.signal };
    const response = await fetch(server.url + path + query, init);
    const isMissing = [404, 405].includes(response.status);
    const code = isMissing ? (await problemOf(response)).code : undefined;
    expect.soft([name, code]).not.toEqual([name, "route_not_found"]);
    expect.soft([name, response.status === 501]).toEqual([name, !WIRED.includes(name)]);
    leave.abort(); // a stream goes on
  }
});

test("by its name a command answers 501 exactly when it is not wired", async () => {
  const server = await serve();
  for (const command of COMMANDS.keys()) {
    const response = await post(server, "/api/invoke", { command, args: { none: 1 } });
    const isWired = WIRED.includes(command);
    expect.soft([command, response.status]).toEqual([command, isWired ? 422 : 501]);
    const { code } = (await response.json()) as { readonly code?: string };
    expect.soft([command, code === "command_not_wired"]).toEqual([command, !isWired]);
  }
});

test("list_commands and get_meta tell the same: what there is, and what is wired", async () => {
  const server = await serve();
  const list = await invoke<{ name: string; wired: boolean; argsSchema: object }[]>(
    server,
    "list_commands",
    {},
  );
  expect(list.map(({ name }) => name)).toEqual([...COMMANDS.keys()]);
  expect(
    list
      .filter(({ wired }) => wired)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(WIRED);
  expect(list.find(({ name }) => name === "cancel_run")?.argsSchema).toMatchObject({
    type: "object",
    required: ["runId"],
    additionalProperties: false,
  });
  const meta = await invoke<Record<string, unknown>>(server, "get_meta", {});
  expect(meta).toMatchObject({
    name: "millrace",
    apiVersion: 1,
    eventVersion: 1,
    dslVersion: 1,
    node: process.versions.node,
    limits: { maxBodyBytes: 1_048_576, maxJsonDepth: 200, maxEventBytes: 262_144, maxLiveRuns: 64 },
    features: { webhooks: false, models: false, credentialStore: "os", executor: "memory" },
    commands: { wired: WIRED },
  });
});
