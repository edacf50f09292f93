/** The stored flows to choose from in a form. */
import type { TemplateSummary } from "@millrace/contracts";
import { backend } from "../backend.ts";
import { everyItem } from "./every-item.ts";
import { useValue, type ValueState } from "./use-value.ts";

/** Reads the stored flows by slug. */
export function useTemplates(): ValueState<readonly TemplateSummary[]> {
  return useValue("", async () => {
    const found = await everyItem((page) => backend.invoke("list_templates", page));
    return found.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
  });
}
