import { encode } from 'uqr';
import { html, type Html } from './html.js';

/** Readers want a margin of four modules (ISO/IEC 18004). */
const MARGIN = 4;

/** A QR code as SVG: one path of the dark modules on white, whatever the colours of the page. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: MARGIN });
  const runs = data.flatMap((row, y) =>
    runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`),
  );
  return html`<svg
    class="qr"
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <path fill="#fff" d="M0 0h${size}v${size}h-${size}z" />
    <path fill="#000" d="${runs.join('')}" />
  </svg>`;
}

/** Where dark modules begin in a row, and how many follow each other. */
function runsOf(row: readonly boolean[]): [start: number, length: number][] {
  const runs: [number, number][] = [];
  row.forEach((dark, x) => {
    const last = runs.at(-1);
    if (!dark) return;
    if (last && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  });
  return runs;
}
