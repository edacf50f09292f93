/** What a person sees: the command in a real terminal. CI must have one; elsewhere a missing tmux is said, not hidden. */
import { execFileSync, spawnSync } from "node:child_process";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { BIN, scratch } from "./cli.ts";

const WAIT_MS = 15_000;
const LOOK_MS = 50;
const CONFIRM = `flow 1 ask

node ask: confirm {
  prompt = "Send 3 drafts?"
}

node sent: transform {
  value = ask.by
}

output by: string = sent.value
`;

const { CI } = process.env;
const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

beforeAll(() => {
  if (!hasTmux && CI) throw new Error("CI needs tmux for the terminal tests: apt-get install tmux");
});

/** A terminal of this size running one command; \`screen\` is what it shows. */
function terminal(command: string, columns: number, rows: number, cwd: string) {
  const name = `millrace-${process.pid}-${Math.trunc(performance.now() * 1_000)}`;
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-L", name, ...words], { encoding: "utf8" });
  const env = ["LANG=C.UTF-8", "LC_ALL=C.UTF-8", "CI=", `HOME=${cwd}`, "NO_COLOR=1"].flatMap(
    (each) => ["-e", each],
  );
  tmux(
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-x",
    String(columns),
    "-y",
    String(rows),
    "-c",
    cwd,
    ...env,
    `${command}; echo "code $?"; read _`,
  );
  onTestFinished(() => {
    spawnSync("tmux", ["-L", name, "kill-server"]);
  });
  const screen = (): string => tmux("capture-pane", "-p");
  return {
    screen,
    press: (key: string) => tmux("send-keys", key),
    resize: (toColumns: number) => tmux("resize-window", "-x", String(toColumns)),
    async until(text: string): Promise<string> {
      const end = Date.now() + WAIT_MS;
      for (;;) {
        const shown = screen();
        if (shown.includes(text)) return shown;
        if (Date.now() > end) throw new Error(`never saw "${text}":\n${shown}`);
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
  };
}

const millrace = `${JSON.stringify(process.execPath)} ${JSON.stringify(BIN)}`;

test.runIf(hasTmux)("a confirmation is asked at the keyboard, and y approves it", async () => {
  const cwd = scratch({ "ask.flow": CONFIRM });
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, cwd);
  const asked = await shown.until("[y] approve");
  expect(asked).toMatch(/\? ask\s+confirm\s+waits for you/);
  expect(asked).toMatch(/○ sent\s+transform/);
  shown.press("y");
  const ended = await shown.until("code 0");
  expect(ended).toMatch(/✓ ask succeeded in .*nodes 2 ok/);
  expect(ended).toContain('"by": "cli"');
});

test.runIf(hasTmux)("n rejects it, and the exit code tells", async () => {
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, scratch({ "ask.flow": CONFIRM }));
  await shown.until("[y] approve");
  shown.press("n");
  const ended = await shown.until("code 4");
  expect(ended).toContain("confirm_rejected");
});

test.runIf(hasTmux)("an interrupt ends the run and gives the cursor back", async () => {
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, scratch({ "ask.flow": CONFIRM }));
  await shown.until("[y] approve");
  shown.press("C-c");
  const ended = await shown.until("code 130");
  expect(ended).toMatch(/⊘ ask\s+confirm\s+cancelled/);
});

test.runIf(hasTmux)("no line is wider than a narrow terminal, also after it shrinks", async () => {
  const cwd = scratch({
    "ask.flow": CONFIRM.replace("flow 1 ask", "flow 1 a-flow-with-a-rather-long-name"),
  });
  const shown = terminal(`${millrace} run ask.flow`, 60, 24, cwd);
  await shown.until("[y] approve");
  shown.resize(30);
  shown.press("y");
  const ended = await shown.until("code 0");
  const tree = ended.split("\n").filter((line) => /^ {2}[✓○] /.test(line));
  expect(tree.map((line) => line.trim().split(/\s+/)[1])).toEqual(["ask", "sent"]);
});

test.runIf(hasTmux)("what a flow prints cannot move the cursor", async () => {
  const flow = 'flow 1 rude\n\nnode say: log {\n  message = "a\\u001b[2Jb"\n}\n';
  const shown = terminal(`${millrace} run rude.flow`, 80, 24, scratch({ "rude.flow": flow }));
  expect(await shown.until("code 0")).toContain("a�[2Jb");
});
