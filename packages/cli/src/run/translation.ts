/** Translates flows in JSON and YAML to text: with the parser of YAML, loaded for such a text, or for an editor. */

import type { Diagnostic } from "@millrace/contracts";
import type { FlowCatalog } from "@millrace/dsl";

/** The findings of a text, where one in JSON or YAML has the fix that writes it as a flow. */
export type Translate = (text: string, diagnostics: readonly Diagnostic[]) => readonly Diagnostic[];

export async function translation(catalog: FlowCatalog): Promise<Translate> {
  const { withTranslation } = await import("@millrace/dsl/translate");
  const yaml = await import("yaml");
  return (text, diagnostics) => withTranslation(text, diagnostics, catalog, yaml);
}
