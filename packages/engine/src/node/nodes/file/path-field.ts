/** The field that names a file or a folder. */
import type { JsonSchema } from "@millrace/contracts";

export const pathField: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: 1024,
  description: "Relative to the allowed folder, with / between the parts.",
  "x-millrace": { sink: "path" },
};
