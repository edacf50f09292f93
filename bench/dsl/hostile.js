// Texts made to hang, overflow or exhaust a reader, as data.

const CHARACTERS =
  "\" ' ` \\ [ { ( ] } ) a 0 . , : = - ! ? @ # $ ; / * | & < + % é 👍 \ufeff \u00a0 \ud83d \t \r \0".split(
    " ",
  );
/** What has made some reader look ahead, go back or nest. */
const PIECES = [
  ...[
    " ",
    "\n",
    "${",
    '"${',
    "a.",
    "a ",
    "a=1\n",
    "a=1;",
    "a -> ",
    "a -> b\n",
    "/*",
    "/**/",
    "//\n",
  ],
  ...[
    "# c\n",
    "'\n",
    '""\n',
    '"""\n',
    'x = """\n${\n',
    'x = """\n"""\n',
    'x = "${a}"\n',
    "x = [\n",
  ],
  ...["x = {\n", "[1,\n", "1,\n", "{a:", "{a: 1},\n", "f(", "a[", "a{", "} ", "a {\n}\n", "a {\n"],
  ...["x = !", "x = 1 +\n", "1 + ", "a ? b : ", "a ?? ", "a && ", "not ", "```\n", '"""" ', "1e9 "],
  ...[
    "node a: t\n",
    "node a: t {\n",
    "body {\n",
    "input a: { b: ",
    "a[]",
    "a?",
    "é = 1\n",
    "x: 1\n",
  ],
];
/** Where a piece is repeated: at an item, in a value, in each kind of text, in a hole. */
const PLACES = {
  item: ["", ""],
  value: ["node a: t {\n  x = ", "\n}\n"],
  list: ["node a: t {\n  x = [", "]\n}\n"],
  comment: ["# ", "\n"],
  quoted: ['node a: t {\n  x = "', '"\n}\n'],
  block: ['node a: t {\n  x = """\n    ', '\n    """\n}\n'],
  hole: ['node a: t {\n  x = """\n    ${', '}\n    """\n}\n'],
};
const OPENERS = [
  ["[", "]"],
  ["{ a: ", " }"],
  ["(", ")"],
  ["f(", ")"],
  ["a[", "]"],
  ['"${', '}"'],
  ["node a: map {\nbody {\n", "}\n}\n"],
  ["a {\n", "}\n"],
];

const within = ([head, tail], text) => `flow 1 x\n${head}${text}${tail}`;
const each = (n, length, line) =>
  Array.from({ length: Math.ceil(n / length) }, (_, i) => line(i)).join("");
const valid = {
  nodes: (n) => each(n, 16, (i) => `node n${i}: join\n`),
  chain: (n) => each(n, 36, (i) => `node n${i}: join\nn${i} -> n${i + 1}\n`),
  fan: (n) => `node hub: join\n${each(n, 36, (i) => `node n${i}: join\nhub -> n${i}\n`)}`,
  references: (n) => each(n, 48, (i) => `node n${i + 1}: transform { value = n${i}.value }\n`),
  inputs: (n) => each(n, 20, (i) => `input n${i}: string\n`),
  layout: (n) => `layout {\n${each(n, 16, (i) => `n${i} = [1, 2]\n`)}}\n`,
  members: (n) => within(PLACES.value, `{${each(n, 12, (i) => `k${i}: 1, `)}}`),
};

const show = (piece) => JSON.stringify(piece).slice(1, -1);

/** Texts by family and place: `hostile["a -> "].item(n)` is about n units long. */
export const hostile = Object.fromEntries([
  [
    "well-formed",
    Object.fromEntries(
      Object.entries(valid).map(([name, text]) => [name, (n) => `flow 1 x\n${text(n)}`]),
    ),
  ],
  [
    "nested",
    Object.fromEntries(
      OPENERS.map(([open, close]) => {
        const place = open.endsWith("\n") ? PLACES.item : PLACES.value;
        const nest = (n) => n / (open.length + close.length);
        return [show(open), (n) => within(place, open.repeat(nest(n)) + close.repeat(nest(n)))];
      }),
    ),
  ],
  ...[...CHARACTERS, ...PIECES].map((piece) => {
    const places = Object.entries(PLACES).slice(0, PIECES.includes(piece) ? 3 : undefined);
    return [
      show(piece),
      Object.fromEntries(
        places.map(([place, around]) => [
          place,
          (n) => within(around, piece.repeat(n / piece.length)),
        ]),
      ),
    ];
  }),
]);
