// The demo: a real flow on real files, from the example's own folder, shown as anyone would see it.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../examples/03-csv-report/", import.meta.url));
const millrace = fileURLToPath(new URL("../packages/cli/bin/millrace.js", import.meta.url));

const { status } = spawnSync(process.execPath, [millrace, "run", "csv-report.flow"], {
  cwd: folder,
  stdio: "inherit",
});
if (status === 0) {
  process.stdout.write(
    `\nexamples/03-csv-report/out/report.md:\n\n${readFileSync(`${folder}out/report.md`, "utf8")}`,
  );
  process.stdout.write(
    "\nnext: npx millrace run examples/03-csv-report/csv-report.flow -i orders=examples/03-csv-report/orders.csv --json\n",
  );
}
process.exitCode = status ?? 1;
