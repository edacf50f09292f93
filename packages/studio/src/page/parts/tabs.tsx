/** Tabs: one tab stop, arrow keys choose, and only the panel of the chosen tab is in the page. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Button } from "./button.tsx";
import { useRoving } from "./roving.ts";
import "./tabs.css";

/** One tab. */
export interface Tab {
  readonly id: string;
  /** Its name. */
  readonly title: string;
  readonly panel: () => ComponentChildren;
}

/** A list of tabs with the panel of the chosen one. */
export function Tabs({
  name,
  tabs,
  chosen,
  onChoose,
}: {
  readonly name: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}): ComponentChildren {
  const id = useId();
  const roving = useRoving<HTMLDivElement>("[role=tab]", "[aria-selected=true]");
  const current = tabs.find((tab) => tab.id === chosen) ?? tabs[0];
  return (
    <div class="tabs">
      <div role="tablist" aria-label={name} {...roving}>
        {tabs.map((tab) => (
          <Button
            key={tab.id}
            role="tab"
            id={`${id}-${tab.id}`}
            aria-controls={`${id}-panel`}
            aria-selected={tab === current}
            onClick={() => onChoose(tab.id)}
            onFocus={() => onChoose(tab.id)}
          >
            {tab.title}
          </Button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current?.id}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a panel that scrolls is reached by keyboard
        tabIndex={0}
      >
        {current?.panel()}
      </div>
    </div>
  );
}
