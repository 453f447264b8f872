import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

describe('docs/operations/alerts.yaml', () => {
  it('asks for metrics that there are', () => {
    const rules = readFileSync(join(ROOT, 'docs/operations/alerts.yaml'), 'utf8');
    const expressions = [...rules.matchAll(/^ *expr: (?:>-\n *)?(.*)$/gm)].map(
      ([, expression]) => expression ?? '',
    );
    const labels = /\{[^}]*\}|\bby \([^)]*\)/g;
    const ofHistogram = /_(?:count|sum|bucket)$/;
    const asked = new Set(
      expressions
        .join(' ')
        .replaceAll(labels, '')
        .match(/\b[a-z]+(?:_[a-z]+)+\b/g),
    );
    const sources = globSync('{libs,apps}/*/src/**/*.ts', { cwd: ROOT })
      .map((file) => readFileSync(join(ROOT, file), 'utf8'))
      .join('\n');
    const known = new Set([...sources.matchAll(/\bname: '([a-z_]+)',\n *help:/g)].map(([, name]) => name));
    expect(expressions.length).toBeGreaterThan(5);
    expect(
      [...asked].filter((name) => !known.has(name) && !known.has(name.replace(ofHistogram, ''))),
    ).toEqual([]);
  });

  it('names routes that there are', () => {
    const rules = readFileSync(join(ROOT, 'docs/operations/alerts.yaml'), 'utf8');
    const routes = new Set([...rules.matchAll(/route="([^"]*)"/g)].map(([, route = '']) => route));
    const published = JSON.parse(readFileSync(join(ROOT, 'docs/published-routes.json'), 'utf8')) as string[];
    const known = new Set(published.map((route) => route.split(' ')[1]?.replaceAll(/\{(\w+)\}/g, ':$1')));
    expect(routes.size).toBeGreaterThan(1);
    expect([...routes].filter((route) => !known.has(route))).toEqual([]);
  });
});
