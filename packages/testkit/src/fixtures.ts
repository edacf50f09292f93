/** An author's fixtures of an extension, so that suites can run it, and the form of a suite. */
import type { Json, JsonObject } from "@millrace/contracts";
import type { ConfirmHandler } from "@millrace/engine";
import type { HttpExchange } from "./host/recording-fetch.ts";
import type { Wire } from "./providers/wires.ts";

/** One way to run a type that ends by itself. */
export interface Fixture {
  readonly fields: JsonObject;
  /** The other side of the network. */
  readonly http?: readonly HttpExchange[];
  readonly config?: { readonly [adapter: string]: JsonObject };
  readonly confirm?: ConfirmHandler;
  /** Absolute folder that the body may read and write. */
  readonly filesRoot?: string;
  /** Expected output; absent: any value that fits the schema. */
  readonly output?: Json;
  /** Code of the failure that is expected, in place of an output. */
  readonly fails?: string;
}

/** How models of a provider are reached. */
export interface ProviderFixture {
  /** A model by the name that flows use. */
  readonly model: string;
  /** Protocol of its server; `none`: it has no server. */
  readonly wire: Wire | "none";
  readonly config?: JsonObject;
  /** Whether it works without a key; default false. */
  readonly keyless?: boolean;
}

/** Options of `conformance`. */
export interface ConformanceOptions {
  /** By type: `weather.forecast`. A type without one is run by the examples of its definition. */
  readonly fixtures?: { readonly [type: string]: readonly Fixture[] };
  /** By provider id. */
  readonly providers?: { readonly [id: string]: ProviderFixture };
  /**
   * Folder of the package as `millrace ext build` left it: what its manifest and its catalog say is true, and its code does the
   * same in a process of its own. Absent: only the definition is looked at.
   */
  readonly package?: string;
}

/** One case of a suite: any runner takes it. */
export interface ConformanceCase {
  /** A sentence of behaviour. */
  readonly name: string;
  /** Resolves when it holds; rejects with what does not. */
  readonly run: () => Promise<void>;
}
