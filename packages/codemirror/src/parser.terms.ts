// Made by scripts/parser.mjs.
export const lineEnd = 82;
export const lineBlank = 83;
export const Minus = 1;
export const Negate = 2;
export const signedNumber = 3;
export const stringOpen = 84;
export const blockOpen = 85;
export const stringText = 86;
export const Escape = 4;
export const stringClose = 87;
export const stringBreak = 88;
export const blockClose = 89;
export const HoleOpen = 5;
export const Boolean = 6;
export const Null = 7;
export const In = 8;
export const Root = 9;
