/** Stored flows as a list. */
import type { CommandResult, ParsedArgs, TemplateSummary } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { pageOf } from "../dispatch/pages.ts";

/** A page of templates. `q` looks in slug, name and description. */
export async function listTemplates(
  store: Store,
  { q, tag, source, ...page }: ParsedArgs<"list_templates">,
): Promise<CommandResult<"list_templates">> {
  const text = q?.toLowerCase();
  const all = (await store.templates.list()).filter(
    (each) =>
      (text === undefined || matches(each, text)) &&
      (tag === undefined || each.tags.includes(tag)) &&
      (source === undefined || each.source.kind === source),
  );
  const filter = { list: "templates", q: text ?? null, tag: tag ?? null, source: source ?? null };
  return pageOf(all, ({ slug }) => slug, page, { store, filter });
}

function matches({ slug, name, description }: TemplateSummary, text: string): boolean {
  return [slug, name, description].some((part) => part.toLowerCase().includes(text));
}
