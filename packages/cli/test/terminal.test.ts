/** What a person sees: the command in a real terminal. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testWith } from "@millrace/test-support";
import { expect, onTestFinished, vi } from "vitest";
import { BIN, scratch } from "./cli.ts";

const WAIT_MS = 60_000; // a limit for what never comes
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

const { UPDATE_SCREENS } = process.env;
const withTmux = testWith("tmux");

/** A terminal of this size running one command; \`screen\` is what it shows. */
function terminal(
  command: string,
  columns: number,
  rows: number,
  cwd: string,
  colour: Readonly<Record<string, string>> = { NO_COLOR: "1" },
) {
  const name = `millrace-${process.pid}-${Math.trunc(performance.now() * 1_000)}`;
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-L", name, ...words], { encoding: "utf8" });
  const variables = { LANG: "C.UTF-8", LC_ALL: "C.UTF-8", CI: "", HOME: cwd, ...colour };
  const env = Object.entries(variables).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
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
    /** The same with its colours. */
    painted: (): string => tmux("capture-pane", "-p", "-e"),
    press: (key: string) => tmux("send-keys", key),
    resize: (toColumns: number, toRows = rows) =>
      tmux("resize-window", "-x", String(toColumns), "-y", String(toRows)),
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

withTmux("help is as wide as the terminal of stdout, wherever stderr goes", async () => {
  const shown = terminal(`${millrace} run --help 2>err.txt`, 120, 80, scratch());
  const lines = (await shown.until("code 0")).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeGreaterThan(80);
});

withTmux("a confirmation is asked at the keyboard, and y approves it", async () => {
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

withTmux("n rejects it, and the exit code tells", async () => {
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, scratch({ "ask.flow": CONFIRM }));
  await shown.until("[y] approve");
  shown.press("n");
  const ended = await shown.until("code 4");
  expect(ended).toContain("confirm_rejected");
});

withTmux("an approval whose value does not fit says what is wrong with it", async () => {
  const schema = '  schema = { type: "object", required: ["amount"] }\n';
  const text = CONFIRM.replace(/prompt = .*\n/, (line) => line + schema);
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, scratch({ "ask.flow": text }));
  await shown.until("[y] approve");
  shown.press("y");
  shown.press("4");
  shown.press("Enter");
  await shown.until('ask: value_invalid; needs the member "amount"');
});

withTmux("an interrupt ends the run and gives the cursor back", async () => {
  const shown = terminal(`${millrace} run ask.flow`, 80, 24, scratch({ "ask.flow": CONFIRM }));
  await shown.until("[y] approve");
  shown.press("C-c");
  const ended = await shown.until("code 130");
  expect(ended).toMatch(/⊘ ask\s+confirm\s+cancelled/);
});

withTmux("no line is wider than a narrow terminal, also after it shrinks", async () => {
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

withTmux("what a flow prints cannot move the cursor", async () => {
  const flow = 'flow 1 rude\n\nnode say: log {\n  message = "a\\u001b[2Jb"\n}\n';
  const shown = terminal(`${millrace} run rude.flow`, 80, 24, scratch({ "rude.flow": flow }));
  expect(await shown.until("code 0")).toContain("a�[2Jb");
});

const SCREENS = fileURLToPath(new URL("screens/", import.meta.url));
const TOUR = readFileSync(join(SCREENS, "tour.flow"), "utf8");

/**
 * What a screen shows from the tree on, without what differs from one run to the next. Of older trees nothing may be left above
 * it, though tmux wraps at once and tells the new width a quarter of a second later.
 */
function still(screen: string): string {
  const lines = screen.split("\n");
  const head = lines.findLastIndex((line) => /^a-tour-of-everything .*[●⊘]/.test(line));
  const left = lines.slice(0, head).filter((line) => /^(?:a-tour| {2,4}[✓✗–‖?○⊘●▾] )/.test(line));
  return `${[...left, ...lines.slice(head)]
    .join("\n")
    .replace(/\b(?:\d+h )?(?:\d+m )?\d+(?:\.\d+)?m?s\b/g, "TIME")
    .replace(/run_\S{4}…\S\S/g, "run_ID")
    .trimEnd()}\n`;
}

/** Waits for a sign, and until the screen is that of the file; times out with both. */
async function shows(shown: ReturnType<typeof terminal>, name: string, sign: string) {
  const file = join(SCREENS, name);
  await shown.until(sign);
  if (UPDATE_SCREENS === "1") {
    await new Promise((resolve) => setTimeout(resolve, 10 * LOOK_MS));
    writeFileSync(file, still(shown.screen()));
  }
  const kept = readFileSync(file, "utf8");
  await vi.waitFor(() => expect(still(shown.screen())).toBe(kept), {
    timeout: WAIT_MS,
    interval: LOOK_MS,
  });
}

withTmux(
  "a tour of everything looks as it is kept: wide, at 80 and 40 columns after a resize, and at its end",
  async () => {
    const shown = terminal(`${millrace} run tour.flow`, 200, 50, scratch({ "tour.flow": TOUR }));
    await shown.until("[v] view"); // is said a moment after the tree says that it waits
    await shows(shown, "200x50.txt", "waits for you");
    shown.resize(199, 50); // of two at once tmux tells the second a quarter of a second late
    shown.resize(80, 24);
    await shows(shown, "80x24.txt", "waits for you");
    shown.resize(79, 24);
    shown.resize(40, 24);
    await shows(shown, "40x24.txt", "waits for you");
    shown.press("v");
    await shows(shown, "40x24-viewed.txt", "أهلا");
    shown.resize(80, 40);
    await shows(shown, "80x24.txt", "waits for you"); // an end at once would be drawn for 40 columns
    shown.press("C-c");
    await shows(shown, "80x40-stopped.txt", "code 130");
  },
  4 * WAIT_MS,
);

withTmux("colours are there where they are wanted, and say the same", async () => {
  const files = { "tour.flow": TOUR };
  const shown = terminal(`${millrace} run tour.flow`, 80, 40, scratch(files), { TERM: "xterm" });
  await shown.until("waits for you");
  const painted = shown.painted();
  expect(painted).toContain("\u001b[32m✓");
  expect(painted).toContain("\u001b[31m✗");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is taken away
  const plain = painted.replace(/\u001b\[[\d;]*m/g, "");
  expect(still(plain)).toContain("‖ hour                              delay      waits TIME");
});
