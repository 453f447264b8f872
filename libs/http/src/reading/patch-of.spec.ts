import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsString, Length } from 'class-validator';
import { MayBeAbsent, MayBeNull, PatchOf, validateBody } from '../index.js';

class CreateShelfDto {
  @IsString()
  owner_id: string;

  @Length(1, 20)
  name: string;

  @ApiProperty({ default: null, description: 'In centimetres.' })
  @MayBeAbsent()
  @MayBeNull()
  @IsInt()
  width?: number | null;
}

class UpdateShelfDto extends PatchOf(CreateShelfDto, { immutable: ['owner_id'] }) {
  @ApiProperty({ description: 'Seen by all.' })
  declare name?: string;
}

const codes = (body: object) =>
  validateBody(UpdateShelfDto, body).then(
    () => [],
    ({ errors }: { errors: { pointer: string; code: string }[] }) =>
      errors.map(({ pointer, code }) => [pointer, code]),
  );

describe('PatchOf', () => {
  it('takes what was given, and makes nothing of what was not', async () => {
    await expect(validateBody(UpdateShelfDto, {})).resolves.toEqual({});
    await expect(validateBody(UpdateShelfDto, { name: 'a', width: null })).resolves.toEqual({
      name: 'a',
      width: null,
    });
  });

  it.each([
    [{ name: null }, '/name', 'wrong_type'],
    [{ name: '' }, '/name', 'too_short'],
    [{ name: 'x'.repeat(21) }, '/name', 'too_long'],
    [{ width: 1.5 }, '/width', 'wrong_type'],
    [{ owner_id: 'a' }, '/owner_id', 'immutable'],
    [{ owner_id: null }, '/owner_id', 'immutable'],
    [{ depth: 1 }, '/depth', 'unknown_field'],
  ])('%j: %s %s, as the whole body says', async (body, pointer, code) => {
    expect(await codes(body)).toEqual([[pointer, code]]);
  });

  it('does not describe a default, for what is absent stays as it is', () => {
    const said = (field: string) =>
      Reflect.getMetadata('swagger/apiModelProperties', UpdateShelfDto.prototype, field) as object;
    expect(said('width')).toMatchObject({ description: 'In centimetres.', required: false });
    expect(said('width')).not.toHaveProperty('default');
    expect(said('name')).toMatchObject({ description: 'Seen by all.' });
  });

  it('refuses a body that sets a field by itself, which a patch would overwrite', () => {
    class CreateBoxDto {
      @IsInt()
      width = 10;
    }
    expect(() => PatchOf(CreateBoxDto)).toThrow('CreateBoxDto sets width by itself');
  });
});
