/** Code of the page that is loaded when it is first shown. */
import { probe } from "../backend.ts";

/** Style sheets that did not come. */
const lost = new Set<HTMLLinkElement>();

globalThis.addEventListener?.(
  "error",
  ({ target }) => {
    if (target instanceof HTMLLinkElement) lost.add(target);
  },
  true,
);

/** What has come with all it needs: the style sheets that others lost do not matter to it. */
const loaded = new WeakSet<() => Promise<unknown>>();

/**
 * Loads code with its style sheets. `import` asks for each sheet once, so those that did not come are asked for again here. After a
 * failure the connection is looked at: a server that was lost and is back is then noticed.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    if (!loaded.has(load)) await Promise.all([...lost].map(loadStyles));
    const part = await load();
    loaded.add(load);
    return part;
  } catch (error) {
    void probe();
    throw error;
  }
}

function loadStyles(link: HTMLLinkElement): Promise<void> {
  const again = link.cloneNode() as HTMLLinkElement;
  lost.delete(link);
  return new Promise((resolve, reject) => {
    again.onload = () => resolve();
    again.onerror = () => reject(new Error(`no answer for ${again.href}`));
    link.replaceWith(again);
  });
}
