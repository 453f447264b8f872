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

class TextOutline {
  private text = '';
  private hidden = 0;
  private preformatted = 0;
  private readonly links: { href: string; from: number }[] = [];

  open(name: string, attributes: Record<string, string>): void {
    if (HIDDEN.has(name)) this.hidden += 1;
    if (this.hidden > 0) return;
    if (PARAGRAPHS.has(name)) this.breakTo(2);
    else if (LINES.has(name)) this.breakTo(1);
    if (name === 'pre') this.preformatted += 1;
    if (name === 'li') this.text += '- ';
    if (name === 'br') this.text += '\n';
    if (name === 'hr') this.text += '\n---\n';
    if ((name === 'td' || name === 'th') && !this.endsInSpace()) this.text += ' ';
    if (name === 'img' && attributes.alt) this.write(attributes.alt);
    if (name === 'a') this.links.push({ href: attributes.href ?? '', from: this.text.length });
  }

  write(content: string): void {
    if (this.hidden > 0) return;
    if (this.preformatted > 0) {
      this.text += content;
      return;
    }
    const collapsed = content.replace(/[ \t\r\n\f]+/g, ' ');
    this.text += this.endsInSpace() ? collapsed.replace(/^ /, '') : collapsed;
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
    return this.text
      .split('\n')
      .map(withoutBlanksAtEnd)
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  private closeLink(): void {
    const link = this.links.pop();
    if (!link || link.href === '' || link.href.startsWith('#')) return;
    const label = this.text.slice(link.from).trim();
    const address = link.href.replace(/^(mailto|tel):/i, '');
    if (label !== address && label !== link.href) this.text += label === '' ? address : ` (${address})`;
  }

  private endsInSpace(): boolean {
    return this.text === '' || /\s/.test(this.text.at(-1) ?? '');
  }

  /** Looks at the end only: a pattern over the whole text would make long messages quadratic. */
  private breakTo(lines: number): void {
    let end = this.text.length;
    while (end > 0 && (this.text[end - 1] === ' ' || this.text[end - 1] === '\t')) end -= 1;
    if (end === 0) return;
    let present = 0;
    while (present < end && this.text[end - 1 - present] === '\n') present += 1;
    this.text = this.text.slice(0, end) + '\n'.repeat(Math.max(0, lines - present));
  }
}

/** By hand: a pattern looks for the end of the line from each blank of a long run. */
function withoutBlanksAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === ' ' || line[end - 1] === '\t')) end -= 1;
  return line.slice(0, end);
}
