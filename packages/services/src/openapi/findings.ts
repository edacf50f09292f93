/** Findings of an import about a document; pointers lead into it. */
import type { Diagnostic } from "@millrace/contracts";

/** Families of findings of an import. */
export type OpenApiFindingCode =
  | "openapi_document"
  | "openapi_limit"
  | "openapi_base_url"
  | "openapi_auth"
  | "openapi_reference"
  | "openapi_schema"
  | "openapi_operation"
  | "openapi_skipped";

const MAX_WARNINGS = 200; // a document with more wants another generator, not a longer list

/** Gathers findings; the same one is told once. */
export class Findings {
  readonly #list: Diagnostic[] = [];
  readonly #told = new Set<string>();

  /** The document makes no entry. */
  error(code: OpenApiFindingCode, pointer: string, message: string): void {
    if (this.#list.length >= 2 * MAX_WARNINGS) return;
    this.#add({ code, severity: "error", message, pointer });
  }

  /** Something is left out, and the rest goes on without it. */
  warn(code: OpenApiFindingCode, pointer: string, message: string): void {
    if (this.#list.length < MAX_WARNINGS) {
      this.#add({ code, severity: "warning", message, pointer });
    }
  }

  get list(): readonly Diagnostic[] {
    return this.#list;
  }

  #add(finding: Diagnostic): void {
    const key = `${finding.code} ${finding.pointer} ${finding.message}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#list.push(finding);
  }
}
