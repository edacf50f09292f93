// Empties `dist` of the current package: `tsc` leaves the output of sources that are gone.
import { rmSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
