// Copies the pictures that the test of the screens has made into the guide.
import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FROM = fileURLToPath(new URL("../.reports/studio/", import.meta.url));
const TO = fileURLToPath(new URL("../../../docs/pictures/", import.meta.url));
const PICTURES = {
  flows: "flows",
  flow: "flow-node",
  run: "run-paused",
  "run-failed": "run-failed",
  runs: "runs",
  compare: "compare",
  inbox: "inbox",
  schedules: "schedules",
};

mkdirSync(TO, { recursive: true });
for (const [picture, screen] of Object.entries(PICTURES)) {
  copyFileSync(`${FROM}${screen}-light-1440.png`, `${TO}${picture}.png`);
}
