/** Definitions of tests: services and node types as an extension writes them. */

import * as z from "zod";

export { acme, crm, extension, runForecast, weather } from "./examples.ts";
/** For tests of packages that do not depend on zod. */
export { z };
