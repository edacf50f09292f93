/** The identity of this tab: it survives a reload, and a tab that was duplicated gets its own. */
import { keptByTab } from "./storage.ts";

const ID = "millrace.tab";
/** Is there while the tab shows the page: a duplicate of it finds it, a reload does not. */
const OPEN = "millrace.tab.open";

const isDuplicate = keptByTab.get(OPEN) !== null;
const kept = isDuplicate ? null : keptByTab.get(ID);

/** The id. */
export const tabId: string = kept ?? newId();

/** Letters and digits: `crypto.randomUUID` is missing on pages of plain http. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

function begin(): void {
  keptByTab.set(ID, tabId);
  keptByTab.set(OPEN, "1");
}

if (globalThis.document !== undefined) {
  begin();
  addEventListener("pageshow", begin); // also when the browser brings the page back
  addEventListener("pagehide", () => keptByTab.remove(OPEN));
}
