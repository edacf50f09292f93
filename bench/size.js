// How much a bench does. `--smoke`: every case but the long ones once and in its smallest size, to show that it still works; nothing is judged by a bar.
// `--quick`: fewer samples of what takes long.
if (process.argv.includes("--smoke")) process.env.BENCH_SMOKE = "1"; // processes of cases inherit it
if (process.argv.includes("--quick")) process.env.BENCH_QUICK = "1";

export const smoke = process.env.BENCH_SMOKE === "1";
const quick = process.env.BENCH_QUICK === "1";

/** A size of a case: `small` is enough to pass through the same code. */
export const sized = (full, small) => (smoke ? small : full);

/** As much as there is time for: `brief` with `--quick`. */
export const inTime = (full, brief) => (quick ? brief : full);
