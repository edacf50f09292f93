/** Whole lists of the server, for choices and for looking things up. */
import type { Page } from "@millrace/contracts";

/** Items that are asked for at once: the most that a server gives. */
const PAGE = 200;

/** Reads a list page by page to its end. */
export async function everyItem<T>(
  load: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await load({ limit: PAGE, ...(cursor !== null && { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}
