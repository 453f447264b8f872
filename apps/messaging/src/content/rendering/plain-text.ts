import { Parser } from 'htmlparser2';

/**
 * The text part of a message whose author gave only HTML. It works on the template, not on what is rendered: liquid
 * stays liquid, so values reach the text part unescaped and nothing is derived per recipient. Runs inside the
 * renderer's process: it may import packages, and nothing of the application but types.
 */

const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const { replaceLiquid } = (await import(
  `./liquid-tokens${extension}`
)) as typeof import('./liquid-tokens.js');

const OPEN = '\uE000';
const CLOSE = '\uE001';
const HIDDEN = new Set(['head', 'style', 'script', 'title', 'template', 'noscript']);
const PARAGRAPHS = new Set([
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'table',
  'ul',
  'ol',
  'blockquote',
  'pre',
]);
const LINES = new Set([
  ...['div', 'tr', 'li', 'section', 'article', 'header', 'footer', 'main', 'address', 'dt', 'dd', 'center'],
]);

/** Derives the text of an HTML template: paragraphs by empty lines, items by dashes, links as `text (address)`. */
export function plainTextOf(html: string): string {
  const tokens: string[] = [];
  const guarded = replaceLiquid(html.replaceAll(/[\uE000\uE001]/g, ''), (token) => {
    tokens.push(token);
    return `${OPEN}${tokens.length - 1}${CLOSE}`;
  });
  const text = new TextOutline();
  const parser = new Parser({
    onopentag: (name, attributes) => text.open(name, attributes),
    ontext: (content) => text.write(content),
    onclosetag: (name) => text.close(name),
  });
  parser.end(guarded);
  return (
    text
      .toString()
      // An entity that spells a brace is a brace to the reader, never the beginning of liquid.
      .replace(/\{(?=[{%])/g, '{{ "{" }}')
      .replace(/\uE000(\d+)\uE001/g, (_whole, index: string) => tokens[Number(index)] ?? '')
  );
}

/** So much of the text is looked at again: a longer tail would be copied by each tag that ends a line. */
const TAIL = 4_096;
const KEPT_OF_TAIL = 64;

interface OpenLink {
  readonly href: string;
  label: string;
}

class TextOutline {
  private readonly finished: string[] = [];
  private tail = '';
  private hidden = 0;
  private preformatted = 0;
  private readonly links: OpenLink[] = [];

  open(name: string, attributes: Record<string, string>): void {
    if (HIDDEN.has(name)) this.hidden += 1;
    if (this.hidden > 0) return;
    if (PARAGRAPHS.has(name)) this.breakTo(2);
    else if (LINES.has(name)) this.breakTo(1);
    if (name === 'pre') this.preformatted += 1;
    if (name === 'li') this.add('- ');
    if (name === 'br') this.add('\n');
    if (name === 'hr') this.add('\n---\n');
    if ((name === 'td' || name === 'th') && !this.endsInSpace()) this.add(' ');
    if (name === 'img' && attributes.alt) this.write(attributes.alt);
    if (name === 'a') this.links.push({ href: attributes.href ?? '', label: '' });
  }

  write(content: string): void {
    if (this.hidden > 0) return;
    if (this.preformatted > 0) {
      this.addToLink(content);
      this.add(content);
      return;
    }
    const collapsed = content.replace(/[ \t\r\n\f]+/g, ' ');
    const added = this.endsInSpace() ? collapsed.replace(/^ /, '') : collapsed;
    this.addToLink(added);
    this.add(added);
  }

  close(name: string): void {
    if (HIDDEN.has(name)) this.hidden = Math.max(0, this.hidden - 1);
    else if (this.hidden > 0) return;
    if (name === 'a') this.closeLink();
    if (name === 'pre') this.preformatted = Math.max(0, this.preformatted - 1);
    if (PARAGRAPHS.has(name)) this.breakTo(2);
    else if (LINES.has(name)) this.breakTo(1);
  }

  toString(): string {
    return [...this.finished, this.tail]
      .join('')
      .split('\n')
      .map(withoutBlanksAtEnd)
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  private add(text: string): void {
    this.tail += text;
    if (this.tail.length <= TAIL) return;
    this.finished.push(this.tail.slice(0, -KEPT_OF_TAIL));
    this.tail = this.tail.slice(-KEPT_OF_TAIL);
  }

  /** A label longer than its address cannot be the address: no more of it is needed. */
  private addToLink(text: string): void {
    const link = this.links.at(-1);
    if (link && link.label.length <= link.href.length) link.label = (link.label + text).trimStart();
  }

  private closeLink(): void {
    const link = this.links.pop();
    if (!link || link.href === '' || link.href.startsWith('#')) return;
    const label = link.label.trim();
    const address = link.href.replace(/^(mailto|tel):/i, '');
    if (label !== address && label !== link.href) this.add(label === '' ? address : ` (${address})`);
  }

  private endsInSpace(): boolean {
    return this.tail === '' || /\s/.test(this.tail.at(-1) ?? '');
  }

  /** What a tag ends, blanks before it included, is followed by so many line breaks. */
  private breakTo(lines: number): void {
    let end = this.tail.length;
    while (end > 0 && (this.tail[end - 1] === ' ' || this.tail[end - 1] === '\t')) end -= 1;
    if (end === 0 && this.finished.length === 0) return;
    let present = 0;
    while (present < lines && this.tail[end - 1 - present] === '\n') present += 1;
    this.tail = this.tail.slice(0, end);
    this.add('\n'.repeat(lines - present));
  }
}

/** By hand: a pattern looks for the end of the line from each blank of a long run. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(0, end);
}
