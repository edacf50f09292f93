/**
 * Where the page is: the fragment of its address. A place is a path and a query, such as `#/runs/run_1?tab=events`.
 *   R1  Reading what was written gives the same place.
 *   R2  A change of the query alone replaces the entry of the history; a change of the path adds one.
 */
import { type ReadonlySignal, signal } from "@preact/signals";

/** A place. `path`: its parts, decoded, such as `["runs", "run_1"]`. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** Properties of every screen. */
export interface ScreenProps {
  readonly place: Place;
}

/** Values of a query; what is undefined or "" is left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** The place that `#/…` names. An empty fragment is the list of flows. */
export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = splitOnce(hash.replace(/^#\/?/, ""));
  const parts = path.split("/").filter((part) => part !== "");
  return {
    path: parts.length === 0 ? ["flows"] : parts.map(decode),
    query: new URLSearchParams(query),
  };
}

/** The fragment of a place, such as `#/flows/site-watch?node=fetch`. */
export function placeHref(path: readonly string[], query: Query | URLSearchParams = {}): string {
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = entries.flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, `${value}`]],
  );
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

const current = signal<Place>(parsePlace(globalThis.location?.hash ?? ""));

/** The place of the page. */
export const place: ReadonlySignal<Place> = current;

/** Goes to a place. `replace`: Back does not lead to the one before. */
export function navigate(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", href);
  else history.pushState(null, "", href);
  current.value = parsePlace(href);
}

let wantsText = false;

/** Goes to a flow for its text: the editor gets the focus, not the heading. */
export function navigateToText(href: string): void {
  wantsText = true;
  navigate(href);
}

/** Whether the text was asked for; says so once. */
export function isTextWanted(): boolean {
  const isWanted = wantsText;
  wantsText = false;
  return isWanted;
}

/** Changes values of the query; the entry of the history is replaced. */
export function setQuery(changes: Query): void {
  const { path, query } = current.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(name);
    else next.set(name, `${value}`);
  }
  const href = placeHref(path, next);
  if (href !== placeHref(path, query)) navigate(href, { replace: true });
}

/** Follows the address of the page: links, Back and Forward. Called once. */
export function followAddress(): void {
  const read = (): void => {
    current.value = parsePlace(location.hash);
  };
  addEventListener("hashchange", read);
  addEventListener("popstate", read);
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf("?");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** A part that is no valid escape stays as it is written. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
