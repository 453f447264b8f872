import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAUSES, causeOf, LETTER_STATES, payloadOf, STAGES } from './dead-letter.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

describe('the payload of a dead letter', () => {
  it('is read as JSON, where it is any', () => {
    expect(payloadOf('{"event":"<b>"}')).toEqual({ event: '<b>' });
    expect(payloadOf('{"event":')).toBe('{"event":');
    expect(payloadOf('{"order":9007199254740993}')).toBe('{"order":9007199254740993}');
  });

  it.each([[null], ['']])('is nothing where %j is kept', (payload) => {
    expect(payloadOf(payload)).toBeUndefined();
  });
});

describe('the cause of a dead letter', () => {
  it('is known by its code, or not at all', () => {
    expect(causeOf('credential_revoked')).toBe('credential_revoked');
    expect(causeOf('constructor')).toBeUndefined();
  });
});

describe('whatever the API says of a dead letter', () => {
  const page = read('../../../../../docs/spec/core.md');
  const [, codes = ''] = /`code` is one of `([a-z_ ]+)`/.exec(page) ?? [];
  const [, born = ''] = /Born `closed`: (.*?)\. /.exec(page) ?? [];
  const [, later = ''] = /is `closed` with `([a-z_]+)`/.exec(page) ?? [];
  const closed = [...born.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code);

  it('is known: each code and each reason that core.md names', () => {
    expect(closed).toContain('not_keepable');
    expect([...CAUSES].sort()).toEqual([...codes.split(' '), ...closed, later].sort());
  });

  it('is known: each stage and each state of the published document', () => {
    const { components } = JSON.parse(read('../../../../../docs/openapi.json')) as {
      components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> };
    };
    const { stage, state } = components.schemas['DeadLetterDto']?.properties ?? {};
    expect([stage?.enum, state?.enum]).toEqual([STAGES, LETTER_STATES]);
  });

  it.each(['en', 'es'])('has its words in %s', (language) => {
    const { letters } = JSON.parse(read(`../messages.${language}.json`)) as {
      letters: Record<'causes' | 'stages' | 'states' | 'next', Record<string, string>>;
    };
    const { causes, stages, states, next } = letters;
    const named = [causes, stages, states, next].map((texts) => Object.keys(texts).sort());
    expect(named).toEqual([CAUSES, STAGES, LETTER_STATES, LETTER_STATES].map((all) => [...all].sort()));
  });
});
