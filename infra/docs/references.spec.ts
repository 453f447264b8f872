import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { publishedCodes } from './published-codes.ts';
import { anchorsOf, readableFiles, References } from './references.ts';

const ROOT = join(import.meta.dirname, '../..');
const references = new References(ROOT);
const brokenIn = (text: string, file = 'apps/core/src/a.ts'): string[] =>
  references.brokenInText(file, text).map(({ at, reference }) => `${at} ${reference}`);

describe('references of code and pages', () => {
  const files = readableFiles(ROOT);

  it('lead to what exists', () => {
    expect(files.length).toBeGreaterThan(1000);
    const own = relative(ROOT, import.meta.filename); // holds broken ones on purpose
    expect(files.filter((file) => file !== own).flatMap((file) => references.brokenIn(file))).toEqual([]);
  });

  it('leave out what is installed or built', () => {
    expect(files.filter((file) => /node_modules|dist\/|\/fixtures\//u.test(file))).toEqual([]);
  });

  it('a section that a page lacks is named with its line', () => {
    expect(brokenIn('/** A merge\n * (core.md §4, §99). */')).toEqual(['apps/core/src/a.ts:2 core.md §99']);
    expect(brokenIn('(identity §77 and crm.md\n * §78)')).toEqual([
      'apps/core/src/a.ts:1 identity.md §77',
      'apps/core/src/a.ts:2 crm.md §78',
    ]);
    expect(brokenIn('RFC 9110 §77; core.md §12a')).toEqual([]);
  });

  it('a section by its number alone is of the page that names it, in the specification', () => {
    expect(brokenIn('See §77, RFC 9110 §78 and contract §6.', 'docs/spec/core.md')).toEqual([
      'docs/spec/core.md:1 core.md §77',
    ]);
    expect(brokenIn('See §77.')).toEqual([]);
  });

  it('a section by its title must have that title', () => {
    expect(brokenIn('(service.md, "Limits"; service.md, "Bounds")')).toEqual([
      'apps/core/src/a.ts:1 service.md, "Bounds"',
    ]);
  });

  it('an ADR and a page named by its path must exist', () => {
    const named = ['ADR 5', 'ADR 999', 'docs/adr/0005', 'docs/spec/core.md', 'docs/spec/none.md'];
    expect(brokenIn(named.join('\n'))).toEqual([
      'apps/core/src/a.ts:2 ADR 999',
      'apps/core/src/a.ts:5 docs/spec/none.md',
    ]);
  });

  it('a link must lead to a file and to an anchor in it', () => {
    const page = [
      '# Top',
      '[a](core.md#4-merge)',
      '[b](core.md#none)',
      '[c](none.md)',
      '[d](#top)',
      '[e](#no)',
    ];
    expect(brokenIn(page.join('\n'), 'docs/spec/service.md')).toEqual([
      'docs/spec/service.md:3 core.md#none',
      'docs/spec/service.md:4 none.md',
      'docs/spec/service.md:6 #no',
    ]);
    const others = '`[a](none.md)`\n```\n[b](none.md)\n```\n[c](https://example.com)\n<img src="none.png">';
    expect(brokenIn(others, 'README.md')).toEqual(['README.md:6 none.png']);
  });

  it('a test that is cited beside its file must have that name', () => {
    const link = '[alerts.spec.ts](../infra/docs/alerts.spec.ts)';
    const page = [
      `${link} “asks for metrics that there are”`,
      `${link} “asks for metrics that there are” and “not that”`,
      `${link} “not one”, “nor this”`,
    ];
    expect(brokenIn(page.join('\n'), 'docs/a.md')).toEqual([
      'docs/a.md:2 alerts.spec.ts “not that”',
      'docs/a.md:3 alerts.spec.ts “not one”',
      'docs/a.md:3 alerts.spec.ts “nor this”',
    ]);
  });

  it('anchors are those that GitHub makes', () => {
    expect([...anchorsOf('# A `b`: c & d\n## x\n## x\n```\n# no\n```\n<a id="code"></a>')]).toEqual([
      'a-b-c--d',
      'x',
      'x-1',
      'code',
    ]);
  });
});

describe('CODEOWNERS', () => {
  it('names paths that exist, each with an owner', () => {
    const lines = readFileSync(join(ROOT, 'CODEOWNERS'), 'utf8').match(/^[^#\n].*$/gmu) ?? [];
    const rules = lines.map((line) => line.split(/\s+/u));
    expect(rules.length).toBeGreaterThan(1);
    const wrong = rules.filter(
      ([path = '', ...owners]) => owners.length === 0 || (path !== '*' && !existsSync(join(ROOT, path))),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the specification', () => {
  const pages = readableFiles(ROOT, 'docs/spec').map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const words = new Set(pages.join('\n').match(/[a-z0-9_]+/gu));

  it('names every published code', () => {
    expect(Object.keys(publishedCodes()).filter((code) => !words.has(code))).toEqual([]);
  });

  it('names every domain event: its noun and its verb on the page of its module', () => {
    const { components } = JSON.parse(readFileSync(join(ROOT, 'libs/events/asyncapi.json'), 'utf8')) as {
      components: { messages: Record<string, unknown> };
    };
    const unnamed = Object.keys(components.messages).filter((type) => {
      const [module = '', noun = '', verb = ''] = type.split('.');
      const page = readFileSync(join(ROOT, 'docs/spec', `${module}.md`), 'utf8');
      const named = new Set(page.match(/[a-z0-9_]+/gu));
      return !named.has(noun) || !named.has(verb);
    });
    expect(unnamed).toEqual([]);
  });
});
