/** Why an extension, or a part of it, cannot be used. The host goes on without it. */
import { NodeError } from "@millrace/contracts";

/** Kind of a problem of an extension. */
export type ExtensionProblemCode =
  | "extension_missing"
  | "extension_manifest_invalid"
  | "extension_catalog_invalid"
  | "extension_api_unsupported"
  | "extension_not_locked"
  | "extension_changed"
  | "extension_permissions_changed"
  | "extension_mode_unsupported"
  | "extension_conflict"
  | "extension_load_failed"
  | "extension_catalog_stale"
  | "extension_quarantined";

/** A problem as the catalog and `ext list` show it: what, where, what to do. */
export interface ExtensionProblem {
  readonly code: ExtensionProblemCode;
  readonly message: string;
}

/** Carries a problem out of a reader. */
export class ProblemFound extends Error {
  readonly problem: ExtensionProblem;

  constructor(code: ExtensionProblemCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.problem = { code, message };
  }
}

/** The problem as the failure of a node or a call. */
export function problemError({ code, message }: ExtensionProblem): NodeError {
  return new NodeError(code, message, { reason: "internal", sent: false });
}
