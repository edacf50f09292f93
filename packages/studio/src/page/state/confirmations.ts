/** How many questions of runs are open: the number beside "Inbox". */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { backend } from "../backend.ts";
import { onFeed } from "./feed.ts";
import { meta } from "./meta.ts";

/** Questions that are counted; more are shown as "200+". */
const MOST = 200;

const count = signal(0);

/** Open questions, at most 200. */
export const openConfirmations: ReadonlySignal<number> = count;

/** Counts the open questions while the page is in use. Called once. */
export function followConfirmations(): void {
  let turn = 0;
  const read = async (): Promise<void> => {
    turn += 1;
    const mine = turn;
    try {
      const { items } = await backend.invoke("list_confirmations", { limit: MOST });
      if (mine === turn) count.value = items.length;
    } catch {
      // The number stays; the next event reads it again, and the state of the connection tells why.
    }
  };
  effect(() => {
    if (meta.value !== undefined) void read();
  });
  onFeed((event) => {
    const isAbout = event === undefined || /^confirm\.|^summary$/.test(event.kind);
    if (isAbout && meta.peek() !== undefined) void read();
  });
}
