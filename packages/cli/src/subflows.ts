/**
 * Where a `subflow` named `x` comes from: `x.flow` beside the running file, then in the project's flows folder, then among the
 * templates of the store.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Diagnostic } from "@millrace/contracts";
import { digest, parseFlow } from "@millrace/dsl";
import type { SubflowPort } from "@millrace/engine";
import { CliError } from "./errors.ts";

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Looks flows up in folders, in order. One whose text cannot be read whole is refused, not run as far as it could be read. */
export function subflowsIn(folders: readonly (string | undefined)[]): SubflowPort {
  return {
    async get({ slug }) {
      if (!SLUG.test(slug)) return null;
      for (const folder of folders) {
        if (folder === undefined) continue;
        const bytes = await readFile(join(folder, `${slug}.flow`)).catch(() => undefined);
        if (bytes === undefined) continue;
        const { graph, diagnostics, ok } = parseFlow(bytes);
        if (!ok) throw unreadable(join(folder, `${slug}.flow`), diagnostics);
        return { graph, digest: digest(graph) };
      }
      return null;
    },
  };
}

function unreadable(file: string, diagnostics: readonly Diagnostic[]): CliError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const place = first?.range === undefined ? "" : `, line ${first.range.start.line}`;
  return new CliError("flow_invalid", `${file}${place}: ${first?.message}`, {
    hint: `millrace validate ${file} shows the whole`,
  });
}

/** The same, and then the templates of the data directory, which is opened for what is found in no folder alone. */
export function subflowsOf(folders: readonly (string | undefined)[], dir: string): SubflowPort {
  const files = subflowsIn(folders);
  return { get: async (wanted) => (await files.get(wanted)) ?? storedSubflow(dir, wanted) };
}

async function storedSubflow(
  dir: string,
  wanted: Parameters<SubflowPort["get"]>[0],
): ReturnType<SubflowPort["get"]> {
  const [{ openStore, StoreError }, { subflowPort }] = await Promise.all([
    import("@millrace/store"),
    import("@millrace/server/local"),
  ]);
  try {
    const store = await openStore({ dir, readonly: true });
    try {
      return await subflowPort(store.templates).get(wanted);
    } finally {
      await store.close();
    }
  } catch (error) {
    // Where nothing was ever kept, nothing is found.
    if (StoreError.isInstance(error) && error.code === "store_unavailable") return null;
    throw error;
  }
}
