/** `fail`: ends in failure, on purpose. */
import { NodeError } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import { isEngineCode } from "./engine-codes.ts";
import { coreEntry } from "./entry.ts";

const CODE = "^[a-z][a-z0-9_]{0,63}$";

/** `fail`: ends the flow with a code of the author's. */
export const fail: NodeType = {
  core: true,
  entry: coreEntry({
    type: "fail",
    title: "Fail",
    summary: "Fails with a message and a code of its own.",
    category: "control",
    properties: {
      message: { type: "string" },
      code: { type: "string", pattern: CODE, default: "failed" },
    },
    required: ["message"],
    output: { not: {} },
    example: { title: "Nothing to do", fields: { message: "Nothing to do" } },
  }),
  check(fields) {
    const code = fields["code"];
    if (typeof code !== "string" || !isEngineCode(code)) return [];
    const message = `the code ${code} belongs to the engine; choose one of your own`;
    return [{ pointer: "/code", code: "field_invalid", message, severity: "error" }];
  },
  run(fields) {
    const code = fields["code"] as string;
    throw new NodeError(isEngineCode(code) ? "failed" : code, fields["message"] as string);
  },
};
