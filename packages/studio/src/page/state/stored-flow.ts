/** A flow as the server has it, and its text as an editor has it. */
import type { Template } from "@millrace/contracts";

/** A flow as the server has it. */
export interface Stored {
  readonly template: Template;
  readonly etag: string | undefined;
}

/** A text with the line ends that an editor gives it: a file of Windows has others, and keeps them. */
export const withEditorLineEnds = (text: string): string => text.replace(/\r\n?/g, "\n");

/** A flow with its text as an editor has it, which is what the text of a session is compared with. */
export function asEdited({ template, etag }: Stored): Stored {
  return { template: { ...template, dsl: withEditorLineEnds(template.dsl) }, etag };
}

/** Whether the server has a flow with these members. */
export function isStoredAs({ template }: Stored, members: Partial<Template>): boolean {
  const names = Object.keys(members) as (keyof Template)[];
  return names.every((name) => `${template[name]}` === `${members[name]}`);
}
