/** The extensions of the project against what was reviewed and granted. None of their code runs. */

import { dirname } from "node:path";
import { readExtensionList } from "../config/sections.ts";
import { describedIds, readSources } from "../config/sources.ts";
import { type Check, type Finding, fail } from "./check.ts";

export const extensionLock: Check = {
  name: "extensions",
  async look({ sources, options, io }) {
    if (sources instanceof Error || sources.project === undefined) return [];
    const { file } = sources.project;
    const { extensions }: { readonly extensions?: unknown } = file.values;
    const { readExtensions } = await import("@millrace/extensions");
    try {
      const { list } = readExtensionList(extensions);
      if (list.length === 0) return [];
      const { takenIds } = await import("../ext/open.ts");
      const taken = takenIds(await describedIds(await readSources(options, io)));
      const all = await readExtensions({ project: dirname(file.path), list, taken });
      return all.map(({ name, problem, warnings }): Finding => {
        const fix = `look at it, then millrace ext add ${name}`;
        if (problem !== undefined) {
          return { status: "fail", says: `${name}: ${problem.message} (${problem.code})`, fix };
        }
        const [warning] = warnings;
        return warning === undefined
          ? { status: "ok", says: `${name} is as it was reviewed` }
          : { status: "warn", says: `${name}: ${warning}`, fix };
      });
    } catch (error) {
      // A list or a lock that cannot be read says so itself.
      return fail((error as Error).message, "millrace ext list");
    }
  },
};
