/** The laws of the text form over even seeds. A seed alone: `npm run fuzz -- --from SEED --seeds 1`. */
import { testSeeds } from "./seeds.ts";

testSeeds(0);
