/** The identity of this tab: it survives a reload, and a tab that was duplicated gets its own. */
import { newId } from "./new-id.ts";
import { keptByTab } from "./storage.ts";

const ID = "millrace.tab";
/** Is there while the tab shows the page: a duplicate of it finds it, a reload does not. */
const OPEN = "millrace.tab.open";

const isDuplicate = keptByTab.get(OPEN) !== null;
const kept = isDuplicate ? null : keptByTab.get(ID);

/** The id. */
export const tabId: string = kept ?? newId();

function begin(): void {
  keptByTab.set(ID, tabId);
  keptByTab.set(OPEN, "1");
}

if (globalThis.document !== undefined) {
  begin();
  addEventListener("pageshow", begin); // also when the browser brings the page back
  addEventListener("pagehide", () => keptByTab.remove(OPEN));
}
