/** What a person reads of an extension before it is granted anything, and afterwards. */

import type { ExtensionRuntime, Permissions } from "@millrace/contracts";
import {
  type InspectedExtension,
  type ListedExtension,
  permissionLines,
  runtimeOf,
} from "@millrace/extensions";
import { factLines } from "../output/table.ts";
import { clean } from "../output/text.ts";

/** How an extension is about to be granted. */
export interface Offer {
  readonly inspected: InspectedExtension;
  readonly source: string;
  readonly integrity: string;
  readonly mode: ExtensionRuntime["mode"];
}

/** The lines of a grant screen. */
export function offerLines({ inspected, source, integrity, mode }: Offer): readonly string[] {
  const { manifest } = inspected;
  const { nodes, providers, services } = manifest.contributes;
  const asked = permissionLines(manifest.permissions);
  return [
    clean(`${manifest.name} ${manifest.version}`),
    ...factLines([
      ["source", source],
      ["integrity", integrity || inspected.treeDigest],
      ["nodes", nodes.join(", ")],
      ["providers", providers.join(", ")],
      ["services", services.join(", ")],
      ["flows", manifest.templates === undefined ? "" : `offered in ${manifest.templates}`],
      ["mode", modeText(mode)],
      ["asks for", asked.length === 0 ? "nothing" : asked.join(", ")],
      ["enforced", enforcementText(runtimeOf(mode))],
    ]).map((line) => `  ${line}`),
  ];
}

function modeText(mode: ExtensionRuntime["mode"]): string {
  return mode === "child"
    ? "child: a process of its own"
    : "inProcess: inside millrace itself, which its code can read and change";
}

/** `fs, env, spawn, native by Node; net by a tripwire, which stops accidents and no attacker`. */
export function enforcementText({ enforcement }: ExtensionRuntime): string {
  const of = (how: string): string =>
    Object.entries(enforcement)
      .filter(([, each]) => each === how)
      .map(([name]) => name)
      .join(", ");
  const [runtime, tripwire, none] = ["runtime", "tripwire", "none"].map(of);
  return [
    runtime && `${runtime} by Node`,
    tripwire && `${tripwire} by a tripwire, which stops accidents and no attacker`,
    none && `nothing on ${none}: its code is trusted`,
  ]
    .filter(Boolean)
    .join("; ");
}

/** One extension as a program reads it. */
export function toRow(listed: ListedExtension): object {
  const { name, version, source, mode, state, problem, granted, inspected, warnings } = listed;
  return {
    name,
    version: version ?? null,
    source: source ?? null,
    mode,
    state,
    ...(problem !== undefined && { problem }),
    contributes: inspected?.manifest.contributes ?? { nodes: [], providers: [], services: [] },
    granted: granted as Permissions,
    enforcement: runtimeOf(mode).enforcement,
    warnings,
  };
}
