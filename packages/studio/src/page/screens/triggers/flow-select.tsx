/** The choice of a stored flow. */
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { ChoiceField } from "../../parts/fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import { everyItem } from "../../state/every-item.ts";
import { useValue } from "../../state/use-value.ts";

/** The field "Flow". `chosen`: a slug; "": none yet. */
export function FlowSelect({
  chosen,
  onChoose,
}: {
  readonly chosen: string;
  readonly onChoose: (slug: string) => void;
}): ComponentChildren {
  const flows = useValue("", () => everyItem((page) => backend.invoke("list_templates", page)));
  const slugs = flows.value?.map(({ slug }) => slug).sort() ?? [];
  return (
    <>
      <ChoiceField
        label="Flow"
        isRequired
        none="Choose a flow"
        value={chosen}
        options={slugs}
        onChosen={onChoose}
      />
      <Problem error={flows.error} />
    </>
  );
}
