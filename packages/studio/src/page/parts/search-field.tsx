/** The search of a list: what is typed is `q` in the place, so that a link shows the same list. */
import type { ComponentChildren } from "preact";
import { setQuery } from "../router.ts";
import { TextField } from "./fields.tsx";

/** The field "Search" with the text that is searched for. */
export function SearchField({ q }: { readonly q: string }): ComponentChildren {
  return (
    <search class="narrow">
      <TextField label="Search" type="search" value={q} onTyped={(text) => setQuery({ q: text })} />
    </search>
  );
}
