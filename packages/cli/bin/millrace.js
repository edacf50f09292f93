#!/usr/bin/env node
// Committed, so that an install links `millrace` before anything is built. The one place that may end the process
// at once: a second interrupt, or a handle that keeps a finished command alive.
import { start } from "../dist/bin.js";

await start((code) => process.exit(code));
