/** Schedules and webhooks: the automatic starts of runs. */
import type { ComponentChildren } from "preact";
import { Heading } from "../../parts/heading.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { navigate, placeHref, type ScreenProps } from "../../router.ts";
import { Schedules } from "./schedules.tsx";
import { Webhooks } from "./webhooks.tsx";
import "./triggers.css";

const TABS = [
  { id: "schedules", title: "Schedules", panel: () => <Schedules /> },
  { id: "webhooks", title: "Webhooks", panel: () => <Webhooks /> },
];

/** Both kinds of triggers, one a tab. */
export function TriggersScreen({ place: { path } }: ScreenProps): ComponentChildren {
  const [, chosen = "schedules"] = path;
  return (
    <>
      <Heading title="Triggers" />
      <Tabs
        name="Kinds of triggers"
        tabs={TABS}
        chosen={chosen}
        onChoose={(id) => {
          if (id !== chosen) navigate(placeHref(["triggers", id]), { replace: true });
        }}
      />
    </>
  );
}
