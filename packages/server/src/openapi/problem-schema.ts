/** Problem documents as the document describes them. @see RFC 9457 */
import { type ErrorCode, type JsonObject, PROBLEMS } from "@millrace/contracts";

/** Schema of every problem document. Members beyond these belong to single codes. */
export const PROBLEM_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    type: { type: "string", format: "uri" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    instance: { type: "string" },
    code: { type: "string", enum: Object.keys(PROBLEMS).sort() },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        properties: {
          pointer: { type: "string", description: "JSON Pointer into the arguments" },
          code: { type: "string" },
          message: { type: "string" },
          line: { type: "integer" },
          column: { type: "integer" },
        },
        required: ["pointer", "code", "message"],
      },
    },
  },
  required: ["type", "title", "status", "code", "requestId"],
};

/** Name of the response that carries one of these codes: the codes themselves. */
export function responseName(codes: readonly ErrorCode[]): string {
  return codes.join(".");
}

/** The response of that name. */
export function problemResponse(name: string): JsonObject {
  const codes = name.split(".") as ErrorCode[];
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join("; "),
    content: {
      "application/problem+json": {
        schema: {
          allOf: [
            { $ref: "#/components/schemas/Problem" },
            { type: "object", properties: { code: { enum: codes } } },
          ],
        },
      },
    },
  };
}
