/** The `file` adapter: read, write and list below the folder that the operator allows. It uses `ctx.files` alone. */
import { type ActionAdapterDefinition, defineActionAdapter } from "@millrace/contracts";
import { list } from "./list.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

export { isIdempotentWrite } from "./write.ts";

/** Files. Errors: `file_not_found file_exists file_denied file_too_large decode_failed disk_full`. */
export const fileAdapter: ActionAdapterDefinition = defineActionAdapter({
  id: "file",
  title: "Files",
  actions: [read, write, list],
});
