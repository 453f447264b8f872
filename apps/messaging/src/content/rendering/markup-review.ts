import { Parser } from 'htmlparser2';
import type { MarkupFinding } from '../../vocabulary/rendering/render-job.js';

/**
 * What a mail's readers may stumble over in its HTML. Runs inside the renderer's process, bounded as a rendering is: it
 * may import packages, and nothing of the application but types. One pass; nothing is built of the document.
 */

/** Of a document: whoever has so many has more to do than to read them all. */
const MOST_FINDINGS = 200;
const LONGEST_ADDRESS = 120;
/** What opens something else than a page. */
const OTHER_SCHEMES = /^(?:mailto|tel|sms):/i;
const LINKS = new Set(['a', 'area']);

/** The findings in the order of the document. */
export function findingsOf(html: string): MarkupFinding[] {
  const findings: MarkupFinding[] = [];
  const lines = new LineCounter(html);
  const open: OpenLink[] = [];
  const add = (code: MarkupFinding['code'], address: string, at: number): void => {
    if (findings.length >= MOST_FINDINGS) return;
    findings.push({ code, address: address.trim().slice(0, LONGEST_ADDRESS), line: lines.at(at) });
  };
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const at = parser.startIndex;
      if (name === 'img') {
        const { alt, src = '' } = attributes;
        if (alt === undefined) add('image_without_alt', src, at);
        else if (alt.trim() !== '') say(open);
        else open.at(-1)?.silentImages.push({ src, at });
      }
      const { href } = attributes;
      if (!LINKS.has(name)) return;
      if (href !== undefined && !isSafe(href)) add('link_not_https', href, at);
      if (name === 'a')
        open.push({ silentImages: [], speaks: (attributes['aria-label'] ?? '').trim() !== '' });
    },
    ontext: (text) => {
      if (open.length > 0 && text.trim() !== '') say(open);
    },
    onclosetag: (name) => {
      if (name !== 'a') return;
      const link = open.pop();
      // An image is left out by an empty `alt`; where a link is nothing else, the link says nothing then.
      if (link && !link.speaks) {
        for (const { src, at } of link.silentImages) add('image_without_alt', src, at);
      }
    },
  });
  parser.end(html);
  return findings;
}

interface OpenLink {
  readonly silentImages: { readonly src: string; readonly at: number }[];
  speaks: boolean;
}

function say(open: readonly OpenLink[]): void {
  const link = open.at(-1);
  if (link) link.speaks = true;
}

/** Of the document itself (`#top`), by HTTPS, or to write or call. What has no scheme leads nowhere in a mail. */
function isSafe(href: string): boolean {
  const address = href.trim();
  return address.startsWith('#') || /^https:\/\//i.test(address) || OTHER_SCHEMES.test(address);
}

/** The line of a place; what was counted once is not counted again, for findings come in order or just behind it. */
class LineCounter {
  private place = 0;
  private line = 1;

  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  at(place: number): number {
    // A link's images are told when the link ends: a few lines are counted twice.
    if (place < this.place) {
      this.place = 0;
      this.line = 1;
    }
    for (;;) {
      const next = this.text.indexOf('\n', this.place);
      if (next === -1 || next >= place) return this.line;
      this.place = next + 1;
      this.line += 1;
    }
  }
}
