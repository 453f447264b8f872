import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REASONS, STATES, SUPPRESSION_REASONS } from './vocabulary.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

describe.each(['en', 'es'])('the words in %s', (language) => {
  const texts = JSON.parse(read(`messages.${language}.json`)) as Record<string, Record<string, string>>;

  it.each([
    ['states', STATES],
    ['reasons', REASONS],
    ['suppressionReasons', SUPPRESSION_REASONS],
  ])('say all %s', (name, codes) => {
    expect(Object.keys(texts[name] ?? {}).sort()).toEqual([...codes].sort());
  });
});

it('knows every reason that the specification names', () => {
  const [, named = ''] =
    /; reasons `([a-z_ ]+)` or a code/.exec(read('../../../../docs/spec/messaging.md')) ?? [];
  const codes = named.split(' ');
  expect(codes).toContain('quiet_hours');
  for (const code of codes) expect(REASONS).toContain(code);
});
