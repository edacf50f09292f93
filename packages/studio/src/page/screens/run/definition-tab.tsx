/** The tab "Definition": the lines of a node as its flow has them, read-only. */
import type { FlowGraph } from "@millrace/contracts";
import type { ComponentChildren } from "preact";
import { backend } from "../../backend.ts";
import { Problem } from "../../parts/problem.tsx";
import { VisibleText } from "../../parts/value-view/visible-text.tsx";
import { findNode } from "../../state/flow-nodes.ts";
import { useValue } from "../../state/use-value.ts";
import { useRun } from "./run-context.ts";
import { flowPathOf } from "./run-items.ts";

/** Lines of a text. */
interface Lines {
  readonly first: number;
  readonly text: string;
}

/** The lines of the node at a path. */
export function DefinitionTab({ path }: { readonly path: string }): ComponentChildren {
  const { session } = useRun();
  const graph = session.graph.value;
  const flowPath = flowPathOf(path);
  const template = session.run.value?.template ?? undefined;
  const key = `${session.runId} ${flowPath} ${graph !== undefined}`;
  const { value, error } = useValue(key, async () =>
    graph === undefined || findNode(graph, flowPath) === undefined
      ? null
      : await readLines(graph, flowPath, template),
  );
  if (error !== undefined) return <Problem error={error} />;
  if (value === undefined) return <p class="muted">Loading…</p>;
  if (value === null) return <p class="muted">The node is not in the text of this flow.</p>;
  return (
    <>
      <p class="muted">
        {template === undefined
          ? "The run was started without a stored flow: this is its graph as text."
          : `${template.slug}, version ${template.version}.`}
      </p>
      <ol class="source" start={value.first}>
        {value.text.split("\n").map((line, at) => (
          <li key={at}>
            <code>
              <VisibleText text={line === "" ? " " : line} />
            </code>
          </li>
        ))}
      </ol>
    </>
  );
}

async function readLines(
  graph: FlowGraph,
  flowPath: string,
  template: { readonly slug: string; readonly version: number } | undefined,
): Promise<Lines | null> {
  const { locate, parseFlow, printFlow } = await import("../../flow-text.ts");
  const text =
    template === undefined
      ? printFlow(graph)
      : (await backend.invoke("get_template_version", template)).dsl;
  const { document, graph: read } = parseFlow(text);
  const range = locate(document, findNode(read, flowPath)?.pointer ?? "/");
  if (range === undefined) return null;
  const first = range.start.line;
  return {
    first,
    text: text
      .split(/\r?\n/)
      .slice(first - 1, range.end.line)
      .join("\n"),
  };
}
