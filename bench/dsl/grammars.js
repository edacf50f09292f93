// JSON as a grammar for two parser generators: what a parser costs that nobody wrote by hand. Both build the values.

const PEGGY = String.raw`
Text = _ value:Value _ { return value; }
Value = Object / List / String / Number / Word
Object = "{" _ "}" { return {}; }
  / "{" _ first:Pair rest:(_ "," _ @Pair)* _ "}" { return Object.fromEntries([first, ...rest]); }
Pair = key:String _ ":" _ value:Value { return [key, value]; }
List = "[" _ "]" { return []; }
  / "[" _ first:Value rest:(_ "," _ @Value)* _ "]" { return [first, ...rest]; }
String = '"' ([^"\\] / "\\" .)* '"' { const raw = text(); return raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1); }
Number = "-"? [0-9]+ ("." [0-9]+)? ([eE] [+-]? [0-9]+)? { return Number(text()); }
Word = "true" { return true; } / "false" { return false; } / "null" { return null; }
_ = [ \t\r\n]*
`;

export async function peggyJson() {
  const { default: peggy } = await import("peggy");
  return peggy.generate(PEGGY).parse;
}

export async function chevrotainJson() {
  const { createToken, EmbeddedActionsParser, Lexer } = await import("chevrotain");
  const token = (name, pattern, line_breaks = false) => createToken({ name, pattern, line_breaks });
  const blank = createToken({ name: "Blank", pattern: /[ \t\r\n]+/, group: Lexer.SKIPPED });
  const text = token("Text", /"(?:[^"\\]|\\.)*"/);
  const number = token("Number", /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/);
  const [comma, colon] = [token("Comma", ","), token("Colon", ":")];
  const [open, close] = [token("Open", "{"), token("Close", "}")];
  const [left, right] = [token("Left", "["), token("Right", "]")];
  const words = { true: true, false: false, null: null };
  const word = token("Word", /true|false|null/);
  const tokens = [blank, text, number, comma, colon, open, close, left, right, word];
  const unquote = (raw) => (raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1));

  class Parser extends EmbeddedActionsParser {
    constructor() {
      super(tokens);
      this.RULE("value", () =>
        this.OR([
          { ALT: () => this.SUBRULE(this.object) },
          { ALT: () => this.SUBRULE(this.list) },
          { ALT: () => unquote(this.CONSUME(text).image) },
          { ALT: () => Number(this.CONSUME(number).image) },
          { ALT: () => words[this.CONSUME(word).image] },
        ]),
      );
      this.RULE("object", () => {
        const object = {};
        const pair = () => {
          const key = unquote(this.CONSUME(text).image);
          this.CONSUME(colon);
          object[key] = this.SUBRULE(this.value);
        };
        this.CONSUME(open);
        this.MANY_SEP({ SEP: comma, DEF: pair });
        this.CONSUME(close);
        return object;
      });
      this.RULE("list", () => {
        const list = [];
        this.CONSUME(left);
        this.MANY_SEP({ SEP: comma, DEF: () => list.push(this.SUBRULE(this.value)) });
        this.CONSUME(right);
        return list;
      });
      this.performSelfAnalysis();
    }
  }
  const lexer = new Lexer(tokens, { positionTracking: "onlyOffset", ensureOptimizations: true });
  const parser = new Parser();
  return (source) => {
    parser.input = lexer.tokenize(source).tokens;
    const value = parser.value();
    if (parser.errors.length > 0) throw parser.errors[0];
    return value;
  };
}
