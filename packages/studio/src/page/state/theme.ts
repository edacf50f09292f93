/** Light or dark: as the system says, until a person chooses. The choice is kept in `localStorage`. */
import { effect, signal } from "@preact/signals";
import { keptByBrowser } from "./storage.ts";

const KEY = "millrace.theme";

/** A choice of colours. */
export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

const kept = keptByBrowser.get(KEY) as Theme | null;

/** The theme that was chosen. */
export const theme = signal<Theme>(kept !== null && THEMES.includes(kept) ? kept : "system");

/** Applies the theme to the document and keeps it. Called once. */
export function followTheme(): void {
  effect(() => {
    const { value } = theme;
    document.documentElement.dataset["theme"] = value;
    if (value === "system") keptByBrowser.remove(KEY);
    else keptByBrowser.set(KEY, value);
  });
}

/** The theme after this one: system, light, dark. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.peek()) + 1) % THEMES.length] as Theme;
}
