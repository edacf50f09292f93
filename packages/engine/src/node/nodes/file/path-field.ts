/** The field that names a file or a folder. */
export const pathField = {
  type: "string",
  minLength: 1,
  maxLength: 1024,
  description: "Relative to the allowed folder, with / between the parts.",
  "x-millrace": { sink: "path" },
} as const;
