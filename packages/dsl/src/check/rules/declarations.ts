/** Inputs, outputs, connections and schedules by themselves (FLOW3004-3008, 3011, 4011). */

import { pointerSegment } from "@millrace/contracts/kit";
import { isObject, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import { BLOCKS, FLOW_POLICIES, propertiesOf } from "../../language/blocks.ts";
import { isDate, isDateTime } from "../../schema/json-kinds.ts";
import { type Declared, declared } from "../model/bodies.ts";
import { firstExpression, literalData } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import { checkerOf, checkListed, checkValue, flowWords } from "./check-value.ts";
import { cronProblem } from "./cron.ts";
import { checkSchema } from "./fields.ts";

/** Checks everything that a flow declares beside nodes. */
export function checkDeclarations(ctx: Validation): void {
  const { graph } = ctx;
  for (const input of declared(graph, "inputs")) checkInput(ctx, input);
  for (const { value, pointer } of declared(graph, "outputs")) {
    const schema = own(value, "schema");
    if (schema !== undefined) checkSchema(ctx, schema, `${pointer}/schema`);
  }
  for (const connection of declared(graph, "connections")) {
    const { value, pointer } = connection;
    checkValue(ctx, value, CONNECTION, { pointer, name: `connection ${nameOf(connection)}` });
    checkService(ctx, value, pointer);
  }
  for (const schedule of declared(graph, "schedules")) checkSchedule(ctx, schedule);
  const policy = own(graph, "policy");
  if (policy !== undefined) {
    checkValue(ctx, policy, FLOW_POLICY, { pointer: "/policy", name: "flow" });
  }
}

/** FLOW4011 for inputs that no expression reads. */
export function checkInputsRead(ctx: Validation, read: ReadonlySet<string>): void {
  for (const { name, pointer } of declared(ctx.graph, "inputs")) {
    if (name === undefined || read.has(name)) continue;
    ctx.report("FLOW4011", `${pointer}/name`, { parts: { name: shown(name) } });
  }
}

function nameOf({ name }: Declared): string {
  return name === undefined ? "?" : shown(name);
}

function checkInput(ctx: Validation, input: Declared): void {
  const { pointer } = input;
  const schema = own(input.value, "schema");
  if (schema !== undefined && !checkSchema(ctx, schema, `${pointer}/schema`)) return;
  const value = own(input.value, "default");
  if (value === undefined || !isObject(schema) || !ctx.isReadable(value)) return;
  const checker = checkerOf(schema);
  const [problem] = checker.ok ? checker.findings(value, { formats: true }) : [];
  if (problem === undefined) return;
  const at = problem.pointer === "" ? "" : `${problem.pointer} `;
  ctx.report("FLOW3011", `${pointer}/default${problem.pointer}`, {
    parts: { name: nameOf(input), problem: at + flowWords(problem.message) },
  });
}

/** How a service may be entered, as a flow writes it. */
export const CONNECTION_KINDS: readonly string[] = "oauth oauth2 bearer apiKey basic none".split(
  " ",
);

/** A connection is of a known kind and leads to a service that is described, where the catalog knows services. */
function checkService(ctx: Validation, connection: unknown, pointer: string): void {
  const { services, servicesHint } = ctx.catalog;
  if (services === undefined) return;
  const kind = own(connection, "auth");
  if (typeof kind === "string") checkListed(ctx, "kind", kind, CONNECTION_KINDS, `${pointer}/auth`);
  const field = ["service", "slug", "name"].find((key) => own(connection, key) !== undefined);
  const service = field === undefined ? undefined : own(connection, field);
  if (typeof service !== "string") return;
  checkListed(ctx, "service", service, services, `${pointer}/${field}`, servicesHint);
}

const CONNECTION = propertiesOf(BLOCKS.connection.attributes ?? []);
const FLOW_POLICY = propertiesOf(FLOW_POLICIES);
const SCHEDULE = propertiesOf(BLOCKS.schedule.attributes ?? []);

const TIMES = ["cron", "everyMs", "at"];

function checkSchedule(ctx: Validation, declaration: Declared): void {
  const { value: schedule, pointer } = declaration;
  const name = `schedule ${nameOf(declaration)}`;
  if (!ctx.isReadable(schedule)) return;
  checkValue(ctx, schedule, SCHEDULE, { pointer, name });
  const times = TIMES.filter((key) => own(schedule, key) !== undefined);
  const spelt = times.map((key) => (key === "everyMs" ? "every" : key));
  if (times.length === 0) {
    ctx.report("FLOW3002", pointer, { parts: { type: name, name: "cron, every or at" } });
  } else if (times.length > 1) {
    const parts = { a: spelt[0] ?? "", b: spelt[1] ?? "" };
    ctx.report("FLOW3016", `${pointer}/${times[1]}`, { parts });
  }
  checkTimes(ctx, schedule, pointer);
  const expression = firstExpression(own(schedule, "inputs"), `${pointer}/inputs`);
  if (expression !== undefined) {
    ctx.report("FLOW3013", expression, { parts: { place: `inputs of ${name}` } });
  } else checkScheduleInputs(ctx, schedule, pointer, name);
}

function checkTimes(ctx: Validation, schedule: unknown, pointer: string): void {
  const cron = own(schedule, "cron");
  if (typeof cron === "string") {
    const problem = cronProblem(cron);
    if (problem !== undefined) ctx.report("FLOW3008", `${pointer}/cron`, { hint: problem });
  }
  const at = own(schedule, "at");
  if (typeof at === "string" && !isDateTime(at)) {
    const hint = isDate(at)
      ? "add a time and a zone: 2030-01-31T07:00:00Z"
      : "2030-01-31T07:00:00Z";
    ctx.report("FLOW3008", `${pointer}/at`, { message: "not a date", hint });
  }
  const zone = own(schedule, "timezone");
  const zones = ctx.catalog.timeZones;
  if (typeof zone !== "string" || zones === undefined || zone === "UTC") return;
  if (zones.has(zone)) return;
  const place = `${pointer}/timezone`;
  const { parts, fix } = ctx.nearest(zone, zones, place, (near) => `"${near}"`);
  ctx.report("FLOW3008", place, {
    message: "unknown time zone",
    hint: parts.near === undefined ? null : `did you mean ${parts.near}?`,
    fix,
  });
}

/** Inputs of a schedule fit the inputs of the flow. */
function checkScheduleInputs(
  ctx: Validation,
  schedule: unknown,
  pointer: string,
  name: string,
): void {
  const given = own(schedule, "inputs");
  if (given !== undefined && !isObject(given)) return;
  const values = literalData(given ?? {});
  const at = (key: string): string => `${pointer}/inputs${pointerSegment(key)}`;
  const inputs = declared(ctx.graph, "inputs");
  for (const { name: key, value: input } of inputs) {
    if (key === undefined) continue;
    const value = own(values, key);
    if (value !== undefined) {
      checkValue(ctx, value, own(input, "schema"), { pointer: at(key), name: `input ${key}` });
    } else if (own(input, "default") === undefined) {
      ctx.report("FLOW3002", pointer, { parts: { type: name, name: `inputs.${shown(key)}` } });
    }
  }
  const known = new Set(inputs.map((input) => input.name));
  for (const key of isObject(values) ? Object.keys(values) : []) {
    if (known.has(key)) continue;
    const parts = { type: "the flow", name: `input ${shown(key)}` };
    ctx.report("FLOW3003", at(key), { parts });
  }
}
