// What an editor waits for from a change of a text to the answer, beside `JSON.parse` of the graph of that text. Every sample
// changes the text and analyses it anew. What a case is says ../rounds.js.
import { formatFlow, parseFlow } from "@millrace/dsl";
import { createAnalyser } from "@millrace/dsl/editor";
import { sized } from "../size.js";
import { catalog, flowOf } from "./flows.js";
import { serverCases } from "./server-cases.js";

const SAMPLES = sized(100, 1);

/** Where in the text a case asks: in an expression in the middle. */
const MIDDLE = "size(open-";

/** Milliseconds by lines: the median of the samples, and the slowest of them where that has a bar. */
const AT_CURSOR = { 1000: [15, 40], 10000: [60, 150] };
const WHOLE = { 1000: [30], 10000: [150] };
/** Without the delay of 120 ms that the server adds. */
const DIAGNOSTICS = { 1000: [130], 10000: [280] };

/** The ratio says how busy the machine was; what people wait for has the bars. */
const NO_BAR = null;

const FEATURES = {
  completion: { bars: AT_CURSOR, ask: (analysis, at) => analysis.completions(at) },
  hover: { bars: AT_CURSOR, ask: (analysis, at) => analysis.hover(at) },
  signature: { bars: AT_CURSOR, ask: (analysis, at) => analysis.signature(at) },
  diagnostics: { bars: DIAGNOSTICS, ask: (analysis) => analysis.diagnostics(), isEmpty: true },
  format: { bars: WHOLE, ask: (analysis) => analysis.format() },
  rename: { bars: WHOLE, ask: (analysis, at) => analysis.rename(at, "renamed").edits },
  symbols: { bars: WHOLE, ask: (analysis) => analysis.symbols() },
  folds: { bars: WHOLE, ask: (analysis) => analysis.folds() },
  tokens: { bars: WHOLE, ask: (analysis) => analysis.tokens() },
};

function editorCase(feature, lines) {
  const { bars, ask, isEmpty = false } = FEATURES[feature];
  const [median, worst] = bars[lines];
  return {
    what: `${feature} after a change of ${lines.toLocaleString("en")} lines`,
    bars: { "JSON.parse": NO_BAR },
    samples: SAMPLES,
    prepare() {
      const canonical = formatFlow(flowOf(lines)).text;
      const crooked = canonical.replaceAll("\n  @timeout = ", "\n  @timeout=");
      const text = feature === "format" ? crooked : canonical;
      const json = JSON.stringify(parseFlow(text).graph);
      const middle = text.indexOf(MIDDLE, text.length / 2) + MIDDLE.length - 1;
      const analyser = createAnalyser(catalog);
      const times = [];
      let previous;
      let count = 0;
      const millrace = () => {
        count += 1;
        const changed = `${text}\n# change ${count}\n`;
        const start = performance.now();
        previous = analyser.analyse(changed, previous);
        const answer = ask(previous, middle);
        const ms = performance.now() - start;
        // An answer that is none would be fast.
        const length = answer?.length ?? (answer === undefined ? 0 : 1);
        if ((length === 0) !== isEmpty) throw new Error(`${feature}: ${length} answers`);
        times.push(ms);
        return ms;
      };
      const parse = () => {
        const start = performance.now();
        JSON.parse(json);
        return performance.now() - start;
      };
      const facts = () => {
        const kept = times.slice(-SAMPLES).sort((a, b) => a - b);
        const of = (at) => Number(kept[at].toFixed(1));
        return {
          "ms, median": { value: of(SAMPLES >> 1), bar: median, work: 1 },
          ...(worst && {
            [`ms, slowest of ${SAMPLES}`]: { value: of(SAMPLES - 1), bar: worst, work: 1 },
          }),
        };
      };
      return { contenders: { "JSON.parse": parse, millrace }, facts };
    },
  };
}

const ofTexts = Object.fromEntries(
  [1_000, 10_000].flatMap((lines) =>
    Object.keys(FEATURES).map((feature) => [
      `${feature} ${lines / 1_000}k`,
      { ...editorCase(feature, lines), isLong: lines > 1_000 },
    ]),
  ),
);

export const cases = { ...ofTexts, ...serverCases };

/** An answer is asked for a hundred times in its round: one is enough in a hurry. */
export const roundsOf = (name, quick) => (quick ? (name in ofTexts ? 1 : 2) : 5);
