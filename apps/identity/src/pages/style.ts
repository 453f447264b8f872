import { createHash } from 'node:crypto';

/** One sheet for all pages: light and dark, from 320 px on, and larger targets than WCAG 2.2 asks for. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #16202e; --soft: #51607a; --line: #c9d2df; --paper: #fff; --ground: #eef2f7;
  --accent: #1d4ed8; --on-accent: #fff; --accent-strong: #1e3a8a; --bad: #a4161a; --bad-ground: #fdecec;
  --good: #14532d; --good-ground: #e6f6ec; --field: #fff; --edge: #7c8aa0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ecf4; --soft: #a8b4c8; --line: #334155; --paper: #151d2b;
  --ground: #0b111c; --accent: #93b4ff; --on-accent: #0b1530; --accent-strong: #bcd0ff; --bad: #ffb4b4;
  --bad-ground: #3b1518; --good: #a7e8c0; --good-ground: #10301e; --field: #0f1726; --edge: #7f8ea6; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; align-items: center;
  padding: clamp(1rem, 8vh, 5rem) 1rem 1.5rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: .9rem; box-shadow: 0 1px 2px #0001, 0 8px 24px #0000000f; }
@media (max-width: 30rem) { main { padding: 1.5rem 1.25rem; } }
h1 { margin: 0 0 .35rem; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 1.5rem 0 .35rem; font-size: 1.05rem; }
p { margin: 0 0 1rem; overflow-wrap: anywhere; }
img.logo { display: block; max-width: 60%; height: 3rem; object-fit: contain; object-position: left; margin: 0 0 1rem; }
main > :last-child { margin-bottom: 0; }
.soft { color: var(--soft); }
.lead { margin-bottom: 1.5rem; color: var(--soft); }
label { display: block; margin: 0 0 .35rem; font-weight: 600; }
input:not([type=hidden]):not([type=checkbox]) { display: block; width: 100%; min-height: 3rem; margin: 0 0 1rem;
  padding: .5rem .8rem; font: inherit; color: inherit; background: var(--field); border: 1px solid var(--edge);
  border-radius: .55rem; }
input[readonly] { color: var(--soft); background: transparent; }
input[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
input.code { font-size: 1.35rem; letter-spacing: .2em; font-variant-numeric: tabular-nums; }
.hint { margin: -.6rem 0 1rem; font-size: .9rem; color: var(--soft); }
button, a.button { display: block; width: 100%; min-height: 3rem; padding: .6rem 1rem; font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; color: var(--on-brand, var(--on-accent));
  background: var(--brand, var(--accent)); border: 1px solid var(--brand-edge, transparent); border-radius: .55rem; cursor: pointer; overflow-wrap: anywhere; }
button:hover, a.button:hover { background: var(--brand-strong, var(--accent-strong)); text-decoration: underline; }
button.second { margin-top: .75rem; color: var(--ink); background: transparent; border-color: var(--edge); }
button.second:hover { background: var(--ground); }
button.link { width: auto; display: inline; min-height: 1.5rem; padding: .25rem 0; font-weight: 400; text-align: left;
  color: var(--accent); background: none; text-decoration: underline; }
a { color: var(--accent); display: inline-block; padding: .25rem 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alert { margin: 0 0 1.25rem; padding: .75rem 1rem; border-radius: .55rem; color: var(--bad);
  background: var(--bad-ground); }
.note { color: var(--good); background: var(--good-ground); }
.more { margin-top: 1.25rem; }
.choices { list-style: none; margin: 0; padding: 0; display: grid; gap: .6rem; }
.choices button { text-align: left; color: var(--ink); background: transparent; border-color: var(--edge); }
.choices button:hover { background: var(--ground); border-color: var(--accent); }
.scopes { margin: 0 0 1.5rem; padding-left: 1.2rem; }
.scopes li { margin: .3rem 0; overflow-wrap: anywhere; }
.qr { display: block; width: 100%; max-width: 13rem; height: auto; margin: 0 auto 1rem; border-radius: .4rem; }
code, .codes { font: .95rem/1.6 ui-monospace, SFMono-Regular, Menlo, monospace; }
code { overflow-wrap: anywhere; }
.codes { list-style: none; margin: 0 0 1.25rem; padding: .9rem 1rem; border: 1px solid var(--line);
  border-radius: .55rem; user-select: all; }
footer { margin-top: 1.25rem; max-width: 26rem; text-align: center; font-size: .85rem; color: var(--soft);
  overflow-wrap: anywhere; }
`;

/** By which a page's policy lets a sheet in. */
export function sourceOf(style: string): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
}

/** The sheet of all pages. */
export const STYLE_SOURCE = sourceOf(STYLE);

/** Buttons in an organization's colour, with what is written on them in black or white, whichever is read better. */
export function brandStyle(color: string): string {
  const written = luminanceOf(color) > DARK_BELOW ? '#000' : '#fff';
  return `:root{--brand:${color};--on-brand:${written};--brand-strong:${color};--brand-edge:var(--edge)}`;
}

/** Where black and white are read equally well, as WCAG 2 counts contrast: √(1.05 × 0.05) − 0.05. */
const DARK_BELOW = 0.179;

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
