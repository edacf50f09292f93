/** Programs under `serve`: off, unless the operator names them. */
import { expect, test } from "vitest";
import { post, serve } from "./support/server.ts";
import { readEvents } from "./support/streams.ts";

const PROGRAM = `flow 1 x

node two: shell.exec {
  program = "node"
  args = ["-p", "1 + 1"]
}

output told: string = two.stdout
`;

async function summaryOf(server: Awaited<ReturnType<typeof serve>>) {
  const events = await readEvents(await post(server, "/api/run", { dsl: PROGRAM }));
  return events.at(-1);
}

test("a server starts no program of a flow unless its options allow it", async () => {
  expect(await summaryOf(await serve())).toMatchObject({ error: { code: "capability_denied" } });
  const allowing = await serve({ shell: { programs: { node: process.execPath } } });
  expect(await summaryOf(allowing)).toMatchObject({ outputs: { told: "2\n" } });
  const others = await serve({ shell: { programs: {} } });
  expect(await summaryOf(others)).toMatchObject({ error: { code: "program_denied" } });
});
