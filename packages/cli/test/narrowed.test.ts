/** A terminal that wraps what it shows before it tells its new width, and what a live tree leaves on it. */
import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { inside } from "./inside.ts";

const FLOW = `flow 1 narrowed

node ask: confirm {
  prompt = "Send the drafts, all of them?"
}

node a-step-with-a-name-that-is-long: log {
  message = ask.by
}
`;

/** The rows of a terminal, as far as a live tree writes to it. It wraps at once when `columns` is set. */
function terminalOf(columns: number) {
  const lines: string[] = [];
  const rowsOf = (line: string): number => Math.max(1, Math.ceil(line.length / shown.columns));
  const erase = (count: number): void => {
    for (let left = count; left > 0 && lines.length > 0; ) {
      const line = lines.pop() as string;
      const rows = rowsOf(line);
      if (rows > left) lines.push(line.slice(0, (rows - left) * shown.columns));
      left -= rows;
    }
  };
  const shown = {
    columns,
    text: (): string => lines.join("\n"),
    stream: new Writable({
      write(chunk, _encoding, done) {
        let wraps = true;
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor
        for (const part of String(chunk).split(/(\u001b\[\??\d+[A-Za-z]|\n)/)) {
          const [, up] = /^.\[(\d+)A$/.exec(part) ?? [];
          if (up !== undefined) erase(Number(up));
          else if (part.endsWith("[?7l") || part.endsWith("[?7h")) wraps = part.endsWith("h");
          else if (part !== "" && part !== "\n" && !part.startsWith("\u001b")) {
            lines.push(wraps ? part : part.slice(0, shown.columns));
          }
        }
        done();
      },
    }),
  };
  return shown;
}

test("a line that is written before a narrower width is told stays whole, and no old tree above it", async () => {
  const terminal = terminalOf(80);
  const keys = new Readable({ read() {} });
  let told = 80;
  const ended = inside(["run", "narrowed.flow"], {
    cwd: scratch({ "narrowed.flow": FLOW }),
    env: { NO_COLOR: "1" },
    terminal: true,
    columns: () => told,
    keys,
    stderr: terminal.stream,
  });
  await expect.poll(terminal.text).toContain("[v] view");
  terminal.columns = 40;
  keys.push("v");
  await expect.poll(terminal.text).toMatch(/^Send the drafts, all of them\?$/m);
  told = 40;
  await expect.poll(terminal.text).toMatch(/^ {2}○ a-step-with-a-n…/m);
  expect(terminal.text()).toMatch(/^Send the drafts, all of them\?$/m);
  expect(terminal.text().match(/^narrowed/gm)).toHaveLength(1);
  keys.push("y");
  expect((await ended).code).toBe(0);
});
