/** Checks of the configuration: that it can be read, that it means something, and that it counts. */

import { CONFIG_KEYS, misfit } from "../config/keys.ts";
import { unknownKeys } from "../config/load.ts";
import { type Check, type Finding, fail, ok } from "./check.ts";

export const configuration: Check = {
  name: "config",
  async look({ sources }) {
    if (sources instanceof Error)
      return fail(
        sources.message,
        "mend the file at that place; millrace config schema says what it may hold",
      );
    const found: Finding[] = [];
    for (const file of [sources.user, sources.project?.file]) {
      for (const says of await unknownKeys(file)) {
        found.push({ status: "warn", says, fix: "millrace config unset takes it out" });
      }
    }
    for (const each of CONFIG_KEYS) {
      const [origin] = sources.origins(each.key);
      const why = origin === undefined ? undefined : misfit(each, origin.value);
      if (why !== undefined) {
        found.push({
          status: "fail",
          says: `${each.key} ${why} (${origin?.where ?? "default"})`,
          fix: `millrace config explain ${each.key}`,
        });
      }
    }
    if (found.length > 0) return found;
    const files = [sources.user?.path, sources.project?.file.path].filter(
      (path) => path !== undefined,
    );
    return ok(files.length === 0 ? "no files, the defaults" : files.join(", "));
  },
};

export const projectTrust: Check = {
  name: "trust",
  async look({ sources }) {
    if (sources instanceof Error || sources.trust === undefined) return [];
    const { state, powers } = sources.trust;
    const path = sources.project?.file.path ?? "";
    switch (state) {
      case "powerless":
        return ok("the project grants nothing");
      case "trusted":
        return ok(`${path} may set ${powers.join(", ")}`);
      case "changed":
        return fail(
          `${path} has changed since it was trusted, and it sets ${powers.join(", ")}`,
          "read it, then millrace config trust",
        );
      case "untrusted":
        return fail(
          `${path} is not trusted, and it sets ${powers.join(", ")}`,
          "read it, then millrace config trust",
        );
    }
  },
};
