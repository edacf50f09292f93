/** Where a `subflow` named `x` comes from: `x.flow` beside the running file, then in the project's flows folder. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { digest, parseFlow } from "@millrace/dsl";
import type { SubflowPort } from "@millrace/engine";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Looks flows up in folders, in order. A flow with errors counts as found and fails its own validation. */
export function subflowsIn(folders: readonly (string | undefined)[]): SubflowPort {
  return {
    async get({ slug }) {
      if (!SLUG.test(slug)) return null;
      for (const folder of folders) {
        if (folder === undefined) continue;
        const bytes = await readFile(join(folder, `${slug}.flow`)).catch(() => undefined);
        if (bytes === undefined) continue;
        const { graph } = parseFlow(bytes);
        return { graph, digest: digest(graph) };
      }
      return null;
    },
  };
}
