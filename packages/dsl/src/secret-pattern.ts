/** What secrets look like: of services that give them a shape, so that no message quotes one and a check can find it. */

const B = "[A-Za-z0-9_-]";
/** Prefixes that issuers give their keys, JSON web tokens, private keys in PEM. */
export const SECRET: RegExp = new RegExp(
  [
    `\\bsk-(?:ant-|proj-)?${B}{16,}`,
    "\\bgh[pousr]_[A-Za-z0-9]{20,}",
    `\\bgithub_pat_${B}{20,}`,
    `\\bglpat-${B}{16,}`,
    "\\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    "\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b",
    `\\bAIza${B}{30,}`,
    "\\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,}",
    "\\bwhsec_[A-Za-z0-9]{16,}",
    "\\bnpm_[A-Za-z0-9]{30,}",
    "\\bhf_[A-Za-z0-9]{20,}",
    `\\bya29\\.${B}{20,}`,
    `\\bSG\\.${B}{16,}\\.${B}{16,}`,
    `(?<!${B})eyJ${B}{8,}\\.eyJ${B}{8,}\\.${B}{8,}`,
    "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----",
  ].join("|"),
);
