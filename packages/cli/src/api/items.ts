/** Lists of the API as a whole. */
import type { Page, PageArgs } from "@millrace/contracts";

/** Most items of one page of the API. */
export const MAX_PAGE = 200;

/** The items of a list, read page by page as they are asked for. */
export async function* itemsOf<T>(
  read: (page: PageArgs) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read({ limit: MAX_PAGE, ...(cursor !== null && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}
