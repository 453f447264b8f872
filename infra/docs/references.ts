/** What code and pages refer to: sections of docs/spec, ADRs, files, links and tests; and which of it does not exist. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const SKIPPED = new Set(['node_modules', 'dist', 'coverage', 'fixtures']);
const TEXT = /\.(ts|mjs|js|md|yaml|yml|env|sql|toml|py|sh|html)$|(^|\/)Dockerfile$/;
const SPECIFICATION = 'docs/spec';
/** How a comment or a table goes on in its next line. */
const GAP = String.raw`(?:[\s*|]|//|#)*`;
const SECTION = String.raw`§§?\d+[a-z]?`;

/** A reference that leads nowhere: the file and line that hold it, and the reference. */
interface BrokenReference {
  at: string;
  reference: string;
}

/** The files of a folder that a person reads, from `root`; without what is installed, built or meant to be wrong. */
export function readableFiles(root: string, folder = '.'): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return SKIPPED.has(entry.name) || entry.name.startsWith('.') ? [] : readableFiles(root, path);
    return TEXT.test(path) ? [path] : [];
  });
}

/** The headings of a page. Lines of fenced code are none. */
function headingsOf(page: string): string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```/gmu, '');
  return [...prose.matchAll(/^#{1,6} (.+)$/gmu)].map(([, heading = '']) => heading.trim());
}

/** The anchors of a page: of its headings, as GitHub makes them, and those that it names itself. */
export function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const ofHeadings = headingsOf(page).map((heading) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  const named = [...page.matchAll(/<a id="([^"]+)">/gu)].map(([, id = '']) => id);
  return new Set([...ofHeadings, ...named]);
}

/** The pages of the specification by name, each with the numbers and titles of its sections. */
function specification(root: string): Map<string, { numbers: Set<string>; titles: Set<string> }> {
  const pages = readdirSync(join(root, SPECIFICATION)).filter((file) => file.endsWith('.md'));
  return new Map(
    pages.map((file) => {
      const headings = headingsOf(readFileSync(join(root, SPECIFICATION, file), 'utf8'));
      const numbers = headings.flatMap((heading) => /^(\d+[a-z]?)\. /u.exec(heading)?.[1] ?? []);
      return [basename(file, '.md'), { numbers: new Set(numbers), titles: new Set(headings) }];
    }),
  );
}

/** Finds references that lead nowhere, of the repository at `root`. */
export class References {
  private readonly root: string;
  private readonly pages: ReturnType<typeof specification>;
  private readonly adrs: Set<number>;

  constructor(root: string) {
    this.root = root;
    this.pages = specification(root);
    this.adrs = new Set(readdirSync(join(root, 'docs/adr')).map((file) => Number(file.slice(0, 4))));
  }

  /** Of a file of the repository. */
  brokenIn(file: string): BrokenReference[] {
    return this.brokenInText(file, readFileSync(join(this.root, file), 'utf8'));
  }

  /** Of a text that stands, or would stand, in `file`. */
  brokenInText(file: string, text: string): BrokenReference[] {
    const found = [
      ...this.sections(file, text),
      ...this.quotedTitles(text),
      ...this.decisions(text),
      ...this.files(text),
      ...(file.endsWith('.md') ? [...this.links(file, text), ...this.tests(file, text)] : []),
    ];
    return found.map(({ index, reference }) => ({
      at: `${file}:${text.slice(0, index).split('\n').length}`,
      reference,
    }));
  }

  /** `core.md §4`, `identity §2 and §3`; in a page of the specification `§4` alone is of the page itself. */
  private sections(file: string, text: string): { index: number; reference: string }[] {
    const names = [...this.pages.keys()].join('|');
    const cited = new RegExp(
      String.raw`\b(${names})(?:\.md)?[\x60)]*(${GAP}(?:(?:,|and|to|or|–|/)${GAP})?${SECTION})+`,
      'gu',
    );
    const broken = [...text.matchAll(cited)].flatMap(({ index, 0: whole, 1: page = '' }) =>
      this.missing(page, whole, index),
    );
    if (dirname(file) !== SPECIFICATION) return broken;
    const own = text.replaceAll(cited, (whole) => ' '.repeat(whole.length));
    return [...broken, ...this.missing(basename(file, '.md'), own, 0)];
  }

  private missing(page: string, text: string, offset: number): { index: number; reference: string }[] {
    const numbers = this.pages.get(page)?.numbers ?? new Set();
    return [...text.matchAll(/(RFC \d+ )?§(\d+[a-z]?)/gu)].flatMap(
      ({ index, 1: elsewhere, 2: number = '' }) =>
        elsewhere || numbers.has(number)
          ? []
          : [{ index: offset + index, reference: `${page}.md §${number}` }],
    );
  }

  /** `service.md, "What the service does"`. */
  private quotedTitles(text: string): { index: number; reference: string }[] {
    return [...text.matchAll(/\b([a-z-]+)\.md, "([^"]+)"/gu)].flatMap(
      ({ index, 0: reference, 1: page = '', 2: title = '' }) => {
        const titles = this.pages.get(page)?.titles ?? this.titlesOfPage(page);
        return titles.has(title) ? [] : [{ index, reference }];
      },
    );
  }

  private titlesOfPage(name: string): Set<string> {
    const pages = readableFiles(this.root, 'docs').filter((file) => basename(file) === `${name}.md`);
    return new Set(pages.flatMap((file) => headingsOf(readFileSync(join(this.root, file), 'utf8'))));
  }

  /** `ADR 5`, `docs/adr/0005`. */
  private decisions(text: string): { index: number; reference: string }[] {
    return [...text.matchAll(/(?:\bADR |docs\/adr\/)(\d+)/gu)].flatMap(
      ({ index, 0: reference, 1: number = '' }) =>
        this.adrs.has(Number(number)) ? [] : [{ index, reference }],
    );
  }

  /** A file of docs or a README that is named by its path from the root. */
  private files(text: string): { index: number; reference: string }[] {
    const named = /(?<![\w./-])(?:docs|k8s|apps|libs|infra)\/[\w./-]+\.(?:md|csv|svg|yaml|env|png)\b/gu;
    return [...text.matchAll(named)].flatMap(({ index, 0: reference }) =>
      existsSync(join(this.root, reference)) ? [] : [{ index, reference }],
    );
  }

  /** `[text](target#anchor)` and `<img src="target">`; addresses of the web are not asked. */
  private links(file: string, text: string): { index: number; reference: string }[] {
    const blank = (code: string): string => code.replaceAll(/[^\n]/gu, ' ');
    const prose = text.replaceAll(/^```[\s\S]*?^```/gmu, blank).replaceAll(/`[^`\n]*`/gu, blank);
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"/gu)];
    return links.flatMap(({ index, 1: inText, 2: inTag }) => {
      const target = inText ?? inTag ?? '';
      return /^[a-z]+:/u.test(target) || this.leadsSomewhere(file, text, target)
        ? []
        : [{ index, reference: target }];
    });
  }

  /** `[refresh.spec.ts](../apps/…/refresh.spec.ts) “used again ends the session”`: a test that has that name. */
  private tests(file: string, text: string): { index: number; reference: string }[] {
    const cited = /\]\(([^)\s]+spec\.ts)\)((?:(?:,| and)? “[^”]+”)+)/gu;
    return [...text.matchAll(cited)].flatMap(({ index, 1: target = '', 2: names = '' }) => {
      const path = join(this.root, dirname(file), target);
      const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
      return [...names.matchAll(/“([^”]+)”/gu)].flatMap(({ 1: name = '' }) =>
        source.includes(name) ? [] : [{ index, reference: `${basename(target)} “${name}”` }],
      );
    });
  }

  private leadsSomewhere(file: string, text: string, target: string): boolean {
    const [path = '', anchor] = target.split('#');
    if (path === '') return anchorsOf(text).has(anchor ?? '');
    const found = join(this.root, dirname(file), decodeURIComponent(path));
    if (!existsSync(found)) return false;
    if (anchor === undefined) return true;
    return !statSync(found).isDirectory() && anchorsOf(readFileSync(found, 'utf8')).has(anchor);
  }
}
