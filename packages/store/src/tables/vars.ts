/**
 * What flows read as `vars`, by name and environment. They lie among the settings, whose changes all servers of a store see.
 *   V1  The value of an environment counts over the one of all environments.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { nearestName } from "@millrace/contracts/kit";
import type { SettingsTable } from "./settings.ts";

/** A variable; without `environment` it is there in all of them. */
export interface StoredVar {
  readonly name: string;
  readonly environment?: string;
  readonly value: Json;
}

/** The variables of a store. */
export interface Vars {
  /** All of them, by environment and name. */
  list(): Promise<readonly StoredVar[]>;
  /** Those that count in an environment. */
  of(environment: string | undefined): Promise<JsonObject>;
  /** Throws `RangeError`, with a sentence for people, beyond `VAR_LIMITS`. */
  set(variable: StoredVar): Promise<void>;
  /** Whether there was one. */
  delete(variable: Omit<StoredVar, "value">): Promise<boolean>;
}

/** Every server keeps all variables in memory, and each run has a copy of those that it reads in its header. */
const VAR_LIMITS = { vars: 1_000, varBytes: 64 * 1024 } as const;

const PATH = /^var:([^/]*)\/(.+)$/;
const pathOf = ({ name, environment = "" }: Omit<StoredVar, "value">): string =>
  `var:${environment}/${name}`;

export function createVars(settings: SettingsTable): Vars {
  async function list(): Promise<readonly StoredVar[]> {
    return Object.entries(await settings.all())
      .flatMap(([path, value]): StoredVar[] => {
        const [, environment, name] = PATH.exec(path) ?? [];
        if (name === undefined) return [];
        return [{ name, ...(environment && { environment }), value }];
      })
      .sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  }
  return {
    list,
    async of(environment) {
      const all = await list();
      const own = all.filter(
        (each) => each.environment !== undefined && each.environment === environment,
      );
      const base = all.filter((each) => each.environment === undefined);
      return Object.fromEntries([...base, ...own].map(({ name, value }) => [name, value]));
    },
    async set(variable) {
      const path = pathOf(variable);
      const { vars, varBytes } = VAR_LIMITS;
      const bytes = new TextEncoder().encode(JSON.stringify(variable.value)).byteLength;
      if (bytes > varBytes) throw new RangeError(`a variable has at most ${varBytes} bytes`);
      const known = (await list()).map(pathOf);
      if (known.length >= vars && !known.includes(path)) {
        throw new RangeError(`there are ${vars} variables, and no more are kept`);
      }
      await settings.set({ [path]: variable.value });
    },
    async delete(variable) {
      const path = pathOf(variable);
      const isThere = Object.hasOwn(await settings.all(), path);
      if (isThere) await settings.set({ [path]: undefined });
      return isThere;
    },
  };
}

/**
 * What a flow that reads `names` is given of the known variables: those names, or all where one is computed (`*`). Throws
 * `RangeError`, with a sentence for people, for a name that is not known.
 */
export function varsFor(names: readonly string[], known: JsonObject): JsonObject {
  if (names.includes("*")) return known;
  const missing = names.find((name) => !Object.hasOwn(known, name));
  if (missing === undefined) {
    return Object.fromEntries(names.map((name) => [name, known[name] as Json]));
  }
  const near = nearestName(missing, Object.keys(known));
  const hint = near === undefined ? "" : `; did you mean vars.${near}?`;
  throw new RangeError(
    `vars.${missing} is not set${hint === "" ? `; millrace vars set ${missing} VALUE sets it` : hint}`,
  );
}
