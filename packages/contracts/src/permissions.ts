/** The declared effect of a node type, the permissions of its code, and how they are enforced. */

/** The effect of one run of a node outside the process. `pure`: no effect, and the result depends on the fields alone. */
export type Effect = "pure" | "read" | "write" | "destructive";

/** The resources that code may use: declared by a package, granted by the operator. */
export interface Permissions {
  readonly net?: readonly string[];
  readonly fs?: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  readonly env?: readonly string[];
  readonly secrets?: readonly string[];
  readonly spawn?: readonly string[];
  readonly native?: boolean;
}

/**
 * How a permission is enforced on code that bypasses its context. `runtime`: Node refuses the access; `tripwire`: a guard
 * against accidents, which hostile code can get around; `none`: not enforced, the code is trusted.
 */
export type Enforcement = "runtime" | "tripwire" | "none";

/** The process in which the code of an extension runs, and how each permission is enforced there. */
export interface ExtensionRuntime {
  readonly mode: "child" | "inProcess";
  readonly enforcement: {
    readonly net: Enforcement;
    readonly fs: Enforcement;
    readonly env: Enforcement;
    readonly spawn: Enforcement;
    readonly native: Enforcement;
  };
}
