/** The search of a list: what is typed is `q` in the place, so that a link shows the same list. */
import type { ComponentChildren } from "preact";
import { setQuery } from "../router.ts";

/** The field "Search" with the text that is searched for. */
export function SearchField({ q }: { readonly q: string }): ComponentChildren {
  return (
    <search class="narrow">
      <label>
        Search
        <input
          type="search"
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
      </label>
    </search>
  );
}
