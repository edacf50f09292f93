/** The screen of a flow: its picture, its text and what a person can do with both. */
import type { ComponentChildren } from "preact";
import { hasCode } from "../../backend.ts";
import { loadProject } from "../../editor/project.ts";
import { Heading } from "../../parts/heading.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { ScreenProps } from "../../router.ts";
import { useValue } from "../../state/use-value.ts";
import { useFlowSession } from "./use-flow-session.ts";
import { Workbench } from "./workbench.tsx";

/** `#/flows/<slug>[?v=3][&node=<path>]` and `#/new`. */
export function FlowScreen({ place }: ScreenProps): ComponentChildren {
  const [first, slug] = place.path;
  const version = Number(place.query.get("v"));
  const isVersion = Number.isInteger(version) && version > 0;
  const { flow, error } = useFlowSession({
    slug: first === "new" ? undefined : slug,
    version: isVersion ? version : undefined,
  });
  const project = useValue("project", loadProject);
  if (flow === undefined) {
    const missing = `There is no flow ${slug} on this server${isVersion ? ` in version ${version}` : ""}.`;
    return (
      <>
        <Heading title={slug ?? "New flow"} />
        <Problem error={error} note={hasCode(error, "not_found") ? missing : undefined} />
        {error === undefined && <p class="muted">Loading…</p>}
      </>
    );
  }
  return (
    <Workbench
      key={flow.id}
      flow={flow}
      project={project.value}
      projectError={project.error}
      onReloadProject={project.reload}
      selected={place.query.get("node") ?? undefined}
    />
  );
}
