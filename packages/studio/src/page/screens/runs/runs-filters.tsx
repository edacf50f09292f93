/** The controls that narrow the list of runs; what they say is in the place. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { CheckField, ChoiceField, TextField } from "../../parts/fields.tsx";
import { setQuery } from "../../router.ts";
import { filterOf, RUN_STATES, tagName, tagQuery } from "./run-filter.ts";

/** Status, flow, failures that nobody has looked at, and tags. */
export function RunsFilters({ query }: { readonly query: URLSearchParams }): ComponentChildren {
  const { status = [], tags = {}, unacknowledged } = filterOf(query);
  return (
    <search class="filters">
      <ChoiceField
        label="Status"
        none="any"
        value={status[0] ?? ""}
        options={RUN_STATES}
        onChosen={(state) => setQuery({ status: state })}
      />
      <label>
        Flow
        <input
          type="search"
          value={query.get("flow") ?? ""}
          onChange={(event) => setQuery({ flow: event.currentTarget.value.trim() })}
        />
      </label>
      <CheckField
        label="Unacknowledged failures"
        isChecked={unacknowledged === true}
        onChecked={(isOn) => setQuery({ unacknowledged: isOn ? "1" : undefined })}
      />
      <TagField />
      {Object.entries(tags).map(([name, value]) => (
        <Button
          key={name}
          class="chip"
          aria-label={`Remove the filter ${name}=${value}`}
          onClick={() => setQuery({ [tagName(name)]: undefined })}
        >
          {name}={value} <span aria-hidden="true">×</span>
        </Button>
      ))}
    </search>
  );
}

function TagField(): ComponentChildren {
  const [typed, setTyped] = useState("");
  const isWrong = typed !== "" && tagQuery(typed) === undefined;
  const add = (): void => {
    const query = tagQuery(typed);
    if (query === undefined) return;
    setQuery(query);
    setTyped("");
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <TextField
        label="Tag"
        type="search"
        placeholder="name=value"
        aria-invalid={isWrong}
        value={typed}
        onTyped={setTyped}
        onBlur={add}
      />
    </form>
  );
}
