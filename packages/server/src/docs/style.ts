/** The style of the page, inlined so that it needs nothing else. */
export const STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --link: #8ab4f8; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { margin-bottom: 0; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; text-transform: capitalize; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
code, pre { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border-radius: 4px; overflow: auto; padding: 0.75rem; max-height: 30rem; }
nav a { display: inline-block; margin-right: 1rem; }
details { border: 1px solid var(--line); border-radius: 4px; margin: 0.5rem 0; padding: 0 0.75rem; }
details[open] { padding-bottom: 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; }
summary b { display: inline-block; font: 700 0.75rem ui-monospace, monospace; min-width: 4.5em; }
summary span { opacity: 0.8; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; }
td:nth-child(-n+2) { white-space: nowrap; }
`;
