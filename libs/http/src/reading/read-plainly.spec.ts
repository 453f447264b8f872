import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsObject, IsString, Max, MaxLength, MinLength, ValidateNested } from 'class-validator';
import { custom, MayBeAbsent, MayBeNull } from './field-decorators.js';
import { readPlainly } from './read-plainly.js';
import { inspect } from './validate-dto.js';

class Inner {
  @IsIn(['a', 'b'])
  kind: string;

  @IsString()
  @MaxLength(5)
  text: string;
}

class Named {
  @MayBeAbsent()
  @MayBeNull()
  @IsString()
  @MinLength(1)
  @MaxLength(8)
  name?: string | null;

  @MayBeAbsent()
  @IsObject()
  @ValidateNested()
  @Type(() => Inner)
  inner?: Inner;
}

class Body extends Named {
  @IsInt()
  @Max(9)
  count: number;

  @MayBeAbsent()
  @custom('isEven', (value) => typeof value === 'number' && value % 2 === 0)
  even?: number;
}

class Listing {
  @MayBeAbsent()
  @IsString({ each: true })
  names?: string[];

  @MayBeAbsent()
  @ValidateNested({ each: true })
  @Type(() => Inner)
  items?: Inner[];
}

/** Of which something more is asked. */
class Now {
  @IsString({ validateIf: () => false })
  name: string;
}

const WHOLE = { count: 1 };

describe('what is read plainly', () => {
  it.each<object>([
    WHOLE,
    { ...WHOLE, name: 'x' },
    { ...WHOLE, name: null },
    { ...WHOLE, name: undefined },
    { ...WHOLE, name: '' },
    { ...WHOLE, name: 'too long for it' },
    { ...WHOLE, name: 7 },
    { ...WHOLE, even: 2 },
    { ...WHOLE, even: 3 },
    { ...WHOLE, even: null },
    { ...WHOLE, inner: { kind: 'a', text: 'x' } },
    { ...WHOLE, inner: { kind: 'c', text: 'x' } },
    { ...WHOLE, inner: { kind: 'a' } },
    { ...WHOLE, inner: { kind: 'a', text: 'x', more: 1 } },
    { ...WHOLE, inner: [] },
    { ...WHOLE, inner: [{ kind: 'a', text: 'x' }] },
    { ...WHOLE, inner: 'a' },
    { ...WHOLE, inner: null },
    { ...WHOLE, other: 1 },
    { ...WHOLE, constructor: 1 },
    { count: 10 },
    {},
  ])('is what class-validator finds nothing wrong with: %j', async (value) => {
    const { instance, errors } = await inspect(Body, value);
    expect(readPlainly(Body, value)).toEqual(errors.total === 0 ? instance : undefined);
  });

  it.each<object>([
    { names: [] },
    { names: ['a', 'b'] },
    { names: ['a', 1] },
    { names: 'a' },
    { names: 1 },
    { items: [] },
    { items: [{ kind: 'a', text: 'x' }] },
    {
      items: [
        { kind: 'a', text: 'x' },
        { kind: 'c', text: 'x' },
      ],
    },
    { items: [null] },
    { items: ['a'] },
    { items: { kind: 'a', text: 'x' } },
  ])('is so of lists, too: %j', async (value) => {
    const { instance, errors } = await inspect(Listing, value);
    expect(readPlainly(Listing, value)).toEqual(errors.total === 0 ? instance : undefined);
  });

  it('is nothing of a class that asks for more', () => {
    expect(readPlainly(Now, { name: 'a' })).toBeUndefined();
  });
});
