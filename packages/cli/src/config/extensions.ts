/** The key `extensions`: packages in their order, each as a name, or as an object with a name and configuration. */
import type { JsonObject } from "@millrace/contracts";
import { usage } from "../errors.ts";
import { isRecord } from "./record.ts";

/** What the configuration says of extensions. */
export interface ExtensionsChoice {
  /** Packages, and folders of the project that begin with `./`. */
  readonly list: readonly string[];
  /** Configuration of adapters and providers by id. */
  readonly config: { readonly [id: string]: JsonObject };
}

/** Reads the key. Throws a usage error for what is no list of extensions. */
export function readExtensionList(value: unknown): ExtensionsChoice {
  if (value === undefined) return { list: [], config: {} };
  if (!Array.isArray(value)) throw usage("extensions takes a list of packages");
  const list: string[] = [];
  const config: { [id: string]: JsonObject } = {};
  for (const each of value as readonly unknown[]) {
    const { package: name, config: own = {} } = (isRecord(each) ? each : { package: each }) as {
      readonly package: unknown;
      readonly config?: unknown;
    };
    if (typeof name !== "string" || name === "" || list.includes(name)) {
      throw usage('extensions takes packages once each, such as "@acme/millrace-weather"');
    }
    if (!isRecord(own) || !Object.values(own).every(isRecord)) {
      throw usage(`extensions: the configuration of ${name} takes an object for each adapter`);
    }
    list.push(name);
    Object.assign(config, own);
  }
  return { list, config };
}
