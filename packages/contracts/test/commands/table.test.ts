import type { CommandName } from "@millrace/contracts";
import { COMMANDS, type CommandDef, commandOf, PROBLEMS } from "@millrace/contracts/commands";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";

// The table of the server page, row by row: command, route, status, effect, idempotency, arguments.
// Effects: r(ead) x(run) w(rite) a(dmin). Idempotency: - none, k(ey), n(atural).
const RUN = "graph template version dsl inputs options";
const PAGE = "limit cursor";
const TIMES = "name template version cron everyMs at timezone inputs tags enabled overlap catchUp";
const TABLE = `
run_flow                 | POST   /api/run | 200 | x | k | ${RUN}
start_run                | POST   /api/runs | 202 | x | k | ${RUN}
run_and_wait             | POST   /api/runs | 200 202 | x | k | ${RUN} waitMs
list_runs                | GET    /api/runs | 200 | r | - | status template flow retryOf tags since until trigger unacknowledged ${PAGE}
get_run                  | GET    /api/runs/:runId | 200 | r | - | runId
get_run_events           | GET    /api/runs/:runId/events | 200 | r | - | runId after kinds node below snapshot lag limit
get_run_graph            | GET    /api/runs/:runId/graph | 200 | r | - | runId
get_run_inputs           | GET    /api/runs/:runId/inputs | 200 | r | - | runId
get_node_inputs          | GET    /api/runs/:runId/nodes/inputs | 200 | r | - | runId node attempt
get_run_blob             | GET    /api/runs/:runId/blobs/:digest | 200 | r | - | runId digest
cancel_run               | POST   /api/runs/:runId/cancel | 202 | x | n | runId reason graceMs
pause_run                | POST   /api/runs/:runId/pause | 202 | x | n | runId
resume_run               | POST   /api/runs/:runId/resume | 202 | x | n | runId
retry_run                | POST   /api/runs/:runId/retry | 202 | x | k | runId from failedItems inputs
acknowledge_runs         | POST   /api/runs/acknowledge | 200 | x | n | runIds all template
resolve_confirmation     | POST   /api/runs/:runId/confirmations/:confirmationId | 200 | x | k | runId confirmationId decision value comment
list_confirmations       | GET    /api/confirmations | 200 | r | - | status runId ${PAGE}
delete_run               | DELETE /api/runs/:runId | 204 | w | n | runId
prune_runs               | DELETE /api/runs | 200 | a | n | before status
subscribe_events         | GET    /api/events | 200 | r | - | kinds after
validate_flow            | POST   /api/flows/validate | 200 | r | n | graph dsl
format_flow              | POST   /api/flows/format | 200 | r | n | dsl
convert_flow             | POST   /api/flows/convert | 200 | r | n | graph dsl
list_templates           | GET    /api/templates | 200 | r | - | q tag source ${PAGE}
get_template             | GET    /api/templates/:slug | 200 | r | - | slug
save_template            | PUT    /api/templates/:slug | 200 201 | w | n | slug name description tags dsl graph takeErrors ifMatch ifNoneMatch
delete_template          | DELETE /api/templates/:slug | 204 | w | n | slug ifMatch
list_template_versions   | GET    /api/templates/:slug/versions | 200 | r | - | slug ${PAGE}
get_template_version     | GET    /api/templates/:slug/versions/:version | 200 | r | - | slug version
restore_template_version | POST   /api/templates/:slug/versions/:version/restore | 200 | w | k | slug version ifMatch
import_template          | POST   /api/templates/import | 201 | w | k | text slug overwrite
push_templates           | POST   /api/templates/push | 200 | w | n | by flows prune force dryRun
export_template          | GET    /api/templates/:slug/export | 200 | r | - | slug
list_nodes               | GET    /api/nodes | 200 | r | - | q category ${PAGE}
get_node                 | GET    /api/nodes/:type | 200 | r | - | type
list_models              | GET    /api/models | 200 | r | - | state ${PAGE}
get_model                | GET    /api/models/:modelId | 200 | r | - | modelId
install_model            | POST   /api/models/install | 202 | a | k | source id sha256 allowUnverified headersCredential fetchEngine
cancel_model_job         | POST   /api/models/jobs/:jobId/cancel | 202 | a | k | jobId
remove_model             | DELETE /api/models/:modelId | 204 | a | k | modelId force
load_model               | POST   /api/models/:modelId/load | 202 200 | a | k | modelId contextSize threads ttlMs wait
unload_model             | POST   /api/models/:modelId/unload | 202 | a | k | modelId force
scan_models              | POST   /api/models/scan | 202 | a | k |
list_model_jobs          | GET    /api/models/jobs | 200 | r | - | open
get_model_job            | GET    /api/models/jobs/:jobId | 200 | r | - | jobId
list_engines             | GET    /api/engines | 200 | r | - |
fetch_engine             | POST   /api/engines/:engineId/fetch | 202 | a | k | engineId
subscribe_models         | GET    /api/models/events | 200 | r | - |
list_providers           | GET    /api/providers | 200 | r | - |
get_settings             | GET    /api/settings | 200 | r | - |
get_settings_schema      | GET    /api/settings/schema | 200 | r | - |
update_settings          | PATCH  /api/settings | 200 | a | n | patch ifMatch
list_vars                | GET    /api/vars | 200 | r | - |
set_var                  | PUT    /api/vars/:name | 200 | a | n | name value environment
delete_var               | DELETE /api/vars/:name | 204 | a | n | name environment
list_secrets             | GET    /api/secrets | 200 | r | - |
set_secret               | PUT    /api/secrets/:name | 200 | a | n | name environment value
delete_secret            | DELETE /api/secrets/:name | 204 | a | n | name environment
list_hubs                | GET    /api/hubs | 200 | r | - | ${PAGE}
get_hub                  | GET    /api/hubs/:hubId | 200 | r | - | hubId
add_hub                  | POST   /api/hubs | 201 | a | k | id name url provides publicKey enabled
update_hub               | PATCH  /api/hubs/:hubId | 200 | a | n | hubId name url provides publicKey enabled ifMatch
remove_hub               | DELETE /api/hubs/:hubId | 204 | a | n | hubId ifMatch
sync_hub                 | POST   /api/hubs/:hubId/sync | 200 | a | k | hubId
list_hub_items           | GET    /api/hubs/:hubId/items | 200 | r | - | hubId ${PAGE}
install_hub_item         | POST   /api/hubs/:hubId/items/:itemId/install | 201 | a | k | hubId itemId slug overwrite ifMatch
list_schedules           | GET    /api/schedules | 200 | r | - | ${PAGE}
get_schedule             | GET    /api/schedules/:scheduleId | 200 | r | - | scheduleId
create_schedule          | POST   /api/schedules | 201 | w | k | ${TIMES}
update_schedule          | PUT    /api/schedules/:scheduleId | 200 | w | n | scheduleId ${TIMES} ifMatch
delete_schedule          | DELETE /api/schedules/:scheduleId | 204 | w | n | scheduleId ifMatch
run_schedule_now         | POST   /api/schedules/:scheduleId/run | 202 | x | k | scheduleId
preview_schedule         | GET    /api/schedules/:scheduleId/next | 200 | r | - | scheduleId cron everyMs at timezone n
list_webhooks            | GET    /api/webhooks | 200 | r | - | ${PAGE}
create_webhook           | POST   /api/webhooks | 201 | a | k | template input scheme secret headers respond respondWithinMs enabled
update_webhook           | PATCH  /api/webhooks/:webhookId | 200 | a | n | webhookId secret keepSecretMs headers respond respondWithinMs enabled
test_webhook             | POST   /api/webhooks/:webhookId/test | 200 | a | n | webhookId body headers query
delete_webhook           | DELETE /api/webhooks/:webhookId | 204 | a | n | webhookId
list_services            | GET    /api/services | 200 | r | - | ${PAGE}
get_service              | GET    /api/services/:slug | 200 | r | - | slug
connect_service          | POST   /api/connections/:slug/connect | 202 | a | - | slug service scopes receiver redirectUri port client
get_connect_status       | GET    /api/connections/:slug/connect/:connectId | 200 | r | - | slug connectId
complete_connect         | POST   /api/connections/:slug/connect/:connectId | 200 | a | - | slug connectId code state
cancel_connect           | DELETE /api/connections/:slug/connect/:connectId | 204 | a | n | slug connectId
set_service_secret       | PUT    /api/connections/:slug/secret | 200 | a | n | slug service value
disconnect_service       | DELETE /api/connections/:slug | 204 | a | n | slug
import_service           | POST   /api/services/import | 200 | a | n | document baseUrl slug
get_meta                 | GET    /api/meta | 200 | r | - |
list_commands            | GET    /api/commands | 200 | r | - |
`;
const EFFECT = { read: "r", run: "x", write: "w", admin: "a" };
const IDEMPOTENCY = { none: "-", key: "k", natural: "n" };

const words = (text: string): string[] => text.split(" ").filter((word) => word !== "");
const argNames = (def: CommandDef): string[] =>
  Object.keys(z.toJSONSchema(def.args, { io: "input" }).properties ?? {});
const all = [...COMMANDS.values()];

describe("the table of commands", () => {
  const rows = TABLE.trim()
    .split("\n")
    .map((row) => row.split("|").map((cell) => cell.trim()));

  test("has exactly the commands of version 1", () => {
    expect([...COMMANDS.keys()]).toEqual(rows.map(([name]) => name));
  });

  test.each(rows)(
    "%s is %s",
    (name = "", route = "", status = "", effect, idempotency, args = "") => {
      const def = COMMANDS.get(name) as CommandDef;
      const { http } = def;
      const [method, path] = words(route);
      expect(def.name).toBe(name);
      expect(http).toMatchObject({ method, path });
      expect([http?.status, ...(http?.alsoStatus ?? [])]).toEqual(words(status).map(Number));
      expect([EFFECT[def.effect], IDEMPOTENCY[def.idempotency]]).toEqual([effect, idempotency]);
      expect(argNames(def).sort()).toEqual(words(args).sort());
    },
  );

  test("has a type for each name, and a name for each type", () => {
    expectTypeOf<"cancel_run">().toExtend<CommandName>();
    expectTypeOf(commandOf("cancel_run").name).toEqualTypeOf<"cancel_run">();
    // @ts-expect-error a name nobody knows
    expect(commandOf("cancel_everything")).toBeUndefined();
  });

  test("knows nothing of names that every object has", () => {
    for (const name of ["constructor", "__proto__", "toString"])
      expect(COMMANDS.get(name)).toBeUndefined();
  });
});

describe("every command", () => {
  test("takes a strict object, and says so in JSON Schema", () => {
    for (const def of all) {
      expect(z.toJSONSchema(def.args, { io: "input" }), def.name).toMatchObject({
        type: "object",
        additionalProperties: false,
      });
      expect(def.args.safeParse({ "no-such-argument": 1 }).success, def.name).toBe(false);
    }
  });

  test("has an answer, and a stream item, that JSON Schema can say", () => {
    for (const def of all) {
      expect(() => z.toJSONSchema(def.result), def.name).not.toThrow();
      if (def.stream)
        expect(() => z.toJSONSchema(def.stream?.item as z.ZodType), def.name).not.toThrow();
    }
  });

  test("has a route of its own", () => {
    const routes = all.map(
      ({ http }) => `${http?.method} ${http?.path} ${http?.when?.query ?? ""}`,
    );
    expect(new Set(routes).size).toBe(routes.length);
  });

  test("finds every hole, header and body of its route among its arguments", () => {
    for (const { http, ...def } of all) {
      const args = argNames(def as CommandDef);
      const holes = [...(http?.path.matchAll(/:(\w+)/g) ?? [])].map(([, name]) => name);
      const body = typeof http?.body === "object" ? [http.body.arg] : [];
      const named = [...holes, ...body, ...Object.values(http?.headers ?? {})];
      expect(args, def.name).toEqual(expect.arrayContaining(named));
    }
  });

  test("reads queries by plain JSON types", () => {
    for (const { http, ...def } of all) {
      if (http?.method !== "GET" && http?.method !== "DELETE") continue;
      const properties = z.toJSONSchema(def.args, { io: "input" }).properties ?? {};
      for (const [name, schema] of Object.entries(properties)) {
        const type = (schema as { type?: string }).type;
        const allowed = [
          "string",
          "integer",
          "boolean",
          "array",
          ...(name === "tags" ? ["object"] : []),
        ];
        expect(allowed, `${def.name}.${name}`).toContain(type);
      }
    }
  });

  test("answers null where the route answers nothing", () => {
    for (const { http, result, name } of all) {
      expect(result.safeParse(null).success, name).toBe(
        http?.status === 204 || ["subscribe_events", "subscribe_models"].includes(name),
      );
    }
  });

  test("names its errors once each, and those of its keys and tags are among them", () => {
    for (const def of all) {
      const errors = new Set(def.errors);
      expect(errors.size, def.name).toBe(def.errors.length);
      for (const code of errors) expect(PROBLEMS).toHaveProperty(code);
      expect(errors.has("idempotency_mismatch"), def.name).toBe(def.idempotency === "key");
      expect(errors.has("etag_mismatch"), def.name).toBe(argNames(def).includes("ifMatch"));
      expect(errors.has("bad_cursor"), def.name).toBe(
        argNames(def).includes("cursor") || def.stream?.resume === true,
      );
      expect(errors.has("stream_only"), def.name).toBe(def.stream?.only === true);
    }
  });

  test("is frozen, and has a summary of one line without a full stop", () => {
    for (const def of all) {
      expect(Object.isFrozen(def)).toBe(true);
      expect(def.summary, def.name).toMatch(/^[A-Z][^\n]{2,71}$/);
      expect(def.summary.endsWith("."), def.name).toBe(false);
    }
  });
});

describe("arguments", () => {
  const parse = (name: CommandName, args: object) => commandOf(name).args.safeParse(args);
  const refused = (name: CommandName, ...lists: object[]) =>
    lists.map((args) => parse(name, args).success);

  test("that are absent get the defaults of the server page", () => {
    expect(commandOf("cancel_run").args.parse({ runId: "r" })).toEqual({
      runId: "r",
      graceMs: 2_000,
    });
    expect(commandOf("list_runs").args.parse({})).toEqual({ limit: 50 });
    expect(commandOf("list_confirmations").args.parse({})).toEqual({
      status: "requested",
      limit: 50,
    });
    expect(commandOf("create_schedule").args.parse({ template: "t", cron: "0 7 * * 1" })).toEqual({
      template: "t",
      cron: "0 7 * * 1",
      timezone: "UTC",
      enabled: true,
      overlap: "skip",
      catchUp: "skip",
    });
    expect(commandOf("connect_service").args.parse({ slug: "s" })).toEqual({
      slug: "s",
      receiver: "server",
    });
  });

  test("keep their limits", () => {
    expect(refused("list_runs", { limit: 0 }, { limit: 201 }, { limit: 200 })).toEqual([
      false,
      false,
      true,
    ]);
    expect(
      refused(
        "cancel_run",
        { runId: "r", graceMs: 60_001 },
        { runId: "r", reason: "x".repeat(501) },
      ),
    ).toEqual([false, false]);
    expect(
      refused(
        "run_and_wait",
        { dsl: "", waitMs: 0 },
        { dsl: "", waitMs: 60_001 },
        { dsl: "", waitMs: 1 },
      ),
    ).toEqual([false, false, true]);
    expect(
      refused("preview_schedule", { scheduleId: "s", n: 101 }, { scheduleId: "s", n: 100 }),
    ).toEqual([false, true]);
  });

  test("that exclude each other are refused together and apart", () => {
    const graph = { version: 1, id: "x", nodes: [] };
    expect(refused("validate_flow", {}, { graph, dsl: "" }, { graph }, { dsl: "" })).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(
      refused(
        "save_template",
        { slug: "s" },
        { slug: "s", dsl: "", graph },
        { slug: "s", dsl: "" },
      ),
    ).toEqual([false, false, true]);
    expect(
      refused("prune_runs", {}, { before: "2026-01-01T00:00:00Z" }, { status: ["failed"] }),
    ).toEqual([false, true, true]);
    const times = { template: "t", timezone: "UTC" };
    expect(
      refused(
        "create_schedule",
        times,
        { ...times, cron: "* * * * *", everyMs: 1_000 },
        { ...times, everyMs: 999 },
        { ...times, at: "2026-01-01T00:00:00" },
        { ...times, at: "2026-01-01T00:00:00+02:00" },
      ),
    ).toEqual([false, false, false, false, true]);
  });

  test("of a connection keep the redirect on loopback", () => {
    const caller = { slug: "s", receiver: "caller" };
    expect(
      refused(
        "connect_service",
        caller,
        { ...caller, redirectUri: "http://127.0.0.1:80/callback" },
        { ...caller, redirectUri: "https://evil.example/" },
        { ...caller, redirectUri: "http://127.0.0.1:0/callback" },
        { ...caller, redirectUri: "http://127.0.0.1:65536/callback" },
        { ...caller, redirectUri: "http://127.0.0.1.evil.example:80/" },
        { slug: "s", redirectUri: "http://127.0.0.1:80/" },
      ),
    ).toEqual([false, true, false, false, false, false, false]);
  });

  test("of a webhook never pass on a header that carries a credential", () => {
    const hook = { template: "t", input: "call" };
    const headers = (...names: string[]) => ({ ...hook, headers: names });
    expect(
      refused(
        "create_webhook",
        headers("x-event"),
        headers("authorization"),
        headers("cookie"),
        headers("millrace-signature"),
        headers("X-Event"),
      ),
    ).toEqual([true, false, false, false, false]);
  });
});
