/** Hands texts to the person: on the clipboard, or as a file. */
import { notify } from "../state/notifications.ts";

/** Copies a text and says so. A page that is not served securely has no clipboard but what is selected. */
export async function copyText(text: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) copySelected(text);
    else await navigator.clipboard.writeText(text);
    notify("Copied");
  } catch {
    notify("The browser does not let the page copy");
  }
}

function copySelected(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "visually-hidden";
  const around = document.querySelector("dialog[open]") ?? document.body;
  const before = document.activeElement;
  around.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isCopied) throw new Error("not copied");
}

/** Saves a text as a file. */
export function saveText(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The browser reads it after the click; a minute is plenty.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
