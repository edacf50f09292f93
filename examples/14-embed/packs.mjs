// More than control flow: packs bring node types, the engine says what they may reach.
import { aiPack } from "@millrace/ai";
import { runFlow } from "@millrace/engine";
import { createNodeHost, nodePack } from "@millrace/engine/node";
import { servicesPack } from "@millrace/services";

const text = `flow 1 measure

input file: string

node read: file.read {
  path = inputs.file
}

output lines: int = size(split(read.content, "\\n"))
`;

const { result } = runFlow(
  text,
  { file: process.argv[2] ?? "order.flow" },
  {
    types: [aiPack(), servicesPack(), nodePack()],
    engine: { host: createNodeHost(), files: { root: import.meta.dirname, readOnly: true } },
  },
);
const { status, outputs, error } = await result;
process.stdout.write(`${status} ${outputs.lines ?? error?.code}\n`);
