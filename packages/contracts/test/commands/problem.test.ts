import { defineCommand, isErrorCode, PROBLEMS, problemDocument } from "@millrace/contracts";
import { describe, expect, test } from "vitest";
import * as z from "zod";

// The rows of the table of problem codes on the server page.
const ROWS: readonly [status: number, codes: string][] = [
  [400, "bad_target bad_header bad_host bad_json json_too_deep bad_cursor bad_idempotency_key"],
  [401, "unauthorized"],
  [403, "host_not_allowed origin_not_allowed forbidden"],
  [404, "route_not_found not_found"],
  [405, "method_not_allowed"],
  [408, "request_timeout"],
  [
    409,
    "state_conflict already_exists already_resolved idempotency_in_flight ahead_of_journal in_use operator_required",
  ],
  [410, "confirmation_expired"],
  [412, "etag_mismatch"],
  [428, "precondition_required"],
  [413, "body_too_large"],
  [415, "unsupported_media_type"],
  [417, "expectation_failed"],
  [431, "headers_too_large"],
  [
    422,
    "invalid_args run_input_conflict flow_invalid input_invalid value_invalid idempotency_mismatch stream_only hub_rejected digest_mismatch digest_required",
  ],
  [429, "too_many_runs too_many_requests"],
  [500, "internal"],
  [501, "command_not_wired"],
  [502, "upstream_failed run_failed"],
  [504, "upstream_timeout"],
  [
    503,
    "draining too_many_streams store_unavailable store_read_only credential_store_unavailable executor_unavailable reconnect_service model_busy model_unavailable models_locked",
  ],
  [507, "store_full disk_full model_out_of_memory"],
];

describe("problem codes", () => {
  test("are those of the table, each with its status", () => {
    const expected = ROWS.flatMap(([status, codes]) =>
      codes.split(" ").map((code) => [code, status]),
    );
    const found = Object.entries(PROBLEMS).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  test("each have a title of their own", () => {
    const titles = Object.values(PROBLEMS).map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });

  test("are told from other words", () => {
    expect(["not_found", "toString", "", null, 404].map(isErrorCode)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("a problem document", () => {
  test("is the one of the server page", () => {
    const errors = [{ pointer: "/dsl", code: "conflict", message: "template is also present" }];
    expect(
      JSON.stringify(problemDocument("run_input_conflict", { requestId: "k3f9a01c", errors })),
    ).toBe(
      '{"type":"https://millrace.dev/problems/run_input_conflict","title":"Give exactly one of graph, template, dsl",' +
        '"status":422,"code":"run_input_conflict","requestId":"k3f9a01c",' +
        '"errors":[{"pointer":"/dsl","code":"conflict","message":"template is also present"}]}',
    );
  });

  test("carries the members of its code, its detail and its route", () => {
    const members = {
      requestId: "r",
      detail: "it has ended",
      instance: "/api/runs/:runId",
      state: "failed",
    };
    expect(problemDocument("state_conflict", members)).toMatchObject(members);
  });

  test("of an internal error never says what happened", () => {
    expect(
      problemDocument("internal", { requestId: "r", detail: "cannot read x of undefined" }),
    ).not.toHaveProperty("detail");
  });
});

describe("defineCommand", () => {
  const def = {
    name: "cancel_run",
    summary: "Stop a run",
    args: z.strictObject({ runId: z.string() }),
    result: z.null(),
    effect: "run",
    idempotency: "natural",
    errors: ["not_found", "state_conflict"],
    http: { method: "POST", path: "/api/runs/:runId/cancel", status: 202, body: "rest" },
  } as const;

  test("gives the definition back, frozen", () => {
    const made = defineCommand(def);
    expect(made).toEqual(def);
    expect(Object.isFrozen(made)).toBe(true);
    expect(made.args.parse({ runId: "r" })).toEqual({ runId: "r" });
  });

  test("takes a command without a route", () => {
    const { http: _http, ...rest } = def;
    expect(defineCommand(rest)).not.toHaveProperty("http");
  });

  test.each<[string, object, string]>([
    ["a name that is one word", { name: "cancel" }, "verb_noun"],
    ["a name in camelCase", { name: "cancelRun" }, "verb_noun"],
    ["a path with a star", { http: { ...def.http, path: "/api/runs/*" } }, ":name holes"],
    ["a path that ends in a slash", { http: { ...def.http, path: "/api/runs/" } }, ":name holes"],
    ["a body on GET", { http: { ...def.http, method: "GET" } }, "GET has no body"],
  ])("refuses %s", (_, change, message) => {
    expect(() => defineCommand({ ...def, ...change })).toThrow(message);
  });
});

test("no member of a problem stands in for what its code decides", () => {
  const taken = { type: "x", title: "x", status: 200, code: "internal" };
  expect(problemDocument("upstream_failed", { requestId: "q1", ...taken, state: "s" })).toEqual({
    ...problemDocument("upstream_failed", { requestId: "q1" }),
    state: "s",
  });
});
