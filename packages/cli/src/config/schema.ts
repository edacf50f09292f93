/** The JSON Schema of `millrace.json`, from the table of keys: editors complete and check by it. */

import { CONFIG_KEYS, type ConfigKey, POWER_KEYS, variablesOf } from "./keys.ts";

type Schema = { readonly [key: string]: unknown };

const TYPES = {
  text: { type: "string" },
  path: { type: "string" },
  number: { type: "integer", minimum: 0 },
  switch: { type: "boolean" },
  list: { type: "array" },
  record: { type: "object" },
} as const;

/** `strict`: an unknown key is an error, not only without effect. */
export function configSchema(strict: boolean): Schema {
  const properties: Record<string, unknown> = { $schema: { type: "string" } };
  for (const each of CONFIG_KEYS) {
    const [group = "", member] = each.key.split(".");
    if (member === undefined) properties[group] = schemaOf(each, group);
    else {
      const before = (properties[group] ?? {}) as { readonly properties?: Schema };
      properties[group] = {
        type: "object",
        ...(strict && { additionalProperties: false }),
        properties: { ...before.properties, [member]: schemaOf(each, group) },
      };
    }
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of Millrace",
    type: "object",
    ...(strict && { additionalProperties: false }),
    properties,
  };
}

function schemaOf(each: ConfigKey, group: string): Schema {
  const power = POWER_KEYS.includes(group)
    ? " In a project file it counts only when that is trusted."
    : "";
  const summary = each.summary.charAt(0).toUpperCase() + each.summary.slice(1);
  return {
    description: `${summary}. Variable: ${variablesOf(each.key)[0]}.${power}`,
    ...TYPES[each.type],
    ...(each.items && { items: each.items }),
    ...(each.choices && { enum: each.choices }),
    ...(each.max !== undefined && { maximum: each.max }),
    ...(each.default !== undefined && { default: each.default }),
  };
}
