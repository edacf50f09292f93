/** The items of a file or body by section; inside a section the author's order stays. */
import { append } from "../data.ts";
import type { Item } from "../language/items.ts";
import type { Comment } from "../syntax/notes.ts";
import {
  BODY_ORDER,
  CONNECTED_ORDER,
  canonicalItem,
  commentsOf,
  FILE_ORDER,
  isEmptyLayout,
  sectionOf,
} from "./canonical.ts";

/** Something for each item, by section. */
export class Sections<T> {
  /** Comments of what is not printed; they stand before those at the foot. */
  readonly behind: Comment[] = [];
  /** Whether connections come before inputs: undefined until one of them came. */
  connected: boolean | undefined;
  private readonly byName = new Map<string, T[]>();
  private readonly place: "file" | "body";
  private readonly make: (item: Item) => T;

  constructor(place: "file" | "body", make: (item: Item) => T) {
    this.place = place;
    this.make = make;
  }

  /** Takes the next item as written. */
  add(item: Item): void {
    for (const canonical of canonicalItem(item, this.place)) {
      if (this.place === "file" && isEmptyLayout(canonical)) {
        append(this.behind, commentsOf(canonical));
        continue;
      }
      const name = sectionOf(canonical, this.place);
      if (name === "input" || name === "connection") this.connected ??= name === "connection";
      const known = this.byName.get(name);
      if (known) known.push(this.make(canonical));
      else this.byName.set(name, [this.make(canonical)]);
    }
  }

  /** The sections that hold anything, in canonical order. */
  inOrder(): T[][] {
    const order =
      this.place === "body" ? BODY_ORDER : this.connected ? CONNECTED_ORDER : FILE_ORDER;
    const strange = [...this.byName.keys()].filter((name) => !order.includes(name));
    const others = strange.flatMap((name) => this.byName.get(name) ?? []);
    return [...order.map((name) => this.byName.get(name) ?? []), others].filter(
      (section) => section.length > 0,
    );
  }
}

/** Canonical items by section. */
export function toSections(
  items: readonly Item[],
  place: "file" | "body",
  connected?: boolean,
): Item[][] {
  const sections = new Sections<Item>(place, (item) => item);
  sections.connected = connected;
  for (const item of items) sections.add(item);
  return sections.inOrder();
}
