/** `switch`: leaves by the first case that holds the value, else by `default`. */
import { exit, type Json, type JsonObject } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { coreEntry, record } from "./entry.ts";

const RESERVED = ["default", "error"];

/** `switch`: leaves by the first case that equals its value, else by `default`. */
export const switchType: NodeType = {
  core: true,
  entry: coreEntry({
    type: "switch",
    title: "Switch",
    summary: "Goes on by the first case that has the value, else by `default`.",
    category: "control",
    properties: {
      on: { description: "The value that decides." },
      cases: {
        type: "object",
        description: "Port to value, or to a list of values. The first match in this order wins.",
      },
    },
    required: ["on", "cases"],
    output: record({ port: { type: "string" }, value: {} }),
    ports: [{ name: "default", description: "No case has the value." }],
    portsFrom: "cases",
    example: {
      title: "By label",
      fields: { on: { $: "inputs.label" }, cases: { money: ["billing", "refund"], bug: "bug" } },
    },
  }),
  check(fields) {
    const names = Object.keys((fields["cases"] as object | undefined) ?? {});
    return names
      .filter((name) => RESERVED.includes(name))
      .map((name) => ({
        pointer: `/cases/${name}`,
        code: "field_invalid",
        message: `a case cannot be named ${name}; that port has a meaning of its own`,
        severity: "error",
      }));
  },
  run(fields) {
    const value = fields["on"] as Json;
    const cases = fields["cases"] as { readonly [port: string]: Json };
    for (const [port, wanted] of Object.entries(cases)) {
      const values = Array.isArray(wanted) ? wanted : [wanted];
      if (values.some((one) => sameJson(one, value))) return exit(port, { port, value });
    }
    return exit("default", { port: "default", value });
  },
};

/** Equality of JSON: by value, key order ignored. */
function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((inner, i) => sameJson(inner, b[i]));
  }
  const [left, right] = [a as JsonObject, b as JsonObject];
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}
