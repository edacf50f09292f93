/** The stored flows to choose from in a form. */
import type { TemplateSummary } from "@millrace/contracts";
import { backend } from "../backend.ts";
import { useValue, type ValueState } from "./use-value.ts";

/** Flows of one page of the server. */
const PAGE = 200;
/** Flows that a form offers at most: more than that nobody finds in a list. */
const MOST = 2_000;

/** Reads the stored flows by slug. */
export function useTemplates(): ValueState<readonly TemplateSummary[]> {
  return useValue("", async () => {
    const found: TemplateSummary[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: readonly TemplateSummary[]; nextCursor: string | null } =
        await backend.invoke("list_templates", {
          limit: PAGE,
          ...(cursor !== null && { cursor }),
        });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null && found.length < MOST);
    return found.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  });
}
