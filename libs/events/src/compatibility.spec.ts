import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { breakingChanges, currentSchemas, type PublishedSchemas } from './compatibility.js';
import { PUBLISHED } from './publish-schemas.js';

const published = JSON.parse(readFileSync(PUBLISHED, 'utf8')) as PublishedSchemas;

describe('published event versions', () => {
  it('are not broken by this build', () => {
    expect(breakingChanges(published, currentSchemas())).toEqual([]);
  });

  it('are committed as they are: after a compatible change run publish-schemas', () => {
    expect(published).toEqual(currentSchemas());
  });
});

const base = z.object({
  id: z.uuid(),
  state: z.enum(['a', 'b']),
  note: z.string().nullable().optional(),
  inner: z.object({ count: z.int() }),
  tags: z.array(z.object({ name: z.string() })),
});

function between(before: z.ZodType, after: z.ZodType): string[] {
  const schema = (type: z.ZodType): Record<string, unknown> => z.toJSONSchema(type, { io: 'input' });
  return breakingChanges({ 'x.y.v1': schema(before) }, { 'x.y.v1': schema(after) });
}

describe('breakingChanges', () => {
  it.each([
    ['the same', base],
    ['an optional field more', base.extend({ more: z.string().optional() })],
    [
      'an optional field more, further in',
      base.extend({ inner: z.object({ count: z.int(), of: z.int().optional() }) }),
    ],
    ['another description', base.extend({ id: z.uuid().describe('of the row') })],
  ])('passes %s', (_, after) => {
    expect(between(base, after)).toEqual([]);
  });

  it.each([
    ['a field gone', base.omit({ note: true }), 'note is gone'],
    ['a required field more', base.extend({ more: z.string() }), 'more is required anew'],
    ['a field no longer required', base.extend({ id: z.uuid().optional() }), 'id is no longer required'],
    ['another type', base.extend({ id: z.int() }), 'id'],
    ['a value more', base.extend({ state: z.enum(['a', 'b', 'c']) }), 'state'],
    ['a value less', base.extend({ state: z.enum(['a']) }), 'state'],
    ['null where none was', base.extend({ id: z.uuid().nullable() }), 'id'],
    ['a change further in', base.extend({ inner: z.object({ count: z.string() }) }), 'inner.count'],
    ['a change in a list', base.extend({ tags: z.array(z.object({ name: z.int() })) }), 'tags'],
  ])('catches %s', (_, after, told) => {
    expect(between(base, after).join('; ')).toContain(told);
  });

  it('catches a type that is no longer published', () => {
    expect(breakingChanges({ 'x.y.v1': {} }, {})).toEqual(['x.y.v1 is no longer published']);
  });
});
