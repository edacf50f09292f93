/** S3-compatible object storage: objects are listed, read, written and deleted, and addressed by signed URLs. */
import {
  defineActionAdapter,
  defineExtension,
  type ExtensionDefinition,
} from "@millrace/contracts";
import { configSchema } from "./config.ts";
import { download, get } from "./get.ts";
import { list } from "./list.ts";
import { presign } from "./presign.ts";
import { put, remove } from "./put.ts";

/** The adapter `s3`: objects are listed, read, written and deleted, and URLs signed. */
const extension: ExtensionDefinition = defineExtension({
  adapters: [
    defineActionAdapter({
      id: "s3",
      title: "S3 storage",
      config: configSchema,
      actions: [list, get, download, put, remove, presign],
    }),
  ],
});

export default extension;
