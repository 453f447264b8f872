/** Markup that is safe to send: what was put into it has been escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** What may stand in markup: text is escaped, lists are joined, nothing is nothing. */
export type Piece = Html | string | number | false | null | undefined | readonly Piece[];

const CHARACTERS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template whose values are escaped, whoever gave them: good in text and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(String.raw({ raw: parts }, ...pieces.map(markupOf)));
}

function markupOf(piece: Piece): string {
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'string') return piece.replace(/[&<>"']/g, (one) => CHARACTERS[one] ?? '');
  if (typeof piece === 'number') return String(piece);
  if (piece === false || piece === null || piece === undefined) return '';
  return piece.map(markupOf).join('');
}
