// The demo: models that sort mail and draft answers, one that is rate-limited and one that breaks off, a person who is asked; all
// from a recording, so that it needs no key, no network and no terminal.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = "examples/09-support-triage";
const words = [
  ...["run", `${folder}/support-triage.flow`, "--fixtures", `${folder}/fixtures`],
  ...["--confirm", "send=approve"],
];
process.stdout.write(
  `A recorded run: every answer comes from ${folder}/fixtures, and files are written to a folder that is deleted at its end.\n\n`,
);
const { status } = spawnSync(process.execPath, ["packages/cli/bin/millrace.js", ...words], {
  cwd: root,
  stdio: "inherit",
});
if (status === 0) {
  process.stdout.write(
    `\nThe file above was written to that folder; ${folder}/README.md says how to run it for real.\n` +
      `next: npx millrace graph ${folder}/support-triage.flow -f svg -o triage.svg\n` +
      `      npx millrace studio ${folder}   # the same flow on a page in your browser\n`,
  );
}
process.exitCode = status ?? 1;
