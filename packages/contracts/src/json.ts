/** JSON as types, and the one depth limit of the whole platform. */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. A key whose value is `undefined` counts as absent. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** A JSON Schema (2020-12) as data. `true`/`false` schemas appear only inside. */
export type JsonSchema = JsonObject;

/**
 * Deepest nesting of any body, event, value or flow text. `JSON.parse` takes 200,000 levels, but `JSON.stringify`,
 * schema checks and structured clones overflow the stack long before; 200 is far more than data that people write.
 */
export const MAX_JSON_DEPTH = 200;
