/** The packages of the engine, with digests of our own instead of the registry's. `scripts/engine-lock.mjs` makes the file. */
import lock from "./engine.lock.json" with { type: "json" };

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** `sha512-<base64>` of the tarball. */
  readonly integrity: string;
  readonly bytes: number;
  /** Below the folder of the engine: `node_modules/…`. */
  readonly path: string;
}

export interface EngineLock {
  readonly version: string;
  readonly packages: readonly LockedPackage[];
  /** The package with the native parts, by platform. */
  readonly platforms: { readonly [platform: string]: LockedPackage };
}

export const ENGINE_LOCK: EngineLock = lock;
